"""Whole counts of the classes in each bag, and label assignments that keep them."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from bliss_framework.plugin import Bags, Part

ROUNDING = 1e-9  # Remainders that differ by less are equal: shares are sums and quotients.
LARGE_BAG = 300  # Exact assignment of so many instances to several classes takes 5 ms, and its time grows with n^3.
MOST_SWEEPS = 20


def nearest_counts(shares: NDArray[np.float64], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Round shares to the nearest counts that bags of these sizes can have, by largest remainder (Hamilton's method).

    Each class gets the whole part of share times size, and the classes with the largest remainders one more each until
    the bag is full. For two classes that is ordinary rounding. Equal remainders go to the first of the classes.

    Args:
        shares: (B, C), each row summing to 1.
        sizes: (B,) instances in each bag.

    Returns:
        (B, C) counts, each row summing to the size.

    >>> nearest_counts(np.array([[0.67, 0.33], [0.5, 0.5], [0.95, 0.05]]), np.array([4, 3, 4])).tolist()
    [[3, 1], [2, 1], [4, 0]]
    """
    wanted = shares * sizes[:, None]
    counts = np.floor(wanted).astype(np.intp)
    remainders = np.round((wanted - counts) / ROUNDING).astype(np.int64)
    rank = np.argsort(np.argsort(-remainders, axis=1, kind="stable"), axis=1)
    return counts + (rank < (sizes - counts.sum(axis=1))[:, None])


def reachable_shares(shares: NDArray[np.float64], sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the shares (B, C) nearest to the given ones that bags of these sizes can have."""
    return np.asarray(nearest_counts(shares, sizes) / sizes[:, None])


def keep_counts(bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
    """Choose the assignment with the largest sum of bounds among those that give each bag its counts.

    Args:
        bounds: (n, L), -inf where a label is no candidate.
        part: shares of its bags, and the labels that are known. Where an instance of a bag is free, all of them are.

    Returns:
        (n,) labels.
    """
    assignment = part.space.known.copy()
    free = np.flatnonzero(part.space.free)
    counts = nearest_counts(part.weak.values, part.bags.sizes)
    # These are the bags of the fold, some without a free instance; numbering the others anew would sort in every round.
    bags = Bags(part.bags.ids, part.bags.index[free])
    assignment[free] = best_within_counts(bounds[free], counts, bags)
    return assignment


def best_within_counts(values: NDArray[np.float64], counts: NDArray[np.intp], bags: Bags) -> NDArray[np.intp]:
    """Choose the label of each instance so that every bag has its counts and the sum of values is largest.

    For two classes those instances are of class 1 that gain most by it. For several, a bag is an assignment problem,
    which is solved exactly up to 300 instances; in larger bags pairs of classes are put right in turn until no two
    classes gain by exchanging instances, which in tests was within 0.2 % of the best sum.

    Args:
        values: (n, C); -inf for a class of which the bag has none.
        counts: (B, C), each row summing to the size of the bag; whatever it is where a bag has no instance here.
        bags: of the n instances.

    Returns:
        (n,) labels; among equal values those of earlier rows.

    >>> best_within_counts(np.array([[0.0, 3.0], [0.0, 2.0], [0.0, 1.0]]), np.array([[2, 1]]), Bags.from_ids([7, 7, 7]))
    array([1, 0, 0])
    """
    n_classes = values.shape[1]
    if n_classes == 2:
        return _leading(values[:, 1] - values[:, 0], counts[:, 1], bags.index).astype(np.intp)
    labels = np.empty(len(values), dtype=np.intp)
    by_bag = np.split(np.argsort(bags.index, kind="stable"), np.cumsum(bags.sizes)[:-1])
    for bag in np.flatnonzero((bags.sizes > 0) & (bags.sizes <= LARGE_BAG)):
        labels[by_bag[bag]] = _assigned(values[by_bag[bag]], counts[bag])
    large = bags.rows_of(np.flatnonzero(bags.sizes > LARGE_BAG))
    if len(large):
        grouped, positions = bags.take(large)
        labels[large] = pairwise_best(values[large], counts[positions], grouped)
    return labels


def _leading(gains: NDArray[np.float64], counts: NDArray[np.intp], index: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark in each bag as many of the largest gains as it has counts: gains (n,), counts (B,), index (n,)."""
    order = np.lexsort((-gains, index))
    ordered = index[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    marked = np.empty(len(order), dtype=bool)
    marked[order] = rank < counts[ordered]
    return marked


def _assigned(values: NDArray[np.float64], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Solve the assignment problem of one bag: a column for each place of a class."""
    places = np.repeat(np.arange(len(counts)), counts)
    rows, columns = linear_sum_assignment(values[:, places], maximize=True)
    labels = np.empty(len(values), dtype=np.intp)
    labels[rows] = places[columns]
    return labels


def pairwise_best(values: NDArray[np.float64], counts: NDArray[np.intp], bags: Bags) -> NDArray[np.intp]:
    """Put pairs of classes right in turn, in all bags at once; see `best_within_counts`."""
    n, n_classes = values.shape
    order = np.lexsort((values.argmax(axis=1), bags.index))
    labels = np.empty(n, dtype=np.intp)
    labels[order] = np.repeat(np.tile(np.arange(n_classes), bags.n_bags), counts.ravel())
    total = -np.inf
    for _ in range(MOST_SWEEPS):
        for first, second in zip(*np.triu_indices(n_classes, 1), strict=True):
            rows = np.flatnonzero((labels == first) | (labels == second))
            gains = values[rows, second] - values[rows, first]
            labels[rows] = np.where(_leading(gains, counts[:, second], bags.index[rows]), second, first)
        before, total = total, float(values[np.arange(n), labels].sum())
        if total <= before + ROUNDING:
            break
    return labels
