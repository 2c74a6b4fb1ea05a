"""What was understood of a data set, as a reader looks at it before anything runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from bliss_framework.console.drawing.tables import plain_table

MOST_COLUMNS = 30  # That are shown one by one; of more those alike are put together.
N_SHOWN = 3  # Rows that fit side by side on most screens.


def understood_view(console: Console, document: Mapping[str, Any]) -> RenderableType:
    """Draw the document of `described`: sizes, labels, columns and their roles, the first rows."""
    parts: list[RenderableType] = [Text(_sizes(document))]
    if document["labels"]:
        counts = ", ".join(f"{count} x {label}" for label, count in document["labels"].items())
        parts.append(Text(f"labels of bags: {counts}"))
    if document["columns"]:
        parts.append(_columns(console, document["columns"]))
    parts.append(_preview(console, document["preview"]))
    return Group(*parts)


def _sizes(document: Mapping[str, Any]) -> str:
    missing = document["n_missing"]
    empty = f", {missing:,} empty cells in them" if missing != 1 else ", 1 empty cell in them"
    return (
        f"{document['name']}: {document['n_bags']:,} bags, {document['n_instances']:,} instances, "
        f"{document['n_features']:,} features{empty if missing else ''}; regime {document['regime']}"
    )


def _columns(console: Console, columns: Sequence[Mapping[str, Any]]) -> RenderableType:
    table = plain_table(console, "column", "role", "why", "empty cells")
    for names, one, missing in _together(columns):
        table.add_row(Text(names), Text(one["role"]), Text(one["why"]), Text(f"{missing:,}"))
    return table


def _together(columns: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any], int]]:
    """Put neighbours of one role and one reason together where there are many columns."""
    runs: list[list[Mapping[str, Any]]] = []
    for one in columns:
        alike = runs and (runs[-1][0]["role"], runs[-1][0]["why"]) == (one["role"], one["why"])
        if alike and len(columns) > MOST_COLUMNS:
            runs[-1].append(one)
        else:
            runs.append([one])
    return [(_names(run), run[0], sum(one["n_missing"] for one in run)) for run in runs]


def _names(run: Sequence[Mapping[str, Any]]) -> str:
    if len(run) < 3:
        return ", ".join(one["name"] for one in run)
    return f"{run[0]['name']} to {run[-1]['name']} ({len(run)})"


def _preview(console: Console, rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Draw the first rows side by side, since there are more columns than a screen is wide."""
    shown = rows[:N_SHOWN]
    table = plain_table(console, "first rows", *(f"row {number}" for number in range(len(shown))))
    for name in rows[0]:
        table.add_row(Text(name), *(Text(_shown(row[name])) for row in shown))
    return table


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
