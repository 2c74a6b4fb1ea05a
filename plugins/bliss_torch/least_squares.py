"""Ridge as a scikit-learn classifier that learns on a device and predicts with NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import FactorisedSystem, Rows, RowView, as_rows, has_sums, outputs
from bliss_torch.classes import FLOATS, best_class, positions_of_classes, row_weights
from bliss_torch.device import Device
from bliss_torch.sums import TorchSums


class TorchLeastSquares(ClassifierMixin, BaseEstimator):
    """Ridge regression on targets -1 and 1 (one for each class if there are more than two).

    Args:
        ridge: regularisation, above 0.
        device: see `TorchRidge`.
        storage: see `TorchRidge`.

    Attributes:
        classes_: (C,) sorted.
        coef_: (d, T) arrays of NumPy, T = 1 for two classes, else C.
        intercept_: (T,).
    """

    def __init__(self, ridge: float = 1.0, device: str = "auto", storage: str = "float32") -> None:
        self.ridge = ridge
        self.device = device
        self.storage = storage

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TorchLeastSquares":
        """Solve the regularised normal equations: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        self.classes_, positions = positions_of_classes(self, y)
        return self._fitted(Rows(X), np.eye(len(self.classes_))[positions], row_weights(sample_weight, len(y)))

    def fit_shares(self, X: Any, shares: Any, sample_weight: Any = None) -> "TorchLeastSquares":
        """Fit targets between -1 and 1: shares (n, C) of the classes 0 .. C - 1, each row summing to 1."""
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        self.classes_ = np.arange(shares.shape[1])
        return self._fitted(Rows(X), shares, row_weights(sample_weight, len(shares)))

    # What is learnt of rows in blocks.

    def begun(self, rows: Rows | RowView, weights: NDArray[np.float64] | None) -> "TorchLeastSquares | None":
        """Return a copy that knows the number of columns; None where they are too many."""
        if not has_sums(rows.shape[1]):
            return None
        started = clone(self)
        started.n_features_in_ = rows.shape[1]
        return started

    def sums(
        self, rows: Rows | RowView, shares: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the Gram matrix and the moments (d + 1, d + 1 + T) of rows (n, d), shares (n, C), weights (n,)."""
        on_device = TorchSums(Device(self.device, self.storage, "torch-ridge"))
        there, targets = on_device.held(rows), 2.0 * (shares[:, 1:] if shares.shape[1] == 2 else shares) - 1.0
        targets = targets if weights is None else targets * weights[:, None]
        return np.hstack([on_device.gram(there, weights), on_device.moments(there, targets)])

    def solved(self, sums: NDArray[np.float64], n_classes: int) -> "TorchLeastSquares":
        """Return a copy that is fitted by sums, on classes 0 .. C - 1."""
        done = clone(self)
        done.n_features_in_, done.classes_ = self.n_features_in_, np.arange(n_classes)
        return done._solve(sums)

    def _fitted(self, rows: Rows, shares: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Any:
        Device(self.device, self.storage, "torch-ridge").check()
        return self._solve(self.sums(rows, shares, weights))

    def _solve(self, sums: NDArray[np.float64]) -> "TorchLeastSquares":
        n = len(sums)
        solution = FactorisedSystem.of(sums[:, :n], self.ridge).solve(sums[:, n:])
        self.coef_, self.intercept_ = solution[:-1], solution[-1]
        return self

    def scores_of(self, rows: Rows | RowView) -> NDArray[np.float64]:
        """Return outputs for rows, which are read a block at a time."""
        found = outputs(rows, np.vstack([self.coef_, self.intercept_])).astype(np.float64, copy=False)
        return found[:, 0] if found.shape[1] == 1 else found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, else (n, C)."""
        check_is_fitted(self)
        return self.scores_of(as_rows(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        return best_class(self.classes_, self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
