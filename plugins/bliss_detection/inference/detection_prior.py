"""The paper's prior for detection: a positive instance has its like in other positive bags, and in no negative one."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.inference.mean_distances import MeanDistances
from bliss_framework.plugin import Fold, Outcome, Part, Reward, RewardFunction, at_least, resolve


@frozen
class DetectionPrior(Reward):
    """Multiplies any reward by DistGap for positive labels, and by 1 - DistGap for negative ones.

        DistGap(B, x) = eta(mean over bags without the label of d(x, B')  -  mean over bags with the label of d(x, B'))

    where d(x, B') is the mean distance of x to its k nearest instances in B', in classifier output (paper, "MIL with
    Domain-Specific Prior"). B' are the held-out bags. eta, which the paper leaves open, maps the smallest gap among the
    free training instances of the pull to 0 and the largest to 1, and clips; where all gaps are equal, or there is no
    held-out bag with the label, or none without, the gap says nothing and eta is 1/2.

    The label of a positive arm is its own class. A negative arm is judged by the label of its bag; where the bag has
    several, by the one with the largest gap.

    Args:
        reward: the reward that is multiplied: a name, a table with a name and parameters, or a `Reward`.
        k: neighbours in each held-out bag.
    """

    reward: Any = field(default="mil")
    k: int = field(default=1, validator=at_least(1))

    def __attrs_post_init__(self) -> None:
        """Refuse a reward that there is not, before any data are read."""
        resolve("reward", self.reward)

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Prepare the inner reward, and find the bags with and without each label."""
        return _OnFold(resolve("reward", self.reward).prepare(fold, classifier), fold, self.k)


class _OnFold(RewardFunction):
    def __init__(self, inner: RewardFunction, fold: Fold, k: int) -> None:
        self._inner, self._k = inner, k
        self._heldout = labels_of_bags(fold.heldout)
        self._own = fold.train.bags.spread(labels_of_bags(fold.train))

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        rewards = self._inner(outcome)
        eta = self._eta(outcome)
        assigned = outcome.fold.train.space.class_of_label[outcome.assignment]
        rows = np.arange(len(assigned))
        of_bag = np.where(self._own, eta, -1.0).max(axis=1)
        negative = 1.0 - np.where(of_bag < 0, eta.max(axis=1), of_bag)
        return rewards * np.where(assigned > 0, eta[rows, np.maximum(assigned - 1, 0)], negative)

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Pass on what the inner reward says."""
        return self._inner.diagnostic(outcome)

    def _eta(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return DistGap (n, C - 1) of each training instance and positive class."""
        space = outcome.fold.train.space
        columns = []
        for column in range(space.n_classes - 1):
            label = int(np.flatnonzero(space.class_of_label == column + 1)[0])
            gaps = dist_gaps(*outcome.output(label), outcome.fold.heldout, self._heldout[:, column], self._k)
            columns.append(_normalised(gaps, space.free))
        return np.stack(columns, axis=1)


def dist_gaps(
    scores: NDArray[np.floating],
    heldout_scores: NDArray[np.floating],
    heldout: Part,
    has_label: NDArray[np.bool_],
    k: int,
) -> NDArray[np.float64]:
    """Return the gap of the paper before eta: mean distance to bags without the label, less that to bags with it.

    Args:
        scores: (n,) outputs of training instances.
        heldout_scores: (m,) outputs of held-out instances.
        heldout: the held-out part.
        has_label: (B,) whether each held-out bag has the label.
        k: neighbours in each bag.

    Returns:
        (n,) in units of the output; 0 where there are no bags with the label, or none without.
    """
    n_with, n_without = has_label.sum(), (~has_label).sum()
    if n_with == 0 or n_without == 0:
        return np.zeros(len(scores))
    weights = np.where(has_label, -1.0 / n_with, 1.0 / n_without)
    return MeanDistances(heldout_scores, heldout.bags, weights, k)(scores)


def labels_of_bags(part: Part) -> NDArray[np.bool_]:
    """Return which positive classes each bag has, (B, C - 1), from weak labels of MIL, label sets or proportions."""
    values, n_positive = part.weak.values, part.space.n_classes - 1
    if values.ndim == 1:
        return np.asarray(values[:, None] == np.arange(1, n_positive + 1))
    return np.asarray(values[:, values.shape[1] - n_positive :] > 0)


def _normalised(gaps: NDArray[np.float64], free: NDArray[np.bool_]) -> NDArray[np.float64]:
    free_gaps = gaps[free] if free.any() else gaps
    low, high = free_gaps.min(), free_gaps.max()
    # Rounding alone would otherwise be blown up to 0 and 1.
    if high - low <= 1e-12 * max(abs(low), abs(high), 1.0):
        return np.full(len(gaps), 0.5)
    return np.asarray(np.clip((gaps - low) / (high - low), 0.0, 1.0))
