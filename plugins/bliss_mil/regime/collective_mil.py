"""Bags in which all instances matter: a bag is positive where the average of its instances is."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BagReading,
    Bags,
    BinaryReading,
    LabelSpace,
    Outcome,
    Part,
    Presets,
    Regime,
    WeakLabels,
    best_threshold,
    between,
    likelihood_presets,
)
from bliss_mil.regime.weak_labels import check_binary, check_known_binary

CERTAIN = 1e-6


@frozen
class CollectiveMil(Regime):
    """A bag is labelled by the average of its instances (the collective assumption; Xu and Frank, PAKDD 2004).

    With the chances s of class 1 and their mean q over a bag, the bag is positive with chance q, so the log-likelihood
    y log q + (1 - y) log(1 - q) has the slope (y / q - (1 - y) / (1 - q)) / |B| in each s.

    Args:
        positive_label: which of two weak labels means positive; see the regime "mil".
        share: of positive instances that bags inherit: so many are taken to be of the class of their bag at first.
    """

    binary: ClassVar[bool] = True
    presets: ClassVar[Presets] = likelihood_presets()

    positive_label: Any = field(default=None)
    share: float = field(default=0.75, validator=between(0.5, 1.0))

    @property
    def reading(self) -> BagReading:
        """All instances of a bag vote."""
        return CollectiveReading()

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Refuse anything but two classes of bags, both of them there."""
        return check_binary(weak, bags, self.positive_label)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Take the classes of training, or other words of which everybody knows which is positive."""
        return check_known_binary(weak, bags, classes) or super().check_test(weak, bags, classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Let every instance be of either class."""
        return LabelSpace(np.ones((bags.n_rows, 2), dtype=bool), np.arange(2))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Give every instance the label of its bag."""
        return np.eye(2)[bags.spread(weak.values)]

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw the class of the bag with the chance `share`."""
        own = part.bags.spread(part.weak.values)[:, None] == np.arange(2)
        return np.where(own, self.share, 1 - self.share)

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope (m, 2) of the log-likelihood of bags in the chances (m, 2) of their instances."""
        q = np.clip(part.bags.mean(chances[:, 1]), CERTAIN, 1 - CERTAIN)
        of_bag = np.where(part.weak.values == 1, 1 / q, -1 / (1 - q)) / part.bags.sizes
        slope = part.bags.spread(of_bag)
        return np.stack([np.zeros(len(slope)), slope], axis=1)


@frozen
class CollectiveReading(BagReading):
    """All instances of a bag vote, and a vote is a score that is cut off at -1 and 1."""

    from_instances: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the votes of a bag: (n,) -> (B,)."""
        return bags.mean(np.clip(scores, -1.0, 1.0))

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Call a bag positive when its score exceeds the threshold: (B,) of 0 and 1."""
        return np.asarray(self.bag_scores(scores, bags) > threshold, dtype=np.int8)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose the threshold with the best bag accuracy."""
        return best_threshold(bag_scores, weak.values)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags whose predicted majority is right."""
        heldout = outcome.fold.heldout
        majority = heldout.bags.mean(outcome.heldout_classes) > 0.5
        return {"bag_accuracy": float((majority == heldout.weak.values).mean())}

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return bag accuracy, and bag AUC where both classes are there."""
        return BinaryReading("mean").evaluate(predicted, scores, weak)
