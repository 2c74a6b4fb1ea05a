"""The two simplest answers to MIL, which every result is compared with."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework import Bags, Scaling, check_bags, check_training
from bliss_mil.weak_labels import check_binary


class _BagClassifier(ClassifierMixin, BaseEstimator):
    """What both have in common: they read rows, bags and weak labels alike, and call scores above 0 positive."""

    def _learn(self, X: Any, y: Any, bags: Any) -> tuple[Any, Bags, NDArray[Any]]:
        """Check training input and return scaled rows, their bags and a 0 or 1 for each bag."""
        given = check_training(X, y, bags)
        self._note_columns(X, given.X, reset=True)
        weak = check_binary(given.weak, given.bags, self.positive_label)
        self.classes_ = np.asarray(weak.classes)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        return self.scaling_.transform(given.X), given.bags, weak.values

    def _rows(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        self._note_columns(X, rows, reset=False)
        return self.scaling_.transform(rows), grouped

    def _note_columns(self, X: Any, rows: Any, reset: bool) -> None:
        validate_data(self, rows if isinstance(X, list | tuple) else X, skip_check_array=True, reset=reset)

    @abstractmethod
    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""
        ids, scores = self.score_bags(X, bags)
        return ids, self.classes_[(scores > 0).astype(int)]

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


class InheritedLabelSvm(_BagClassifier):
    """An RBF SVM on instances that inherit the label of their bag; a bag is as positive as its most positive instance.

    This is the control without a bandit in its plainest form.

    Args:
        C: inverse strength of regularisation.
        scaling: see `Scaling`.
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(self, C: float = 1.0, scaling: str = "auto", positive_label: Any = None) -> None:
        self.C = C
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "InheritedLabelSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        rows, grouped, weak = self._learn(X, y, bags)
        self.svc_ = SVC(C=self.C, random_state=0).fit(rows, grouped.spread(weak))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""
        rows, _ = self._rows(X, None)
        return self.svc_.decision_function(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self._rows(X, bags)
        return grouped.ids, grouped.max(self.svc_.decision_function(rows))


class BagMeanSvm(_BagClassifier):
    """An RBF SVM on the mean row of each bag; it sees bags only, and treats an instance as a bag of one.

    Args:
        C: inverse strength of regularisation.
        scaling: see `Scaling`; learnt on instances.
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(self, C: float = 10.0, scaling: str = "auto", positive_label: Any = None) -> None:
        self.C = C
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "BagMeanSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        rows, grouped, weak = self._learn(X, y, bags)
        self.svc_ = SVC(C=self.C, random_state=0).fit(_bag_means(rows, grouped), weak)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) as if each were a bag."""
        rows, _ = self._rows(X, None)
        return self.svc_.decision_function(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""
        rows, grouped = self._rows(X, bags)
        return grouped.ids, self.svc_.decision_function(_bag_means(rows, grouped))


def _bag_means(rows: Any, bags: Bags) -> Any:
    if not issparse(rows):
        return bags.mean(rows)
    shape = (bags.n_bags, bags.n_rows)
    averaging = csr_matrix((1.0 / bags.sizes[bags.index], (bags.index, np.arange(bags.n_rows))), shape=shape)
    return averaging @ rows
