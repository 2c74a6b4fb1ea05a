"""Parquet files as tables."""

from collections.abc import Sequence
from pathlib import Path
from re import fullmatch
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, needed
from bliss_readers.tables.cell_table import CellTable, as_number, unique_header
from bliss_readers.tables.label_column import SET_DELIMITER

PARQUET_SUFFIXES = (".parquet", ".pq")
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
        return self._joined(name, values) if self.holds_lists(name) else [_as_cell(value) for value in values]

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns as numbers (n, d)."""
        numbers = np.empty((len(self.columns[self.header[0]]), len(names)))
        for position, name in enumerate(names):
            numbers[:, position] = self._numbers(name)
        return numbers

    def place(self, row: int) -> str:
        """Return the number of a row, from 1."""
        return f"row {row + 1}"

    def holds_lists(self, name: str) -> bool:
        """Say whether a column is of lists."""
        return bool(self._is(name, "list", "large_list", "fixed_size_list"))

    def _is(self, name: str, *kinds: str) -> bool:
        types, kind = arrow().types, self.columns[name].type
        return any(getattr(types, f"is_{one}")(kind) for one in kinds)

    def _numbers(self, name: str) -> NDArray[np.float64]:
        if self._is(name, "integer", "floating", "boolean", "decimal", "null"):
            # Rounding to float64 is what every reader does; Arrow alone calls it an error.
            return np.asarray(self.columns[name].cast("float64", safe=False).to_numpy(), dtype=np.float64)
        if self.holds_lists(name):
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

    def _joined(self, name: str, values: list[Any]) -> list[str]:
        cells = [[_as_cell(one) for one in value or ()] for value in values]
        for row, entries in enumerate(cells):
            for entry in entries:
                if SET_DELIMITER in entry:
                    raise DataError(f'{self.at(row, name)}: {entry!r} holds a "|", which separates names; rename it.')
        return [SET_DELIMITER.join(entries) for entries in cells]


def arrow() -> Any:
    """Import pyarrow, with its module for Parquet, or say in one sentence how to install it (MissingExtraError)."""
    needed("pyarrow.parquet", "files", "Parquet files need")
    return needed("pyarrow", "files", "Parquet files need")


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
            table = package.parquet.ParquetFile(file).read()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (package.ArrowException, ValueError) as error:
        raise DataError(f"{path} is damaged or no Parquet file ({_one_line(error)}); copy or make it again.") from error
    if not table.num_rows:
        raise DataError(f"{path} has no rows.")
    unique_header(path, table.column_names)
    columns = {
        name: _plain(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
        if not fullmatch(_PANDAS_INDEX, name)
    }
    if not columns:
        raise DataError(f"{path} has no columns; allowed are one for the bag and at least one feature.")
    return ParquetTable(path, list(columns), columns)


def _plain(column: Any) -> Any:
    # Pandas writes categories as codes and a dictionary.
    is_dictionary = arrow().types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def _as_cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
