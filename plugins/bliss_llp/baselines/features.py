"""Features for models that are linear in their parameters, and kernels between rows, dense or sparse."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import eigh
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


# The eigenvectors of a Gram matrix of so many rows take half a second.
MOST_LANDMARKS = 1000
SMALLEST_EIGENVALUE = 1e-6


@frozen(eq=False)
class Features:
    """Features of training rows, of mean square 1, and the way back to rows.

    Attributes:
        values: (n, D) array or CSR matrix.
        support: (m, d) the rows that an RBF kernel compares with, or None where features are columns.
        basis: (m, D) feature = kernel values @ basis; or one factor where features are columns.
    """

    values: Any = field()
    support: Any = field()
    basis: Any = field()

    def to_rows(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn coefficients (D, ...) of features into those of support rows (m, ...), or of columns (d, ...)."""
        if self.support is None:
            return np.asarray(self.basis * coefficients)
        return np.asarray(self.basis @ coefficients)


def linear_features(rows: Any) -> Features:
    """Scale rows (n, d) by one factor."""
    factor = np.sqrt(rows.shape[1] / mean_square(rows))
    return Features(rows * factor, None, factor)


def rbf_features(rows: Any, gamma: float, n_features: int, random: np.random.RandomState) -> Features:
    """Take the leading eigenvectors of the Gram matrix of all rows, or of some where there are many (Nystroem).

    Source: Williams and Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.

    Args:
        rows: (n, d) array or CSR matrix.
        gamma: of the kernel.
        n_features: at most so many; directions in which rows do not differ are left out.
        random: draws the rows to compare with.
    """
    landmarks = rows
    if rows.shape[0] > MOST_LANDMARKS:
        landmarks = rows[np.sort(random.choice(rows.shape[0], MOST_LANDMARKS, replace=False))]
    m = landmarks.shape[0]
    gram = kernel_matrix(landmarks, landmarks, gamma)
    sizes, vectors = eigh(gram, subset_by_index=[max(0, m - n_features), m - 1])
    kept = sizes > SMALLEST_EIGENVALUE
    basis = vectors[:, kept] / np.sqrt(sizes[kept])
    values = kernel_matrix(rows, landmarks, gamma) @ basis
    factor = np.sqrt(values.shape[1] / mean_square(values))
    return Features(values * factor, landmarks, basis * factor)
