"""Ridge and kernel ridge: linear in the labels, so a fold needs one factorisation and a pull one matrix product.

With kernel k, instance weights w and targets t in {-1, 1},

    f(x) = sum_i (k(x, x_i) + 1) a_i,    a = (K + 1 + ridge * diag(1/w))^-1 t

so training outputs are S t and held-out outputs are M t, with matrices that do not depend on labels.
"""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from bliss_classifiers.estimators import KernelLeastSquares
from bliss_classifiers.kernels import factorised, linear_kernel, precision, rbf_gamma, rbf_kernel
from bliss_classifiers.one_label import constant_scores, one_label
from bliss_classifiers.pair_memory import DOUBLE, least_squares_memory, smoother_memory
from bliss_classifiers.width import width_or_scale
from bliss_framework.plugin import Classifier, Part, Predictions, PreparedClassifier, ProblemSize, positive


@frozen
class KernelRidge(Classifier):
    """Least squares with an RBF kernel.

    Args:
        ridge: regularisation, above 0.
        width: gamma in units of 1 / (half the mean squared distance between rows); "scale" means 1.
    """

    ridge: float = field(default=1.0, validator=positive)
    width: float | str = field(default=2.0, validator=width_or_scale)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrix and factorise it, once for a fold."""
        gamma, dtype = rbf_gamma(train.X, self.width), precision(self.ridge)
        K, H = rbf_kernel(train.X, train.X, gamma, dtype), rbf_kernel(heldout.X, train.X, gamma, dtype)
        return _prepared(K, H, self.ridge, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return KernelLeastSquares(kernel="rbf", ridge=self.ridge, width=self.width)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices, the factor and the smoothers."""
        return smoother_memory(size, np.dtype(precision(self.ridge)).itemsize)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score."""
        return least_squares_memory(size, np.dtype(precision(self.ridge)).itemsize)


@frozen
class Ridge(Classifier):
    """Linear least squares.

    Args:
        ridge: regularisation, above 0.
    """

    ridge: float = field(default=1.0, validator=positive)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the matrix of inner products and factorise it, once for a fold."""
        return _prepared(linear_kernel(train.X, train.X), linear_kernel(heldout.X, train.X), self.ridge, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return KernelLeastSquares(kernel="linear", ridge=self.ridge)

    def memory(self, size: ProblemSize) -> int:
        """Count the matrices of inner products, the factor and the smoothers."""
        return smoother_memory(size, DOUBLE)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the inner products of all rows, or those with the rows to score."""
        return least_squares_memory(size, DOUBLE)


def _prepared(K: NDArray[Any], H: NDArray[Any], ridge: float, train: Part) -> "PreparedSmoother":
    K += 1.0
    H += 1.0
    weights = np.ones(len(K)) if train.weights is None else train.weights
    factor = factorised(K, ridge / weights)
    return PreparedSmoother(K, H, ridge, train.space.n_labels, factor)


class PreparedSmoother(PreparedClassifier):
    """A classifier whose outputs are a fixed matrix times the targets."""

    def __init__(self, K: NDArray[Any], H: NDArray[Any], ridge: float, n_labels: int, factor: Any) -> None:
        self._K, self._H, self._ridge, self._n_labels, self._factor = K, H, ridge, n_labels, factor

    @cached_property
    def _smoothers(self) -> NDArray[Any]:
        # S = K A^-1 and M = H A^-1, and A is symmetric.
        both = np.concatenate([self._K, self._H])
        return np.ascontiguousarray(cho_solve(self._factor, both.T, overwrite_b=True, check_finite=False).T)

    @property
    def smoother(self) -> NDArray[Any]:
        """M, so that held-out outputs are M t."""
        return self._smoothers[len(self._K) :]

    def respond(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Solve for the targets alone, which is much cheaper than the smoother where it is asked once."""
        return self._H @ cho_solve(self._factor, targets.astype(self._K.dtype), check_finite=False)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Multiply the smoothers with the targets of all P assignments at once."""
        targets = _targets(assignments, self._n_labels).astype(self._K.dtype)
        if weights is None:
            outputs = self._smoothers @ targets.reshape(len(targets), -1)
            outputs = outputs.reshape(len(outputs), *targets.shape[1:])
        else:
            outputs = np.stack([self._weighted(targets[:, p], w) for p, w in enumerate(weights)], axis=1)
        return self._predictions(np.moveaxis(outputs, 0, 1), assignments)

    def _weighted(self, targets: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[Any]:
        # Weights that follow the labels change the matrix itself, so they cost a factorisation a pull.
        solved = cho_solve(factorised(self._K, self._ridge / weights), targets)
        return np.concatenate([self._K @ solved, self._H @ solved])

    def _predictions(self, outputs: NDArray[Any], assignments: NDArray[np.intp]) -> Predictions:
        for p, assignment in enumerate(assignments):
            label = one_label(assignment)
            if label is not None:
                constant = constant_scores(label, outputs.shape[1], self._n_labels)
                outputs[p] = constant.reshape(outputs[p].shape)
        if self._n_labels == 2:
            outputs = outputs[:, :, 0]
        n = len(self._K)
        return Predictions.from_scores(outputs[:, :n], outputs[:, n:])


def _targets(assignments: NDArray[np.intp], n_labels: int) -> NDArray[np.float64]:
    """Return targets (n, P, S) of -1 and 1: one column for two labels, else one for each label."""
    if n_labels == 2:
        return 2.0 * assignments.T[:, :, None] - 1.0
    return 2.0 * (assignments.T[:, :, None] == np.arange(n_labels)) - 1.0
