"""A result whose parts are missing or of another kind is refused, or shown: nothing is used that was not checked."""

import copy
import io
import json

import pytest
from rich.console import Console

from bliss_framework.console.drawing.findings import comparison_lines
from bliss_framework.console.drawing.tables import evaluation_table, result_view
from bliss_framework.report.tested import figures_of
from bliss_framework.runs.folder.result_file import check_result
from bliss_framework.runs.shapes import ShapeError

QUICK = ("--n-rounds", "4", "--n-folds", "2", "--n-inferences", "1", "--quiet")
OTHERS = (None, "x", {})
NAMES = ("runs", "mean", "test")  # Of parts that are looked for: another part may be called so by a slip.


def places(value, at=()):
    """Yield the keys that lead to each part of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


def changed(document, at, other):
    """Return a copy in which a part is another one, or gone where `other` is Ellipsis."""
    copied = copy.deepcopy(document)
    inside = copied
    for key in at[:-1]:
        inside = inside[key]
    if other is ...:
        del inside[at[-1]]
    else:
        inside[at[-1]] = other
    return copied


def renamed(document, at, name):
    """Return a copy in which a part has another name."""
    copied = copy.deepcopy(document)
    inside = copied
    for key in at[:-1]:
        inside = inside[key]
    inside[name] = inside.pop(at[-1])
    return copied


def shown_or_refused(document, kind, console):
    try:
        check_result(document, kind)
    except ShapeError:
        return
    if kind == "run":
        console.print(result_view(console, document, verbose=True))
        tested = document.get("evaluation", {})
        rows = [("BLISS", tested), *((row["name"], row) for row in tested.get("baselines", ()))]
    else:
        rows = [(row["name"], row["evaluation"]) for row in document["methods"]]
        console.print(evaluation_table(console, rows))
        for line in comparison_lines(document):
            console.print(line)
    if all("repeats" in row for _, row in rows):
        figures_of(rows, (), document["data"])  # As the report does.


@pytest.mark.parametrize("kind", ["run", "comparison"])
def test_every_part_is_checked_before_it_is_used(cli, table, here, kind):
    table(truth=True)
    if kind == "run":
        assert cli("run", "toy.csv", *QUICK, "--cv", "2", "--output", "out").code == 0
        document = json.loads((here / "out" / "result.json").read_text(encoding="utf-8"))
    else:
        ended = cli("compare", "toy.csv", "--methods", "bliss,no-bandit", *QUICK[:-1], "--cv", "2", "--json")
        document = json.loads(ended.out)
    console = Console(file=io.StringIO(), width=100)
    shown_or_refused(document, kind, console)
    used = []
    for at in (one for one in places(document) if one[0] != "settings" or len(one) == 1):
        damaged = {repr(other): changed(document, at, other) for other in (..., *OTHERS)}
        if isinstance(at[-1], str):
            damaged |= {f"called {name}": renamed(document, at, name) for name in NAMES if name not in at}
        for what, one in damaged.items():
            try:
                shown_or_refused(one, kind, console)
            except Exception as error:
                used.append((at, what, repr(error)))
    assert used == []
