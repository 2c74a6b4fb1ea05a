"""K folds of whole bags, stratified by weak label."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def deal_folds(strata: NDArray[np.intp], n_folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Deal bags to folds like cards: shuffled, one stratum after the other.

    The sizes of any two folds differ by at most one bag, and so do their shares of each stratum.

    Args:
        strata: (B,) the stratum of each bag.
        n_folds: K, from 2 to B.

    Returns:
        (B,) the fold of each bag.

    >>> deal_folds(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0)).tolist() in ([0, 1, 0, 1], [1, 0, 0, 1],
    ...     [0, 1, 1, 0], [1, 0, 1, 0])
    True
    """
    shuffled = rng.permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    folds = np.empty(len(strata), dtype=np.intp)
    folds[dealt] = np.arange(len(strata)) % n_folds
    return folds


def usable_folds(strata: NDArray[np.intp], n_folds: int, train_on: str) -> int:
    """Return the largest number of folds, at most `n_folds`, that the bags allow.

    Every fold needs a bag. Where single folds are held out (`train_on="rest"`), each of them must also be able to
    judge: it needs a bag of every stratum that has two or more.
    """
    counts = np.bincount(strata)
    repeated = counts[counts >= 2]
    largest = len(strata)
    if train_on == "rest" and len(repeated):
        largest = min(largest, int(repeated.min()))
    return max(2, min(n_folds, largest))


def train_and_heldout(folds: NDArray[np.intp], train_on: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield for each fold the bags to train on and the bags to hold out.

    Args:
        folds: (B,) the fold of each bag.
        train_on: "one" trains on the fold and holds out the rest (the paper), "rest" the other way round.
    """
    for fold in range(int(folds.max()) + 1):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        yield (inside, outside) if train_on == "one" else (outside, inside)
