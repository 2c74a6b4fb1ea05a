"""Parquet files as tables."""

from collections.abc import Sequence
from pathlib import Path
from re import fullmatch
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BlissError, DataError, check_size, needed
from bliss_readers.tables.cell_table import (
    CellTable,
    Entries,
    as_number,
    of_bearable_length,
    similar_names,
    unique_header,
)
from bliss_readers.tables.index_columns import left_out
from bliss_readers.text.first_look import first_bytes

PARQUET_SUFFIXES = (".parquet", ".pq")
_MAGIC = b"PAR1"
# Pandas writes an index without a name, such as the row numbers before a shuffle, as a column of this name.
_PANDAS_INDEX = r"__index_level_\d+__"


@frozen(eq=False)
class ParquetTable(CellTable):
    """A table whose columns have types.

    Attributes:
        columns: an Arrow column for each name of the header.
    """

    columns: dict[str, Any] = field()

    def column(self, name: str) -> list[str]:
        """Return the cells of a column as the same table in CSV would have them."""
        values = self.columns[name].to_pylist()
        if not self._holds_lists(name):
            return of_bearable_length(self.path, [_as_cell(value) for value in values])
        return of_bearable_length(self.path, [f"[{', '.join(map(_as_cell, value or ()))}]" for value in values])

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns as numbers (n, d)."""
        numbers = np.empty((len(self.columns[self.header[0]]), len(names)))
        for position, name in enumerate(names):
            numbers[:, position] = self._numbers(name)
        return numbers

    def place(self, row: int) -> str:
        """Return the number of a row, from 1."""
        return f"row {row + 1}"

    def lists(self, name: str) -> Entries | None:
        """Return the entries of each cell where the column is of lists; null is the empty list."""
        if not self._holds_lists(name):
            return None
        types, kind = arrow().types, self.columns[name].type.value_type
        numbers = any(getattr(types, f"is_{one}")(kind) for one in ("integer", "floating", "boolean", "decimal"))
        cells = [[_as_entry(one) for one in value or ()] for value in self.columns[name].to_pylist()]
        for row, cell in enumerate(cells):
            if "" in cell:
                raise DataError(
                    f"{self.at(row, name)}: the list holds a null or an empty name; leave it out of the list."
                )
        return Entries(cells, numbers)

    def _holds_lists(self, name: str) -> bool:
        return bool(self._is(name, "list", "large_list", "fixed_size_list"))

    def _is(self, name: str, *kinds: str) -> bool:
        types, kind = arrow().types, self.columns[name].type
        return any(getattr(types, f"is_{one}")(kind) for one in kinds)

    def _numbers(self, name: str) -> NDArray[np.float64]:
        if self._is(name, "integer", "floating", "boolean", "decimal", "null"):
            # Rounding to float64 is what every reader does; Arrow alone calls it an error.
            return np.asarray(self.columns[name].cast("float64", safe=False).to_numpy(), dtype=np.float64)
        if self._holds_lists(name):
            raise DataError(
                f'{self.path}: the column "{name}" holds lists, and a feature is one number; make a column of each '
                f'entry, or leave it out with ignore = ["{name}"].'
            )
        numbers = np.empty(len(self.columns[name]))
        for row, cell in enumerate(self.column(name)):
            try:
                numbers[row] = as_number(cell)
            except ValueError:
                raise self.no_number(row, name, cell) from None
        return numbers


def arrow() -> Any:
    """Import pyarrow, with its module for Parquet, or say in one sentence how to install it (MissingExtraError)."""
    needed("pyarrow.parquet", "files", "Parquet files need")
    return needed("pyarrow", "files", "Parquet files need")


def is_parquet(path: Path) -> bool:
    """Say whether a file begins as Parquet does, whatever it is called; never raises."""
    return first_bytes(path, len(_MAGIC)) == _MAGIC


def read_parquet_table(path: Path) -> ParquetTable:
    """Read a Parquet file.

    Raises:
        DataError: naming the file.
        MissingExtraError: pyarrow is not installed.
    """
    package = arrow()
    try:
        # Not read_table, which makes columns of folders that are called like "year=2020".
        with path.open("rb") as file:
            stored = package.parquet.ParquetFile(file)
            _check_values(path, stored)
            # Text is read as its words and their places: a long word in every row is then there but once.
            text = [one.name for one in stored.schema_arrow if _is_text(one.type)]
            table = package.parquet.ParquetFile(file, read_dictionary=text).read()
            _check_text(path, table)
    except BlissError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or _one_line(error)}.") from error
    except Exception as error:
        # A damaged file can raise nearly anything: ArrowException, ValueError, MemoryError, OverflowError, KeyError.
        raise DataError(f"{path} is damaged or no Parquet file ({_one_line(error)}); copy or make it again.") from error
    if not table.num_rows:
        raise DataError(f"{path} has no rows.")
    unique_header(path, table.column_names)
    columns = {
        name: _plain(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
        if not fullmatch(_PANDAS_INDEX, name)
    }
    index = [name for name in table.column_names if name not in columns]
    if not columns:
        raise DataError(f"{path} has no columns; allowed are one for the bag and at least one feature.")
    notes = [*similar_names(path, list(columns)), *left_out(index, path.name)]
    return ParquetTable(path, list(columns), columns, notes=tuple(notes))


def _check_values(path: Path, stored: Any) -> None:
    """Refuse a file that says of so many values, or of so long text, that they would fill the memory."""
    about = stored.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    n_values = max(sum(chunk.num_values for chunk in chunks), about.num_rows * about.num_columns)
    # Arrow holds a value in 8 bytes or so, and the rows are float64 beside that.
    check_size(path, max(16 * n_values, sum(chunk.total_uncompressed_size for chunk in chunks)))


def _check_text(path: Path, table: Any) -> None:
    """Refuse a file whose text, written out in every row, would fill the memory."""
    lengths = needed("pyarrow.compute", "files", "Parquet files need").binary_length
    for column in table.columns:
        if not arrow().types.is_dictionary(column.type) or not _is_text(column.type.value_type):
            continue
        chunks = [(np.asarray(lengths(one.dictionary).fill_null(0)), one.indices.drop_null()) for one in column.chunks]
        check_size(path, sum(int(words[np.asarray(places)].sum(dtype=np.int64)) for words, places in chunks))


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return any(getattr(types, f"is_{one}")(kind) for one in ("string", "large_string", "binary", "large_binary"))


def _plain(column: Any) -> Any:
    # Pandas writes categories as codes and a dictionary.
    is_dictionary = arrow().types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def _as_cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _as_entry(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else _as_cell(value)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
