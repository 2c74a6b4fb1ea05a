"""The two simplest answers to MIL, which every result is compared with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.svm import SVC

from bliss_framework import Bags
from bliss_mil.bag_classifier import BagClassifier


class InheritedLabelSvm(BagClassifier):
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
        rows, grouped, weak = self.learn(X, y, bags)
        self.svc_ = SVC(C=self.C, random_state=0).fit(rows, grouped.spread(weak))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""
        rows, _ = self.rows(X, None)
        return self.svc_.decision_function(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self.rows(X, bags)
        return grouped.ids, grouped.max(self.svc_.decision_function(rows))


class BagMeanSvm(BagClassifier):
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
        rows, grouped, weak = self.learn(X, y, bags)
        self.svc_ = SVC(C=self.C, random_state=0).fit(_bag_means(rows, grouped), weak)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) as if each were a bag."""
        rows, _ = self.rows(X, None)
        return self.svc_.decision_function(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""
        rows, grouped = self.rows(X, bags)
        return grouped.ids, self.svc_.decision_function(_bag_means(rows, grouped))


def _bag_means(rows: Any, bags: Bags) -> Any:
    if not issparse(rows):
        return bags.mean(rows)
    shape = (bags.n_bags, bags.n_rows)
    averaging = csr_matrix((1.0 / bags.sizes[bags.index], (bags.index, np.arange(bags.n_rows))), shape=shape)
    return averaging @ rows
