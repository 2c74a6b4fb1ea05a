"""The two kinds of MIL baselines: those that score instances, and those that score bags as a whole."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags
from bliss_mil.bag_classifier import BagClassifier


class InstanceScorer(BagClassifier):
    """Scores instances; a bag is as positive as its most positive instance."""

    @abstractmethod
    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,), positive above 0."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""
        rows, _ = self.rows(X, None)
        return self.score_rows(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self.rows(X, bags)
        return grouped.ids, grouped.max(self.score_rows(rows))


class WholeBagScorer(BagClassifier):
    """Scores bags as a whole; an instance is a bag of one."""

    @abstractmethod
    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) as if each were a bag."""
        rows, _ = self.rows(X, None)
        return self.score_grouped(rows, Bags.from_ids(np.arange(rows.shape[0])))

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""
        rows, grouped = self.rows(X, bags)
        return grouped.ids, self.score_grouped(rows, grouped)
