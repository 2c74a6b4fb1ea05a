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
    between,
    count_slopes,
    keep_counts,
    likelihood_presets,
    logistic_threshold,
)
from bliss_mil.regime.weak_labels import check_binary, check_known_binary

ROUNDING = 1e-9  # 0.3 of ten instances are three of them.


@frozen
class CollectiveMil(Regime):
    """A bag is positive where the average of its instances is (the collective assumption; Xu and Frank, PAKDD 2004).

    More than `share` of the instances of a positive bag are positive, and no more than that of a negative one. So the
    number N of positive instances lies in an interval, whose likelihood is that of `count_slopes`, and a label
    assignment has such a number in every bag.

    Args:
        positive_label: which of two weak labels means positive; see the regime "mil".
        share: of positive instances, above which a bag is positive.
    """

    binary: ClassVar[bool] = True
    presets: ClassVar[Presets] = likelihood_presets("mi-logistic-regression", "bag-mean-svm", relabel_rounds=30)

    positive_label: Any = field(default=None)
    share: float = field(default=0.5, validator=between(0.0, 1.0))

    @property
    def reading(self) -> BagReading:
        """All instances of a bag vote."""
        return CollectiveReading(self.share)

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Refuse anything but two classes of bags, both of them there."""
        return check_binary(weak, bags, self.positive_label)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Take the classes of training, or other words of which everybody knows which is positive."""
        return check_known_binary(weak, bags, classes) or super().check_test(weak, bags, classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Let every instance be of either class."""
        return LabelSpace(np.ones((bags.n_rows, 2), dtype=bool), np.arange(2))

    def counts(self, weak: WeakLabels, bags: Bags) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the smallest and the largest number of positive instances of each bag: (B,) and (B,)."""
        most, positive = most_of_negative(bags, self.share), weak.values == 1
        return np.where(positive, most + 1, 0), np.where(positive, bags.sizes, most)

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return the middle between the smallest and the largest number as a share."""
        share = bags.spread(sum(self.counts(weak, bags)) / (2 * bags.sizes))
        return np.stack([1 - share, share], axis=1)

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw first labels as bags inherit them."""
        return self.inherited(part.weak, part.bags)

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope (m, 2) of the log-likelihood of bags in the chances (m, 2) of their instances."""
        slope = count_slopes(chances[:, 1], part.bags, *self.counts(part.weak, part.bags))
        return np.stack([np.zeros(len(slope)), slope], axis=1)

    def constraint(self) -> Any:
        """Keep assignments with more than the share of positive instances in positive bags alone."""
        return self._keep

    def _keep(self, bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
        gains = bounds[:, 1] - bounds[:, 0]
        return keep_counts(gains, part.bags, *self.counts(part.weak, part.bags)).astype(np.intp)


def most_of_negative(bags: Bags, share: float) -> NDArray[np.intp]:
    """Return how many positive instances (B,) a negative bag may hold, which is never all of them."""
    return np.minimum(np.floor(share * bags.sizes + ROUNDING), bags.sizes - 1).astype(np.intp)


@frozen
class CollectiveReading(BagReading):
    """All instances of a bag vote, and a vote is a score that is cut off at -1 and 1.

    Args:
        share: of positive instances, above which a bag is positive.
    """

    from_instances: ClassVar[bool] = True
    share: float = field(default=0.5)

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the votes of a bag: (n,) -> (B,)."""
        return bags.mean(np.clip(scores, -1.0, 1.0))

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Call a bag positive when its score exceeds the threshold: (B,) of 0 and 1."""
        return np.asarray(self.bag_scores(scores, bags) > threshold, dtype=np.int8)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose where a logistic curve says that both labels are equally likely; see `logistic_threshold`."""
        return logistic_threshold(bag_scores, weak.values)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags that are right by how many of their instances are predicted positive."""
        bags, weak = outcome.fold.heldout.bags, outcome.fold.heldout.weak
        found = bags.sum(outcome.heldout_classes) > most_of_negative(bags, self.share)
        return {"bag_accuracy": float((found == weak.values).mean())}

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return bag accuracy, and bag AUC where both classes are there."""
        return BinaryReading("mean").evaluate(predicted, scores, weak)
