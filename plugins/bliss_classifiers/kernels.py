"""Kernels between rows, dense or sparse, with a width that follows the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor

from bliss_framework.plugin import DataError, Rows

# An RBF Gram matrix of n rows has eigenvalues up to n, so with this ridge its condition stays below 1e6 at 10,000 rows.
SINGLE_FROM = 0.01


def rbf_gamma(X: Any, width: float | str) -> float:
    """Return gamma of exp(-gamma |x - z|^2): `width` divided by half the mean squared distance between rows.

    Half the mean squared distance is the total variance, so no distances are computed. "scale" means width 1, which for
    standardised columns is scikit-learn's gamma="scale".

    >>> rbf_gamma(np.array([[0.0], [2.0]]), "scale")
    1.0
    """
    return Rows(X).gamma_by_distance(1.0 if width == "scale" else float(width))


def linear_kernel(X: Any, Z: Any) -> NDArray[np.float64]:
    """Return the dense matrix of inner products (n, m), computed in double."""
    return _double(X).products(_double(Z).array)


def rbf_kernel(X: Any, Z: Any, gamma: float, dtype: Any = np.float64) -> NDArray[Any]:
    """Return exp(-gamma |x - z|^2) as a dense matrix (n, m) of a dtype; distances are always computed in double."""
    exponents = linear_kernel(X, Z)
    exponents *= -2.0
    exponents += _double(X).squared_norms()[:, None]
    exponents += _double(Z).squared_norms()[None, :]
    np.maximum(exponents, 0.0, out=exponents)
    exponents *= -gamma
    exponents = exponents.astype(dtype, copy=False)
    return np.exp(exponents, out=exponents)


def _double(X: Any) -> Rows:
    return Rows(X).as_type(np.float64)


def precision(ridge: float) -> Any:
    """Return the dtype that least squares with this ridge needs: single is twice as fast, and exact enough for most."""
    return np.float32 if ridge >= SINGLE_FROM else np.float64


def penalised(K: NDArray[Any], penalty: NDArray[np.float64] | float) -> NDArray[Any]:
    """Return K + diag(penalty) in the dtype of K."""
    matrix = K.copy()
    matrix[np.diag_indices(len(matrix))] += np.asarray(penalty, dtype=K.dtype)
    return matrix


def factorised(K: NDArray[Any], penalty: NDArray[np.float64] | float) -> tuple[NDArray[Any], bool]:
    """Return the Cholesky factor of K + diag(penalty), as `scipy.linalg.cho_solve` takes it.

    Raises:
        DataError: rounding leaves no positive definite matrix: the penalty is lost beside the values of K.
    """
    try:
        factor, lower = cho_factor(penalised(K, penalty), overwrite_a=True, check_finite=False)
        if np.isfinite(factor.diagonal()).all():
            return factor, bool(lower)
    except np.linalg.LinAlgError:
        pass
    raise DataError(
        f"The rows are so large that the ridge of {np.min(penalty):g} is lost beside products of up to "
        f"{np.abs(K).max():.2g}, and least squares cannot be solved. Scale the rows (scaling), take their mean off, or "
        f"choose a larger ridge."
    )
