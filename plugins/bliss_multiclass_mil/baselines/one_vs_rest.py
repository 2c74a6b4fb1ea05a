"""Baselines of multi-class MIL: one linear support vector machine for each label, against everything else."""

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from bliss_framework.plugin import Bags, Rows, Scaling, at_least, check_bags, check_settings, positive, refuse_lost_bags
from bliss_multiclass_mil.baselines.label_scorer import LabelScorer


class OneVsRest(LabelScorer):
    """What the baselines of one machine for each label share.

    Attributes:
        classes_: the negative class, then the C labels.
        coef_: (C, d) weights of scaled rows.
        intercept_: (C,).
    """

    def fit(self, X: Any, y: Any, bags: Any = None) -> "OneVsRest":
        """Learn from label sets: X (n, d), y one label set for each bag or row, bags (n,) ids."""
        self._check()
        given, weak = self.checked(X, y, bags)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        rows = self.scaling_.transform(given.X)
        machines = [self._machine(rows, given.bags, there == 1) for there in weak.values.T]
        self.coef_ = np.stack([weights for weights, _ in machines])
        self.intercept_ = np.array([intercept for _, intercept in machines])
        return self

    def _machine(self, rows: Any, bags: Bags, there: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        if there.all() or not there.any():
            return np.zeros(rows.shape[1]), 1.0 if there.all() else -1.0
        return self.learn(rows, bags, there)

    @abstractmethod
    def learn(self, rows: Any, bags: Bags, there: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """Return weights (d,) and intercept for one label, which some bags (B,) have and others have not."""

    def _check(self) -> None:
        check_settings(self, C=positive)
        if "max_iter" in self.get_params():
            check_settings(self, max_iter=at_least(1))

    def label_scores(self, X: Any, bags: Any = None) -> tuple[NDArray[np.float64], Bags]:
        """Score every instance for every label: (n, C), and the bags of the instances."""
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        return np.asarray(self.scaling_.transform(rows) @ self.coef_.T) + self.intercept_, grouped


class OneVsRestMiSvm(OneVsRest):
    """mi-SVM with a linear kernel for each label (Andrews et al., NIPS 2002; the paper's baseline).

    All instances of bags with the label start as positive. Then an SVM is trained, each of them takes the sign of its
    score, and a bag that keeps no positive keeps its largest score, until labels repeat.

    Args:
        C: inverse strength of regularisation.
        max_iter: most SVMs for each label.
        scaling: see `Scaling`.
        negative_label: see `MultiClassMilRegime`, as for separator and label_names.
        separator: in label sets that are text.
        label_names: all labels.
    """

    def __init__(
        self,
        C: float = 1.0,
        max_iter: int = 50,
        scaling: str = "auto",
        negative_label: Any = "negative",
        separator: str = ";",
        label_names: Any = None,
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.scaling = scaling
        self.negative_label = negative_label
        self.separator = separator
        self.label_names = label_names

    def learn(self, rows: Any, bags: Bags, there: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """Train and relabel in turn."""
        allowed = bags.spread(there)
        labels, seen = allowed, set()
        for _ in range(self.max_iter):
            weights, intercept = linear_svm(rows, labels, self.C)
            seen.add(labels.tobytes())
            scores = np.asarray(rows @ weights).ravel() + intercept
            labels = allowed & (scores > 0)
            labels = labels | (allowed & bags.spread(~bags.any(labels)) & (scores == bags.spread(bags.max(scores))))
            if labels.tobytes() in seen:
                return weights, intercept
        warnings.warn(
            f"The labels of mi-SVM still changed after max_iter = {self.max_iter} SVMs; raise max_iter.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return weights, intercept


class OneVsRestBagMeanSvm(OneVsRest):
    """A linear SVM for each label on the mean row of each bag; an instance counts as a bag of one.

    Args:
        C: inverse strength of regularisation.
        scaling: see `Scaling`; learnt on instances.
        negative_label: see `MultiClassMilRegime`, as for separator and label_names.
        separator: in label sets that are text.
        label_names: all labels.
    """

    def __init__(
        self,
        C: float = 1.0,
        scaling: str = "auto",
        negative_label: Any = "negative",
        separator: str = ";",
        label_names: Any = None,
    ) -> None:
        self.C = C
        self.scaling = scaling
        self.negative_label = negative_label
        self.separator = separator
        self.label_names = label_names

    def learn(self, rows: Any, bags: Bags, there: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """Train on the means of bags."""
        return linear_svm(Rows(rows).bag_means(bags).array, there, self.C)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score the mean row of each bag for each label: (ids, (B, C))."""
        refuse_lost_bags(self, X, bags)
        scores, grouped = self.label_scores(X, bags)
        # Scores are linear in rows, so the score of the mean is the mean of scores.
        return grouped.ids, grouped.mean(scores)


def linear_svm(rows: Any, labels: NDArray[np.bool_], C: float) -> tuple[NDArray[np.float64], float]:
    """Train a linear SVM with squared hinge loss on rows (n, d): weights (d,) and intercept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = LinearSVC(C=C, dual="auto", random_state=0).fit(rows, labels)
    return machine.coef_[0], float(machine.intercept_[0])
