"""The contract of regimes: what weak labels mean."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts.presets import Presets
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.labels import LabelSpace, WeakLabels, class_codes
from bliss_framework.kernel.pull import Outcome, Part


class Regime(ABC):
    """What weak labels mean: which labels an instance may take, and how instances make a bag.

    Attributes:
        presets: what the regime advises for parameters that the user leaves alone.
        binary: whether there are never more than two classes.
        bag_parameters: parameters of the regime that matter for bags only, and not for label inference; settings that
            differ in them alone share one inference.
        bags_of_instances: whether bags are read from the joint instance scores of all final classifiers, as where the
            weak label counts predicted classes, rather than from averages of their bag scores.
    """

    presets: Presets = Presets()
    binary: ClassVar[bool] = False
    bag_parameters: ClassVar[tuple[str, ...]] = ()
    bags_of_instances: ClassVar[bool] = False

    @abstractmethod
    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Check the weak labels before long work starts.

        Args:
            weak: (B,) or (B, ...) one entry for each bag, as the user gave them.
            bags: their bags; error messages name bag ids.

        Raises:
            DataError: naming the bag, what was found and what is allowed.
        """

    @abstractmethod
    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Return the candidate labels of each instance."""

    @abstractmethod
    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Return (B,) small integers: each fold gets its share of every stratum."""

    @abstractmethod
    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Turn instance scores, (n,) for two classes or (n, C), into bag scores (B,) or (B, C)."""

    @abstractmethod
    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the weak label of each bag (B, ...) from instance scores."""

    @abstractmethod
    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score how well held-out predictions meet the weak labels; larger is better, 1 is perfect."""

    @abstractmethod
    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Compare predicted weak labels and bag scores with the true weak labels of bags that were not trained on.

        The first measure is the main one. One with a slash in its name, such as average_precision/cat, is a detail that
        result.json holds and tables leave out.
        """

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Check weak labels of test bags, of which some classes may be missing.

        By default a weak label is one of the classes of training, or a row of a matrix that is taken as it is.

        Args:
            weak: (B,) or (B, ...) as the user gave them.
            bags: their bags.
            classes: as `check` returned them in training.

        Raises:
            DataError: for a weak label that was not there in training.
        """
        values = weak if weak.ndim > 1 or weak.dtype == object else class_codes(weak, classes)
        return WeakLabels(values, classes)

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

    def labels_of_bag_scores(self, bag_scores: NDArray[np.float64], threshold: float) -> NDArray[Any]:
        """Predict weak labels (B, ...) from bag scores that several final classifiers share.

        By default a bag is read as one instance that scores so.

        Args:
            bag_scores: (B,) or (B, C), averages of what `bag_scores` returned.
            threshold: the bag threshold.
        """
        n_bags = len(bag_scores)
        return self.bag_labels(bag_scores, Bags(np.arange(n_bags), np.arange(n_bags)), threshold)

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

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return what the bag alone says of its instances: shares (n, C) of the classes, each row summing to 1.

        The control without a bandit trains on them. By default every class that is a candidate is as likely as any.
        """
        return self.label_space(weak, bags).class_shares()

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Return the chances (n, L) of the first draws; None draws a class, then one of its labels, uniformly."""
        return None

    def constraint(self) -> Constrain | None:
        """Return a function (bounds (n, L), part) -> assignment (n,); None takes the best label of each instance."""
        return None

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Return positive weights (n,) of the instances; None where all count alike."""
        return None
