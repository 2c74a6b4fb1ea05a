"""Least squares by the inner products, or kernel values, of all rows with all others.

With kernel k, instance weights w and targets t in {-1, 1},

    f(x) = sum_i (k(x, x_i) + 1) a_i,    a = A^-1 t,    A = K + 1 + ridge * diag(1/w)

so held-out outputs are H a, and training outputs are t - ridge * a / w. None of the matrices depends on labels: A is
inverted once for a fold. Multiplied out, H A^-1 would cost four times as much, and spare a pull next to nothing.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, get_lapack_funcs
from scipy.sparse.linalg import LinearOperator

from bliss_classifiers.one_label import from_outputs, signed_targets
from bliss_framework.plugin import Part, Predictions, PreparedClassifier, factorised

MIRRORED = 64  # Rows of a matrix that are filled at a time.


def prepared_smoother(K: NDArray[Any], H: NDArray[Any], ridge: float, train: Part) -> "PreparedSmoother":
    """Factorise A = K + 1 + ridge * diag(1/w).

    Args:
        K: (n, n) kernel values of training rows, which are taken over.
        H: (m, n) kernel values of held-out with training rows, which are taken over.
        ridge: above 0.
        train: its weights and labels.
    """
    K += 1.0
    H += 1.0
    weights = np.ones(len(K)) if train.weights is None else train.weights
    return PreparedSmoother(K, H, ridge, weights, train.space.n_labels)


class PreparedSmoother(PreparedClassifier):
    """A classifier whose outputs are a fixed matrix times the targets."""

    def __init__(
        self, K: NDArray[Any], H: NDArray[Any], ridge: float, weights: NDArray[np.float64], n_labels: int
    ) -> None:
        self._K, self._H, self._ridge, self._n_labels = K, H, ridge, n_labels
        penalty = ridge / weights
        self._penalty, self._factor = penalty.astype(K.dtype)[:, None], factorised(K, penalty)

    @cached_property
    def _inverse(self) -> NDArray[Any]:
        return inverse_of(self._factor)

    @property
    def smoother(self) -> LinearOperator:
        """M = H A^-1, so that held-out outputs are M t, as an operator."""
        return LinearOperator(
            self._H.shape,
            matvec=self._outputs,
            matmat=self._outputs,
            rmatvec=self._effects,
            rmatmat=self._effects,
            dtype=self._K.dtype,
        )

    def _outputs(self, targets: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._H @ (self._inverse @ targets))

    def _effects(self, slopes: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._inverse @ (self._H.T @ slopes))

    def respond(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Solve for the targets alone, which is much cheaper than the inverse where it is asked once."""
        return self._H @ cho_solve(self._factor, targets.astype(self._K.dtype), check_finite=False)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Solve for the targets of all P assignments at once."""
        targets = signed_targets(assignments, self._n_labels).astype(self._K.dtype)
        if weights is None:
            columns = targets.reshape(len(targets), -1)
            solved = self._inverse @ columns
            train = (columns - self._penalty * solved).reshape(targets.shape)
            heldout = (self._H @ solved).reshape(-1, *targets.shape[1:])
        else:
            pairs = [self._weighted(targets[:, p], w) for p, w in enumerate(weights)]
            train, heldout = (np.stack([pair[part] for pair in pairs], axis=1) for part in (0, 1))
        return from_outputs(train.swapaxes(0, 1), heldout.swapaxes(0, 1), assignments, self._n_labels)

    def _weighted(self, targets: NDArray[Any], weights: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        # Weights that follow the labels change the matrix itself, so they cost a factorisation a pull.
        solved = cho_solve(factorised(self._K, self._ridge / weights), targets)
        return self._K @ solved, self._H @ solved


def inverse_of(factor: tuple[NDArray[Any], bool]) -> NDArray[Any]:
    """Return the inverse (n, n) of a matrix of which `factorised` returned the Cholesky factor.

    >>> inverse_of((np.array([[2.0, 0.0], [1.0, 2.0]]), True)).tolist()
    [[0.3125, -0.125], [-0.125, 0.25]]
    """
    half, lower = factor
    (invert,) = get_lapack_funcs(("potri",), (half,))
    inverse, _ = invert(half, lower=lower)
    filled = np.asarray(inverse if lower else inverse.T)
    # LAPACK fills one half only, here the one below the diagonal; the other is filled block by block, in place.
    above = np.triu(np.ones((MIRRORED, MIRRORED), dtype=bool))
    for start in range(0, len(filled), MIRRORED):
        own = slice(start, start + MIRRORED)
        block = filled[own, own]
        np.copyto(block, block.T.copy(), where=above[: len(block), : len(block)])
        filled[own, start + MIRRORED :] = filled[start + MIRRORED :, own].T
    return filled
