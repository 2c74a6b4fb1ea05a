"""Bag ids that are text: those that stand for nothing, those that lost digits, and twins in one table."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.tables.cell_table import MISSING_NAMES, CellTable

FEWEST_BAGS = 3  # Of fewer, bags of one instance are no sign of anything.
LARGEST_EXACT = 2**53  # Beyond it a float64 is no longer the integer that it stood for.
_MAYBE_MISSING = frozenset({"na", "n/a", "none", "null"})
# How programs write large floats.
_FLOAT = re.compile(r"[+-]?(\d{16,}\.0*|\d\.\d{6,}e\+?\d+)", re.IGNORECASE)
_SHORTENED = re.compile(r"[+-]?\d+([.,]\d+)?e\+\d+", re.IGNORECASE)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


def check_ids(table: CellTable, name: str, cells: Sequence[str]) -> None:
    """Refuse ids that stand for a missing value, and floats that stand for integers which they cannot tell apart.

    Raises:
        DataError: naming the row.
    """
    for cell in set(cells):
        if cell in MISSING_NAMES:
            found = f"{cell!r} is no bag id" if cell else "no bag id"
            raise DataError(f"{table.at(cells.index(cell), name)}: {found}; every row needs one.")
        if _FLOAT.fullmatch(cell) and abs(float(cell)) >= LARGEST_EXACT:
            raise DataError(
                f"{table.at(cells.index(cell), name)}: the bag id {cell!r} is a float beyond 2**53, where neighbouring "
                f"integers are the same float, so bags may have become one. Write the ids as integers or text."
            )


def id_notes(table: CellTable, name: str, cells: Sequence[str]) -> list[str]:
    """Note ids that may mean something else than they seem."""
    distinct = list(dict.fromkeys(cells))
    missing = [cell for cell in distinct if cell.casefold() in _MAYBE_MISSING]
    short = [cell for cell in distinct if _SHORTENED.fullmatch(cell)]
    notes = [
        f'{table.path.name}: {list(cells).count(cell)} row(s) have the bag id "{cell}", which is taken for the name of '
        f"a bag; if it means that the id is missing, remove them"
        for cell in missing
    ]
    if short:
        notes.append(
            f'{table.path.name}: bag ids such as "{short[0]}" look like numbers that a spreadsheet shortened; ids that '
            f"differ in lost digits only are one bag"
        )
    return notes + _twins(table, distinct)


def lone_notes(path: Path, ids: NDArray[Any]) -> list[str]:
    """Note where each bag has one instance, in formats whose fields have a role by their place alone."""
    if len(ids) < FEWEST_BAGS or len(np.unique(ids)) < len(ids):
        return []
    return [
        f"{path.name}: every bag has one instance, such as the bag {str(ids[0])!r}; if that is wrong, the file is of "
        f"another format: name its reader, such as c45 or mill"
    ]


def _twins(table: CellTable, distinct: list[str]) -> list[str]:
    """Note two ids of one table that eyes cannot tell apart."""
    first: dict[str, str] = {}
    for cell in distinct:
        other = first.setdefault(_visible(cell), cell)
        if other != cell:
            return [
                f"{table.path.name}: the bag ids {other!a} and {cell!a} look alike and are two bags, because "
                f"characters in them are encoded otherwise"
            ]
    return []


def _visible(text: str) -> str:
    return unicodedata.normalize("NFC", text.translate(_INVISIBLE))
