"""tests.csv: what each method said of each bag that it was not trained on, written and read back."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import RunError
from bliss_framework.runs.evaluation.fits import Pieces
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.folder.csv_tables import read_lines

TESTS = "tests.csv"
TEST_COLUMNS = ("method", "repeat", "fold", "bag", "weak_label", "predicted", "score")
GROUP = "group"  # A further column where bags come in groups.


@frozen(eq=False)
class MethodTests:
    """The tests of one method, bag by bag, the repeats one below the other.

    Attributes:
        name: of the method.
        repeat: (m,) counted from 1.
        fold: (m,) counted from 1.
        bags: (m,) ids as text.
        truth: (m,) or (m, C) weak labels as positions in the words of bags, as 0 and 1 for each label, or as shares.
        predicted: the same, as the method has it.
        scores: (m,) or (m, C).
        groups: (m,) the group of each bag, or None where each bag is on its own.
    """

    name: str = field()
    repeat: NDArray[np.intp] = field()
    fold: NDArray[np.intp] = field()
    bags: NDArray[Any] = field()
    truth: NDArray[np.float64] = field()
    predicted: NDArray[np.float64] = field()
    scores: NDArray[np.float64] = field()
    groups: NDArray[Any] | None = field(default=None)

    def of_repeat(self, number: int) -> "MethodTests":
        """Keep the tests of one repeat."""
        own = self.repeat == number
        parts = (self.repeat, self.fold, self.bags, self.truth, self.predicted, self.scores)
        groups = None if self.groups is None else self.groups[own]
        return evolve(MethodTests(self.name, *(part[own] for part in parts)), groups=groups)


def tests_csv(problem: Problem, pieces: Pieces) -> str:
    """Write the bags that were tested as a table, a line for each method, repeat and bag.

    Args:
        problem: the data.
        pieces: of all fits of the evaluation.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_rows(problem, pieces))
    return text.getvalue()


def _rows(problem: Problem, pieces: Pieces) -> Iterator[list[Any]]:
    groups = problem.tested.bags.groups
    yield [*TEST_COLUMNS, *([] if groups is None else [GROUP])]
    ids, weak = problem.tested.bags.ids.tolist(), problem.tested.weak.values
    for (method, repeat, fold), piece in pieces.items():
        bags = np.asarray(piece["bags"], dtype=np.intp).tolist()
        for bag, predicted, score in zip(bags, piece["predicted"], piece["scores"], strict=True):
            cells = (_cell(value) for value in (weak[bag], predicted, score))
            group = [] if groups is None else [int(groups[bag])]
            yield [method, repeat + 1, fold + 1, ids[bag], *cells, *group]


def _cell(value: Any) -> str:
    return json.dumps(np.asarray(value).tolist())


def read_tests(path: Path) -> list[MethodTests]:
    """Read tests.csv; nothing where there is no file.

    Raises:
        RunError: the file is damaged.
    """
    lines = read_lines(path, TEST_COLUMNS)
    names = list(dict.fromkeys(line["method"] for line in lines))
    try:
        return [_method(name, [line for line in lines if line["method"] == name]) for name in names]
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged ({error}). Delete it, and the report does without it.") from None


def _method(name: str, lines: list[dict[str, str]]) -> MethodTests:
    repeat, fold = (np.array([int(line[key]) for line in lines]) for key in ("repeat", "fold"))
    truth, predicted, scores = (
        np.array([json.loads(line[key]) for line in lines], dtype=np.float64)
        for key in ("weak_label", "predicted", "score")
    )
    if not all(np.isfinite(part).all() for part in (truth, predicted, scores)):
        raise ValueError(f"a figure of {name} is no number")
    if repeat.min() != 1:
        raise ValueError(f"the repeats of {name} do not begin with 1")
    groups = np.array([line[GROUP] for line in lines]) if GROUP in lines[0] else None
    return MethodTests(name, repeat, fold, np.array([line["bag"] for line in lines]), truth, predicted, scores, groups)
