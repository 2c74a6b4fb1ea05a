"""The RBF kernel between rows, dense or sparse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.rows import Rows


def rbf_kernel(X: Any, Z: Any, gamma: float, dtype: Any = np.float64, products: Any = np.float64) -> NDArray[Any]:
    """Return exp(-gamma |x - z|^2) as a dense matrix (n, m).

    Args:
        X, Z: (n, d) and (m, d) arrays or CSR matrices.
        gamma: above 0.
        dtype: of the kernel.
        products: the precision in which distances are computed.

    >>> rbf_kernel(np.array([[0.0]]), np.array([[0.0], [1.0]]), 1.0).round(3).tolist()
    [[1.0, 0.368]]
    """
    rows, others = Rows(X).as_type(products), Rows(Z).as_type(products)
    exponents = rows.products(others.array)
    exponents *= -2.0
    exponents += rows.squared_norms()[:, None]
    exponents += others.squared_norms()[None, :]
    np.maximum(exponents, 0.0, out=exponents)
    exponents *= -gamma
    exponents = exponents.astype(dtype, copy=False)
    return np.asarray(np.exp(exponents, out=exponents))
