"""What final classifiers say of the training bags that they were not trained on: the honest side of a fit."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.estimator.probabilities import probability_slope
from bliss_framework.extension.contracts import BagReading
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels


@frozen(eq=False)
class OutOfFold:
    """Scores of training rows and bags by final classifiers that were trained on other bags.

    Labels are inferred with the help of all bags; what is left out here is the training of the final classifier, and
    the choice of the bag threshold.

    Attributes:
        scores: (n,) for two classes, positive for class 1, else (n, C), as `decision_function` returns them.
        bag_scores: (B,) or (B, C), above 0 where they exceed a threshold that was chosen on the other folds.
        bags: (B, ...) predicted weak labels, as `BagReading.bag_labels` returns them.
        bag_slope: of the logistic curve from bag scores to probabilities.
    """

    scores: NDArray[np.float64] = field()
    bag_scores: NDArray[np.float64] = field()
    bags: NDArray[Any] = field()
    bag_slope: float = field()

    def take(self, rows: NDArray[np.intp], bags: NDArray[np.intp]) -> "OutOfFold":
        """Put rows (n,) and bags (B,) into another order."""
        return OutOfFold(self.scores[rows], self.bag_scores[bags], self.bags[bags], self.bag_slope)


@frozen(eq=False)
class HeldOutBags:
    """Training bags that are read fold by fold.

    Attributes:
        reading: of the regime.
        scores: (n,) or (n, C) out-of-fold scores, relative to the instance threshold.
        bag_scores: (B,) or (B, C) out-of-fold bag scores, not relative to anything.
        bags: of the n rows.
        weak: their weak labels.
        folds: (B,) the fold of each bag.
    """

    reading: BagReading = field()
    scores: NDArray[np.float64] = field()
    bag_scores: NDArray[np.float64] = field()
    bags: Bags = field()
    weak: WeakLabels = field()
    folds: NDArray[np.intp] = field()

    def read(self, threshold: float | None) -> OutOfFold:
        """Read each bag with a threshold that it had no say in.

        Args:
            threshold: of bags where it is given; None where each fold has one that is chosen on the other folds.
        """
        relative = np.array(self.bag_scores, dtype=np.float64)
        own_folds = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        found = []
        for own in own_folds:
            cut = self._chosen_without(own) if threshold is None else threshold
            relative[own] -= cut
            found.append(self._labels(own, cut))
        back = np.argsort(np.concatenate(own_folds))
        slope = bag_slope(relative, self.weak.values)
        return OutOfFold(self.scores, relative, np.concatenate(found)[back], slope)

    def _chosen_without(self, own: NDArray[np.intp]) -> float:
        others = np.setdiff1d(np.arange(self.bags.n_bags), own)
        weak = self.weak.take(others, self.bags.rows_of(others))
        return float(self.reading.bag_threshold(self.bag_scores[others], weak))

    def _labels(self, own: NDArray[np.intp], cut: float) -> NDArray[Any]:
        if not self.reading.from_instances:
            return np.asarray(self.reading.labels_of_bag_scores(self.bag_scores[own], cut))
        rows = self.bags.rows_of(own)
        part, places = self.bags.take(rows)
        return np.asarray(self.reading.bag_labels(self.scores[rows], part, cut))[np.argsort(places)]


def bag_slope(bag_scores: NDArray[np.float64], weak: NDArray[Any]) -> float:
    """Fit the slope of a logistic curve to out-of-fold bag scores, as `probability_slope` does to those of instances.

    Args:
        bag_scores: (B,) or (B, C), relative to the bag threshold.
        weak: (B,) codes of classes, or (B, C) of 0 and 1, one for each score.

    Returns:
        The slope; 1 where weak labels are neither, such as shares.
    """
    if weak.dtype.kind not in "biu" or (weak.ndim > 1 and weak.shape != bag_scores.shape):
        return 1.0
    if weak.ndim > 1:
        return probability_slope(bag_scores.ravel(), weak.ravel().astype(np.intp))
    if bag_scores.ndim == 1 and not np.isin(weak, (0, 1)).all():
        return 1.0
    return probability_slope(bag_scores, weak.astype(np.intp))


def out_of_fold_probabilities(model: Any) -> NDArray[np.float64] | None:
    """Return the out-of-fold probability (B, C) of each weak label of the training bags; None where there is none.

    Args:
        model: a fitted `BlissClassifier`.
    """
    if model.out_of_fold_bags_ is None:
        return None
    scores, predicted = model.out_of_fold_bag_scores_, model.out_of_fold_bags_
    return np.asarray(model.regime_.reading.bag_probabilities(predicted, scores, model.bag_slope_))
