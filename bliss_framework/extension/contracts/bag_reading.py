"""The contract of bag readings: how bags are read from the scores of their instances."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Outcome


class BagReading(ABC):
    """Reads bags from the scores of their instances: bag scores, predicted weak labels, thresholds and measures.

    A regime says which reading fits its weak labels. `bliss_framework.plugin` has readings to pick from: `ClassReading`
    (every row is a bag of one class), `BinaryReading` (a positive bag holds a positive instance), `ShareReading`
    (shares of the classes) and `LabelSetReading` (sets of labels).

    Attributes:
        from_instances: whether bags are read from the joint instance scores of all final classifiers, as where the weak
            label counts predicted classes, rather than from averages of their bag scores.
        takes_weights: whether `evaluate` takes weights of bags as well; `score` takes sample_weight then.
        class_0_is_negative: whether class 0 is no label, so that an instance without a label is of it.
    """

    from_instances: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False
    class_0_is_negative: ClassVar[bool] = False

    @abstractmethod
    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Turn instance scores, (n,) for two classes or (n, C), into bag scores (B,) or (B, C)."""

    @abstractmethod
    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the weak label of each bag (B, ...), as `WeakLabels.values` has it, from instance scores.

        Args:
            scores: (n,) for two classes, or (n, C).
            bags: B bags of the n instances.
            threshold: the bag threshold.
        """

    @abstractmethod
    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score how well held-out predictions meet the weak labels; larger is better, 1 is perfect."""

    @abstractmethod
    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Compare predicted weak labels and bag scores with the true weak labels of bags that were not trained on.

        The first measure is the main one. One with a slash in its name, such as average_precision/cat, is a detail that
        result.json holds and tables leave out.

        Args:
            predicted: (B, ...) as `bag_labels` returns them.
            scores: (B,) or (B, C), positive where they exceed the bag threshold.
            weak: the true weak labels.

        Where `takes_weights` is set there is a fourth argument, `weights`: (B,) how much each bag counts, or None.
        """

    def labels_of_bag_scores(self, bag_scores: NDArray[np.float64], threshold: float) -> NDArray[Any]:
        """Predict weak labels (B, ...) from bag scores that several final classifiers share.

        By default a bag is read as one instance that scores so.

        Args:
            bag_scores: (B,) or (B, C), averages of what `bag_scores` returned.
            threshold: the bag threshold.
        """
        n_bags = len(bag_scores)
        return self.bag_labels(bag_scores, Bags(np.arange(n_bags), np.arange(n_bags)), threshold)

    def bag_probabilities(
        self, predicted: NDArray[Any], scores: NDArray[np.float64], slope: float
    ) -> NDArray[np.float64]:
        """Return the probability (B, C) of each weak label.

        By default a logistic curve of bag scores: of the weak labels 0 and 1 where a bag has one score, else of each
        column on its own.

        Args:
            predicted: (B, ...) as `bag_labels` returns them.
            scores: (B,) or (B, C), positive where they exceed the bag threshold.
            slope: of the curve, fitted to out-of-fold scores.
        """
        own = np.asarray(expit(slope * scores))
        return own if own.ndim > 1 else np.stack([1.0 - own, own], axis=1)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose the bag threshold on out-of-fold bag scores; 0 by default."""
        return 0.0

    def instance_threshold(
        self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, classes: NDArray[np.intp] | None
    ) -> float:
        """Choose the score above which an instance is of class 1, on out-of-fold scores.

        The settings ask for it with `instance_threshold`, and with "auto" where scores learnt what instances inherit:
        what a bag says of all its instances shifts them, so 0 is not the border between classes. By default as many
        instances lie above the threshold as were inferred to be of class 1, and it is 0 where none were inferred.

        Args:
            scores: (n,) out-of-fold scores of two classes.
            bags: of the n instances.
            weak: their weak labels.
            classes: (n,) inferred classes, or None while settings are chosen.
        """
        return 0.0 if classes is None else float(np.quantile(scores, 1.0 - classes.mean()))

    def inherited_share(self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, learnt: float) -> float:
        """Choose how much the final classifier learns of what instances inherit from their bag; `learnt` by default.

        The settings ask for it with `inherited_share = "out-of-fold"`.

        Args:
            scores: (n,) out-of-fold scores of two classes, of which no threshold is taken off, or (n, C), of a
                classifier that learnt `learnt`.
            bags: of the n instances.
            weak: their weak labels.
            learnt: a number in [0, 1].

        Returns:
            A number in [0, 1].
        """
        return learnt

    def selection_score(self, bag_scores: NDArray[np.float64], predicted: NDArray[Any], weak: WeakLabels) -> float:
        """Say how good out-of-fold predictions of bags are, when settings are chosen; the first measure by default.

        Args:
            bag_scores: (B,) or (B, C), positive where they exceed the bag threshold.
            predicted: (B, ...) weak labels.
            weak: the true weak labels.

        Returns:
            A number; larger is better.
        """
        return float(next(iter(self.evaluate(predicted, bag_scores, weak).values())))
