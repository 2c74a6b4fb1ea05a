"""Support vector machines in label inference: what does not depend on labels is made once, only the fit is repeated.

Of few rows that is the Gram matrix. Of many rows it is the features of landmarks, or the rows themselves, on which
LIBLINEAR minimises the squared hinge loss; it never forms a matrix of rows by rows.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_classifiers.estimators import GramSvc
from bliss_classifiers.kernels import linear_kernel, rbf_gamma, rbf_kernel
from bliss_classifiers.memory import liblinear_memory, svm_final_memory, svm_memory
from bliss_classifiers.one_label import constant_scores, from_pairs, one_label
from bliss_classifiers.primal_svc import PrimalSvc, linear_svc
from bliss_classifiers.width import width_or_scale
from bliss_framework.plugin import (
    Classifier,
    Landmarks,
    Part,
    Predictions,
    PreparedClassifier,
    ProblemSize,
    at_least,
    bounded_svc,
    one_of,
    positive,
)


@frozen
class RbfSvm(Classifier):
    """A support vector machine with an RBF kernel, the paper's classifier for binary MIL.

    Args:
        C: inverse strength of regularisation, above 0.
        width: gamma in units of 1 / (half the mean squared distance between rows); "scale" means 1.
        n_landmarks: rows that all others are compared with, as in `kernel-ridge`; 0 compares all with all.
    """

    C: float = field(default=10.0, validator=positive)
    width: float | str = field(default=2.0, validator=width_or_scale)
    n_landmarks: int = field(default=0, validator=at_least(0))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrices of the fold, or the features of landmarks."""
        if 0 < self.n_landmarks < train.n_rows:
            gamma = rbf_gamma(train.rows, self.width)
            landmarks = Landmarks.drawn(train.rows, self.n_landmarks, gamma, rng, train.weights)
            features = (landmarks.features(part.rows).array for part in (train, heldout))
            return PreparedLinearSvm(*features, self.C, train)
        gamma = rbf_gamma(train.X, self.width)
        return PreparedSvm(rbf_kernel(train.X, train.X, gamma), rbf_kernel(heldout.X, train.X, gamma), self.C, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        if self.n_landmarks:
            return PrimalSvc(self.C, self.n_landmarks, self.width, random_state)
        return GramSvc(kernel="rbf", C=self.C, width=self.width)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices of the fold, or the features of landmarks."""
        if 0 < self.n_landmarks < size.n_train:
            return liblinear_memory(size, self.n_landmarks)
        return svm_memory(size)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score; or the features of landmarks."""
        return liblinear_memory(size, self.n_landmarks) if self.n_landmarks else svm_final_memory(size)


@frozen
class LinearSvm(Classifier):
    """A linear support vector machine.

    Args:
        C: inverse strength of regularisation, above 0.
        solver: "libsvm" minimises the hinge loss by inner products of rows, "liblinear" the squared hinge loss by the
            rows themselves, so that time and memory grow with the number of rows and not with its square.
    """

    C: float = field(default=1.0, validator=positive)
    solver: str = field(default="libsvm", validator=one_of("libsvm", "liblinear"))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrices of the fold, where the solver needs them."""
        if self.solver == "liblinear":
            return PreparedLinearSvm(train.X, heldout.X, self.C, train)
        return PreparedSvm(linear_kernel(train.X, train.X), linear_kernel(heldout.X, train.X), self.C, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return PrimalSvc(self.C) if self.solver == "liblinear" else GramSvc(kernel="linear", C=self.C)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices of the fold, or the rows."""
        return liblinear_memory(size) if self.solver == "liblinear" else svm_memory(size)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score; or the rows."""
        return liblinear_memory(size) if self.solver == "liblinear" else svm_final_memory(size)


class PreparedSvm(PreparedClassifier):
    """An SVM with the matrices of one fold: `K` is trained on, and `H` are the held-out rows in the same form."""

    def __init__(self, K: Any, H: Any, C: float, train: Part) -> None:
        self._K, self._H, self._C = K, H, C
        self._weights, self._n_labels = train.weights, train.space.n_labels

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Train one SVM for each of P assignments."""
        given = [self._weights] * len(assignments) if weights is None else list(weights)
        return from_pairs([self._one(pi, w) for pi, w in zip(assignments, given, strict=True)])

    def _one(
        self, assignment: NDArray[np.intp], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        label = one_label(assignment)
        if label is not None:
            sizes = self._K.shape[0], self._H.shape[0]
            train, heldout = (constant_scores(label, n, self._n_labels) for n in sizes)
            return train, heldout
        svc = self._machine().fit(self._K, assignment, weights)
        return self._scores(svc, self._K), self._scores(svc, self._H)

    def _machine(self) -> Any:
        return bounded_svc(C=self._C, kernel="precomputed", random_state=0)

    def _scores(self, svc: Any, rows: Any) -> NDArray[np.float64]:
        values = np.asarray(svc.decision_function(rows))
        if self._n_labels == 2:
            return values
        # Labels that the assignment does not use get a score below all others.
        present = np.stack([-values, values], axis=1) if values.ndim == 1 else values
        scores = np.full((rows.shape[0], self._n_labels), present.min() - 1.0)
        scores[:, svc.classes_] = present
        return scores


class PreparedLinearSvm(PreparedSvm):
    """A linear SVM on the rows of one fold, or on their features."""

    def _machine(self) -> Any:
        return linear_svc(self._C)
