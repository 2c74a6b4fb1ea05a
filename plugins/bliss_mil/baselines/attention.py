"""A baseline for MIL: a network that attends to the instances of a bag."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bliss_framework.plugin import (
    AttentionTraining,
    GatedAttention,
    Rows,
    at_least,
    between,
    check_settings,
    in_own_order,
    positive,
)
from bliss_mil.baselines.bag_classifier import BagClassifier


class AttentionMil(BagClassifier):
    """Gated attention (Ilse, Tomczak and Welling, Attention-based deep multiple instance learning, ICML 2018).

    An instance is embedded by one layer of rectified units. A bag's score is the weighted mean of what its instances
    say, by weights of a second, small network, which sum to one; by the logistic function it is a probability. The
    score of an instance is what it says itself, which is its score as a bag of one, and not how much attention it gets:
    training does not ask instances for it, so a bag can be right while its instances are not. Columns in which training
    rows do not differ have no say. Settings were chosen on twelve sets that are not those of the paper's table.

    Args:
        n_hidden: size of an instance's embedding.
        n_attention: size of the gates of the attention.
        dropout: share of an embedding that is left out in each step of training.
        n_epochs: passes over all bags.
        batch_bags: bags in each step.
        learning_rate: of Adam.
        l2: penalty of squared weights.
        scaling: see `Scaling`; "clipped" also for sparse rows, from which column means are subtracted in training only.
        random_state: of the first weights, the order of bags and what is left out.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        columns_: (d',) positions of the columns in which training rows differ.
        weights_: arrays of single precision by name, see `GatedAttention`.
    """

    def __init__(
        self,
        n_hidden: int = 128,
        n_attention: int = 64,
        dropout: float = 0.25,
        n_epochs: int = 60,
        batch_bags: int = 16,
        learning_rate: float = 1e-3,
        l2: float = 1e-3,
        scaling: str = "clipped",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_attention = n_attention
        self.dropout = dropout
        self.n_epochs = n_epochs
        self.batch_bags = batch_bags
        self.learning_rate = learning_rate
        self.l2 = l2
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "AttentionMil":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        self._check()
        scaled, given, labels = self.learn(X, y, bags)
        self.columns_ = _varying(scaled)
        rows, grouped, weak, _ = in_own_order(self._chosen(scaled), given, labels)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        first = GatedAttention.drawn(len(self.columns_), 1, self.n_hidden, self.n_attention, rng)
        how = AttentionTraining(self.n_epochs, self.batch_bags, self.learning_rate, self.l2, self.dropout)
        # Where words are rare, inputs that are nearly all positive cost ten points; dense rows are centred already.
        centre = Rows(rows).column_means()
        self.weights_ = first.trained(rows, grouped, weak[:, None], how, rng, centre).weights
        return self

    def _check(self) -> None:
        one = at_least(1)
        check_settings(self, n_hidden=one, n_attention=one, n_epochs=one, batch_bags=one)
        check_settings(self, learning_rate=positive, l2=between(0.0, 10.0), dropout=between(0.0, 0.9))

    def _chosen(self, scaled: Any) -> Any:
        return Rows(scaled).columns(self.columns_).array

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) by what each says itself, positive above 0."""
        rows, _ = self.rows(X, None)
        said, _ = GatedAttention(self.weights_).instance_logits(self._chosen(rows))
        return np.asarray(said[:, 0], dtype=np.float64)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by what its instances say, weighted by attention: (ids, scores), positive above 0."""
        rows, grouped = self.rows_in_bags(X, bags)
        return grouped.ids, GatedAttention(self.weights_).bag_logits(self._chosen(rows), grouped)[:, 0]


def _varying(rows: Any) -> NDArray[np.intp]:
    """Find the columns in which rows differ, (d',); the first one where there is none."""
    varies = Rows(rows).column_ranges() > 0
    if not varies.any():
        varies[0] = True
    return np.flatnonzero(varies)
