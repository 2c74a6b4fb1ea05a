"""A baseline for label sets: a network that attends to the instances of a bag, for each label on its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bliss_framework.plugin import (
    AttentionTraining,
    Bags,
    GatedAttention,
    Scaling,
    at_least,
    between,
    check_bags,
    check_settings,
    positive,
    refuse_lost_bags,
)
from bliss_multiclass_mil.baselines.label_scorer import LabelScorer


class LabelSetAttention(LabelScorer):
    """Gated attention (Ilse, Tomczak and Welling, ICML 2018) with one attention and one output for each label.

    An instance is embedded by one layer. Each label has weights over the instances of a bag, which sum to one, and the
    bag's logit is the weighted mean of what its instances say. Instances are classified by what they say themselves,
    which training does not ask them for: a bag can be right while its instances are not.

    Args:
        n_hidden: size of an instance's embedding.
        n_attention: size of the gates of the attention.
        n_epochs: passes over all bags.
        batch_bags: bags in each step.
        learning_rate: of Adam.
        l2: penalty of squared weights.
        scaling: see `Scaling`.
        negative_label: see `MultiClassMilRegime`, as for separator and label_names.
        separator: in label sets that are text.
        label_names: all labels.
        random_state: of the first weights and the order of bags.

    Attributes:
        classes_: the negative class, then the C labels.
        weights_: arrays of single precision by name, see `GatedAttention`.
    """

    def __init__(
        self,
        n_hidden: int = 128,
        n_attention: int = 64,
        n_epochs: int = 60,
        batch_bags: int = 32,
        learning_rate: float = 1e-3,
        l2: float = 1e-4,
        scaling: str = "auto",
        negative_label: Any = "negative",
        separator: str = ";",
        label_names: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_attention = n_attention
        self.n_epochs = n_epochs
        self.batch_bags = batch_bags
        self.learning_rate = learning_rate
        self.l2 = l2
        self.scaling = scaling
        self.negative_label = negative_label
        self.separator = separator
        self.label_names = label_names
        self.random_state = random_state

    def fit(self, X: Any, y: Any, bags: Any = None) -> "LabelSetAttention":
        """Learn from label sets: X (n, d), y one label set for each bag or row, bags (n,) ids."""
        self._check()
        given, weak = self.checked(X, y, bags)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        rows = self.scaling_.transform(given.X)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        first = GatedAttention.drawn(rows.shape[1], weak.values.shape[1], self.n_hidden, self.n_attention, rng)
        how = AttentionTraining(self.n_epochs, self.batch_bags, self.learning_rate, self.l2)
        self.weights_ = first.trained(rows, given.bags, weak.values, how, rng).weights
        return self

    def _check(self) -> None:
        one = at_least(1)
        check_settings(self, n_hidden=one, n_attention=one, n_epochs=one, batch_bags=one)
        check_settings(self, learning_rate=positive, l2=between(0.0, 10.0))

    def label_scores(self, X: Any, bags: Any = None) -> tuple[NDArray[np.float64], Bags]:
        """Score every instance for every label: (n, C), and the bags of the instances."""
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        said, _ = GatedAttention(self.weights_).instance_logits(self.scaling_.transform(rows))
        return np.asarray(said, dtype=np.float64), grouped

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag for each label by what its instances say, weighted by attention: (ids, (B, C))."""
        refuse_lost_bags(self, X, bags)
        rows, grouped = check_bags(X, bags)
        return grouped.ids, GatedAttention(self.weights_).bag_logits(self.scaling_.transform(rows), grouped)
