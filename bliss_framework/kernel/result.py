"""From empirical means to inferred labels: the best arm, its confidence score, and what stays undecided."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.arms import TIE, best_label
from bliss_framework.kernel.guards import checked_assignment
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.labels import LabelSpace
from bliss_framework.kernel.pull import Part


@frozen(eq=False)
class InferredLabels:
    """The labels of all instances, and what they rest on.

    Attributes:
        labels: (n,) intp, the candidate with the best empirical mean.
        classes: (n,) intp, the class that it means.
        confidence: (n,) in [0, 1], the best mean of a class minus the runner-up's; 1 where the label is known.
        undecided: (n,) bool, instances whose best classes tie, among them all about which nothing was learnt.
        known: (n,) bool, instances with one candidate.
        means: (n, L) empirical means; NaN where there is no arm.
        pulls: (n, L) pulls of each arm.
    """

    labels: NDArray[np.intp] = field()
    classes: NDArray[np.intp] = field()
    confidence: NDArray[np.float64] = field()
    undecided: NDArray[np.bool_] = field()
    known: NDArray[np.bool_] = field()
    means: NDArray[np.float64] = field()
    pulls: NDArray[np.float64] = field()

    def take(self, rows: NDArray[np.intp]) -> "InferredLabels":
        """Reorder or keep rows."""
        return InferredLabels(
            self.labels[rows],
            self.classes[rows],
            self.confidence[rows],
            self.undecided[rows],
            self.known[rows],
            self.means[rows],
            self.pulls[rows],
        )


def conclude(
    means: NDArray[np.float64],
    pulls: NDArray[np.float64],
    part: Part,
    constrain: Constrain | None,
    round: int,
    rng: np.random.Generator,
) -> InferredLabels:
    """Return the best label of each instance and its confidence score (Algorithm 1, last line).

    The runner-up is the best arm of *another class*: two negative labels that tie still mean negative for certain. With
    one label for each class this is the paper's confidence score. An undecided instance gets one of its tied labels
    at random, confidence 0, and the mark. Under a constraint a label need not be the best of its instance; it has the
    confidence of the best one all the same.

    Args:
        means: (n, L) empirical means.
        pulls: (n, L) pulls.
        part: the instances, their candidates and the class of each label.
        constrain: chooses the labels where the regime asks more of them than to be the best of each instance, or None.
        round: in which `constrain` is called, for its errors.
        rng: decides ties.

    Raises:
        PluginError: if `constrain` fails or chooses what is no candidate.
    """
    space = part.space
    masked = np.where(space.candidates, means, -np.inf)
    labels = best_label(masked, rng) if constrain is None else checked_assignment(constrain, masked, part, round)
    confidence = leads_of_classes(masked, space)
    undecided = space.free & (confidence <= TIE)
    shown = np.where(pulls > 0, means, np.nan)
    return InferredLabels(labels, space.class_of_label[labels], confidence, undecided, ~space.free, shown, pulls)


def leads_of_classes(masked: NDArray[np.float64], space: LabelSpace) -> NDArray[np.float64]:
    """Return by how much the best value of a class exceeds that of any other class, at most by 1.

    Args:
        masked: (n, L) values, -inf where a label is no candidate.
        space: the class of each label.

    Returns:
        (n,) in [0, 1]; 1 where only one class is possible.
    """
    by_class = np.stack(
        [masked[:, space.class_of_label == c].max(axis=1, initial=-np.inf) for c in range(space.n_classes)], axis=1
    )
    if by_class.shape[1] == 1:
        return np.ones(len(masked))
    ordered = np.sort(by_class, axis=1)
    # No other class among the candidates: the class is certain.
    gap = np.where(np.isneginf(ordered[:, -2]), 1.0, ordered[:, -1] - np.maximum(ordered[:, -2], -1e300))
    return np.clip(gap, 0.0, 1.0)
