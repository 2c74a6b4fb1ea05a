"""Kernels between rows, dense or sparse, in units of the data's own spread."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

# Kernel values in one block; 4 million of them are 32 MB.
BLOCK = 4_000_000


def mean_square(rows: Any) -> float:
    """Return the mean squared length of rows (n, d), or 1 where all are 0."""
    squares = rows.multiply(rows) if issparse(rows) else np.square(rows)
    return float(squares.sum()) / rows.shape[0] or 1.0


def rbf_gamma(rows: Any, width: float) -> float:
    """Return gamma of exp(-gamma |x - z|^2): `width` divided by half the mean squared distance between rows (n, d)."""
    size, mean = mean_square(rows), np.asarray(rows.mean(axis=0)).ravel()
    variance = size - float(mean @ mean) if issparse(rows) else float(rows.var(axis=0).sum())
    # Rows that are all alike differ by rounding only, and any gamma does.
    return width / variance if variance > 1e-12 * size else width


def kernel_matrix(rows: Any, others: Any, gamma: float | None) -> NDArray[np.float64]:
    """Return a dense kernel matrix (n, m): RBF, or inner products where gamma is None."""
    if gamma is None:
        return np.asarray(linear_kernel(rows, others, dense_output=True))
    return np.asarray(rbf_kernel(rows, others, gamma=gamma))


def row_blocks(n: int, m: int) -> Iterator[slice]:
    """Cut n rows into blocks that have about `BLOCK` kernel values with m others."""
    step = max(1, BLOCK // max(m, 1))
    return (slice(first, first + step) for first in range(0, n, step))
