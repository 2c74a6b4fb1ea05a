"""The two simplest answers to MIL, which every result is compared with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Rows, bounded_svc
from bliss_mil.baselines.bag_classifier import InstanceScorer, WholeBagScorer


class InheritedLabelSvm(InstanceScorer):
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
        self.svc_ = bounded_svc(C=self.C, random_state=0).fit(rows, grouped.spread(weak))
        return self

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,), positive above 0."""
        return np.asarray(self.svc_.decision_function(rows))


class BagMeanSvm(WholeBagScorer):
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
        self.svc_ = bounded_svc(C=self.C, random_state=0).fit(Rows(rows).bag_means(grouped).array, weak)
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""
        return np.asarray(self.svc_.decision_function(Rows(rows).bag_means(bags).array))
