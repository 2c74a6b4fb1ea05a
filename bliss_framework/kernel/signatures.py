"""Signatures of rows that depend on which values are equal, larger or smaller, not on units or the order of columns.

Each column is reduced to levels: 0 for its smallest value, 1 for the next one, and so on. Multiplying a column by a
positive number or adding one to it changes no level. Signatures are sums over columns, whose weights are themselves
sums over rows, so that neither an order of rows nor one of columns enters (as in the colour refinement of graphs by
Weisfeiler and Leman, 1968). Constant columns and repetitions of a column are left out.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows, mixed

MOST_VALUES = 1 << 24  # Sorting more of them would take longer than it is worth.
BLOCK = 1 << 15  # Values that are sorted or mixed at a time: the 40 bytes that each of them takes stay in the cache.
KEPT = 1 << 18  # Keys that are kept, because all sums are made of them; of more of them there is a block at a time.
ODD = np.uint64(1)

Keys = NDArray[np.uint64]


def row_signatures(rows: Rows | RowView) -> Keys | None:
    """Return a signature (n,) of each row; None where there are too many values to sort.

    Equal rows have equal signatures. Different ones have different signatures, but for chance and where exchanging
    columns would exchange the rows.

    >>> X = np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]])
    >>> same = row_signatures(Rows(np.c_[1000 * X[:, 1] + 5, X[:, 0], np.ones(3)]))
    >>> np.array_equal(row_signatures(Rows(X)), same)
    True
    """
    n_values = len(rows.array.data) if rows.is_sparse else rows.shape[0] * rows.shape[1]
    if n_values > MOST_VALUES:
        return None
    levels: DenseLevels | SparseLevels = SparseLevels(rows.array) if rows.is_sparse else DenseLevels(rows.array)
    # Columns with equal keys are repetitions, whatever the order of rows; a constant one says nothing.
    keys = levels.over_rows(np.random.default_rng(0).integers(1, 2**63, rows.shape[0], dtype=np.uint64) * 2 + ODD)
    kept = np.zeros(rows.shape[1], dtype=bool)
    kept[np.unique(keys, return_index=True)[1]] = True
    kept &= ~levels.constant
    first = levels.over_columns(kept.astype(np.uint64))
    weights = np.where(kept, mixed(levels.over_rows(mixed(first) | ODD)) | ODD, np.uint64(0))
    return levels.over_columns(weights)


class DenseLevels:
    """The levels of an array (n, d), as keys with which sums are made modulo 2^64."""

    def __init__(self, array: NDArray[np.floating]) -> None:
        # Column by column, because sorting is faster where the values of a column lie beside each other.
        self.codes = np.empty(array.shape[::-1], dtype=np.uint32)
        step = max(1, BLOCK // max(array.shape[0], 1))
        for first in range(0, array.shape[1], step):
            columns = np.ascontiguousarray(array[:, first : first + step].T)
            # Equal values have one level, in whatever order they come, so the fastest way of sorting will do.
            order = np.argsort(columns, axis=1)
            # By position in the whole block, which is much faster than by row and column.
            order += (np.arange(len(columns)) * columns.shape[1])[:, None]
            ordered = columns.take(order)
            levels = np.zeros(columns.shape, dtype=np.uint32)
            np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=levels[:, 1:])
            self.codes[first : first + step].put(order, levels)
        self.constant = ~self.codes.any(axis=1)
        self.kept = _keys(self.codes) if self.codes.size <= KEPT else None

    def over_rows(self, weights: Keys) -> Keys:
        """Add up the keys of each column, weighted by row: (n,) -> (d,)."""
        return _summed(self.codes, weights) if self.kept is None else self.kept @ weights

    def over_columns(self, weights: Keys) -> Keys:
        """Add up the keys of each row, weighted by column: (d,) -> (n,)."""
        return _summed(self.codes.T, weights) if self.kept is None else self.kept.T @ weights


def _summed(codes: NDArray[np.uint32], weights: Keys) -> Keys:
    parts = [_keys(codes[part]) @ weights for part in _parts(codes)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)


class SparseLevels:
    """The levels of a CSR matrix (n, d): a key for the zeros of each column, and what stored values differ by."""

    def __init__(self, matrix: Any) -> None:
        n, d = matrix.shape
        stored = matrix.tocoo()
        filled = stored.data != 0
        row, column, values = stored.row[filled], stored.col[filled], stored.data[filled]
        order = np.lexsort((values, column))
        row, column, values = row[order], column[order], values[order]
        starts = np.ones(len(column), dtype=bool)
        starts[1:] = column[1:] != column[:-1]
        grows = starts.copy()
        grows[1:] |= values[1:] != values[:-1]
        number = np.cumsum(grows) - 1
        counts = np.bincount(column, minlength=d)
        first = np.zeros(d, dtype=np.intp)
        first[column[starts]] = number[starts]
        code = number - first[column]
        below = np.bincount(column[grows & (values < 0)], minlength=d)
        has_zeros = counts < n
        code += (values > 0) & has_zeros[column]
        n_levels = np.bincount(column[grows], minlength=d) + has_zeros
        self.constant = n_levels <= 1
        self.zeros = _keys(below.astype(np.uint32))
        excess = _keys(code.astype(np.uint32)) - self.zeros[column]
        self.excess = sp.csr_array((excess, (row, column)), shape=(n, d))

    def over_rows(self, weights: Keys) -> Keys:
        """Add up the keys of each column, weighted by row: (n,) -> (d,)."""
        return np.asarray(self.zeros * weights.sum(dtype=np.uint64) + self.excess.T @ weights)

    def over_columns(self, weights: Keys) -> Keys:
        """Add up the keys of each row, weighted by column: (d,) -> (n,)."""
        return np.asarray((self.zeros * weights).sum(dtype=np.uint64) + self.excess @ weights)


def _keys(codes: NDArray[np.uint32]) -> Keys:
    keys = np.empty(codes.shape, dtype=np.uint64)
    for part in _parts(codes):
        # A level of 0 has a key, too.
        keys[part] = mixed(codes[part].astype(np.uint64) + ODD)
    return keys


def _parts(codes: NDArray[np.uint32]) -> list[slice]:
    """Cut a table into runs of rows with about `BLOCK` values, or the elements of a vector."""
    step = max(1, BLOCK * len(codes) // max(codes.size, 1))
    return [slice(first, first + step) for first in range(0, len(codes), step)]
