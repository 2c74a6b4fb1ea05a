"""Least squares by the inner products, or kernel values, of all rows with all others.

With kernel k, instance weights w and targets t in {-1, 1},

    f(x) = sum_i (k(x, x_i) + 1) a_i,    a = (K + 1 + ridge * diag(1/w))^-1 t

so training outputs are S t and held-out outputs are M t, with matrices that do not depend on labels.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from bliss_classifiers.one_label import from_outputs, signed_targets
from bliss_framework.plugin import Part, Predictions, PreparedClassifier, factorised


def prepared_smoother(K: NDArray[Any], H: NDArray[Any], ridge: float, train: Part) -> "PreparedSmoother":
    """Factorise K + 1 + ridge * diag(1/w).

    Args:
        K: (n, n) kernel values of training rows, which are taken over.
        H: (m, n) kernel values of held-out with training rows, which are taken over.
        ridge: above 0.
        train: its weights and labels.
    """
    K += 1.0
    H += 1.0
    weights = np.ones(len(K)) if train.weights is None else train.weights
    return PreparedSmoother(K, H, ridge, train.space.n_labels, factorised(K, ridge / weights))


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
        targets = signed_targets(assignments, self._n_labels).astype(self._K.dtype)
        if weights is None:
            outputs = self._smoothers @ targets.reshape(len(targets), -1)
            outputs = outputs.reshape(len(outputs), *targets.shape[1:])
        else:
            outputs = np.stack([self._weighted(targets[:, p], w) for p, w in enumerate(weights)], axis=1)
        outputs, n = outputs.swapaxes(0, 1), len(self._K)
        return from_outputs(outputs[:, :n], outputs[:, n:], assignments, self._n_labels)

    def _weighted(self, targets: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[Any]:
        # Weights that follow the labels change the matrix itself, so they cost a factorisation a pull.
        solved = cho_solve(factorised(self._K, self._ridge / weights), targets)
        return np.concatenate([self._K @ solved, self._H @ solved])
