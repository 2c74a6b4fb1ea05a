"""The reading of rows that are bags: a bag is of the class of its instances."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.special import softmax

from bliss_framework.extension.contracts.bag_reading import BagReading
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Outcome


@frozen
class ClassReading(BagReading):
    """A bag has one class, that of its mean score; made for rows that are bags of their own.

    Weak labels are codes of classes (B,), or rows (B, C) of 0 and 1 that mark the classes which are possible.

    >>> ClassReading().bag_labels(np.array([[0.1, 0.9], [0.7, 0.3]]), Bags.from_ids([0, 1]), 0.0).tolist()
    [1, 0]
    """

    takes_weights: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the scores of a bag: (n,) -> (B,), or (n, C) -> (B, C)."""
        return bags.mean(scores)

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the class of each bag (B,): the largest score, or 1 where the only one exceeds the threshold."""
        own = self.bag_scores(scores, bags)
        return np.asarray(own > threshold if own.ndim == 1 else own.argmax(axis=1), dtype=np.intp)

    def bag_probabilities(
        self, predicted: NDArray[Any], scores: NDArray[np.float64], slope: float
    ) -> NDArray[np.float64]:
        """Return the probability (B, C) of each class, which add up to 1: a bag has one class."""
        if scores.ndim == 1:
            return super().bag_probabilities(predicted, scores, slope)
        return np.asarray(softmax(slope * scores, axis=1))

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out instances whose predicted class is that of the bag, or a possible one."""
        heldout = outcome.fold.heldout
        return {
            "accuracy": float(is_possible(outcome.heldout_classes, heldout.bags.spread(heldout.weak.values)).mean())
        }

    def evaluate(
        self,
        predicted: NDArray[Any],
        scores: NDArray[np.float64],
        weak: WeakLabels,
        weights: NDArray[np.float64] | None = None,
    ) -> Mapping[str, float]:
        """Return the share of bags whose predicted class is right, or among the possible ones."""
        return {"bag_accuracy": float(np.average(is_possible(predicted, weak.values), weights=weights))}


def is_possible(classes: NDArray[Any], weak: NDArray[Any]) -> NDArray[np.bool_]:
    """Say for each of n predicted classes whether it is the right one (n,), or marked as possible (n, C): (n,) bool.

    >>> is_possible(np.array([0, 1]), np.array([[1, 0], [1, 0]])).tolist()
    [True, False]
    """
    if weak.ndim == 1:
        return np.asarray(classes == weak)
    return np.asarray(weak[np.arange(len(classes)), classes.astype(np.intp)] > 0)
