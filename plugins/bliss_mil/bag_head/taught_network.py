"""Networks that read bags, and are taught by labels of bags and by what label inference says of instances.

A network of gated attention alone has to find out from labels of bags which of their instances matter. Where few do,
scores of instances know that better, so a network is taught both at once: bags their labels, and instance i the chance
that it is a witness, by scores of classifiers that have not seen its bag,

    t_i = max(0, (P(s_i) - q) / (1 - q)) in positive bags, else 0,

with P the logistic curve that tells instances of positive bags from others by their score, and q their share. Among
rows that say nothing P is q, so they are taught nothing. Where bags are few, scores can mislead, so three networks are
averaged: of one instances are taught nothing, of one a little, and of one as much as bags.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from bliss_framework.plugin import (
    AttentionTraining,
    Bags,
    BinaryReading,
    GatedAttention,
    ProblemSize,
    Rows,
    WeakLabels,
)

N_HIDDEN, N_ATTENTION = 128, 64
MOST_COLUMNS = 10_000
MANY_ROWS = 8_000  # Of more, fewer epochs do.
N_EPOCHS, FEWEST_EPOCHS = 60, 10
TAUGHT_WEIGHTS = (0.0, 0.3, 1.0)
SINGLE = 4


class BagNetworks(BaseEstimator):  # type: ignore[misc]
    """Trained networks, whose scores are averaged.

    Args:
        weights: of each network, arrays by name, see `GatedAttention`.
    """

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def bag_scores(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score bags (B,) by their scaled rows."""
        return np.asarray(np.mean([one.bag_logits(rows, bags)[:, 0] for one in self._networks()], axis=0))

    def instance_scores(self, rows: Any) -> NDArray[np.float64]:
        """Score instances (n,), by scaled rows, as bags of one."""
        said = [one.instance_logits(rows)[0][:, 0] for one in self._networks()]
        return np.asarray(np.mean(said, axis=0, dtype=np.float64))

    def _networks(self) -> list[GatedAttention]:
        return [GatedAttention(one) for one in self.weights]


@frozen(eq=False)
class TaughtNetworks:
    """Networks that were trained on all bags, and what such say that were trained on the other folds.

    Attributes:
        networks: trained on all.
        bag_scores: (B,) of the training bags.
        instance_scores: (n,) of their rows.
    """

    networks: BagNetworks = field()
    bag_scores: NDArray[np.float64] = field()
    instance_scores: NDArray[np.float64] = field()


def has_few_witnesses(scores: NDArray[np.float64], bags: Bags, weak: WeakLabels) -> bool:
    """Say whether few instances of positive bags score as positive, as `BinaryReading` has it.

    Args:
        scores: (n,) of instances, out of fold.
        bags: of the instances.
        weak: labels of the bags.
    """
    reading, inherit = BinaryReading(), bags.spread(weak.values == 1)
    above = scores > reading.instance_threshold(scores, bags, weak, None)
    return bool(above[inherit].mean() < reading.few_witnesses)


def taught_shares(scores: NDArray[np.float64], inherit: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the chance (n,) that an instance is a witness; see the formula above.

    Args:
        scores: (n,) of instances, out of fold.
        inherit: (n,) whether the bag is positive.

    >>> shares = taught_shares(np.array([0.0, 0.1, 0.2, 0.0, 0.1, 5.0]), np.array([0, 0, 0, 1, 1, 1], dtype=bool))
    >>> [round(float(one)) for one in shares]
    [0, 0, 0, 0, 0, 1]
    """
    column, share = scores[:, None], inherit.mean()
    chance = LogisticRegression(C=1000.0).fit(column, inherit).predict_proba(column)[:, 1]
    return np.where(inherit, np.maximum(0.0, (chance - share) / (1 - share)), 0.0)


def taught_networks(
    rows: Any, bags: Bags, weak: WeakLabels, scores: NDArray[np.float64], folds: NDArray[np.intp]
) -> TaughtNetworks:
    """Train networks on all bags, and score each bag and its rows by such that were trained on the other folds.

    Args:
        rows: (n, d) scaled rows, an array or a CSR matrix.
        bags: of the rows.
        weak: labels of the bags.
        scores: (n,) of instances, out of fold.
        folds: (B,) the fold of each bag.
    """
    inherit = bags.spread(weak.values == 1)
    trained = _trainer(rows, bags, weak, taught_shares(scores, inherit))
    of_bags, of_rows = np.empty(bags.n_bags), np.empty(bags.n_rows)
    for fold in np.unique(folds):
        networks = trained(bags.rows_of(np.flatnonzero(folds != fold)))
        heldout = bags.rows_of(np.flatnonzero(folds == fold))
        part, (own, positions) = Rows(rows).take(heldout).array, bags.take(heldout)
        of_bags[positions], of_rows[heldout] = networks.bag_scores(part, own), networks.instance_scores(part)
    return TaughtNetworks(trained(np.arange(bags.n_rows)), of_bags, of_rows)


def network_memory(size: ProblemSize) -> int:
    """Return what rows take in single precision, twice, and all weights with what Adam keeps of those of one."""
    return size.rows + (3 + 2 * len(TAUGHT_WEIGHTS)) * SINGLE * N_HIDDEN * size.n_columns


def _trainer(
    rows: Any, bags: Bags, weak: WeakLabels, shares: NDArray[np.float64]
) -> Callable[[NDArray[np.intp]], BagNetworks]:
    """Return a function that trains networks on some of the rows."""
    there = (weak.values == 1)[:, None]
    first = GatedAttention.drawn(rows.shape[1], 1, N_HIDDEN, N_ATTENTION, np.random.default_rng(0))
    n_epochs = int(np.clip(N_EPOCHS * MANY_ROWS / bags.n_rows, FEWEST_EPOCHS, N_EPOCHS))
    hows = [
        AttentionTraining(n_epochs, batch_bags=16, learning_rate=1e-3, l2=1e-3, dropout=0.25, taught_weight=one)
        for one in TAUGHT_WEIGHTS
    ]

    def trained(chosen: NDArray[np.intp]) -> BagNetworks:
        own, positions = bags.take(chosen)
        part, taught = Rows(Rows(rows).take(chosen).array), shares[chosen, None]
        centre, labels = part.column_means(), there[positions]
        found = [first.trained(part.array, own, labels, how, np.random.default_rng(1), centre, taught) for how in hows]
        return BagNetworks([one.weights for one in found])

    return trained
