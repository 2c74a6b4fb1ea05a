"""Rows that are read a block at a time: some rows of an array, in some order, scaled on the way."""

import math
import mmap
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import evolve, field, fields, frozen
from numpy.typing import DTypeLike, NDArray

from bliss_framework.kernel.rows import ALIKE, READ_ROWS, Rows

BLOCK_VALUES = 1 << 22  # In one block: 32 MB in double.
PASS_VALUES = 1 << 19  # In one block of a pass, which is the faster the less it leaves the processor's own memory.
MANY_VALUES = 1 << 24  # Of fewer a copy in double is no loss.

Transform = Callable[[NDArray[Any], DTypeLike], NDArray[Any]]


@frozen
class _MappedFile:
    """Where mapped rows are, so that another process maps them, too."""

    path: str = field()
    dtype: Any = field()
    offset: int = field()
    shape: tuple[int, ...] = field()
    order: Any = field()

    def opened(self) -> Any:
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape, self.order)


@frozen(eq=False, getstate_setstate=False)
class RowView:
    """Rows (n, d) of a dense array or a memory map that nobody has copied.

    Order, folds and scaling are views. Who can work in blocks never holds more than one of them; who needs all rows
    asks for `array`, which is made once for a view.

    Attributes:
        base: (N, d) array or memory map of float64 or float32; or a CSR matrix of which `transform` makes dense rows.
            Never changed.
        index: (n,) which of its rows, in which order.
        dtype: the precision of what is read.
        transform: makes of rows that were read those that are wanted, in a precision; what was read is its own to
            change. None leaves rows as they are.
        n_columns: of the rows that are wanted; None where they have those of the base.

    >>> view = RowView(np.array([[0.0], [1.0], [2.0]]), np.array([2, 0]))
    >>> view.array.tolist(), view.take(np.array([1])).array.tolist()
    ([[2.0], [0.0]], [[0.0]])
    """

    base: Any = field()
    index: NDArray[np.intp] = field()
    dtype: Any = field(default=np.dtype(np.float64), converter=np.dtype)
    transform: Transform | None = field(default=None)
    n_columns: int | None = field(default=None)
    is_sparse = False

    @classmethod
    def of(cls, rows: Rows) -> "RowView":
        """View all dense rows in their order."""
        return cls(rows.array, np.arange(rows.shape[0]), rows.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return len(self.index), int(self.base.shape[1]) if self.n_columns is None else self.n_columns

    @property
    def is_mapped(self) -> bool:
        """Whether rows are read from a file."""
        return isinstance(self.base, np.memmap)

    @cached_property
    def array(self) -> NDArray[Any]:
        """All rows, (n, d), in memory."""
        if 0 < self.shape[0] * self.shape[1] <= BLOCK_VALUES:
            [(_, block)] = numbered_blocks(self)
            return np.ascontiguousarray(block)
        whole = np.empty(self.shape, dtype=self.dtype)
        for place, block in numbered_blocks(self):
            whole[place] = block
        return whole

    def detached(self) -> "RowView":
        """Return the same rows without the others of the base, unless those stay in a file."""
        return self if self.is_mapped else self._by_itself()

    def _by_itself(self) -> "RowView":
        return evolve(self, base=np.asarray(self.base)[self.index], index=np.arange(len(self.index)))

    @property
    def _file(self) -> tuple[Any, ...] | None:
        """What a memory map was made with; None for arrays, and for parts of a map: they do not know where they are."""
        base = self.base
        if not isinstance(base, np.memmap) or not isinstance(base.base, mmap.mmap) or base.filename is None:
            return None
        return str(base.filename), base.dtype, base.offset, base.shape, "F" if base.flags.fnc else "C"

    def __getstate__(self) -> dict[str, Any]:
        """Keep the name of a mapped file instead of its content, and of a file without a name the rows of this view."""
        own = self._by_itself() if self.is_mapped and self._file is None else self
        state = {one.name: getattr(own, one.name) for one in fields(RowView)}
        return {**state, "base": _MappedFile(*own._file)} if own._file is not None else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Map the file again."""
        base = state["base"]
        opened = base.opened() if isinstance(base, _MappedFile) else base
        for name, value in {**state, "base": opened}.items():
            object.__setattr__(self, name, value)

    def take(self, rows: Any) -> "RowView":
        """Keep some rows: positions, a mask or a slice."""
        return evolve(self, index=self.index[rows])

    def mapped(self, function: Callable[[Any], NDArray[Any]], n_columns: int, dtype: DTypeLike) -> "RowView":
        """Return what a function makes of each block of rows (b, d): (b, n_columns), of a precision."""
        before = self.transform

        def both(read: Any, wanted: DTypeLike) -> NDArray[Any]:
            return function(read if before is None else before(read, self.dtype))

        return evolve(self, transform=both, n_columns=n_columns, dtype=dtype)

    def as_type(self, dtype: DTypeLike) -> "RowView":
        """Return the rows in another precision."""
        return self if self.dtype == np.dtype(dtype) else evolve(self, dtype=dtype)

    def in_stored_precision(self) -> "RowView":
        """Return rows as precise as the base, where there are so many of them that it matters."""
        return self if self.shape[0] * self.shape[1] <= MANY_VALUES else self.as_type(self.base.dtype)

    def blocks(self, size: int) -> Iterator[Rows]:
        """Read runs of at most `size` rows, in order."""
        for first in range(0, self.shape[0], size):
            yield self._read(self.index[first : first + size])
            # Rows that lie apart bring a run of pages each: those of a block can be many times what is read of them.
            self._let_go()

    def _let_go(self) -> None:
        """Let the system take back the pages of a mapped file: they count as this process's, and limits count them."""
        root = self.base
        while isinstance(root, np.ndarray):
            root = root.base
        if self.is_mapped and hasattr(root, "madvise"):
            root.madvise(mmap.MADV_DONTNEED)

    def _read(self, chosen: NDArray[np.intp]) -> Rows:
        # What is read from a memory map would have the type of a map.
        read = self.base[chosen] if sp.issparse(self.base) else np.asarray(self.base)[chosen]
        done = read if self.transform is None else self.transform(read, self.dtype)
        return Rows(done.astype(self.dtype, copy=False))

    def hashes(self) -> NDArray[np.uint64]:
        """Hash each row, (n,), as `Rows.hashes`."""
        return np.concatenate([block.hashes() for block in self.blocks(READ_ROWS)])

    def squared_norms(self) -> NDArray[Any]:
        """Return |x|^2 of each row, (n,)."""
        return np.concatenate([Rows(block).squared_norms() for _, block in numbered_blocks(self)])

    # Columns: with one block the bits are those of an array, with several those of sums that go on row after row.

    def column_means(self) -> NDArray[np.float64]:
        """Return the mean of each column, (d,), computed in double."""
        return self._column_sums(lambda values: values) / self.shape[0]

    def column_variances(self) -> NDArray[np.float64]:
        """Return the variance of each column, (d,), computed in double."""
        mean = self.column_means()

        def squared(values: NDArray[np.float64]) -> NDArray[np.float64]:
            deviations = values - mean
            return np.square(deviations, out=deviations)

        return self._column_sums(squared) / self.shape[0]

    def column_magnitudes(self) -> NDArray[Any]:
        """Return the largest absolute value of each column, (d,)."""
        return np.asarray(np.max([Rows(block).column_magnitudes() for _, block in numbered_blocks(self)], axis=0))

    def total_variance(self) -> float:
        """Return the sum of the variances of all columns, which is half the mean squared distance between rows."""
        return float(self.column_variances().sum())

    def gamma_by_distance(self, width: float) -> float:
        """Return `width` divided by half the mean squared distance between rows, as `Rows.gamma_by_distance`."""
        doubled = self.as_type(np.float64)
        variance = doubled.total_variance()
        return width / variance if variance > ALIKE * float(doubled.squared_norms().mean()) else width

    def times_powers_of_two(self, exponents: NDArray[np.integer]) -> "RowView":
        """Multiply each column by 2 to the power of its exponent (d,), without rounding."""
        before = self.transform

        def scaled(read: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
            rows = Rows(read if before is None else before(read, dtype)).as_type(dtype)
            return np.asarray(rows.times_powers_of_two(exponents).array)

        return evolve(self, transform=scaled)

    def _column_sums(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
        total = np.zeros(self.shape[1])
        for place, block in numbered_blocks(self.as_type(np.float64)):
            values = function(block)
            if place.start:
                values[0] += total
            total = values.sum(axis=0)
        return total


def rows_in_a_file(shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array (n, d) to be written to, in a temporary file that goes when the array does.

    Raises:
        OSError: there is no space for it where temporary files are (TMPDIR).
    """
    with TemporaryFile() as file:
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if n_bytes and hasattr(os, "posix_fallocate"):
            # Where the space ends while the map is written to, the process would be killed.
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        return np.memmap(file, dtype, "w+", shape=shape)


def numbered_blocks(rows: Rows | RowView, n_values: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Yield the place of each block of rows, and its array or CSR matrix.

    Args:
        rows: (n, d).
        n_values: about as many are in a block; None for `BLOCK_VALUES`.
    """
    n_stored = rows.shape[1]
    if isinstance(rows, Rows) and rows.is_sparse:
        n_stored = len(rows.buffers()[0]) // max(rows.shape[0], 1)
    size = max(1, (BLOCK_VALUES if n_values is None else n_values) // max(n_stored, 1))
    for number, block in enumerate(rows.blocks(size)):
        first = number * size
        yield slice(first, first + block.shape[0]), block.array


def as_rows(rows: Any) -> Rows | RowView:
    """Return rows as one of the two types that can be asked for blocks: an array or matrix becomes `Rows`."""
    return rows if isinstance(rows, Rows | RowView) else Rows(rows)


def for_passes(rows: Rows | RowView) -> Rows | RowView:
    """Return rows that will be read many times: scaled ones in memory, unless they are mapped from a file."""
    if isinstance(rows, Rows):
        return rows
    stored = rows.in_stored_precision()
    return stored if rows.is_mapped else Rows(stored.array)
