"""N(x) where bags come in blocks: the nearest of all held-out instances, or of one from each quantile bin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts.reward import Asking, Gathered
from bliss_framework.kernel.pull import Outcome
from bliss_framework.rewards.neighbourhood import nearest

MOST_RANKS = 1 << 16  # Held-out instances of a fold that have ranks of their own.
N_BINS = 1 << 14  # Of more, there are about so many quantile bins.


def block_neighbour_means(outcome: Outcome, n_heldout: int, *quantities: NDArray[Any]) -> Asking[NDArray[np.float64]]:
    """Average quantities of held-out instances over N(x) of each training instance of a block.

    N(x) is that of `neighbourhood`, of the held-out instances of all blocks. Where a fold has at most `MOST_RANKS` of
    them, means are the same. Of more, m, the output is cut into quantile bins: each block cuts its own into runs of at
    most r = ceil(m / N_BINS) instances in the order of the output, and the middle one of a run stands for it. The k
    nearest of those are an even sample of the nearest of all: with B blocks, of (k - 2 B) r to (k + 2 B) r where runs
    are full, and of what grows with the output the mean over all of these differs by at most 4 B / k. So means have the
    expectation of that wider neighbourhood, and the grain of k. Those over whole bins would be smoother, and too smooth
    for alpha: where r is above k, hardly any bin has a mean recall of 1.

    Args:
        outcome: of a block.
        n_heldout: held-out instances of the fold in all blocks.
        quantities: (m,) numbers of the held-out instances of the block.

    Returns:
        (n, Q) means, by a generator, which asks for the held-out instances of other blocks once.
    """
    weights = outcome.fold.heldout.weights
    columns = [*quantities, *([] if weights is None else [weights])]
    length = 1 if n_heldout <= MOST_RANKS else -(-n_heldout // N_BINS)
    everybody = yield Gathered(_standing_for_all(outcome.heldout_scores, columns, length))
    means = np.empty((len(outcome.assignment), len(quantities)))
    for label, rows in _by_output(outcome):
        own = everybody[:, label]
        # Scores get their own precision back, so that midpoints are rounded as in memory.
        values, queries = own[:, 0].astype(outcome.scores.dtype), outcome.scores[rows, label]
        windows = nearest(values, queries, outcome.fold.n_neighbors)
        for number in range(len(quantities)):
            means[rows, number] = windows.mean(own[:, 1 + number], None if weights is None else own[:, -1])
    return means


def _standing_for_all(scores: NDArray[np.floating], columns: list[NDArray[Any]], length: int) -> NDArray[Any]:
    """Return the score and the other columns of one instance of each run, along every output: (r, S, 1 + Q)."""
    chosen = [one_of_each_run(along, length) for along in scores.T]
    tables = [
        np.stack([along[rows], *(column[rows] for column in columns)], axis=1)
        for along, rows in zip(scores.T, chosen, strict=True)
    ]
    return np.stack(tables, axis=1)


def _by_output(outcome: Outcome) -> list[tuple[int, NDArray[np.intp] | slice]]:
    """Return outputs, and the training rows whose neighbours are along them: those of one predicted label."""
    if outcome.scores.shape[1] == 1:
        return [(0, slice(None))]
    return [(int(label), np.flatnonzero(outcome.labels == label)) for label in np.unique(outcome.labels)]


def one_of_each_run(values: NDArray[np.floating], length: int) -> NDArray[np.intp]:
    """Cut values into runs in their order, as even as can be, and choose the middle one of each.

    Which of equal values comes first is drawn, always in the same way, so that what is regular in the order of rows,
    such as the size of bags, does not decide who is chosen.

    Args:
        values: (m,) numbers.
        length: that no run exceeds, at least 1.

    Returns:
        (ceil(m / length),) positions, in the order of their values; all of them where the length is 1.

    >>> one_of_each_run(np.array([5.0, 1.0, 3.0, 2.0, 4.0, 6.0]), 3).tolist()
    [3, 0]
    """
    m = len(values)
    n_runs = -(-m // length)
    drawn = np.random.default_rng(0).permutation(m) if length > 1 else np.arange(m)
    order = drawn[np.argsort(values[drawn], kind="stable")]
    return np.asarray(order[((np.arange(n_runs) + 0.5) * m / n_runs).astype(np.intp)])
