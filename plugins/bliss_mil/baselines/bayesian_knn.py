"""Bayesian-kNN: what the votes of the nearest bags say, by how often they said it of training bags."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from bliss_framework.plugin import Bags, Rows, check_settings, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.citation_knn import SLACK, bag_distances
from bliss_mil.baselines.row_order import contiguous


class BayesianKnn(WholeBagScorer):
    """The class of a bag that is the likelier one, given how many of its k nearest training bags are positive.

    Bags are as far apart as their two nearest instances (minimal Hausdorff distance). For each class, how likely each
    number of votes is comes from the training bags, each without itself. The score is the logarithm of the odds of the
    positive class. An instance is a bag of one. Source: Wang and Zucker, Solving the multiple-instance problem: a lazy
    learning approach, ICML 2000. Where bags are equally far, all choices among them count alike, so that the order of
    bags does not matter.

    Args:
        n_neighbors: k, the nearest bags that vote; at most all other training bags.
        smoothing: what is added to the count of each class, and of each number of votes in a class (Laplace).
        scaling: see `Scaling`; the paper took raw columns ("none").
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        n_neighbors_: k, or the number of other training bags where that is less.
        chances_: (2, k + 1) the probability of each class (negative, positive) together with each number of votes.
    """

    def __init__(
        self, n_neighbors: int = 3, smoothing: float = 1.0, scaling: str = "auto", positive_label: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "BayesianKnn":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, n_neighbors=validators.at_least(1), smoothing=validators.positive)
        rows, grouped, weak = self.learn(X, y, bags)
        # Distances by matrix products are exact to the last bits of the longest row: keep rows short.
        self.centre_ = None if Rows(rows).is_sparse else Rows(rows).column_means()
        rows, self.index_ = contiguous(rows, grouped)
        self.instances_ = self._centred(rows)
        self.positive_ = weak == 1
        self.slack_ = SLACK * float(Rows(self.instances_).squared_norms().max())
        self.n_neighbors_ = min(self.n_neighbors, len(weak) - 1)
        between = bag_distances(self.instances_, self.index_, self.instances_, self.index_)
        np.fill_diagonal(between, np.inf)
        votes = vote_chances(between, self.positive_, self.n_neighbors_, self.slack_)
        self.chances_ = joint_chances(votes, self.positive_, self.smoothing)
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d) by the log-odds of the positive class: (B,)."""
        rows, index = contiguous(rows, bags)
        distances = bag_distances(self._centred(rows), index, self.instances_, self.index_)
        votes = vote_chances(distances, self.positive_, self.n_neighbors_, self.slack_)
        negative, positive = np.log(votes @ self.chances_.T).T
        return np.asarray(positive - negative)

    def _centred(self, rows: Any) -> Any:
        return rows if self.centre_ is None else rows - self.centre_


def vote_chances(
    distances: NDArray[np.float64], positive: NDArray[np.bool_], k: int, slack: float
) -> NDArray[np.float64]:
    """Say how likely each number of positive votes is among the k nearest bags, if equally far ones are drawn by lot.

    Args:
        distances: (Q, B) of bags from training bags.
        positive: (B,) which training bags are positive.
        k: votes, at most B.
        slack: distances that differ by less are equal.

    Returns:
        (Q, k + 1) probabilities of 0 to k positive votes; without ties one of them is 1.
    """
    limit = np.partition(distances, k - 1, axis=1)[:, [k - 1]]
    nearer = distances < limit - slack
    equal = (distances <= limit + slack) & ~nearer
    # Columns (Q, 1): the places that are left for equally far bags, how many those are, and the positive ones.
    places = k - nearer.sum(axis=1, keepdims=True)
    candidates = equal.sum(axis=1, keepdims=True)
    good = (equal & positive).sum(axis=1, keepdims=True)
    drawn = np.arange(k + 1) - (nearer & positive).sum(axis=1, keepdims=True)
    chances = _log_choices(good, drawn) + _log_choices(candidates - good, places - drawn)
    return np.exp(chances - _log_choices(candidates, places))


def _log_choices(n: NDArray[np.intp], k: NDArray[np.intp]) -> NDArray[np.float64]:
    """Logarithm of the number of ways to choose k of n, which is -inf where there is none."""
    possible = (k >= 0) & (k <= n)
    within = np.clip(k, 0, n)
    return np.where(possible, -np.log1p(n) - betaln(n - within + 1, within + 1), -np.inf)


def joint_chances(votes: NDArray[np.float64], positive: NDArray[np.bool_], smoothing: float) -> NDArray[np.float64]:
    """Estimate P(class, votes) = P(class) P(votes | class) by smoothed counts: (2, k + 1), negative class first.

    Args:
        votes: (B, k + 1) the chance of each number of votes for each training bag.
        positive: (B,) which training bags are positive.
        smoothing: added to each count.
    """
    members = np.stack([~positive, positive]).astype(np.float64)
    counts, sizes = members @ votes, members.sum(axis=1, keepdims=True)
    of_votes = (counts + smoothing) / (sizes + smoothing * votes.shape[1])
    of_class = (sizes + smoothing) / (len(positive) + 2 * smoothing)
    return np.asarray(of_votes * of_class)
