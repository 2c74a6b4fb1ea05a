"""Arm statistics: pulls, reward sums and empirical means of every (instance, label)."""

from functools import cached_property

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.read_only import read_only


@frozen(eq=False)
class ArmStatistics:
    """Pulls T and reward sums s of n instances x L labels (Algorithm 1).

    The record is frozen, its arrays are not: a pull adds to them in place.

    Attributes:
        pulls: (n, L) float64, T, how often each arm was pulled.
        reward_sum: (n, L) float64, s, the cumulative reward of each arm.
        candidates: (n, L) bool, which arms exist.
    """

    pulls: NDArray[np.float64] = field()
    reward_sum: NDArray[np.float64] = field()
    candidates: NDArray[np.bool_] = field()

    @classmethod
    def empty(cls, candidates: NDArray[np.bool_]) -> "ArmStatistics":
        """Start with no pull at all."""
        return cls(np.zeros(candidates.shape), np.zeros(candidates.shape), candidates)

    @cached_property
    def read_only(self) -> "ArmStatistics":
        """The same statistics, as they are whenever they are looked at, for somebody who must not change them."""
        return ArmStatistics(read_only(self.pulls), read_only(self.reward_sum), read_only(self.candidates))

    @property
    def means(self) -> NDArray[np.float64]:
        """(n, L) empirical mean s/T; 0 where an arm was never pulled.

        >>> arms = ArmStatistics(np.array([[4.0, 0.0]]), np.array([[3.0, 0.0]]), np.array([[True, True]]))
        >>> arms.means.tolist()
        [[0.75, 0.0]]
        """
        return self.reward_sum / np.maximum(self.pulls, 1.0)

    @property
    def unpulled(self) -> NDArray[np.bool_]:
        """(n, L) candidate arms that were never pulled."""
        return np.asarray(self.candidates & (self.pulls == 0))

    def add(self, assignment: NDArray[np.intp], rewards: NDArray[np.float64]) -> None:
        """Count one pull: T += 1 and s += R for the arm of each instance.

        Args:
            assignment: (n,) the label given to each instance.
            rewards: (n,) in [0, 1].
        """
        # By position in the whole table, which is much faster than by row and column.
        arms = np.arange(len(assignment)) * self.pulls.shape[1] + assignment
        self.pulls.put(arms, self.pulls.take(arms) + 1.0)
        self.reward_sum.put(arms, self.reward_sum.take(arms) + rewards)

    def add_assumed(self, assignment: NDArray[np.intp]) -> None:
        """Count one pull whose reward is not known yet as if it were the present empirical mean (parallel pulls)."""
        means = self.means[np.arange(len(assignment)), assignment]
        self.add(assignment, means)

    def copy(self) -> "ArmStatistics":
        """Copy the counts, so that assumed pulls can be thrown away."""
        return ArmStatistics(self.pulls.copy(), self.reward_sum.copy(), self.candidates)


# Two bounds that differ by less than this are equal: they differ by the order of their sums, not by their rewards.
TIE = 1e-12


def best_label(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Pick the label with the largest value for each instance, ties at random.

    Args:
        values: (n, L); -inf where a label is no candidate.
        rng: the inference's own generator.

    Returns:
        (n,) intp.

    >>> best_label(np.array([[0.1, 0.7], [0.4, -np.inf]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    # There are few labels and many instances, so the largest is found much faster label by label.
    largest = np.ascontiguousarray(values.T).max(axis=0)
    winners = values >= largest[:, None] - TIE
    choice = np.asarray(winners.argmax(axis=1), dtype=np.intp)
    if np.count_nonzero(winners) > len(winners):
        tied = np.flatnonzero(winners.sum(axis=1) > 1)
        lots = rng.random((len(tied), values.shape[1]))
        choice[tied] = np.where(winners[tied], lots, -1.0).argmax(axis=1)
    return choice


def draw_labels(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one label for each instance in proportion to its weights (n, L)."""
    cumulative = np.cumsum(weights, axis=1)
    thresholds = rng.random(len(weights)) * cumulative[:, -1]
    return np.asarray((cumulative > thresholds[:, None]).argmax(axis=1), dtype=np.intp)


def draw_unpulled(arms: ArmStatistics, weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw an assignment of the initial sweep: at random, but an arm that was never pulled wherever there is one.

    Any draw satisfies Algorithm 1 as long as one unpulled arm is in it; covering all instances at once needs the
    fewest pulls, one for each label.

    Args:
        arms: statistics of the n free instances.
        weights: (n, L) chances of a random draw, 0 where a label is no candidate.
        rng: the inference's own generator.
    """
    unpulled = arms.unpulled
    wanted = np.where(unpulled, weights, 0.0)
    # A prior may give an arm no chance at all; Algorithm 1 pulls it once nevertheless.
    wanted = np.where(wanted.sum(axis=1, keepdims=True) > 0, wanted, unpulled)
    wanted = np.where(unpulled.any(axis=1, keepdims=True), wanted, weights)
    return draw_labels(wanted, rng)
