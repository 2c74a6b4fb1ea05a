"""Least squares by sums over rows: linear in the number of rows, with as many unknowns as there are columns.

With rows x of which 1 is a further column, weights w and targets t in {-1, 1},

    f(x) = x' A^-1 sum_i w_i x_i t_i,    A = sum_i w_i x_i x_i' + ridge

which is what `smoother.py` solves by inner products, so the outputs are the same up to rounding.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_classifiers.one_label import from_outputs, signed_targets
from bliss_framework.plugin import (
    Part,
    Predictions,
    PreparedClassifier,
    Rows,
    RowView,
    System,
    moments,
    outputs,
    system,
)


class PreparedSums(PreparedClassifier):
    """A classifier whose coefficients solve the normal equations of one fold.

    Args:
        rows: (n, p) training rows or their features.
        others: (m, p) held-out rows or their features.
        ridge: above 0.
        train: its weights and labels.
    """

    def __init__(self, rows: Rows | RowView, others: Rows | RowView, ridge: float, train: Part) -> None:
        self._rows, self._others, self._ridge = rows, others, ridge
        self._weights, self._n_labels = train.weights, train.space.n_labels
        self._system = system(rows, self._weights, ridge)

    @property
    def smoother(self) -> LinearOperator:
        """M, so that held-out outputs are M t, as an operator: each product is two passes over the rows."""
        return LinearOperator(
            (self._others.shape[0], self._rows.shape[0]),
            matvec=self.respond,
            matmat=self.respond,
            rmatvec=self._effects,
            rmatmat=self._effects,
            dtype=self._rows.dtype,
        )

    def respond(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return held-out outputs (m, T) for any real targets (n, T)."""
        solved = self._solved(self._system, targets.reshape(self._rows.shape[0], -1), self._weights)
        return outputs(self._others, solved)

    def _effects(self, slopes: NDArray[Any]) -> NDArray[Any]:
        """Return M' g for slopes (m, T): by how much each training label moves the held-out outputs along them."""
        solved = self._system.solve(moments(self._others, slopes.reshape(self._others.shape[0], -1)))
        effects = outputs(self._rows, solved)
        return effects if self._weights is None else effects * self._weights[:, None].astype(effects.dtype)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Solve for the targets of all P assignments at once; weights of a pull cost a factorisation each."""
        targets = signed_targets(assignments, self._n_labels)
        n, P, S = targets.shape
        if weights is None:
            solved = self._solved(self._system, targets.reshape(n, P * S), self._weights)
        else:
            systems = [system(self._rows, one, self._ridge) for one in weights]
            solved = np.concatenate(
                [self._solved(one, targets[:, p], weights[p]) for p, one in enumerate(systems)], axis=1
            )
        train, heldout = (
            np.moveaxis(outputs(rows, solved).reshape(-1, P, S), 0, 1) for rows in (self._rows, self._others)
        )
        return from_outputs(train, heldout, assignments, self._n_labels)

    def _solved(
        self, equations: System, targets: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        weighted = targets if weights is None else targets * weights[:, None]
        return equations.solve(moments(self._rows, weighted))
