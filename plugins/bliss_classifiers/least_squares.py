"""Least squares with a coefficient for each column, or for each feature of landmarks, as a scikit-learn estimator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_classifiers.kernels import linear_kernel, rbf_gamma
from bliss_classifiers.scored import Scored
from bliss_framework.plugin import (
    FactorisedSystem,
    Landmarks,
    Rows,
    RowView,
    as_rows,
    factorised,
    gram,
    has_sums,
    moments,
    needs_products,
    outputs,
    system,
)


class LeastSquares(Scored):
    """Ridge regression on targets -1 and 1 (one for each class if there are more than two).

    Args:
        ridge: regularisation, above 0.
        n_landmarks: landmarks of an RBF kernel; 0 for the columns themselves.
        width: of the kernel, see `KernelRidge`.
        random_state: of the draw of landmarks.
    """

    def __init__(
        self, ridge: float = 1.0, n_landmarks: int = 0, width: float | str = "scale", random_state: int = 0
    ) -> None:
        self.ridge = ridge
        self.n_landmarks = n_landmarks
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LeastSquares":
        """Solve the regularised normal equations: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, positions = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes or more; y has 1 class, {self.classes_[0]!r}.")
        return self._fitted(Rows(X), np.eye(len(self.classes_))[positions], sample_weight)

    def fit_shares(self, X: Any, shares: Any, sample_weight: Any = None) -> "LeastSquares":
        """Fit targets between -1 and 1: shares (n, C) of the classes 0 .. C - 1, each row summing to 1."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.classes_ = np.arange(shares.shape[1])
        return self._fitted(Rows(X), shares, sample_weight)

    # What is learnt of rows in blocks, where sums can be made.

    def begun(self, rows: Rows | RowView, weights: NDArray[np.float64] | None) -> "LeastSquares | None":
        """Return a copy that knows what labels do not matter for; None where sums over rows are not the way to fit.

        Args:
            rows: all that will be trained on.
            weights: (n,) by which they count, or None.
        """
        if not self.n_landmarks and (needs_products(*rows.shape) or not has_sums(rows.shape[1])):
            return None
        return clone(self)._begin(rows, weights)

    def sums(
        self, rows: Rows | RowView, shares: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return what a fit needs of some rows (n, d), shares (n, C) and weights (n,): an array that adds up."""
        features, targets = self._features(rows), _targets(shares)
        weighted = targets if weights is None else targets * weights[:, None]
        return np.concatenate([gram(features, weights), moments(features, weighted)], axis=1)

    def solved(self, sums: NDArray[np.float64], n_classes: int) -> "LeastSquares":
        """Return a copy that is fitted by sums, on classes 0 .. C - 1."""
        fitted = clone(self)
        fitted.__dict__.update(self.__dict__)
        fitted.classes_ = np.arange(n_classes)
        p = len(sums)
        fitted._keep(FactorisedSystem.of(sums[:, :p], self.ridge).solve(sums[:, p:]))
        return fitted

    def _begin(self, rows: Rows | RowView, weights: NDArray[np.float64] | None) -> "LeastSquares":
        self.n_features_in_ = rows.shape[1]
        if self.n_landmarks:
            rng = np.random.default_rng(self.random_state)
            landmarks = Landmarks.drawn(rows, self.n_landmarks, rbf_gamma(rows, self.width), rng, weights)
            self.landmarks_, self.basis_, self.gamma_ = landmarks.rows, landmarks.basis, landmarks.gamma
        return self

    def _features(self, rows: Rows | RowView) -> Rows | RowView:
        if not self.n_landmarks:
            return rows
        landmarks = Landmarks(self.landmarks_, self.basis_, self.gamma_)
        view = rows if isinstance(rows, RowView) else RowView.of(rows)
        return view.mapped(landmarks.of, landmarks.n_features, np.float32)

    def _fitted(self, rows: Rows, shares: NDArray[np.float64], sample_weight: Any) -> "LeastSquares":
        weights = None
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), shares.shape[0])
            if not (weights > 0).any():
                raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
        self._begin(rows, weights)
        if not self.n_landmarks and needs_products(*rows.shape):
            return self._by_products(rows, _targets(shares), weights)
        features, targets = self._features(rows), _targets(shares)
        weighted = targets if weights is None else targets * weights[:, None]
        return self._keep(system(features, weights, self.ridge).solve(moments(features, weighted)))

    def _by_products(
        self, rows: Rows, targets: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> "LeastSquares":
        """Solve for a number a row, of which coefficients are sums."""
        # A row of weight 0 has an infinite ridge: its number is 0.
        counted = np.arange(rows.shape[0]) if weights is None else np.flatnonzero(weights > 0)
        kept, own = rows.take(counted), 1.0 if weights is None else weights[counted]
        solved = cho_solve(factorised(linear_kernel(kept.array, kept.array) + 1.0, self.ridge / own), targets[counted])
        return self._keep(moments(kept.as_type(np.float64), solved))

    def _keep(self, coefficients: NDArray[np.float64]) -> "LeastSquares":
        self.coef_, self.intercept_ = coefficients[:-1], coefficients[-1]
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, else (n, C)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.scores_of(as_rows(X))

    def scores_of(self, rows: Rows | RowView) -> NDArray[np.float64]:
        """Return outputs for rows, which are read a block at a time."""
        found = outputs(self._features(rows), np.vstack([self.coef_, self.intercept_])).astype(np.float64, copy=False)
        return found[:, 0] if found.shape[1] == 1 else found


def _targets(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return targets of -1 to 1: (n, 1) for two classes, else (n, C)."""
    targets = 2.0 * shares - 1.0
    return targets[:, 1:] if shares.shape[1] == 2 else targets
