"""Nystroem features: the RBF kernel of many rows by way of a few of them.

Source: Williams and Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import eigh

from bliss_framework.kernel.row_view import RowView, numbered_blocks, rows_in_a_file
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.rbf import rbf_kernel

# Directions in which landmarks differ less than this, beside that in which they differ most, are rounding.
NOISE = 1e-7
FEATURES_KEPT = 1 << 30  # Bytes of features that are kept in memory where the rows themselves are in a file.


@frozen(eq=False)
class Landmarks:
    """Features whose inner products are nearly the RBF kernel, and are exactly that between landmarks.

        phi(x) = k(x, Z) U S^-1/2    where    K = k(Z, Z) = U S U'

    Attributes:
        rows: (r, d) landmarks Z, array or CSR matrix.
        basis: (r, p) float32, U S^-1/2 with p <= r directions.
        gamma: of the kernel exp(-gamma |x - z|^2).

    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> features = Landmarks.of_rows(X, gamma=1.0).of(X)
    >>> np.allclose(features @ features.T, rbf_kernel(X, X, 1.0), atol=1e-5)
    True
    """

    rows: Any = field()
    basis: NDArray[np.float32] = field()
    gamma: float = field()

    @classmethod
    def drawn(
        cls,
        rows: Rows | RowView,
        n: int,
        gamma: float,
        rng: np.random.Generator,
        weights: NDArray[np.float64] | None = None,
    ) -> "Landmarks":
        """Draw landmarks from rows without replacement.

        Args:
            rows: (N, d) to draw from.
            n: landmarks; all rows where there are no more.
            gamma: of the kernel.
            rng: draws the same rows from the same state.
            weights: (N,) by which rows count, and are drawn; a row of weight 0 never is. None where all are alike.
        """
        chances, possible = None, rows.shape[0]
        if weights is not None and (weights > 0).any():
            chances, possible = weights / weights.sum(), int(np.count_nonzero(weights))
        chosen = np.sort(rng.choice(rows.shape[0], min(n, possible), replace=False, p=chances))
        return cls.of_rows(rows.take(chosen).array, gamma)

    @classmethod
    def of_rows(cls, landmarks: Any, gamma: float) -> "Landmarks":
        """Take rows (r, d) as landmarks."""
        values, vectors = eigh(rbf_kernel(landmarks, landmarks, gamma), check_finite=False)
        kept = values > NOISE * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        return cls(landmarks, basis.astype(np.float32), gamma)

    @property
    def n_features(self) -> int:
        """The number p of features."""
        return int(self.basis.shape[1])

    def of(self, X: Any) -> NDArray[np.float32]:
        """Return the features (n, p) of rows (n, d)."""
        precision = Rows(X).dtype if not Rows(X).is_sparse else np.float64
        similar = rbf_kernel(X, self.rows, self.gamma, np.float32, precision)
        return np.asarray(similar @ self.basis)

    def features(self, rows: Rows | RowView) -> Rows | RowView:
        """Return the features of all rows (n, p) in float32, made once.

        They are in memory; but of rows in a file, if they take more than `FEATURES_KEPT` bytes, in a file of their own.
        """
        view = rows.in_stored_precision() if isinstance(rows, RowView) else RowView.of(rows)
        features = view.mapped(self.of, self.n_features, np.float32)
        if not view.is_mapped or 4 * features.shape[0] * features.shape[1] <= FEATURES_KEPT:
            return Rows(features.array)
        return RowView.of(Rows(_in_a_file(features)))


def _in_a_file(rows: RowView) -> NDArray[np.float32]:
    """Write rows to a file that goes when its map does, and return the map."""
    stored = rows_in_a_file(rows.shape, np.float32)
    for place, block in numbered_blocks(rows):
        stored[place] = block
    return stored
