"""The reading of binary MIL: a positive bag holds at least one positive instance, a negative bag holds none."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts.bag_reading import BagReading
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Outcome
from bliss_framework.readings.ranking import roc_auc
from bliss_framework.readings.thresholds import fewest_mistakes, logistic_threshold
from bliss_framework.rewards.recall_precision import binary_precision, binary_recall
from bliss_framework.validators import one_of


@frozen
class BinaryReading(BagReading):
    """A bag is as positive as its most positive instance, or as its instances are in the mean; weak labels are 0 and 1.

    Args:
        bag_score: of the instance scores of a bag, "max" is the definition of MIL, "mean" lets all instances vote, and
            "max-mean" is the mean of both.

    >>> BinaryReading().bag_labels(np.array([-1.0, 2.0, -3.0]), Bags.from_ids(["a", "a", "b"]), 0.0).tolist()
    [1, 0]
    """

    takes_weights: ClassVar[bool] = True
    few_witnesses: ClassVar[float] = 0.25  # Of the instances of positive bags: measured in explanation/selection.md.

    bag_score: str = field(default="max", validator=one_of("max", "mean", "max-mean"))

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Score a bag by its most positive instance, or as `bag_score` says: (n,) -> (B,)."""
        if self.bag_score == "max":
            return np.asarray(bags.max(scores))
        mean = bags.mean(scores)
        return mean if self.bag_score == "mean" else (bags.max(scores) + mean) / 2

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Call a bag positive when its score exceeds the threshold: (B,) of 0 and 1."""
        return (self.bag_scores(scores, bags) > threshold).astype(np.intp)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose where a logistic curve says that both labels are equally likely; see `logistic_threshold`."""
        return logistic_threshold(bag_scores, weak.values)

    def instance_threshold(
        self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, classes: NDArray[np.intp] | None
    ) -> float:
        """Choose the threshold with the fewest expected mistakes by the scores of negative bags; see `fewest_mistakes`.

        How many instances were inferred to be positive says little: one witness explains a bag, however many it has.
        """
        positive, alone = bags.spread(weak.values == 1), bags.spread(bags.sizes == 1)
        return fewest_mistakes(scores[positive & ~alone], scores[~positive], scores[positive & alone])

    def inherited_share(self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, learnt: float) -> float:
        """Choose 0 where few instances of positive bags score as positive: most of what these inherit is wrong.

        Whatever threshold the user has for instances, those count that score above the one with the fewest mistakes.
        """
        inherit = scores[bags.spread(weak.values == 1)]
        found = np.count_nonzero(inherit > self.instance_threshold(scores, bags, weak, None))
        return 0.0 if found < self.few_witnesses * len(inherit) else learnt

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score held-out bags: recall over positive bags, precision over instances."""
        bags, weak = outcome.fold.heldout.bags, outcome.fold.heldout.weak.values
        found = bags.any(outcome.heldout_classes > 0)
        positive = weak == 1
        return {
            "bag_accuracy": float((found == positive).mean()),
            "recall": float(binary_recall(outcome)[bags.spread(positive)].mean()) if positive.any() else 1.0,
            "precision": float(binary_precision(outcome).mean()),
        }

    def evaluate(
        self,
        predicted: NDArray[Any],
        scores: NDArray[np.float64],
        weak: WeakLabels,
        weights: NDArray[np.float64] | None = None,
    ) -> Mapping[str, float]:
        """Return bag accuracy, and bag AUC where both classes are there."""
        measures = {"bag_accuracy": float(np.average(predicted == weak.values, weights=weights))}
        if len(np.unique(weak.values)) == 2:
            measures["bag_auc"] = roc_auc(weak.values, scores, weights)
        return measures

    def selection_score(self, bag_scores: NDArray[np.float64], predicted: NDArray[Any], weak: WeakLabels) -> float:
        """Add half the AUC to the accuracy, because many settings tie in accuracy."""
        measures = self.evaluate(predicted, bag_scores, weak)
        return measures["bag_accuracy"] + measures.get("bag_auc", 0.5) / 2
