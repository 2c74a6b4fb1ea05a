"""The likelihood that a bag has a number of positive rows in an interval, and the assignments that have it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bliss_framework.kernel.bags import Bags

SMALLEST = 1e-9  # Of a chance or a deviation that something is divided by.


def count_slopes(
    positive: NDArray[np.float64], bags: Bags, low: NDArray[Any], high: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the slope of log P(low - 1/2 < N < high + 1/2) in the chance of each row.

    The number N of positive rows of a bag is taken to be normal, with the mean sum s and the variance sum s (1 - s); of
    both only the mean is moved.

    Args:
        positive: (n,) chance s of each row that it is positive.
        bags: of the rows.
        low: (B,) the smallest number that a bag may hold.
        high: (B,) the largest.

    Returns:
        (n,), the same for all rows of a bag.

    >>> bags = Bags.from_ids(["a", "a", "b", "b"])
    >>> count_slopes(np.full(4, 0.5), bags, low=np.array([2, 0]), high=np.array([2, 0])).round(1).tolist()
    [1.7, 1.7, -1.7, -1.7]
    """
    mean = bags.sum(positive)
    deviation = np.sqrt(np.maximum(bags.sum(positive * (1 - positive)), SMALLEST))
    below, above = (low - 0.5 - mean) / deviation, (high + 0.5 - mean) / deviation
    seen = np.maximum(ndtr(above) - ndtr(below), SMALLEST)
    return bags.spread((_density(below) - _density(above)) / (seen * deviation))


def keep_counts(gains: NDArray[np.float64], bags: Bags, low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.bool_]:
    """Choose the positive rows with the largest sum of gains among all choices with a count in each interval.

    Args:
        gains: (n,) what a row gains by being positive.
        bags: of the rows.
        low: (B,) the smallest number of positive rows.
        high: (B,) the largest.

    >>> bags = Bags.from_ids(["a", "a", "b", "b"])
    >>> keep_counts(np.array([-1.0, -2.0, 1.0, 2.0]), bags, low=np.array([1, 0]), high=np.array([2, 1])).tolist()
    [True, False, False, True]
    """
    ranks = bags.ranks(gains)
    return np.asarray((ranks < bags.spread(low)) | ((ranks < bags.spread(high)) & (gains > 0)))


def _density(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of the standard normal distribution."""
    return np.asarray(np.exp(-np.square(values) / 2) / np.sqrt(2 * np.pi))
