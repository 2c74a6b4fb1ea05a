"""Kernels between rows, dense or sparse, and their sums and maxima over bags, a block of rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from bliss_framework import SettingsError
from bliss_framework.plugin import Rows, kernel_blocks, positive
from bliss_mil.baselines.row_order import first_rows

# At scikit-learn's 1e-3 the last bits of a kernel show in the fourth digit of a score, and witnesses hang on scores. A
# linear kernel has fewer columns than rows, and libsvm would need ten times as long.
TOLERANCE = {"rbf": 1e-6, "linear": 1e-3}


def positive_or_scale(instance: Any, attribute: Any, value: Any) -> None:
    """Allow "scale" or a finite number above 0."""
    if isinstance(value, str) and value == "scale":
        return
    try:
        positive(instance, attribute, value)
    except SettingsError:
        raise SettingsError(f"{attribute.name} must be 'scale' or a finite number above 0; got {value!r}.") from None


def rbf_gamma(rows: Any, gamma: float | str) -> float:
    """Return gamma itself, or for "scale" 1 / (d var), where var is the variance of all n d values (as in `SVC`)."""
    return Rows(rows).gamma_by_values() if gamma == "scale" else float(gamma)


def kernel_matrix(rows: Any, others: Any, kernel: str, gamma: float) -> NDArray[np.float64]:
    """Return a dense kernel matrix (n, m).

    Args:
        rows, others: (n, d) and (m, d) arrays or CSR matrices.
        kernel: "rbf" is exp(-gamma |x - z|^2), "linear" is the inner product.
        gamma: of the RBF kernel.
    """
    if kernel == "linear":
        return np.asarray(linear_kernel(rows, others, dense_output=True))
    return np.asarray(rbf_kernel(rows, others, gamma=gamma))


def reduced_blocks(
    reduce: np.ufunc, rows: Any, index: NDArray[np.intp], others: Any, gamma: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Reduce RBF kernels over the rows of bags; a bag that is cut by a block comes twice.

    Args:
        reduce: np.add or np.maximum.
        rows: (n, d), those of a bag together.
        index: (n,) the bag of each row, ascending.
        others: (m, d).
        gamma: of the kernel.

    Yields:
        Positions (b,) of the bags in a block, and their reduced kernel values (b, m) with the others.
    """
    for block in kernel_blocks(len(index), others.shape[0]):
        heads = first_rows(index[block])
        values = kernel_matrix(rows[block], others, "rbf", gamma)
        yield index[block][heads], reduce.reduceat(values, heads, axis=0)
