"""Rows that are written as `index:value`, with indices from 1."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, SettingsError, check_columns, check_size
from bliss_readers.tables.cell_table import as_number

LARGEST_INDEX = 2**31 - 1  # What SciPy numbers columns with.


@frozen(eq=False)
class SparseText:
    """The cells of sparse rows.

    Attributes:
        path: for messages.
        places: where each row is in the file, such as "line 2".
        rows: the cells of each row, such as "3:0.5".
    """

    path: Path = field()
    places: list[str] = field()
    rows: list[list[str]] = field()

    def matrix(self, n_features: int | None) -> sp.csr_matrix:
        """Return the rows as numbers.

        Args:
            n_features: the number of columns; None takes the largest index.

        Returns:
            (n, d) float64 CSR matrix with sorted indices.

        Raises:
            DataError: a cell is no index and number, an index is there twice, or beyond n_features.
        """
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for row, cells in enumerate(self.rows):
            entries = dict(self._entry(row, cell) for cell in cells)
            if len(entries) != len(cells):
                raise DataError(f"{self.path}, {self.places[row]}: an index is there twice; leave one of them out.")
            columns += entries
            values += entries.values()
            ends.append(len(columns))
        width = self._width(np.array(columns, dtype=np.int64), np.array(ends), n_features)
        rows = sp.csr_matrix((np.array(values, dtype=np.float64), columns, ends), shape=(len(self.rows), width))
        rows.sort_indices()
        return rows

    def _entry(self, row: int, cell: str) -> tuple[int, float]:
        index, _, value = cell.partition(":")
        try:
            if index.isdecimal() and 0 < int(index) <= LARGEST_INDEX and value:
                return int(index) - 1, as_number(value)
        except ValueError:
            pass
        raise DataError(
            f"{self.path}, {self.places[row]}: {cell!r} is no index:value; allowed are indices from 1 to "
            f"{LARGEST_INDEX}, each with a number."
        )

    def _width(self, columns: NDArray[np.int64], ends: NDArray[np.int64], n_features: int | None) -> int:
        largest = int(columns.max(initial=-1)) + 1
        if n_features is not None and largest > n_features:
            row = int(np.searchsorted(ends, int(np.argmax(columns)), side="right")) - 1
            raise DataError(
                f"{self.path}, {self.places[row]}: index {largest}, but n_features is {n_features}; it must be "
                f"{largest} or more, as many as the widest of the files that belong together."
            )
        if not largest and n_features is None:
            raise DataError(f"{self.path} has no features: every row is empty.")
        check_columns(self.path, largest)
        return largest if n_features is None else n_features


def dense_rows(path: Path, rows: sp.csr_matrix) -> NDArray[np.float64]:
    """Return sparse rows of a file as an array (n, d).

    Raises:
        DataError: the array would take more memory than a file of this size may.
    """
    check_size(path, rows.shape[0] * rows.shape[1] * rows.dtype.itemsize)
    return np.asarray(rows.toarray())


def check_n_features(n_features: int | None) -> None:
    """Refuse a number of columns that is none.

    Raises:
        SettingsError: naming the option.
    """
    if n_features is not None and (not isinstance(n_features, int) or isinstance(n_features, bool) or n_features < 1):
        raise SettingsError(f"n_features is {n_features!r}; allowed is a whole number from 1.")
