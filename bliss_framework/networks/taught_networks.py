"""Several networks of gated attention that learn labels of bags and, more or less, what is known of their instances.

A network alone has to find out from labels of bags which of their instances matter. Whoever knows more of them can
teach it both at once. Where bags are few, what is taught can mislead, so there are three networks, to be averaged or
weighed: of one instances are taught nothing, of one a little, and of one as much as bags. What that is worth: "Bags as
wholes" in the documentation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bliss_framework.extension.contracts.classifier import ProblemSize
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows
from bliss_framework.networks.gated_attention import AttentionTraining, GatedAttention

N_HIDDEN, N_ATTENTION = 128, 64
MOST_NETWORK_COLUMNS = 10_000  # Of more, training would take hours.
MANY_ROWS = 8_000  # Of more, fewer epochs do.
N_EPOCHS, FEWEST_EPOCHS = 60, 10
TAUGHT_WEIGHTS = (0.0, 0.3, 1.0)
SINGLE = 4


class BagNetworks(BaseEstimator):  # type: ignore[misc]
    """K trained networks.

    Args:
        weights: of each network, arrays by name, see `GatedAttention`.
    """

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def bag_scores(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score bags for each label by each network, (K, B, C), by their scaled rows."""
        return np.stack([one.bag_logits(rows, bags) for one in self._networks()])

    def instance_scores(self, rows: Any) -> NDArray[np.float64]:
        """Score instances for each label by each network, (K, n, C), by scaled rows, as bags of one."""
        return np.stack([one.instance_logits(rows)[0] for one in self._networks()]).astype(np.float64)

    def _networks(self) -> list[GatedAttention]:
        return [GatedAttention(one) for one in self.weights]


@frozen(eq=False)
class TaughtNetworks:
    """Networks that were trained on all bags, and what such say that were trained on the other folds.

    Attributes:
        networks: trained on all.
        bag_scores: (K, B, C) of the training bags.
        instance_scores: (K, n, C) of their rows.
    """

    networks: BagNetworks = field()
    bag_scores: NDArray[np.float64] = field()
    instance_scores: NDArray[np.float64] = field()


def taught_networks(
    rows: Any, bags: Bags, there: NDArray[Any], taught: NDArray[np.float64], folds: NDArray[np.intp]
) -> TaughtNetworks:
    """Train networks on all bags, and score each bag and its rows by such that were trained on the other folds.

    Args:
        rows: (n, d) scaled rows, an array or a CSR matrix.
        bags: of the rows.
        there: (B, C) whether a bag has a label.
        taught: (n, C) the chance that an instance has it, by scores that are out of fold.
        folds: (B,) the fold of each bag.

    >>> rows, bags = np.eye(4), Bags.from_ids([0, 0, 1, 1])
    >>> found = taught_networks(rows, bags, np.array([[1], [0]]), np.zeros((4, 1)), np.array([0, 1]))
    >>> found.bag_scores.shape, found.networks.instance_scores(rows).shape
    ((3, 2, 1), (3, 4, 1))
    """
    trained = _trainer(rows, bags, there, taught)
    n_networks = len(TAUGHT_WEIGHTS)
    of_bags, of_rows = np.empty((n_networks, *there.shape)), np.empty((n_networks, *taught.shape))
    for fold in np.unique(folds):
        networks = trained(bags.rows_of(np.flatnonzero(folds != fold)))
        heldout = bags.rows_of(np.flatnonzero(folds == fold))
        part, (own, positions) = Rows(rows).take(heldout).array, bags.take(heldout)
        of_bags[:, positions], of_rows[:, heldout] = networks.bag_scores(part, own), networks.instance_scores(part)
    return TaughtNetworks(trained(np.arange(bags.n_rows)), of_bags, of_rows)


def network_memory(size: ProblemSize) -> int:
    """Return what rows take in single precision, twice, and all weights with what Adam keeps of those of one."""
    return size.rows + (3 + 2 * len(TAUGHT_WEIGHTS)) * SINGLE * N_HIDDEN * size.n_columns


def _trainer(
    rows: Any, bags: Bags, there: NDArray[Any], taught: NDArray[np.float64]
) -> Callable[[NDArray[np.intp]], BagNetworks]:
    """Return a function that trains networks on some of the rows."""
    n_labels = there.shape[1]
    first = GatedAttention.drawn(rows.shape[1], n_labels, N_HIDDEN, N_ATTENTION, np.random.default_rng(0))
    n_epochs = int(np.clip(N_EPOCHS * MANY_ROWS / bags.n_rows, FEWEST_EPOCHS, N_EPOCHS))
    hows = [
        AttentionTraining(n_epochs, batch_bags=16, learning_rate=1e-3, l2=1e-3, dropout=0.25, taught_weight=one)
        for one in TAUGHT_WEIGHTS
    ]

    def trained(chosen: NDArray[np.intp]) -> BagNetworks:
        own, positions = bags.take(chosen)
        part, labels, told = Rows(Rows(rows).take(chosen).array), there[positions], taught[chosen]
        centre = part.column_means()
        found = [first.trained(part.array, own, labels, how, np.random.default_rng(1), centre, told) for how in hows]
        return BagNetworks([one.weights for one in found])

    return trained
