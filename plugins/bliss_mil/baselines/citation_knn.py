"""Citation-kNN: neighbours among bags, in both directions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from bliss_framework.plugin import Bags, Rows, check_settings, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.row_order import contiguous, first_rows

# Distances in one block; 4 million of them are 32 MB.
BLOCK = 4_000_000
# Equal distances come out of matrix products with different last bits.
SLACK = 1e-10


class CitationKnn(WholeBagScorer):
    """Nearest bags vote: those near a bag (references), and those that it is near to (citers).

    Bags are as far apart as their two nearest instances (minimal Hausdorff distance). A training bag cites a bag that
    would be among the bag's own nearest neighbours. The score is the share of positive votes less that of negative
    ones, so a tie is negative, as in the paper; bags at equal distances vote together. An instance is a bag of one.
    Source: Wang and Zucker, Solving the multiple-instance problem: a lazy learning approach, ICML 2000.

    Args:
        n_references: nearest training bags that vote (R; the paper's best on MUSK is 2).
        n_citers: rank among a training bag's neighbours up to which it votes (C; the paper's best on MUSK is 4).
        scaling: see `Scaling`; the paper took raw columns ("none").
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(
        self, n_references: int = 2, n_citers: int = 4, scaling: str = "auto", positive_label: Any = None
    ) -> None:
        self.n_references = n_references
        self.n_citers = n_citers
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "CitationKnn":
        """Keep training bags: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, n_references=validators.at_least(1), n_citers=validators.at_least(0))
        rows, grouped, weak = self.learn(X, y, bags)
        # Distances by matrix products are exact to the last bits of the longest row: keep rows short.
        self.centre_ = None if Rows(rows).is_sparse else Rows(rows).column_means()
        rows, self.index_ = contiguous(rows, grouped)
        self.instances_ = self._centred(rows)
        self.signs_ = np.where(weak == 1, 1.0, -1.0)
        self.slack_ = SLACK * float(Rows(self.instances_).squared_norms().max())
        self.reach_ = self._reach()
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d) from -1 to 1: (B,), positive above 0."""
        rows, index = contiguous(rows, bags)
        distances = bag_distances(self._centred(rows), index, self.instances_, self.index_)
        last = min(self.n_references, len(self.signs_)) - 1
        limit = np.partition(distances, last, axis=1)[:, [last]] + self.slack_
        votes = (distances <= limit).astype(np.float64) + (distances <= self.reach_)
        return np.asarray(votes @ self.signs_ / votes.sum(axis=1))

    def _centred(self, rows: Any) -> Any:
        return rows if self.centre_ is None else rows - self.centre_

    def _reach(self) -> NDArray[np.float64]:
        """Squared distance (B,) within which a bag is among each training bag's nearest `n_citers`."""
        n_bags = len(self.signs_)
        if self.n_citers == 0:
            return np.full(n_bags, -np.inf)
        if self.n_citers >= n_bags:
            return np.full(n_bags, np.inf)
        between = bag_distances(self.instances_, self.index_, self.instances_, self.index_)
        np.fill_diagonal(between, np.inf)
        return np.partition(between, self.n_citers - 1, axis=1)[:, self.n_citers - 1] + self.slack_


def bag_distances(
    rows: Any, index: NDArray[np.intp], others: Any, other_index: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Squared minimal Hausdorff distances (B, B') between two sets of bags, a block of rows at a time.

    Args:
        rows, others: (n, d) and (m, d) arrays or CSR matrices; the rows of a bag are contiguous.
        index, other_index: (n,) and (m,) the bag of each row, in ascending order.
    """
    starts = first_rows(other_index)
    found = np.full((index[-1] + 1, len(starts)), np.inf)
    step = max(1, BLOCK // len(other_index))
    lengths = Rows(others).squared_norms()[None, :]
    for first in range(0, len(index), step):
        block = slice(first, first + step)
        squares = euclidean_distances(rows[block], others, Y_norm_squared=lengths, squared=True)
        nearest = np.minimum.reduceat(squares, starts, axis=1)
        heads = first_rows(index[block])
        in_block = index[block][heads]
        found[in_block] = np.minimum(found[in_block], np.minimum.reduceat(nearest, heads, axis=0))
    return found
