"""N(x): the k nearest held-out instances to each training instance, in the space of the classifier output."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.pull import Outcome


@frozen(eq=False)
class Windows:
    """The neighbours of each query among sorted values: one contiguous window each.

    Attributes:
        order: (m,) positions that sort the values.
        start: (q,) first member of each window, in sorted order.
        stop: (q,) one past its last member.
    """

    order: NDArray[np.intp] = field()
    start: NDArray[np.intp] = field()
    stop: NDArray[np.intp] = field()

    def mean(self, quantity: NDArray[Any], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Average a quantity over each window.

        Args:
            quantity: (m,) one number for each of the values that were searched, in their original order.
            weights: (m,) positive, or None where every neighbour counts alike.

        Returns:
            (q,) means.
        """
        if weights is None:
            return np.asarray(self._sum(quantity[self.order]) / (self.stop - self.start))
        ordered = weights[self.order]
        return np.asarray(self._sum(quantity[self.order] * ordered) / self._sum(ordered))

    def _sum(self, ordered: NDArray[Any]) -> NDArray[Any]:
        # Counts stay integers: a mean of ones is then exactly 1 and the comparison with alpha cannot fail by rounding.
        dtype = np.int64 if ordered.dtype.kind in "bui" else np.float64
        prefix = np.zeros(len(ordered) + 1, dtype=dtype)
        np.cumsum(ordered, out=prefix[1:])
        return np.asarray(prefix[self.stop] - prefix[self.start])


def nearest(values: NDArray[np.floating], queries: NDArray[np.floating], k: int) -> Windows:
    """Find the k nearest values to each query, and all others that tie with the furthest of them.

    Ties are taken whole, so the result does not depend on the order of `values`. A `k` above the number of values
    means all of them.

    Args:
        values: (m,) real numbers to search in; m >= 1.
        queries: (q,) real numbers.
        k: at least 1.

    Returns:
        A window for each query. O((m + q) log m) time, no m x q matrix.

    >>> nearest(np.array([0.1, 0.4, 0.2, 0.3]), np.array([0.0]), 2).mean(np.array([1, 0, 0, 0])).tolist()
    [0.5]
    >>> nearest(np.array([1.0, 1.0]), np.array([0.0]), 1).mean(np.array([1, 0])).tolist()
    [0.5]
    """
    m = len(values)
    order = np.argsort(values, kind="stable")
    if k >= m:
        return Windows(order, np.zeros(len(queries), dtype=np.intp), np.full(len(queries), m, dtype=np.intp))
    ordered = values[order]
    # The window from i on beats the one from i + 1 on while the query is left of the midpoint of their outer ends.
    start = np.searchsorted((ordered[:-k] + ordered[k:]) / 2, queries)
    return Windows(order, *_with_ties(ordered, queries, start, start + k))


def _with_ties(
    ordered: NDArray[np.floating], queries: NDArray[np.floating], start: NDArray[np.intp], stop: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    radius = np.maximum(np.abs(queries - ordered[start]), np.abs(ordered[stop - 1] - queries))
    first, last = _runs(ordered)
    left, right = np.maximum(start - 1, 0), np.minimum(stop, len(ordered) - 1)
    start = np.where(np.abs(queries - ordered[left]) <= radius, first[left], start)
    stop = np.where(np.abs(ordered[right] - queries) <= radius, last[right], stop)
    return start, stop


def _runs(ordered: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each position, where its run of equal values starts and where it stops."""
    edge = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    run = np.repeat(np.arange(len(edge) - 1), np.diff(edge))
    return edge[:-1][run], edge[1:][run]


@frozen(eq=False)
class Neighbourhood:
    """The held-out neighbours of every training instance of one outcome.

    Attributes:
        n: the number of training instances.
        windows: pairs of training rows and their windows; one pair for a single decision value, else one for each
            predicted label.
        weights: (m,) weights of the held-out instances, or None.
    """

    n: int = field()
    windows: tuple[tuple[NDArray[np.intp] | slice, Windows], ...] = field()
    weights: NDArray[np.float64] | None = field()

    def mean(self, quantity: NDArray[Any]) -> NDArray[np.float64]:
        """Average a quantity of held-out instances (m,) over each neighbourhood: (n,)."""
        means = np.empty(self.n)
        for rows, windows in self.windows:
            means[rows] = windows.mean(quantity, self.weights)
        return means


def neighbourhood(outcome: Outcome) -> Neighbourhood:
    """Find N(x) of every training instance.

    With one decision value the neighbours are nearest in it; with one output for each label they are nearest along the
    output of the label predicted for x (paper, "Multi-Class MIL").
    """
    fold, n = outcome.fold, len(outcome.assignment)
    weights = fold.heldout.weights
    if outcome.scores.shape[1] == 1:
        train, heldout = outcome.output(0)
        return Neighbourhood(n, ((slice(None), nearest(heldout, train, fold.n_neighbors)),), weights)
    windows = []
    for label in np.unique(outcome.labels):
        rows = np.flatnonzero(outcome.labels == label)
        train, heldout = outcome.output(int(label))
        windows.append((rows, nearest(heldout, train[rows], fold.n_neighbors)))
    return Neighbourhood(n, tuple(windows), weights)
