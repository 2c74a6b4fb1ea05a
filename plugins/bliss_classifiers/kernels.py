"""Kernels between rows, dense or sparse, with a width that follows the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Rows, rbf_kernel as rbf_kernel

# An RBF Gram matrix of n rows has eigenvalues up to n, so with this ridge its condition stays below 1e6 at 10,000 rows.
SINGLE_FROM = 0.01


def rbf_gamma(X: Any, width: float | str) -> float:
    """Return gamma of exp(-gamma |x - z|^2): `width` divided by half the mean squared distance between rows.

    Half the mean squared distance is the total variance, so no distances are computed. "scale" means width 1, which for
    standardised columns is scikit-learn's gamma="scale".

    >>> rbf_gamma(np.array([[0.0], [2.0]]), "scale")
    1.0
    """
    rows = X if hasattr(X, "gamma_by_distance") else Rows(X)
    return float(rows.gamma_by_distance(1.0 if width == "scale" else float(width)))


def linear_kernel(X: Any, Z: Any) -> NDArray[np.float64]:
    """Return the dense matrix of inner products (n, m), computed in double."""
    return Rows(X).as_type(np.float64).products(Rows(Z).as_type(np.float64).array)


def precision(ridge: float) -> Any:
    """Return the dtype that least squares with this ridge needs: single is twice as fast, and exact enough for most."""
    return np.float32 if ridge >= SINGLE_FROM else np.float64
