"""The kernel classifiers as scikit-learn estimators, for the fit after inference."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_classifiers.kernels import linear_kernel, rbf_gamma, rbf_kernel


class _Kernel(ClassifierMixin, BaseEstimator):
    """Rows to compare with, and the kernel to compare them by."""

    def _remember(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, positions = np.unique(y, return_inverse=True)
        self.gamma_ = rbf_gamma(X, self.width) if self.kernel == "rbf" else None
        self.X_fit_ = X
        return self._gram(X), positions

    def _gram(self, X: Any) -> NDArray[np.float64]:
        return linear_kernel(X, self.X_fit_) if self.gamma_ is None else rbf_kernel(X, self.X_fit_, self.gamma_)

    def _compare(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._gram(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class KernelLeastSquares(_Kernel):
    """Kernel ridge on targets -1 and 1 (one for each class if there are more than two).

    Args:
        kernel: "rbf" or "linear".
        ridge: regularisation.
        width: see `KernelRidge`.
    """

    def __init__(self, kernel: str = "rbf", ridge: float = 1.0, width: float | str = "scale") -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.width = width

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelLeastSquares":
        """Solve the regularised normal equations: X (n, d), y (n,), sample_weight (n,)."""
        K, positions = self._remember(X, y)
        weights = np.ones(len(K)) if sample_weight is None else np.maximum(np.asarray(sample_weight, float), 1e-9)
        targets = np.where(positions[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        self.dual_coef_ = cho_solve(cho_factor(K + 1.0 + np.diag(self.ridge / weights)), targets)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, else (n, C)."""
        outputs = (self._compare(X) + 1.0) @ self.dual_coef_
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs


class GramSvc(_Kernel):
    """A support vector machine on a Gram matrix of its own: many times faster than libsvm on sparse rows.

    Args:
        kernel: "rbf" or "linear".
        C: inverse strength of regularisation.
        width: see `RbfSvm`.
    """

    def __init__(self, kernel: str = "rbf", C: float = 1.0, width: float | str = "scale") -> None:
        self.kernel = kernel
        self.C = C
        self.width = width

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GramSvc":
        """Train: X (n, d), y (n,), sample_weight (n,)."""
        K, positions = self._remember(X, y)
        self.svc_ = SVC(C=self.C, kernel="precomputed").fit(K, positions, sample_weight)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values: (n,) for two classes, else (n, C)."""
        return self.svc_.decision_function(self._compare(X))
