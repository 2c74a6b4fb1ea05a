"""The kernel classifiers as scikit-learn estimators, for the fit after inference."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_classifiers.kernels import linear_kernel, precision, rbf_gamma, rbf_kernel
from bliss_classifiers.scored import Scored
from bliss_classifiers.smoother import inverse_of
from bliss_framework.plugin import DataError, bounded_svc, factorised

LEFT_OUT_AT_ONCE = 2_000  # Rows; above that, fits without a fold are as fast, and several processes share them.


class _Kernel(Scored):
    """Rows to compare with, and the kernel to compare them by."""

    def _read(self, X: Any, y: Any) -> tuple[Any, NDArray[np.intp]]:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, positions = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes or more; y has 1 class, {self.classes_[0]!r}.")
        self.gamma_ = rbf_gamma(X, self.width) if self.kernel == "rbf" else None
        return X, positions

    def _gram(self, X: Any, dtype: Any = np.float64) -> NDArray[Any]:
        return linear_kernel(X, self.X_fit_) if self.gamma_ is None else rbf_kernel(X, self.X_fit_, self.gamma_, dtype)

    def _compare(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._gram(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))


class KernelLeastSquares(_Kernel):
    """Kernel ridge on targets -1 and 1 (one for each class if there are more than two).

    Args:
        ridge: regularisation.
        width: see `KernelRidge`.
    """

    kernel = "rbf"

    def __init__(self, ridge: float = 1.0, width: float | str = "scale") -> None:
        self.ridge = ridge
        self.width = width

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelLeastSquares":
        """Solve the regularised normal equations: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, positions = self._read(X, y)
        self._solve(X, np.eye(len(self.classes_))[positions], sample_weight)
        return self

    def fit_shares(self, X: Any, shares: Any, sample_weight: Any = None) -> "KernelLeastSquares":
        """Fit targets between -1 and 1: shares (n, C) of the classes 0 .. C - 1, each row summing to 1.

        Least squares on a share is least squares on copies of the row, one for each class, weighted by the shares.
        """
        self._solve_shares(X, shares, sample_weight)
        return self

    def fit_leaving_out(
        self, X: Any, shares: Any, sample_weight: Any, folds: NDArray[np.intp]
    ) -> NDArray[np.float64] | None:
        """Fit shares of all rows, and score each row as a fit without its fold would that has the same width.

        With A = K + 1 + ridge * diag(1/w) and a = A^-1 t, the rows h of a fold have the held-out outputs

            f_h = t_h - ((A^-1)_hh)^-1 a_h

        so one inverse serves all folds. Source: An, Liu and Venkatesh, Fast cross-validation algorithms for least
        squares support vector machine and kernel ridge regression, Pattern Recognition 40 (2007).

        Args:
            X: (n, d).
            shares: (n, C) of the classes 0 .. C - 1.
            sample_weight: (n,) or None.
            folds: (n,) of each row, two or more.

        Returns:
            (n,) for two classes, else (n, C); None, and no fit, for many rows and where some have no weight.
        """
        if X.shape[0] > LEFT_OUT_AT_ONCE or not (sample_weight is None or (np.asarray(sample_weight) > 0).all()):
            return None
        factor, targets = self._solve_shares(X, shares, sample_weight)
        inverse, missed = inverse_of(factor), np.empty(targets.shape)
        for fold in np.unique(folds):
            held = np.flatnonzero(folds == fold)
            own = inverse[held][:, held].astype(np.float64)
            missed[held] = np.linalg.solve(own, self.dual_coef_[held])
        outputs = targets - missed
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _solve_shares(self, X: Any, shares: Any, sample_weight: Any) -> tuple[Any, NDArray[np.float64]]:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self.classes_ = np.arange(shares.shape[1])
        self.gamma_ = rbf_gamma(X, self.width) if self.kernel == "rbf" else None
        return self._solve(X, shares, sample_weight)

    def _solve(
        self, X: Any, shares: NDArray[np.float64], sample_weight: Any
    ) -> tuple[tuple[NDArray[Any], bool], NDArray[np.float64]]:
        """Find the coefficients; return the factor of the matrix and the targets (n, 1) or (n, C) of weighted rows."""
        weights = np.ones(len(shares)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weights = np.broadcast_to(weights, len(shares))
        if not (weights > 0).any():
            raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
        # A row of weight 0 has an infinite ridge: its coefficient is 0.
        counted = np.flatnonzero(weights > 0)
        self.X_fit_ = X[counted]
        targets = 2.0 * shares[counted] - 1.0
        targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        gram = self._gram(self.X_fit_, precision(self.ridge))
        gram += 1.0
        factor = factorised(gram, self.ridge / np.maximum(weights[counted], 1e-9))
        solved = cho_solve(factor, targets.astype(gram.dtype))
        self.dual_coef_ = solved.astype(np.float64)
        return factor, targets

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, else (n, C)."""
        compared = self._compare(X)
        outputs = compared @ self.dual_coef_ + self.dual_coef_.sum(axis=0)
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
        self.X_fit_, positions = self._read(X, y)
        # libsvm draws nothing here, but without a state SVC moves numpy's global generator.
        self.svc_ = bounded_svc(C=self.C, kernel="precomputed", random_state=0).fit(
            self._gram(self.X_fit_), positions, sample_weight
        )
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values: (n,) for two classes, else (n, C)."""
        gram = self._compare(X)
        try:
            return self.svc_.decision_function(gram)
        except ValueError as error:
            if np.isfinite(gram).all():
                raise
            raise DataError(
                "The rows, or those that the support vector machine was trained on, are so large that comparing them "
                "gives no numbers. Scale the rows (scaling); of a model that was read from a file, it may be damaged."
            ) from error
