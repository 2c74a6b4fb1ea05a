"""The two simplest answers to MIL, which every result is compared with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from bliss_framework import Bags, DataError, Scaling, check_bags, check_training
from bliss_mil.weak_labels import check_binary


class InheritedLabelSvm(ClassifierMixin, BaseEstimator):
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
        given = check_training(X, y, bags)
        weak = check_binary(given.weak, given.bags, self.positive_label)
        self.classes_ = np.asarray(weak.classes)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        self.svc_ = SVC(C=self.C).fit(self.scaling_.transform(given.X), given.bags.spread(weak.values))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""
        check_is_fitted(self)
        rows, _ = check_bags(X, None)
        return self.svc_.decision_function(self.scaling_.transform(rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = check_bags(X, bags)
        return grouped.ids, grouped.max(self.decision_function(rows))

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""
        ids, scores = self.score_bags(X, bags)
        return ids, self.classes_[(scores > 0).astype(int)]


class BagMeanSvm(ClassifierMixin, BaseEstimator):
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
        given = check_training(X, y, bags)
        weak = check_binary(given.weak, given.bags, self.positive_label)
        self.classes_ = np.asarray(weak.classes)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        self.svc_ = SVC(C=self.C).fit(_bag_means(self.scaling_.transform(given.X), given.bags), weak.values)
        return self

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        return grouped.ids, self.svc_.decision_function(_bag_means(self.scaling_.transform(rows), grouped))

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""
        ids, scores = self.score_bags(X, bags)
        return ids, self.classes_[(scores > 0).astype(int)]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) as if each were a bag."""
        return self.score_bags(X, None)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance as if it were a bag."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def _bag_means(X: Any, bags: Bags) -> Any:
    if isinstance(X, np.ndarray):
        return bags.mean(X)
    from scipy.sparse import csr_matrix

    if bags.n_bags == 0:
        raise DataError("There are no bags to predict.")
    shape = (bags.n_bags, bags.n_rows)
    averaging = csr_matrix((1.0 / bags.sizes[bags.index], (bags.index, np.arange(bags.n_rows))), shape=shape)
    return averaging @ X
