"""One score and one probability of each instance, and its rank among the instances of its bag."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.estimator.probabilities import probabilities


@frozen(eq=False)
class InstanceRanks:
    """What a table says of the score of each instance.

    Of two classes score and probability are those of class 1. Of several they are those of the class that scores
    highest in the instance, the negative class aside, and the score is by how much that class leads all others.

    Attributes:
        scores: (n,) above 0 where the instance is predicted to be of the class.
        probabilities: (n,) of the class.
        classes: (n,) position of the class.
        ranks: (n,) from 1, the highest score of the bag; equal scores in the order of rows.
    """

    scores: NDArray[np.float64] = field()
    probabilities: NDArray[np.float64] = field()
    classes: NDArray[np.intp] = field()
    ranks: NDArray[np.intp] = field()


def instance_ranks(
    scores: NDArray[np.float64], index: NDArray[np.intp], slope: float, negative_first: bool
) -> InstanceRanks:
    """Rank the instances of each bag.

    Args:
        scores: (n,) of two classes, or (n, C).
        index: (n,) the bag of each instance.
        slope: of the logistic curve from scores to probabilities.
        negative_first: whether class 0 is the negative class, which makes no witness.

    >>> found = instance_ranks(np.array([0.5, 2.0, -1.0]), np.array([0, 0, 1]), 1.0, True)
    >>> found.ranks.tolist(), found.probabilities.round(2).tolist()
    ([2, 1, 1], [0.62, 0.88, 0.27])
    """
    every = probabilities(scores, slope)
    rows = np.arange(len(scores))
    if scores.ndim == 1:
        return InstanceRanks(scores, every[:, 1], np.ones(len(scores), dtype=np.intp), ranks_within(scores, index))
    first = 1 if negative_first else 0
    classes = scores[:, first:].argmax(axis=1) + first
    others = scores.copy()
    others[rows, classes] = -np.inf
    leads = scores[rows, classes] - others.max(axis=1)
    return InstanceRanks(leads, every[rows, classes], classes, ranks_within(leads, index))


def ranks_within(scores: NDArray[np.float64], index: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rank (n,) of each score (n,) in its bag, 1 for the highest; equal scores in the order of rows."""
    order = np.lexsort((-scores, index))
    starts = np.searchsorted(index[order], index[order], side="left")
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[order] = np.arange(len(scores)) - starts + 1
    return ranks


def ranks_of(model: Any, scores: NDArray[np.float64] | None, index: NDArray[np.intp]) -> InstanceRanks | None:
    """Rank instances by scores of a fitted `BlissClassifier`; None where there are no scores."""
    if scores is None:
        return None
    return instance_ranks(scores, index, model.probability_slope_, model.regime_.reading.class_0_is_negative)
