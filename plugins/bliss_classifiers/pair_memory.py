"""Memory of classifiers that hold a table of all pairs of rows; `tests/benchmarks/bench_memory.py` measures it."""

import math

from bliss_framework.plugin import ProblemSize

DOUBLE = 8
SPARSE_ENTRY = 12  # A value and its column, of a product of sparse rows before it is made dense.
SVM_CACHE = 200_000_000  # libsvm keeps rows of the table in single precision, up to this.
MARGIN = 1.1


def smoother_memory(size: ProblemSize, itemsize: int) -> int:
    """Return what two tables, a factor and two smoothers take; `itemsize` is that of a number in them."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, itemsize)
    peaks = (new * n * n, itemsize * n * n + new * n * m, itemsize * (3 * n * n + 2 * n * m))
    return int(MARGIN * max(peaks)) + size.predictions


def least_squares_memory(size: ProblemSize, itemsize: int) -> int:
    """Return what a table, its copy and the factor take, or the table of the rows to score, which is of doubles."""
    n, m = size.n_train, size.n_heldout
    peaks = (max(_making(size, itemsize), 3 * itemsize) * n * n, _making(size, DOUBLE) * n * m)
    return int(MARGIN * max(peaks)) + size.rows + size.predictions


def svm_memory(size: ProblemSize) -> int:
    """Return what two tables take, and the cache of libsvm beside them."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, DOUBLE)
    peaks = (new * n * n, DOUBLE * n * n + new * n * m, DOUBLE * n * (n + m) + _cache(n))
    return int(MARGIN * max(peaks)) + size.predictions


def svm_final_memory(size: ProblemSize) -> int:
    """Return what a table takes with the cache of libsvm, or the table of the rows to score."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, DOUBLE)
    return int(MARGIN * max(new * n * n, DOUBLE * n * n + _cache(n), new * n * m)) + size.rows + size.predictions


def _making(size: ProblemSize, itemsize: int) -> int:
    """Return the bytes of a value while its table is made: products are of doubles, and converted in the end."""
    converted = itemsize if itemsize < DOUBLE else 0
    if not size.sparse:
        return DOUBLE + converted
    entries = size.row_bytes / SPARSE_ENTRY
    # Two rows with so many entries in random columns share one with this probability.
    shared = 1 - math.exp(-(entries**2) / max(size.n_columns, 1))
    return DOUBLE + max(round(SPARSE_ENTRY * shared), converted)


def _cache(n: int) -> int:
    return min(SVM_CACHE, 4 * n * n)
