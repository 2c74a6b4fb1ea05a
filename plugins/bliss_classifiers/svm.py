"""Support vector machines in label inference: the Gram matrix of a fold is made once, only the fit is repeated."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.svm import SVC

from bliss_classifiers.estimators import GramSvc
from bliss_classifiers.kernels import linear_kernel, rbf_gamma, rbf_kernel
from bliss_classifiers.one_label import constant_scores, from_pairs, one_label
from bliss_classifiers.pair_memory import svm_final_memory, svm_memory
from bliss_classifiers.width import width_or_scale
from bliss_framework.plugin import Classifier, Part, Predictions, PreparedClassifier, ProblemSize, positive


@frozen
class RbfSvm(Classifier):
    """A support vector machine with an RBF kernel, the paper's classifier for binary MIL.

    Args:
        C: inverse strength of regularisation, above 0.
        width: gamma in units of 1 / (half the mean squared distance between rows); "scale" means 1.
    """

    C: float = field(default=10.0, validator=positive)
    width: float | str = field(default=2.0, validator=width_or_scale)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrices of the fold."""
        gamma = rbf_gamma(train.X, self.width)
        return PreparedSvm(rbf_kernel(train.X, train.X, gamma), rbf_kernel(heldout.X, train.X, gamma), self.C, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return GramSvc(kernel="rbf", C=self.C, width=self.width)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices of the fold."""
        return svm_memory(size)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score."""
        return svm_final_memory(size)


@frozen
class LinearSvm(Classifier):
    """A linear support vector machine.

    Args:
        C: inverse strength of regularisation, above 0.
    """

    C: float = field(default=1.0, validator=positive)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Make the Gram matrices of the fold."""
        return PreparedSvm(linear_kernel(train.X, train.X), linear_kernel(heldout.X, train.X), self.C, train)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier."""
        return GramSvc(kernel="linear", C=self.C)

    def memory(self, size: ProblemSize) -> int:
        """Count the Gram matrices of the fold."""
        return svm_memory(size)

    def final_memory(self, size: ProblemSize) -> int:
        """Count the Gram matrix of all rows, or that of the rows to score."""
        return svm_final_memory(size)


class PreparedSvm(PreparedClassifier):
    """An SVM with the Gram matrices of one fold."""

    def __init__(self, K: NDArray[np.float64], H: NDArray[np.float64], C: float, train: Part) -> None:
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
            sizes = len(self._K), len(self._H)
            train, heldout = (constant_scores(label, n, self._n_labels) for n in sizes)
            return train, heldout
        svc = SVC(C=self._C, kernel="precomputed", random_state=0).fit(self._K, assignment, weights)
        return self._scores(svc, self._K), self._scores(svc, self._H)

    def _scores(self, svc: SVC, gram: NDArray[np.float64]) -> NDArray[np.float64]:
        values = svc.decision_function(gram)
        if self._n_labels == 2:
            return values
        # Labels that the assignment does not use get a score below all others.
        present = np.stack([-values, values], axis=1) if values.ndim == 1 else values
        scores = np.full((len(gram), self._n_labels), present.min() - 1.0)
        scores[:, svc.classes_] = present
        return scores
