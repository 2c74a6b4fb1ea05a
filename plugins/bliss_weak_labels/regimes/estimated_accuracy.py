"""The reading of rows whose weak label is no class: the accuracy that weak labels let one estimate."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BagReading, Bags, ClassReading, Outcome, WeakLabels
from bliss_weak_labels.likelihood.regime import EvidenceRegime

Estimate = Callable[[NDArray[Any], NDArray[Any], int], float]


@frozen
class EstimatedAccuracy(BagReading):
    """A row is of one class, and how often that is right is estimated: its weak label alone does not say.

    Args:
        estimate: a function from predicted classes (B,), weak labels (B, ...) and the number of classes to the
            accuracy, about 1 where all are right; it must be a number for any part of the data.
    """

    estimate: Estimate = field()

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the scores of a bag: (n,) -> (B,), or (n, C) -> (B, C)."""
        return ClassReading().bag_scores(scores, bags)

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the class of each bag (B,)."""
        return ClassReading().bag_labels(scores, bags, threshold)

    def bag_probabilities(
        self, predicted: NDArray[Any], scores: NDArray[np.float64], slope: float
    ) -> NDArray[np.float64]:
        """Return the probability (B, C) of each class."""
        return ClassReading().bag_probabilities(predicted, scores, slope)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the accuracy on held-out rows that their weak labels let one estimate."""
        heldout = outcome.fold.heldout
        of_rows = heldout.bags.spread(heldout.weak.values)
        return self._measure(outcome.heldout_classes, of_rows, heldout.weak)

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return the accuracy that the weak labels of test rows let one estimate."""
        return self._measure(predicted, weak.values, weak)

    def _measure(self, predicted: NDArray[Any], known: NDArray[Any], weak: WeakLabels) -> Mapping[str, float]:
        found = self.estimate(predicted.astype(np.intp), known, len(weak.classes))
        return {"estimated_accuracy": float(np.clip(found, 0.0, 1.0))}


class EstimatedRegime(EvidenceRegime):
    """A regime of rows whose weak label alone does not say whether a class that is predicted for them is right."""

    @property
    def reading(self) -> BagReading:
        """A row is of one class, which is right as often as `accuracy` says."""
        return EstimatedAccuracy(self.accuracy)

    @abstractmethod
    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Estimate the accuracy of predicted classes (B,) by weak labels (B, ...): about 1 where all are right."""


def rate(mask: NDArray[np.bool_], among: NDArray[np.bool_], otherwise: float) -> float:
    """Return the share of rows that are set among some rows, or another number where there are none of those."""
    return float(mask[among].mean()) if among.any() else otherwise
