"""The reading of label proportions: of a bag, the shares of its instances that are predicted to be of each class."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts.bag_reading import BagReading
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Outcome


@frozen
class ShareReading(BagReading):
    """A bag is read by counting the predicted classes of its instances; weak labels are shares (B, C).

    >>> ShareReading().bag_scores(np.array([-1.0, 2.0, -3.0]), Bags.from_ids(["a", "a", "b"])).tolist()
    [0.5, 0.0]
    """

    takes_weights: ClassVar[bool] = True
    from_instances: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Return the share of instances that are predicted to be of class 1 (B,), or of each class (B, C)."""
        return predicted_shares(scores, bags)

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict shares, (B,) or (B, C); `threshold` is the score above which an instance is of class 1."""
        return predicted_shares(scores - threshold if scores.ndim == 1 else scores, bags)

    def bag_probabilities(
        self, predicted: NDArray[Any], scores: NDArray[np.float64], slope: float
    ) -> NDArray[np.float64]:
        """Return the predicted shares (B, C): that is how probable each class is in an instance of the bag."""
        return in_columns(predicted)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score held-out bags by how near predicted shares are to the true ones."""
        heldout = outcome.fold.heldout
        truth = heldout.weak.values
        found = heldout.bags.mean(outcome.heldout_classes[:, None] == np.arange(truth.shape[1]))
        return {"proportion_accuracy": 1.0 - proportion_error(found, truth)}

    def evaluate(
        self,
        predicted: NDArray[Any],
        scores: NDArray[np.float64],
        weak: WeakLabels,
        weights: NDArray[np.float64] | None = None,
    ) -> Mapping[str, float]:
        """Return the mean absolute error of the shares of bags, and first what it lacks to 1, where more is better.

        For two classes the error of a bag is |p - q|, the error of the share of class 1; for several it is half the sum
        of |p_c - q_c|. That is the smallest share of its instances whose predicted class must be wrong.
        """
        error = proportion_error(in_columns(predicted), weak.values, weights)
        return {"proportion_accuracy": 1.0 - error, "proportion_error": error}

    def instance_threshold(
        self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, classes: NDArray[np.intp] | None
    ) -> float:
        """Let as many instances be of class 1 as the shares of all bags say."""
        return float(np.quantile(scores, 1.0 - bags.spread(weak.values)[:, 1].mean()))


def predicted_shares(scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Return the share of positive scores (n,) in each bag (B,), or of each largest column of (n, C): (B, C)."""
    if scores.ndim == 1:
        return bags.mean(scores > 0)
    return bags.mean(scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1]))


def in_columns(shares: NDArray[Any]) -> NDArray[np.float64]:
    """Return shares with a column for each class: (B,) of class 1 becomes (B, 2)."""
    shares = np.asarray(shares, dtype=np.float64)
    return shares if shares.ndim == 2 else np.stack([1.0 - shares, shares], axis=1)


def proportion_error(
    predicted: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> float:
    """Return half the mean over bags of the sum of absolute differences between shares (B, C) and (B, C).

    With weights (B,) it is the weighted mean.

    >>> proportion_error(np.array([[0.5, 0.5]]), np.array([[0.75, 0.25]]))
    0.25
    """
    return float(np.average(np.abs(predicted - truth).sum(axis=1), weights=weights) / 2)
