"""How an assignment is chosen: by the bounds, with random ties, or by a random first draw."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.arms import ArmStatistics

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
    winners = values >= values.max(axis=1, keepdims=True) - TIE
    tied = np.flatnonzero(winners.sum(axis=1) > 1)
    choice = np.asarray(winners.argmax(axis=1), dtype=np.intp)
    if len(tied):
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
