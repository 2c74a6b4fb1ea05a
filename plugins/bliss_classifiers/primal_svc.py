"""A linear support vector machine on rows, or on features of landmarks, as a scikit-learn estimator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_classifiers.kernels import rbf_gamma
from bliss_classifiers.scored import Scored
from bliss_framework.plugin import Landmarks, Rows

TOLERANCE = 1e-3


def linear_svc(C: float) -> LinearSVC:
    """Return LIBLINEAR's machine for the squared hinge loss, solved by Newton steps, which draw nothing."""
    return LinearSVC(C=C, dual=False, tol=TOLERANCE, random_state=0)


class PrimalSvc(Scored):
    """A linear SVM with squared hinge loss, which never forms a matrix of rows by rows.

    Args:
        C: inverse strength of regularisation.
        n_landmarks: landmarks of an RBF kernel; 0 for the columns themselves.
        width: of the kernel, see `RbfSvm`.
        random_state: of the draw of landmarks.
    """

    def __init__(
        self, C: float = 1.0, n_landmarks: int = 0, width: float | str = "scale", random_state: int = 0
    ) -> None:
        self.C = C
        self.n_landmarks = n_landmarks
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PrimalSvc":
        """Train: X (n, d), y (n,), sample_weight (n,)."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        if self.n_landmarks:
            rng = np.random.default_rng(self.random_state)
            landmarks = Landmarks.drawn(
                Rows(X), self.n_landmarks, rbf_gamma(X, self.width), rng, _chances(sample_weight)
            )
            self.landmarks_, self.basis_, self.gamma_ = landmarks.rows, landmarks.basis, landmarks.gamma
        self.svc_ = linear_svc(self.C).fit(self._features(X), y, sample_weight)
        self.classes_ = self.svc_.classes_
        return self

    def _features(self, X: Any) -> Any:
        if not self.n_landmarks:
            return X
        return Landmarks(self.landmarks_, self.basis_, self.gamma_).features(Rows(X)).array

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values: (n,) for two classes, else (n, C)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(self.svc_.decision_function(self._features(X)), dtype=np.float64)


def _chances(weights: Any) -> NDArray[np.float64] | None:
    return None if weights is None else np.asarray(weights, dtype=np.float64)
