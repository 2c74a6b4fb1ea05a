"""Ridge and kernel ridge: linear in the labels, so a fold needs one factorisation and a pull one matrix product.

Which form is solved is a matter of cost alone: inner products of rows where rows are few (`smoother.py`), sums over
rows where columns are fewer (`sums.py`), and for kernels of many rows landmarks, whose features are such columns.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_classifiers.estimators import KernelLeastSquares
from bliss_classifiers.kernels import linear_kernel, precision, rbf_gamma, rbf_kernel
from bliss_classifiers.least_squares import LeastSquares
from bliss_classifiers.memory import DOUBLE, features_memory, least_squares_memory, smoother_memory, sums_memory
from bliss_classifiers.smoother import prepared_smoother
from bliss_classifiers.sums import PreparedSums
from bliss_classifiers.width import width_or_scale
from bliss_framework.plugin import (
    MOST_UNKNOWNS,
    Classifier,
    Landmarks,
    Part,
    PreparedClassifier,
    ProblemSize,
    Rows,
    RowView,
    SumsForm,
    at_least,
    for_passes,
    has_sums,
    needs_products,
    positive,
)


@frozen
class KernelRidge(Classifier):
    """Least squares with an RBF kernel.

    Args:
        ridge: regularisation, above 0.
        width: gamma in units of 1 / (half the mean squared distance between rows); "scale" means 1.
        n_landmarks: rows that all others are compared with, drawn by chance, so that time and memory grow with the
            number of rows and not with its square; 0 compares all rows with all others.
    """

    ridge: float = field(default=1.0, validator=positive)
    width: float | str = field(default=2.0, validator=width_or_scale)
    n_landmarks: int = field(default=0, validator=at_least(0))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrix, or the features of landmarks, and factorise it, once for a fold."""
        if 0 < self.n_landmarks < train.n_rows:
            gamma = rbf_gamma(train.rows, self.width)
            landmarks = Landmarks.drawn(train.rows, self.n_landmarks, gamma, rng, train.weights)
            return PreparedSums(landmarks.features(train.rows), landmarks.features(heldout.rows), self.ridge, train)
        gamma, dtype = rbf_gamma(train.X, self.width), precision(self.ridge)
        K, H = rbf_kernel(train.X, train.X, gamma, dtype), rbf_kernel(heldout.X, train.X, gamma, dtype)
        return prepared_smoother(K, H, self.ridge, train)

    def in_sums(
        self, rows: Rows | RowView, weights: NDArray[np.float64] | None, rng: np.random.Generator
    ) -> SumsForm | None:
        """Return the features of landmarks that all folds share; None where all rows are compared with all."""
        if not self.n_landmarks:
            return None
        gamma = rbf_gamma(rows, self.width)
        return SumsForm(self.ridge, Landmarks.drawn(rows, self.n_landmarks, gamma, rng, weights))

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        if self.n_landmarks:
            return LeastSquares(self.ridge, self.n_landmarks, self.width, random_state)
        return KernelLeastSquares(ridge=self.ridge, width=self.width)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices, the factor and the smoothers; or the features of landmarks."""
        if 0 < self.n_landmarks < size.n_train:
            return features_memory(size, self.n_landmarks)
        return smoother_memory(size, np.dtype(precision(self.ridge)).itemsize)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score; or sums over features."""
        if self.n_landmarks:
            return sums_memory(size, self.n_landmarks)
        return least_squares_memory(size, np.dtype(precision(self.ridge)).itemsize)


@frozen
class Ridge(Classifier):
    """Linear least squares.

    Args:
        ridge: regularisation, above 0.
    """

    ridge: float = field(default=1.0, validator=positive)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Sum over the rows, or make their inner products where those are fewer, and factorise, once for a fold."""
        if needs_products(*train.rows.shape):
            K, H = linear_kernel(train.X, train.X), linear_kernel(heldout.X, train.X)
            return prepared_smoother(K, H, self.ridge, train)
        return PreparedSums(for_passes(train.rows), for_passes(heldout.rows), self.ridge, train)

    def in_sums(
        self, rows: Rows | RowView, weights: NDArray[np.float64] | None, rng: np.random.Generator
    ) -> SumsForm | None:
        """Return the rows as their own features; None where they have too many columns."""
        return SumsForm(self.ridge) if has_sums(rows.shape[1]) else None

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return LeastSquares(ridge=self.ridge)

    def memory(self, size: ProblemSize) -> int:
        """Count the matrices of inner products, the factor and the smoothers; or a copy of the rows and their sums."""
        if needs_products(size.n_train, size.n_columns):
            return smoother_memory(size, DOUBLE)
        return (0 if size.mapped else size.rows) + sums_memory(size, min(size.n_columns, MOST_UNKNOWNS))

    def final_memory(self, size: ProblemSize) -> int:
        """Count the inner products of all rows, or sums over them."""
        if needs_products(size.n_train, size.n_columns):
            return least_squares_memory(size, DOUBLE)
        return sums_memory(size, min(size.n_columns, MOST_UNKNOWNS))
