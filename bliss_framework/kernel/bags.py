"""Bags: which row is in which bag, and sums over bags without Python loops."""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from bliss_framework.errors import DataError
from bliss_framework.kernel.read_only import read_only

# Of larger arrays so many bags are reduced at a time as take about as many bytes.
BLOCK_BYTES = 1 << 25


@frozen(eq=False, slots=False)
class Bags:
    """The partition of n rows into B bags.

    Attributes:
        ids: (B,) bag ids in order of first appearance, with the caller's own dtype.
        index: (n,) intp, the position in `ids` of each row's bag. Rows of a bag need not be contiguous.
        groups: (B,) intp, the group of each bag, such as the patient of a slide, or None where there are none. Bags of
            one group stay on one side of every split.

    >>> bags = Bags.from_ids(["z9", "a1", "z9"])
    >>> bags.ids.tolist(), bags.index.tolist(), bags.sizes.tolist()
    (['z9', 'a1'], [0, 1, 0], [2, 1])
    """

    ids: NDArray[Any] = field(converter=read_only)
    index: NDArray[np.intp] = field(converter=read_only)
    groups: NDArray[np.intp] | None = field(default=None, converter=read_only)

    @classmethod
    def from_ids(cls, ids: ArrayLike) -> "Bags":
        """Group rows by equal id.

        Args:
            ids: (n,) ints, strings or dates, one per row. The ids are names: any gap or order is fine.

        Raises:
            DataError: if `ids` is not one-dimensional, or an id is missing (None, NaN, NaT, or masked).
        """
        array = np.asarray(ids)
        if array.ndim != 1:
            raise DataError(f"Bag ids must be one-dimensional, one id per row; got an array of shape {array.shape}.")
        missing = is_missing(array) | np.ma.getmaskarray(ids) if np.ma.isMaskedArray(ids) else is_missing(array)
        if missing.any():
            raise DataError(f"Row {int(np.flatnonzero(missing)[0])} has no bag id; every row needs one.")
        if array.dtype == object:
            return cls._from_objects(array)
        unique, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        return cls(unique[order], rank[inverse])

    @classmethod
    def _from_objects(cls, array: NDArray[Any]) -> "Bags":
        # Mixed ids such as 7 and "7" cannot be sorted, and must stay different bags.
        seen: dict[Any, int] = {}
        index = np.fromiter((seen.setdefault(i, len(seen)) for i in array), dtype=np.intp, count=len(array))
        ids = np.empty(len(seen), dtype=object)
        ids[:] = list(seen)
        return cls(ids, index)

    @property
    def n_bags(self) -> int:
        """The number of bags B."""
        return len(self.ids)

    @property
    def n_rows(self) -> int:
        """The number of rows n."""
        return len(self.index)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """(B,) rows in each bag."""
        return np.bincount(self.index, minlength=self.n_bags)

    @cached_property
    def _order(self) -> NDArray[np.intp] | None:
        if (self.index[1:] >= self.index[:-1]).all():
            return None
        return np.argsort(self.index, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def _reduced(self, ufunc: np.ufunc, values: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
        """Reduce the rows of each bag to one: (n, ...) -> (B, ...), in a precision where one is said.

        Of many values some bags are reduced at a time: a copy of all in the order of bags may not fit into memory.
        """
        if values.nbytes <= BLOCK_BYTES:
            grouped = values if self._order is None else values[self._order]
            return ufunc.reduceat(grouped if dtype is None else grouped.astype(dtype), self._starts, axis=0)
        blocks = self._starts // max(1, BLOCK_BYTES * len(values) // values.nbytes)
        firsts = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        runs = zip(firsts, [*firsts[1:], self.n_bags], strict=True)
        return np.concatenate([self._reduced_run(ufunc, values, dtype, *run) for run in runs])

    def _reduced_run(self, ufunc: np.ufunc, values: NDArray[Any], dtype: Any, first: int, end: int) -> NDArray[Any]:
        """Reduce the bags from one position up to another."""
        starts = self._starts[first:end]
        rows = slice(starts[0], self.n_rows if end == self.n_bags else self._starts[end])
        run = values[rows if self._order is None else self._order[rows]]
        return ufunc.reduceat(run if dtype is None else run.astype(dtype), starts - starts[0], axis=0)

    def any(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say for each bag whether some row is set: (n, ...) bool -> (B, ...) bool.

        >>> Bags.from_ids([7, 7, 3]).any(np.array([False, True, False])).tolist()
        [True, False]
        """
        return self._reduced(np.logical_or, mask)

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up each bag: (n, ...) -> (B, ...)."""
        return self._reduced(np.add, values)

    def mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Average each bag: (n, ...) -> (B, ...)."""
        sizes = self.sizes.reshape(-1, *([1] * (values.ndim - 1)))
        return np.asarray(self._reduced(np.add, values, np.float64) / sizes)

    def max(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the largest value of each bag: (n, ...) -> (B, ...)."""
        return self._reduced(np.maximum, values)

    def min(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the smallest value of each bag: (n, ...) -> (B, ...)."""
        return self._reduced(np.minimum, values)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every row the value of its bag: (B, ...) -> (n, ...)."""
        return values[self.index]

    def ranks(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place (n,) of each value (n,) among those of its bag: 0 for the largest, ties in row order.

        >>> Bags.from_ids(["a", "b", "a"]).ranks(np.array([1.0, 5.0, 2.0])).tolist()
        [1, 0, 0]
        """
        order = np.lexsort((-values, self.index))
        ranks = np.empty(len(order), dtype=np.intp)
        ranks[order] = np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return ranks

    def rows_of(self, bags: NDArray[Any]) -> NDArray[np.intp]:
        """Find the rows of some bags, in row order.

        Args:
            bags: (b,) positions in `ids`.
        """
        chosen = np.zeros(self.n_bags, dtype=bool)
        chosen[bags] = True
        return np.flatnonzero(chosen[self.index])

    def take(self, rows: NDArray[np.intp]) -> tuple["Bags", NDArray[np.intp]]:
        """Keep some rows: the bags among them, and the position of each kept bag in `ids`.

        >>> kept, positions = Bags.from_ids(["a", "b", "c", "b"]).take(np.array([1, 2, 3]))
        >>> kept.ids.tolist(), kept.index.tolist(), positions.tolist()
        (['b', 'c'], [0, 1, 0], [1, 2])
        """
        kept = Bags.from_ids(self.index[rows])
        positions = kept.ids.astype(np.intp)
        groups = None if self.groups is None else self.groups[positions]
        return Bags(self.ids[positions], kept.index, groups), positions


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which of some values (n,) are missing: None, NaN, NaT or pandas' NA.

    >>> is_missing(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")).tolist()
    [False, True]
    """
    if values.dtype.kind in "fc":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype == object:
        # The comparisons of pandas' NA are neither true nor false.
        missing = (i is None or type(i).__name__ == "NAType" or i != i for i in values)
        return np.fromiter(missing, dtype=bool, count=len(values))
    return np.zeros(len(values), dtype=bool)
