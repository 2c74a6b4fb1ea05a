"""Rows of a data set, and the one place that asks whether they are dense, sparse or memory-mapped.

Data sets and folds hold plain arrays. Whoever computes with them wraps them: `Rows(part.X).squared_norms()`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import DTypeLike, NDArray

from bliss_framework.kernel.bags import Bags

# Rows whose total variance is so small a part of their mean square differ by rounding only.
ALIKE = 1e-12
# The power of two up to which sums of squares are finite, and from whose inverse on they are exact.
ORDINARY = 400
# Kernel values in one block of `kernel_blocks`; 4 million of them are 32 MB.
BLOCK = 4_000_000
# Rows that are read at a time where a computation needs several times their memory.
READ_ROWS = 4096
HASHED = 1 << 14  # Values that are hashed at a time.

_MIX = np.uint64(0x9E3779B97F4A7C15)


@frozen(eq=False)
class Rows:
    """Rows (n, d) of numbers: a dense array, a CSR matrix or an array that is mapped from a file.

    Nothing changes the array. What gives rows returns `Rows`, what gives numbers returns arrays; results are of the
    precision of the rows, so that float32 stays float32, where nothing else is said. Mapped rows are read a part at a
    time and never copied as a whole, except by what returns new values for all of them.

    Attributes:
        array: (n, d) array, memory map or CSR matrix.

    >>> rows = Rows(sp.csr_matrix([[0.0, 2.0], [1.0, 0.0]]))
    >>> rows.is_sparse, rows.shape, rows.squared_norms().tolist()
    (True, (2, 2), [4.0, 1.0])
    """

    array: Any = field()

    @classmethod
    def stacked(cls, parts: Sequence[Any]) -> "Rows":
        """Put arrays or matrices with the same columns one below the other; sparse where one of them is."""
        if any(sp.issparse(part) for part in parts):
            return cls(sp.vstack(parts, format="csr"))
        return cls(np.vstack(parts))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        n, d = self.array.shape
        return n, d

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
        return bool(sp.issparse(self.array))

    @property
    def is_mapped(self) -> bool:
        """Whether the array is a memory map."""
        return isinstance(self.array, np.memmap)

    # Parts and forms

    def take(self, rows: Any) -> "Rows":
        """Keep some rows: positions, a mask or a slice (a slice of dense rows is a view)."""
        return Rows(self.array[rows])

    def blocks(self, size: int) -> Iterator["Rows"]:
        """Cut rows into runs of at most `size`, in order; dense ones are views."""
        return (self.take(slice(start, start + size)) for start in range(0, self.shape[0], size))

    def columns(self, kept: NDArray[np.intp]) -> "Rows":
        """Keep some columns, by position."""
        return Rows(self.array[:, kept])

    def as_type(self, dtype: DTypeLike) -> "Rows":
        """Return rows of a precision, the same ones where they have it."""
        return Rows(self.array.astype(dtype, copy=False))

    def dense(self) -> NDArray[Any]:
        """Return a dense array (n, d)."""
        return np.asarray(self.array.toarray() if self.is_sparse else self.array)

    def buffers(self) -> list[NDArray[Any]]:
        """Return the arrays that make up the rows: one, or the three of a CSR matrix."""
        if not self.is_sparse:
            return [self.array]
        return [self.array.data, self.array.indices, self.array.indptr]

    def canonical(self) -> "Rows":
        """Return a CSR matrix as float64 with sorted indices, none twice, of 32 bits where they fit; else the rows.

        What is changed is a copy: solvers would do it in the caller's own matrix, and many refuse 64-bit indices.
        """
        if not self.is_sparse:
            return self
        matrix = sp.csr_matrix(self.array).astype(np.float64, copy=False)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return Rows(_with_narrow_indices(matrix))

    # Sums and products

    def products(self, others: Any) -> NDArray[Any]:
        """Return the inner products (n, m) with other rows (m, d), array or CSR matrix, as a dense array."""
        return _as_dense(self.array @ others.T)

    def weighted_gram(self, weights: NDArray[np.floating]) -> NDArray[Any]:
        """Return the weighted sum of the outer products of rows: X' diag(weights) X, (d, d), as a dense array."""
        column = weights[:, None]
        weighted = self.array.multiply(column).tocsr() if self.is_sparse else self.array * column
        return _as_dense(self.array.T @ weighted)

    def squared_norms(self) -> NDArray[Any]:
        """Return |x|^2 of each row, (n,)."""
        if self.is_sparse:
            return np.asarray(self._squares().sum(axis=1)).ravel()
        return np.asarray(np.einsum("ij,ij->i", self.array, self.array))

    def sum_of_squares(self) -> float:
        """Return the sum of all squared values, added up in double."""
        if self.is_sparse:
            return float(self._squares().sum())
        return float(np.einsum("ij,ij->", self.array, self.array, dtype=np.float64))

    def mean_square(self) -> float:
        """Return the mean squared length of rows, or 1 where all are 0: a unit for inner products."""
        return float(self._squares().sum()) / self.shape[0] or 1.0

    def _squares(self) -> Any:
        """Return all values squared: of sparse rows in a time that does not depend on the number of columns."""
        if not self.is_sparse:
            return np.square(self.array)
        return self.array.power(2) if self.array.has_canonical_format else self.array.multiply(self.array)

    # Columns

    def column_means(self) -> NDArray[Any]:
        """Return the mean of each column, (d,)."""
        return np.asarray(self.array.mean(axis=0)).ravel()

    def column_variances(self) -> NDArray[np.float64]:
        """Return the variance of each column, (d,), computed in double."""
        if self.is_sparse:
            return _sparse_variances(self.array)
        if not self.is_mapped:
            return np.asarray(self.array.var(axis=0, dtype=np.float64))
        mean = np.asarray(self.array.mean(axis=0, dtype=np.float64))
        total = np.zeros(self.shape[1])
        for block in self.blocks(READ_ROWS):
            squares = np.square(block.array - mean)
            squares[0] += total  # Row after row, as one sum over all of them would go.
            total = squares.sum(axis=0)
        return np.asarray(total / self.shape[0])

    def column_ranges(self) -> NDArray[Any]:
        """Return the largest less the smallest value of each column, (d,)."""
        return _flat(self.array.max(axis=0) - self.array.min(axis=0))

    def column_magnitudes(self) -> NDArray[Any]:
        """Return the largest absolute value of each column, (d,)."""
        return np.asarray(np.maximum(_flat(self.array.max(axis=0)), -_flat(self.array.min(axis=0))))

    def total_variance(self) -> float:
        """Return the sum of the variances of all columns, which is half the mean squared distance between rows."""
        if not self.is_sparse:
            return float(self.column_variances().sum())
        # In one pass over the matrix: where columns are many, variances of their own would be a matrix of their size.
        mean = self.column_means()
        return float(self.squared_norms().mean()) - float(mean @ mean)

    def value_variance(self) -> float:
        """Return the variance of all n * d values, whatever their column."""
        if not self.is_sparse:
            return float(self.array.var())
        return float(self._squares().mean()) - float(self.array.mean()) ** 2

    # Widths of an RBF kernel exp(-gamma |x - z|^2)

    def gamma_by_distance(self, width: float) -> float:
        """Return `width` divided by half the mean squared distance between rows, so no distances are computed.

        Rows that are all alike differ by rounding only, and any gamma does: it is `width` there.

        >>> Rows(np.array([[0.0], [2.0]])).gamma_by_distance(1.0)
        1.0
        """
        doubled = self.as_type(np.float64)
        variance = doubled.total_variance()
        return width / variance if variance > ALIKE * float(doubled.squared_norms().mean()) else width

    def gamma_by_values(self) -> float:
        """Return 1 / (d times the variance of all n * d values), which scikit-learn calls gamma="scale".

        It differs from `gamma_by_distance(1)` where columns have different means. It is 1 where all values are alike.

        >>> Rows(np.array([[0.0, 2.0], [2.0, 0.0]])).gamma_by_values()
        0.5
        """
        n, d = self.shape
        variance = self.value_variance()
        return 1.0 / (d * variance) if variance > ALIKE * self.sum_of_squares() / (n * d) else 1.0

    # Scaling

    def standardised(self, mean: NDArray[Any], factor: NDArray[Any], own: bool = False) -> "Rows":
        """Subtract the mean of each column (d,) and multiply by a factor (d,); sparse rows are multiplied only.

        If the rows are the caller's `own`, a dense array is changed itself.
        """
        if self.is_sparse:
            return Rows(self.array @ sp.diags(factor))
        centred = np.subtract(self.array, mean, out=self.array if own else None)
        return Rows(np.multiply(centred, factor, out=centred))

    def clipped(self, limit: float, own: bool = False) -> "Rows":
        """Limit values to -limit .. limit; of the caller's `own` rows a dense array is changed itself."""
        if not self.is_sparse:
            return Rows(np.clip(self.array, -limit, limit, out=self.array if own else None))
        matrix = sp.csr_matrix(self.array)
        return Rows(sp.csr_matrix((np.clip(matrix.data, -limit, limit), matrix.indices, matrix.indptr), matrix.shape))

    def times_powers_of_two(self, exponents: NDArray[np.integer]) -> "Rows":
        """Multiply each column by 2 to the power of its exponent (d,), without rounding."""
        with np.errstate(over="ignore"):
            if not self.is_sparse:
                return Rows(np.ldexp(self.array, exponents))
            matrix = sp.csr_matrix(self.array)
            data = np.ldexp(matrix.data, exponents[matrix.indices])
        return Rows(sp.csr_matrix((data, matrix.indices, matrix.indptr), matrix.shape))

    def of_unit_length(self) -> "Rows":
        """Divide each row by its Euclidean length; rows of zeros stay as they are.

        >>> Rows(np.array([[3e300, 4e300], [0.0, 5e-324], [0.0, 0.0]])).of_unit_length().array.tolist()
        [[0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]
        """
        with np.errstate(over="ignore", under="ignore"):
            lengths = self._lengths()
        extreme = np.flatnonzero(~((lengths > 2.0**-ORDINARY) & (lengths < 2.0**ORDINARY)))
        if len(extreme):
            # Their squares overflow or vanish, unless they are brought near 1 first.
            exponents = np.zeros(self.shape[0], dtype=np.intc)
            largest = abs(self.array[extreme]).max(axis=1)
            exponents[extreme] = -np.frexp(_flat(largest))[1]
            rows = Rows(self.array.T).times_powers_of_two(exponents).array.T
            rows = Rows(rows.tocsr() if self.is_sparse else np.ascontiguousarray(rows))
            return rows._divided(rows._lengths())
        return self._divided(lengths)

    def _lengths(self) -> NDArray[Any]:
        """Return the Euclidean length of each row, (n,)."""
        if self.is_sparse:
            return np.asarray(np.sqrt(self.squared_norms()))
        return np.asarray(np.linalg.norm(self.array, axis=1))

    def _divided(self, lengths: NDArray[Any]) -> "Rows":
        divisors = np.where(lengths > 0, lengths, 1.0)
        if self.is_sparse:
            return Rows(sp.csr_matrix(sp.diags(1.0 / divisors) @ self.array))
        return Rows(self.array / divisors[:, None])

    # Bags

    def bag_means(self, bags: Bags) -> "Rows":
        """Average each bag: rows (B, d), sparse where these are."""
        if not self.is_sparse:
            return Rows(bags.mean(self.array))
        shape = (bags.n_bags, bags.n_rows)
        averaging = sp.csr_matrix((1.0 / bags.sizes[bags.index], (bags.index, np.arange(bags.n_rows))), shape=shape)
        return Rows(averaging @ self.array)

    def bag_extremes(self, bags: Bags) -> "Rows":
        """Put the smallest and the largest value of each column of a bag side by side: rows (B, 2 d).

        >>> Rows(np.array([[1.0, 5.0], [3.0, 4.0]])).bag_extremes(Bags.from_ids([7, 7])).array.tolist()
        [[1.0, 4.0, 3.0, 5.0]]
        """
        if not self.is_sparse:
            return Rows(np.hstack([bags.min(self.array), bags.max(self.array)]))
        return Rows(sp.hstack([-_sparse_maxima(-self.array, bags), _sparse_maxima(self.array, bags)], format="csr"))

    # Contents

    def hashes(self) -> NDArray[np.uint64]:
        """Hash each row, (n,): a sum of its values' mixed bits times a random odd number for each column, modulo 2^64.

        Equal rows have equal hashes, and 0 and -0 are equal. Dense and sparse rows hash differently.
        """
        draws = np.random.default_rng(20140901).integers(1, 2**63, self.shape[1], dtype=np.uint64)
        multipliers = draws * np.uint64(2) + np.uint64(1)
        if not self.is_sparse:
            blocks = self.blocks(max(1, HASHED // max(self.shape[1], 1)))  # Whose bits stay in the cache.
            return np.concatenate([mixed(_bits(block.array)) @ multipliers for block in blocks])
        products = mixed(_bits(self.array.data)) * multipliers[self.array.indices]
        prefix = np.zeros(len(products) + 1, dtype=np.uint64)
        np.cumsum(products, out=prefix[1:])
        return np.asarray(prefix[self.array.indptr[1:]] - prefix[self.array.indptr[:-1]])

    def first_not_finite(self) -> tuple[int, int, float] | None:
        """Find the first value that is NaN or infinite: its row, its column and the value, or None."""
        values = self.array.data if self.is_sparse else self.array
        # One sum needs no memory of its own, and is finite for all but rows that have something to hide.
        with np.errstate(over="ignore", invalid="ignore"):
            total = values.sum(dtype=np.float64)
        if np.isfinite(total) or np.isfinite(values).all():
            return None
        if not self.is_sparse:
            row, column = (int(i) for i in np.argwhere(~np.isfinite(self.array))[0])
            return row, column, float(self.array[row, column])
        entries = self.array.tocoo()
        at = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        return int(entries.row[at]), int(entries.col[at]), float(entries.data[at])


def kernel_blocks(n: int, m: int) -> Iterator[slice]:
    """Cut n rows into blocks that have about `BLOCK` kernel values with m others.

    >>> list(kernel_blocks(3, BLOCK // 2))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, BLOCK // max(m, 1))
    return (slice(first, first + step) for first in range(0, n, step))


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit of some keys over all their bits, modulo 2^64."""
    spread = keys ^ (keys >> np.uint64(29))
    spread *= _MIX
    spread ^= spread >> np.uint64(32)
    return spread


def _bits(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    # Adding 0.0 makes -0.0 and 0.0 the same bits.
    return np.ascontiguousarray(values.astype(np.float64) + 0.0).view(np.uint64)


def _as_dense(product: Any) -> NDArray[Any]:
    return np.asarray(product.todense() if sp.issparse(product) else product)


def _flat(row: Any) -> NDArray[Any]:
    return _as_dense(row).ravel()


def _with_narrow_indices(matrix: Any) -> Any:
    limit = np.iinfo(np.int32).max
    narrow = matrix.indices.dtype == np.int32 and matrix.indptr.dtype == np.int32
    if narrow or max(matrix.nnz, *matrix.shape) > limit:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=matrix.shape)


def _sparse_variances(matrix: Any) -> NDArray[np.float64]:
    """Sum squared differences from the mean, those of zeros as well.

    The difference of two mean squares would be noise in a column that is constant but not 0.
    """
    n, d = matrix.shape
    columns, values = matrix.indices, matrix.data.astype(np.float64, copy=False)
    mean = np.bincount(columns, values, d) / n
    n_zeros = n - np.bincount(columns, minlength=d)
    differences = values - mean[columns]
    # What rounding left of the sum of differences, which is 0, is taken off again (Chan, Golub and LeVeque, 1983).
    left = np.bincount(columns, differences, d) - n_zeros * mean
    return np.asarray((np.bincount(columns, differences**2, d) + n_zeros * mean**2 - left**2 / n) / n)


def _sparse_maxima(rows: Any, bags: Bags) -> Any:
    entries = rows.tocoo()
    keys = bags.index[entries.row] * np.int64(rows.shape[1]) + entries.col
    order = np.argsort(keys, kind="stable")
    cells, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    bag, column = np.divmod(cells, rows.shape[1])
    values = entries.data[order]
    largest = np.maximum.reduceat(values, starts) if len(starts) else values
    # A cell that some row of the bag does not store holds a 0 there.
    largest = np.where(counts < bags.sizes[bag], np.maximum(largest, 0.0), largest)
    found = sp.csr_matrix((largest, (bag, column)), shape=(bags.n_bags, rows.shape[1]))
    found.eliminate_zeros()
    return found
