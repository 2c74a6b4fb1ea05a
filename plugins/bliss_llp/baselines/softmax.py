"""Softmax models on features: what they lose, and the coefficients that lose least."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

from bliss_framework.plugin import Bags

# A loss of outputs (n, C): its value, and its derivative by each output (n, C).
Loss = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]
# The logarithm of a smaller probability would leave floating point.
SMALLEST = 1e-300


@frozen(eq=False)
class Coefficients:
    """A linear map from features to one output for each class.

    Attributes:
        weights: (D, C).
        intercept: (C,).
    """

    weights: NDArray[np.float64] = field()
    intercept: NDArray[np.float64] = field()

    def outputs(self, values: Any) -> NDArray[np.float64]:
        """Return outputs (n, C) for features (n, D)."""
        return np.asarray(values @ self.weights + self.intercept)

    def scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercept of decision scores: those of class 1 less class 0, or of all C > 2 classes."""
        if len(self.intercept) == 2:
            return self.weights[:, 1] - self.weights[:, 0], self.intercept[1] - self.intercept[0]
        return self.weights, self.intercept


def soft_label_loss(targets: NDArray[np.float64]) -> Loss:
    """Return the mean cross-entropy of soft labels (n, C); their rows may sum to anything, and entries be negative."""
    n = len(targets)

    def loss(outputs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value = (logsumexp(outputs, axis=1).sum() - (targets * outputs).sum()) / n
        return float(value), (softmax(outputs, axis=1) - targets) / n

    return loss


def proportion_loss(shares: NDArray[np.float64], bags: Bags) -> Loss:
    """Return the cross-entropy between shares (B, C) and mean probabilities of bags; each row counts alike."""
    weighted = shares * (bags.sizes / bags.n_rows)[:, None]

    def loss(outputs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        probabilities = softmax(outputs, axis=1)
        means = np.maximum(bags.mean(probabilities), SMALLEST)
        pull = bags.spread(weighted / means / bags.sizes[:, None])
        centred = pull - (probabilities * pull).sum(axis=1, keepdims=True)
        return -float((weighted * np.log(means)).sum()), -probabilities * centred

    return loss


def minimise(loss: Loss, values: Any, start: Coefficients, ridge: float, max_iter: int = 300) -> Coefficients:
    """Minimise loss + ridge |weights|^2 by L-BFGS; intercepts are free.

    For two classes the penalty is ridge / 2 times the squared length of the difference of the two weight vectors.

    Args:
        loss: of the outputs for all rows.
        values: (n, D) features, dense or sparse.
        start: where to start.
        ridge: above 0.
        max_iter: steps of the solver.
    """
    shape = start.weights.shape

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        found = _unpacked(flat, shape)
        value, slope = loss(found.outputs(values))
        gradient = np.vstack([np.asarray(values.T @ slope) + 2 * ridge * found.weights, slope.sum(axis=0)])
        return value + ridge * float((found.weights**2).sum()), gradient.ravel()

    first = np.vstack([start.weights, start.intercept]).ravel()
    options = {"maxiter": max_iter, "ftol": 1e-12, "gtol": 1e-7}
    return _unpacked(minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x, shape)


def zeros(values: Any, n_classes: int) -> Coefficients:
    """Return coefficients 0 for features (n, D)."""
    return Coefficients(np.zeros((values.shape[1], n_classes)), np.zeros(n_classes))


def fit_soft_labels(
    values: Any, targets: NDArray[np.float64], ridge: float, start: Coefficients | None = None
) -> Coefficients:
    """Fit a softmax model to soft labels (n, C) of features (n, D), which is a convex problem."""
    start = zeros(values, targets.shape[1]) if start is None else start
    return minimise(soft_label_loss(targets), values, start, ridge)


def log_probabilities(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms (n, C) of class probabilities."""
    return np.asarray(log_softmax(outputs, axis=1))


def _unpacked(flat: NDArray[np.float64], shape: tuple[int, ...]) -> Coefficients:
    table = flat.reshape(-1, shape[1])
    return Coefficients(table[:-1], table[-1])
