"""The kinds of weak labels, as tables for a user who looks for their own, and all that is known of one of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bliss_framework.console.drawing.tables import WITH_SUMMARY, plain_table

ROWS = "Each row has a weak label of its own:"
BAGS = "Bags of rows have a weak label:"


def regime_tables(console: Console, regimes: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Draw two tables, of regimes of rows and of regimes of bags: what one has, what it is called, what it looks like.

    Args:
        console: drawn on; where it is narrow, cells hold two things under each other.
        regimes: documents of `bliss regimes --json`.
    """
    parts: list[RenderableType] = []
    for title, of_rows in ((ROWS, True), (BAGS, False)):
        own = [one for one in regimes if one["rows_are_bags"] == of_rows]
        if own:
            parts.append(_table(console, title, own))
    return Group(*parts)


def _table(console: Console, title: str, regimes: Sequence[Mapping[str, Any]]) -> Table:
    wide = console.width >= WITH_SUMMARY
    columns = ("you have", "it is called", "a weak label is", "for example", "regime", "plugin")
    table = plain_table(console, *(columns if wide else ("you have", "a weak label is", "regime")), title=title)
    table.show_lines = True
    for one in regimes:
        facts = [Text(one[key] or "-") for key in ("summary", "called", "weak_label", "example", "name", "plugin")]
        facts[4].stylize("bold")
        table.add_row(*(facts if wide else _in_three(one, facts)))
    return table


def _in_three(regime: Mapping[str, Any], facts: Sequence[Text]) -> tuple[Text, Text, Text]:
    """Put what is known of a regime into three cells."""
    summary, _, label, _, name, _ = facts
    called = f"\n({regime['called']})" if regime["called"] else ""
    example = f"\nsuch as {regime['example']}" if regime["example"] else ""
    plugin = f"\nplugin {regime['plugin']}"
    return summary + Text(called, "dim"), label + Text(example), name + Text(plugin, "dim")


def regime_view(console: Console, regime: Mapping[str, Any], parameters: Sequence[str]) -> RenderableType:
    """Draw one regime: what it is for, what it advises, and its parameters as lines."""
    data = "each row is a bag of its own" if regime["rows_are_bags"] else "bags of rows"
    facts = {
        "you have": regime["summary"],
        "called": regime["called"],
        "weak label": regime["weak_label"],
        "for example": regime["example"],
        "data": f"{data}, {'two classes' if regime['binary'] else 'two classes or more'}",
        "plugin": regime["plugin"],
        "source": regime["source"],
        "reward": regime["reward"],
        "rounds": regime["n_rounds"],
        "baselines": ", ".join(regime["baselines"]),
        "data sets": ", ".join(regime["datasets"]),
        "results": regime["results"],
    }
    table = plain_table(console, "regime", regime["name"])
    measured = [("measured", f"{one['like']} ({one['when']}): {one['advice']}") for one in regime["kinds"]]
    for name, text in [*facts.items(), *measured, *(("parameter", line) for line in parameters)]:
        if text:
            table.add_row(Text(name), Text(text))
    return table
