"""What diverse density and EM-DD share: starts, a learnt target point with scales, and a threshold on bags."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.bag_classifier import BagClassifier
from bliss_mil.baselines.noisy_or import weighted_distances
from bliss_mil.baselines.working_columns import in_canonical_order, learn_columns, on_columns

Search = tuple[float, NDArray[np.float64]]


class TargetPointClassifier(BagClassifier):
    """An instance is positive near a target point; the nearest instance speaks for a bag."""

    def fit(self, X: Any, y: Any, bags: Any = None) -> "TargetPointClassifier":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        self.check()
        scaled, grouped, weak = self.learn(X, y, bags)
        self.kept_, self.projection_ = learn_columns(scaled, self.n_components)
        dense = on_columns(scaled, self.kept_, self.projection_)
        rows, grouped, weak = in_canonical_order(dense, grouped, weak)
        # Columns of mean variance 1: then ascents are as steep in the scales as in the target, in any units.
        unit = float(np.sqrt(rows.var(axis=0).mean())) or 1.0
        rows = rows / unit
        searches = [self.search(start, rows, grouped, weak) for start in self._starts(rows, grouped, weak)]
        self.loss_, best = min(searches, key=lambda search: search[0])
        target, scales = np.split(best, 2)
        self.target_, self.scales_ = target * unit, scales / unit
        nearest = grouped.min(weighted_distances(rows, target, scales))
        self.radius_ = -best_threshold(-nearest, weak)
        return self

    def check(self) -> None:
        """Refuse parameters that are not allowed."""
        counts = ("n_starts", "max_iter", "n_components")
        check_settings(self, **dict.fromkeys(counts, validators.at_least(1)))

    @abstractmethod
    def search(self, start: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> Search:
        """Improve a start (target and scales, 2 d numbers): (negative log-likelihood of the bags, point)."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,): the log of their probability over the threshold's, positive above 0."""
        rows, _ = self.rows(X, None)
        return self._scores(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self.rows_in_bags(X, bags)
        return grouped.ids, grouped.max(self._scores(rows))

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        dense = on_columns(rows, self.kept_, self.projection_)
        return self.radius_ - weighted_distances(dense, self.target_, self.scales_)

    def _starts(self, rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> list[NDArray[np.float64]]:
        rng = check_random_state(self.random_state)
        chosen = start_rows(bags, weak, self.n_starts, rng)
        # 1 in a mean over MUSK's 166 columns is 1/sqrt(166) in a sum: the 0.1 that the literature starts from.
        return [np.concatenate([rows[i], np.ones(rows.shape[1])]) for i in chosen]


def start_rows(bags: Bags, weak: NDArray[Any], n_starts: int, rng: Any) -> NDArray[np.intp]:
    """Draw starts: all instances of one positive bag after the other, in random order, until there are enough."""
    order = rng.permutation(np.flatnonzero(weak == 1))
    members = [rng.permutation(np.flatnonzero(bags.index == bag)) for bag in order[:n_starts]]
    return np.concatenate(members)[:n_starts]


def ascend(objective: Any, point: NDArray[np.float64], max_iter: int, *data: Any) -> Search:
    """Minimise a negative log-likelihood by L-BFGS: (its value, the point found)."""
    found = minimize(objective, point, args=data, jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    return float(found.fun), found.x


def best_threshold(scores: NDArray[np.float64], weak: NDArray[Any]) -> float:
    """Choose the threshold with the best accuracy on training bags; among equals, the one in the widest gap.

    Args:
        scores: (B,) of bags, larger is more positive.
        weak: (B,) 1 for positive and 0 for negative bags.

    >>> best_threshold(np.array([0.0, 1.0, 5.0]), np.array([0, 0, 1]))
    3.0
    """
    levels, index = np.unique(scores, return_inverse=True)
    positives = np.bincount(index, weights=weak == 1)
    negatives = np.bincount(index, weights=weak != 1)
    correct = np.concatenate([[0.0], np.cumsum(negatives)]) + positives.sum()
    correct -= np.concatenate([[0.0], np.cumsum(positives)])
    edges = np.concatenate([[levels[0] - 1.0], levels, [levels[-1] + 1.0]])
    widths = np.diff(edges)
    # A threshold below or above all bags calls them all alike: only where nothing between them is better.
    widths[[0, -1]] = 0.0
    at = np.lexsort((-widths, -correct))[0]
    return float((edges[at] + edges[at + 1]) / 2)
