"""Memory of classifiers: of tables of all pairs of rows, of features, of sums.

`tests/benchmarks/bench_memory.py` measures it.
"""

import math

from bliss_framework.plugin import FEATURES_KEPT, ProblemSize

DOUBLE = 8
SPARSE_ENTRY = 12  # A value and its column, of a product of sparse rows before it is made dense.
SVM_CACHE = 200_000_000  # libsvm keeps rows of the table in single precision, up to this.
SINGLE = 4
BLOCKS = 3 * (1 << 22) * DOUBLE  # What is made of a block of rows on its way through a sum.
MARGIN = 1.1


def smoother_memory(size: ProblemSize, itemsize: int) -> int:
    """Return what two tables, a factor and an inverse take; `itemsize` is that of a number in them."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, itemsize)
    peaks = (new * n * n, itemsize * n * n + new * n * m, itemsize * (3 * n * n + n * m))
    return int(MARGIN * max(peaks)) + size.rows + size.predictions


def least_squares_memory(size: ProblemSize, itemsize: int) -> int:
    """Return what a table, its copy and the factor take, or the table of the rows to score, which is of doubles."""
    n, m = size.n_train, size.n_heldout
    peaks = (max(_making(size, itemsize), 3 * itemsize) * n * n, _making(size, DOUBLE) * n * m)
    return int(MARGIN * max(peaks)) + 2 * size.rows + size.predictions


def svm_memory(size: ProblemSize) -> int:
    """Return what two tables take, and the cache of libsvm beside them."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, DOUBLE)
    peaks = (new * n * n, DOUBLE * n * n + new * n * m, DOUBLE * n * (n + m) + _cache(n))
    return int(MARGIN * max(peaks)) + size.rows + size.predictions


def svm_final_memory(size: ProblemSize) -> int:
    """Return what a table takes with the cache of libsvm, or the table of the rows to score."""
    n, m = size.n_train, size.n_heldout
    new = _making(size, DOUBLE)
    return int(MARGIN * max(new * n * n, DOUBLE * n * n + _cache(n), new * n * m)) + 2 * size.rows + size.predictions


def sums_memory(size: ProblemSize, n_features: int) -> int:
    """Return what sums over blocks of rows take, with as many unknowns as there are features."""
    few = min(BLOCKS, 3 * DOUBLE * size.n_rows * max(n_features, size.n_columns))
    # Five tables at most, and of each other fold the sums and the factor.
    tables = 5 + 2 * (size.n_folds - 1)
    return int(MARGIN * tables * DOUBLE * n_features**2) + few + size.predictions


def features_memory(size: ProblemSize, n_landmarks: int) -> int:
    """Return what the features of all rows take, of which those of rows in a file may be in one too, and their sums."""
    held = SINGLE * size.n_rows * n_landmarks
    held = min(held, FEATURES_KEPT) if size.mapped else held
    return int(MARGIN * held) + sums_memory(size, n_landmarks)


def liblinear_memory(size: ProblemSize, n_landmarks: int = 0) -> int:
    """Return what features, or rows, take, and the copy in double that LIBLINEAR makes of those that it trains on."""
    if not n_landmarks:
        return 3 * size.rows + size.predictions
    held = SINGLE * size.n_rows * n_landmarks + (DOUBLE + SINGLE) * size.n_train * n_landmarks
    return int(MARGIN * held) + BLOCKS + size.predictions


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
