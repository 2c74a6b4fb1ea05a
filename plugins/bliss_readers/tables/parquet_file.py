"""Parquet files, and folders of them, as tables."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BlissError, DataError, empty_rows
from bliss_readers.tables.cell_table import CellTable, Entries, as_number, of_bearable_length, similar_names
from bliss_readers.tables.index_columns import left_out
from bliss_readers.tables.parquet_piece import ParquetPiece, arrow, is_text
from bliss_readers.text.first_look import first_bytes

PARQUET_SUFFIXES = (".parquet", ".pq")
FILES_OF_BAGS = "bag-files"  # The reader of folders in which each file is a bag.
_MAGIC = b"PAR1"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # What Spark and Arrow call the folder of rows whose value is missing.


@frozen(eq=False)
class ParquetTable(CellTable):
    """A table whose columns have types, in one file or several.

    Attributes:
        pieces: the files, in order.
        types: the Arrow type of each column.
    """

    pieces: tuple[ParquetPiece, ...] = field()
    types: dict[str, Any] = field()

    def column(self, name: str) -> list[str]:
        """Return the cells of a column as the same table in CSV would have them."""
        values = self._values(name)
        if not self._holds_lists(name):
            return of_bearable_length(self.path, [_as_cell(value) for value in values])
        return of_bearable_length(self.path, [f"[{', '.join(map(_as_cell, value or ()))}]" for value in values])

    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d): float32 where all of them are of single precision or less."""
        for name in names:
            if self._holds_lists(name):
                raise DataError(
                    f'{self.path}: the column "{name}" holds lists, and a feature is one number; make a column of each '
                    f'entry, or leave it out with ignore = ["{name}"].'
                )
        single = all(self._is(name, "float32", "float16") for name in names)
        numbers = empty_rows(
            sum(piece.n_rows for piece in self.pieces), len(names), np.float32 if single else np.float64
        )
        start = 0
        for batch in self._batches(names):
            for position, name in enumerate(names):
                values = self._numbers(name, batch[name], start)
                numbers[start : start + len(values), position] = values
            start += len(values)
        return numbers

    def is_numeric(self, name: str) -> bool:
        """Say whether a column has a type of numbers, or every cell of its text is one."""
        if self._is(name, "integer", "floating", "boolean", "decimal", "null"):
            return True
        return not self.is_of_dates(name) and super().is_numeric(name)

    def is_of_dates(self, name: str) -> bool:
        """Say whether a column has a type of dates or times."""
        return self._is(name, "temporal")

    def has_leading_zeros(self, name: str) -> bool:
        """Say whether a column of text holds digits only, some with zeros before them."""
        return is_text(self.types[name]) and super().has_leading_zeros(name)

    def place(self, row: int) -> str:
        """Return the number of a row, from 1, and the file where there are several."""
        if len(self.pieces) == 1:
            return f"row {row + 1}"
        for piece in self.pieces:
            if row < piece.n_rows:
                break
            row -= piece.n_rows
        return f"row {row + 1} of {piece.path.relative_to(self.path)}"

    def lists(self, name: str) -> Entries | None:
        """Return the entries of each cell where the column is of lists; null is the empty list."""
        if not self._holds_lists(name):
            return None
        types, kind = arrow().types, self.types[name].value_type
        numbers = any(getattr(types, f"is_{one}")(kind) for one in ("integer", "floating", "boolean", "decimal"))
        cells = [[_as_entry(one) for one in value or ()] for value in self._values(name)]
        for row, cell in enumerate(cells):
            if "" in cell:
                raise DataError(
                    f"{self.at(row, name)}: the list holds a null or an empty name; leave it out of the list."
                )
        return Entries(cells, numbers)

    def _holds_lists(self, name: str) -> bool:
        return self._is(name, "list", "large_list", "fixed_size_list")

    def _is(self, name: str, *kinds: str) -> bool:
        return any(getattr(arrow().types, f"is_{one}")(self.types[name]) for one in kinds)

    def _batches(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for piece in self.pieces:
            yield from piece.batches(names)

    def _values(self, name: str) -> list[Any]:
        return [value for batch in self._batches([name]) for value in batch[name].to_pylist()]

    def _numbers(self, name: str, column: Any, start: int) -> NDArray[np.floating]:
        if self._is(name, "float32", "float64") and not column.null_count:
            return np.asarray(column.to_numpy(zero_copy_only=False))
        if self._is(name, "integer", "floating", "boolean", "decimal", "null"):
            # Rounding to float64 is what every reader does; Arrow alone calls it an error.
            return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        numbers = np.empty(len(column))
        for row, value in enumerate(column.to_pylist()):
            cell = _as_cell(value)
            try:
                numbers[row] = as_number(cell)
            except ValueError:
                raise self.no_number(start + row, name, cell) from None
        return numbers


def is_parquet(path: Path) -> bool:
    """Say whether a file begins as Parquet does, whatever it is called; never raises."""
    return first_bytes(path, len(_MAGIC)) == _MAGIC


def is_parquet_folder(path: Path) -> bool:
    """Say whether a folder holds Parquet files and nothing else, beside what is hidden; never raises."""
    try:
        found = False
        for file in _files(path):
            found = is_parquet(file)
            if not found:
                return False
        return found
    except (OSError, ValueError):
        return False


def is_table_of_bags(folder: Path, options: Mapping[str, Any]) -> bool:
    """Say whether a folder of Parquet files is one table, rather than a table for each bag; never raises.

    It is, unless its first file has no column of bag ids, and a second table of labels is told, or files of bags were
    read before.
    """
    if options.get("labels") is None and options.get("reader") != FILES_OF_BAGS:
        return True
    bag = options.get("bag", "bag")
    try:
        first = min(_files(folder))
        piece = ParquetPiece.opened(first, _told(first.parent, folder))
    except (BlissError, OSError, ValueError):
        return True
    return bag in piece.types


def read_parquet_table(path: Path) -> ParquetTable:
    """Open a Parquet file, or a folder of files that have the same columns; values are read when they are asked for.

    A folder has the rows of its files one after the other, by name, numbers in names in their order. In a subfolder
    that is called like "clinic=north" all rows have the text "north" in the column "clinic".

    Raises:
        DataError: naming the file.
        MissingExtraError: pyarrow is not installed.
    """
    arrow()
    files = sorted(_files(path), key=lambda file: _natural(file.relative_to(path))) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path} holds no files.")
    pieces = tuple(ParquetPiece.opened(file, _told(file.parent, path)) for file in files)
    if not sum(piece.n_rows for piece in pieces):
        raise DataError(f"{path} has no rows.")
    types = dict(pieces[0].types)
    for piece in pieces[1:]:
        _refuse_other_columns(piece, pieces[0], types)
    if not types:
        raise DataError(f"{path} has no columns; allowed are one for the bag and at least one feature.")
    index = list(dict.fromkeys(name for piece in pieces for name in piece.index))
    notes = [*similar_names(path, list(types)), *left_out(index, path.name)]
    return ParquetTable(path, list(types), pieces, types, notes=tuple(notes))


def _refuse_other_columns(piece: ParquetPiece, first: ParquetPiece, types: dict[str, Any]) -> None:
    """Refuse a file that has other columns than the first, or others' types; a column of nulls alone has any type."""
    absent = [(name, piece, first) for name in types if name not in piece.types]
    more = [(name, first, piece) for name in piece.types if name not in types]
    for name, without, having in [*absent, *more]:
        raise DataError(
            f'{without.path} has no column "{name}", which {having.path.name} has; all files of a folder need the same '
            f"columns."
        )
    for name, kind in piece.types.items():
        if arrow().types.is_null(types[name]):
            types[name] = kind
        elif not (arrow().types.is_null(kind) or kind == types[name] or (is_text(kind) and is_text(types[name]))):
            raise DataError(
                f'{piece.path}: the column "{name}" is of the type {kind}, and before, as in {first.path.name}, of '
                f"{types[name]}; write all files of a folder with the same types."
            )


def _files(folder: Path) -> Iterator[Path]:
    """List the files of a folder and its subfolders, but those that are hidden or begin with "_" and are no data."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        yield from (Path(place, name) for name in names if name[0] not in "._")


def _natural(path: Path) -> tuple[list[tuple[int, int | str]], str]:
    """Return a key by which "part.10" comes after "part.9"."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts], str(path)


def _told(folder: Path, root: Path) -> dict[str, str]:
    """Return the columns and values that the names of folders below a root say."""
    named = (part.partition("=") for part in (folder.relative_to(root).parts if folder != root.parent else ()))
    return {unquote(name): "" if value == _NO_VALUE else unquote(value) for name, equals, value in named if equals}


def _as_cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _as_entry(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else _as_cell(value)
