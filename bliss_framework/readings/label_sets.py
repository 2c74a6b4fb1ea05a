"""The reading of multi-class MIL: of a bag, the set of labels that some instance has."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.extension.contracts.bag_reading import BagReading
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Outcome
from bliss_framework.readings.ranking import average_precision
from bliss_framework.readings.thresholds import best_f1_threshold, logistic_threshold
from bliss_framework.rewards.recall_precision import found_labels, label_set_precision, label_set_recall


@frozen
class LabelSetReading(BagReading):
    """A bag has every label that some of its instances has; weak labels are rows (B, C) of 0 and 1.

    Class 0 is the negative class, which is no label, and classes 1 .. C are the labels.

    >>> scores = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    >>> LabelSetReading().bag_labels(scores, Bags.from_ids(["a", "b"]), 0.0).tolist()
    [[1, 0], [0, 0]]
    """

    takes_weights: ClassVar[bool] = True
    class_0_is_negative: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Score each label of a bag by the instance in which it leads all other classes by most.

        An instance has one label, so a label that another one beats in every instance is not in the bag, however
        little negative these instances are. Above 0 is what "some instance is predicted to have it" means.

        Args:
            scores: (n,) for one label, or (n, C + 1).
            bags: B bags.

        Returns:
            (B, C), one column for each label.
        """
        return np.asarray(bags.max(scores[:, None] if scores.ndim == 1 else leads(scores)[:, 1:]))

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the label sets (B, C): labels whose bag score exceeds the threshold."""
        return self.labels_of_bag_scores(self.bag_scores(scores, bags), threshold)

    def labels_of_bag_scores(self, bag_scores: NDArray[np.float64], threshold: float) -> NDArray[Any]:
        """Predict the label sets (B, C) from bag scores (B, C)."""
        return (bag_scores > threshold).astype(np.int8)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose the threshold with the best F1 over all pairs of a bag and a label; for one label, as binary MIL."""
        choose = logistic_threshold if weak.values.shape[1] == 1 else best_f1_threshold
        return choose(bag_scores.ravel(), weak.values.ravel())

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score held-out bags: F1 of label sets, mean recall of bags that have labels, precision of instances."""
        bags, truth = outcome.fold.heldout.bags, outcome.fold.heldout.weak.values
        labelled = np.asarray(bags.spread(truth.sum(axis=1) > 0))
        return {
            "label_set_f1": set_measures(found_labels(outcome).astype(np.int8), truth)["label_set_f1"],
            "recall": float(label_set_recall(outcome)[labelled].mean()) if labelled.any() else 1.0,
            "precision": float(label_set_precision(outcome).mean()),
        }

    def evaluate(
        self,
        predicted: NDArray[Any],
        scores: NDArray[np.float64],
        weak: WeakLabels,
        weights: NDArray[np.float64] | None = None,
    ) -> Mapping[str, float]:
        """Return F1, precision, recall and Hamming accuracy of label sets, and average precisions.

        All are larger where predictions are better. F1 comes first: the paper chooses settings by recall and precision
        of bags. The average precision of a label is that of ranking bags by its scores; there is one for each label
        that some bag has, such as average_precision/cat, and their mean.
        """
        if predicted.shape != weak.values.shape:
            raise DataError(
                f"{predicted.shape[1]} labels were predicted, but the bags have {weak.values.shape[1]}: a label was "
                f"in no training bag. List all of them as label_names of the regime."
            )
        precisions = average_precisions(scores.reshape(weak.values.shape), weak.values, weights)
        measures = set_measures(predicted, weak.values, weights)
        known = {
            f"average_precision/{label}": float(value)
            for label, value in zip(weak.classes[1:], precisions, strict=True)
            if not np.isnan(value)
        }
        mean = {"mean_average_precision": float(np.mean(list(known.values())))} if known else {}
        return {**measures, **mean, **known}


def leads(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much each class leads the best other one: (n, C) -> (n, C).

    >>> leads(np.array([[0.0, 3.0, 1.0]])).tolist()
    [[-3.0, 2.0, -2.0]]
    """
    ordered = np.partition(scores, -2, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    return np.where(scores == best, scores - second, scores - best)


def set_measures(
    predicted: NDArray[np.integer], truth: NDArray[np.integer], weights: NDArray[np.float64] | None = None
) -> dict[str, float]:
    """Compare predicted label sets with the true ones over all pairs of a bag and a label; larger is better.

    Args:
        predicted: (B, C) of 0 and 1.
        truth: (B, C) of 0 and 1.
        weights: (B,) of the bags, or None where all count alike.

    Returns:
        F1, precision (1 where nothing is predicted), recall (1 where there is nothing to find), and the share of pairs
        that are right, which is 1 less the Hamming loss.

    >>> set_measures(np.array([[1, 1], [0, 0]]), np.array([[1, 0], [0, 1]]))["label_set_hamming"]
    0.5
    """
    own = np.ones(len(truth), dtype=np.intp) if weights is None else weights
    right = predicted == truth
    found, claimed, there = (own @ part.sum(axis=1) for part in ((predicted == 1) & (truth == 1), predicted, truth))
    return {
        "label_set_f1": float(2 * found / (claimed + there)) if claimed + there else 1.0,
        "label_set_precision": float(found / claimed) if claimed else 1.0,
        "label_set_recall": float(found / there) if there else 1.0,
        "label_set_hamming": float(
            right.mean() if weights is None else np.average(right.mean(axis=1), weights=weights)
        ),
    }


def average_precisions(
    scores: NDArray[np.float64], truth: NDArray[np.integer], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the average precision (C,) of each label when bags are ranked by its scores; NaN where no bag has it."""
    pairs = zip(scores.T, truth.T, strict=True)
    return np.array([average_precision(own, one, weights) if own.any() else np.nan for one, own in pairs])
