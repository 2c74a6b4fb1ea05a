"""Columns that number the rows: the index that a data-frame library wrote is no feature."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.tables.cell_table import CellTable

# pandas writes the first two without being asked, `reset_index` makes the others.
_WRITTEN = re.compile(r"(Unnamed: \d+(_level_\d+)?|__index_level_\d+__)")
_RESET = re.compile(r"(index|level_\d+|rownames?)", re.IGNORECASE)


def index_columns(table: CellTable, features: Sequence[str]) -> list[str]:
    """Return the features that are an index which a library wrote.

    These are columns that have the name of such an index and hold whole numbers, or, where they have no name of their
    own, text that is another one in each row.
    """
    return [name for name in features if _is_written(table, name) or _is_reset(table, name)]


def left_out(names: Sequence[str], path_name: str) -> list[str]:
    """Return the sentence for the user about index columns."""
    shown = ", ".join(f'"{name}"' for name in names)
    if not names:
        return []
    one = len(names) == 1
    said = (
        "is the row index of a data-frame library and was"
        if one
        else "are row indices of a data-frame library and were"
    )
    return [f"{path_name}: {shown} {said} left out of the features"]


def unnamed_notes(features: Sequence[str], path_name: str) -> list[str]:
    """Note features that have no name of their own and hold no row numbers."""
    return [
        f'{path_name}: the column "{name}" has no name of its own and is a feature; name it, or leave it out'
        for name in features
        if _WRITTEN.fullmatch(name)
    ]


def row_numbers(name: str, values: NDArray[Any]) -> bool:
    """Say whether a column of numbers has the name of an index and holds one."""
    written = _WRITTEN.fullmatch(name) is not None
    # Most columns have another name, and a mapped one is not read for that.
    if not written and not _RESET.fullmatch(name):
        return False
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    return written or _numbers_rows(values)


def _numbers_rows(values: NDArray[Any]) -> bool:
    """Say whether whole numbers are all different, or count up and start again as those of joined tables."""
    if len(np.unique(values)) == len(values):
        return True
    steps = np.diff(values)
    return bool(((steps == 1) | (values[1:] == values[0])).all())


def _is_written(table: CellTable, name: str) -> bool:
    if not _WRITTEN.fullmatch(name):
        return False
    try:
        return row_numbers(name, table.numbers([name])[:, 0])
    except DataError:
        cells = table.column(name)
        return len(set(cells)) == len(cells)


def _is_reset(table: CellTable, name: str) -> bool:
    if not _RESET.fullmatch(name):
        return False
    try:
        return row_numbers(name, table.numbers([name])[:, 0])
    except DataError:
        return False
