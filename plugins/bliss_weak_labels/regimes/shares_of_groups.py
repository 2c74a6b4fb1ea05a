"""Assignments that keep the share of class 1 in groups of rows, which are larger than bags."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Part


def keep_shares(bounds: NDArray[np.float64], part: Part, shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose the assignment with the largest sum of bounds among those that give each group its share of class 1.

    Args:
        bounds: (n, 2), -inf where a label is no candidate.
        part: rows whose bags have the number of their group as weak label.
        shares: (G,) of class 1 in each group, rounded to the nearest count.
    """
    groups = part.bags.spread(part.weak.values).astype(np.intp)
    with np.errstate(invalid="ignore"):
        gains = bounds[:, 1] - bounds[:, 0]
    order = np.lexsort((-gains, groups))
    sizes = np.bincount(groups, minlength=len(shares))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.empty(len(order), dtype=np.intp)
    chosen[order] = rank < np.rint(shares * sizes)[groups[order]]
    return np.where(part.space.free, chosen, part.space.known)
