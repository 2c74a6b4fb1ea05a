"""Strata of bags by their shares, so that folds get about the same shares."""

import numpy as np
from numpy.typing import NDArray

COMMON = 5  # Where single folds are held out, each needs a bag of every stratum; so many folds are usual.


def strata_of_shares(shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number bags by ranges of the share of class 1, or for several classes by the one with the largest share.

    The strata depend on values alone, not on the order of bags, and bags of equal shares are in one.

    Args:
        shares: (B, C).

    Returns:
        (B,) integers from 0; every stratum has five bags or more, if there are as many.

    >>> strata_of_shares(np.array([[0.9, 0.1]] * 6 + [[0.5, 0.5]] * 3 + [[0.4, 0.6]] * 3)).tolist() == [0] * 6 + [1] * 6
    True
    """
    if shares.shape[1] == 2:
        return _merged(np.unique(shares[:, 1], return_inverse=True)[1])
    largest = shares.argmax(axis=1)
    counts = np.bincount(largest, minlength=shares.shape[1])
    # From rare to frequent classes, so that rare ones are put together.
    rank = np.argsort(np.argsort(counts, kind="stable"))
    return _merged(np.unique(rank[largest], return_inverse=True)[1])


def _merged(levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put neighbouring levels (B,) together until each has enough bags; what is left over joins the last."""
    stratum = np.zeros(levels.max() + 1, dtype=np.intp)
    number = gathered = 0
    left = len(levels)
    for level, count in enumerate(np.bincount(levels)):
        if gathered >= COMMON and left >= COMMON:
            number, gathered = number + 1, 0
        stratum[level] = number
        gathered, left = gathered + count, left - count
    return stratum[levels]
