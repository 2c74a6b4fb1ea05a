"""The MIL regime: a positive bag holds at least one positive instance, a negative bag holds none."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bliss_framework.plugin import Bags, LabelSpace, Outcome, Presets, Regime, WeakLabels, one_of
from bliss_mil.presets import PRESETS
from bliss_mil.reward import precision, recall
from bliss_mil.weak_labels import check_binary
from bliss_mil.witnesses import fewest_mistakes


@frozen
class MilRegime(Regime):
    """Binary MIL (Dietterich et al., 1997; paper, "Binary MIL").

    Args:
        positive_label: which of two weak labels means positive; not needed for 0/1, -1/1 or booleans.
        negative_bags: "known" (instances of negative bags are negative and have no arms) or "free" (they are inferred
            like all others, as a literal reading of the paper has it).
        weights: "instance" lets every instance count alike, "bag" every bag (instance weights 1/|bag|).
        bag_score: of the instance scores of a bag, "max" is the regime's own definition, "mean" lets all instances
            vote, and "max-mean" is the mean of both.
    """

    binary: ClassVar[bool] = True
    presets: ClassVar[Presets] = PRESETS
    bag_parameters: ClassVar[tuple[str, ...]] = ("bag_score",)

    positive_label: Any = field(default=None)
    negative_bags: str = field(default="known", validator=one_of("known", "free"))
    weights: str = field(default="instance", validator=one_of("instance", "bag"))
    bag_score: str = field(default="max", validator=one_of("max", "mean", "max-mean"))

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Refuse anything but two classes of bags, both of them there."""
        return check_binary(weak, bags, self.positive_label)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Give instances of positive bags both labels; a positive bag of one instance leaves no doubt."""
        positive = bags.spread(weak.values == 1)
        alone = bags.spread(bags.sizes == 1)
        if self.negative_bags == "free":
            candidates = np.ones((bags.n_rows, 2), dtype=bool)
        else:
            candidates = np.stack([~(positive & alone), positive], axis=1)
        return LabelSpace(candidates, np.array([0, 1], dtype=np.intp))

    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Stratify by the bag's label."""
        return weak.values.astype(np.intp)

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Score a bag by its most positive instance, or as `bag_score` says."""
        if self.bag_score == "max":
            return np.asarray(bags.max(scores))
        mean = bags.mean(scores)
        return mean if self.bag_score == "mean" else (bags.max(scores) + mean) / 2

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Call a bag positive when its score exceeds the threshold."""
        return (self.bag_scores(scores, bags) > threshold).astype(np.intp)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose the threshold with the best bag accuracy."""
        return best_threshold(bag_scores, weak.values)

    def instance_threshold(
        self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, classes: NDArray[np.intp] | None
    ) -> float:
        """Choose the cut with the fewest expected mistakes, by the scores of negative bags; see `fewest_mistakes`.

        How many instances were inferred to be positive says little: one witness explains a bag, however many it has.
        """
        positive, alone = bags.spread(weak.values == 1), bags.spread(bags.sizes == 1)
        return fewest_mistakes(scores[positive & ~alone], scores[~positive], scores[positive & alone])

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score held-out bags: recall over positive bags, precision over instances."""
        bags, weak = outcome.fold.heldout.bags, outcome.fold.heldout.weak.values
        found = bags.any(outcome.heldout_classes > 0)
        positive = weak == 1
        return {
            "bag_accuracy": float((found == positive).mean()),
            "recall": float(recall(outcome)[bags.spread(positive)].mean()) if positive.any() else 1.0,
            "precision": float(precision(outcome).mean()),
        }

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return bag accuracy, and bag AUC where both classes are there."""
        measures = {"bag_accuracy": float((predicted == weak.values).mean())}
        if len(np.unique(weak.values)) == 2:
            measures["bag_auc"] = float(roc_auc_score(weak.values, scores))
        return measures

    def selection_score(self, bag_scores: NDArray[np.float64], predicted: NDArray[Any], weak: WeakLabels) -> float:
        """Add half the AUC to the accuracy, because many settings tie in accuracy."""
        measures = self.evaluate(predicted, bag_scores, weak)
        return measures["bag_accuracy"] + measures.get("bag_auc", 0.5) / 2

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Give every instance the label of its bag."""
        return np.eye(2)[bags.spread(weak.values)]

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Return weights of mean 1, or None where every instance counts alike."""
        if self.weights == "instance":
            return None
        return bags.spread(1.0 / bags.sizes) * (bags.n_rows / bags.n_bags)


def best_threshold(scores: NDArray[np.float64], truth: NDArray[Any]) -> float:
    """Return the threshold that separates two classes of scores with the best accuracy.

    Several thresholds are often equally good; the one in the middle of their list is taken.

    Args:
        scores: (B,) real numbers.
        truth: (B,) 0 or 1.

    >>> best_threshold(np.array([-1.0, 0.5, 2.0, 3.0]), np.array([0, 0, 1, 1]))
    1.25
    """
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], truth[order]
    cuts = np.concatenate([[ordered[0] - 1.0], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1.0]])
    # Below cut i lie the first i scores, which are called negative.
    right = np.concatenate([[0], np.cumsum(labels == 0)]) + np.concatenate([np.cumsum((labels == 1)[::-1])[::-1], [0]])
    separating = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    right = np.where(separating, right, -1)
    best = np.flatnonzero(right == right.max())
    return float(cuts[best[len(best) // 2]])
