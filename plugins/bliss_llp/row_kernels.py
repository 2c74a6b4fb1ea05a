"""Kernels between rows, dense or sparse, in units of the data's own spread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from bliss_framework.plugin import Rows


def mean_square(rows: Any) -> float:
    """Return the mean squared length of rows (n, d), or 1 where all are 0."""
    return Rows(rows).mean_square()


def rbf_gamma(rows: Any, width: float) -> float:
    """Return gamma of exp(-gamma |x - z|^2): `width` divided by half the mean squared distance between rows (n, d)."""
    return Rows(rows).gamma_by_distance(width)


def kernel_matrix(rows: Any, others: Any, gamma: float | None) -> NDArray[np.float64]:
    """Return a dense kernel matrix (n, m): RBF, or inner products where gamma is None."""
    if gamma is None:
        return np.asarray(linear_kernel(rows, others, dense_output=True))
    return np.asarray(rbf_kernel(rows, others, gamma=gamma))
