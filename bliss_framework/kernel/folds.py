"""K folds of whole bags, stratified by weak label; bags of a group, such as slides of a patient, stay together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY_LABELS, FEW_BAGS = 10, 5


def deal_folds(
    strata: NDArray[np.intp], n_folds: int, rng: np.random.Generator, groups: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Deal bags to folds like cards: shuffled, one stratum after the other.

    The sizes of any two folds differ by at most one bag, and so do their shares of each stratum. With groups, whole
    groups are dealt, so this holds of groups and their rarest strata.

    Args:
        strata: (B,) the stratum of each bag.
        n_folds: K, from 2 to B, or to the number of groups.
        rng: shuffles.
        groups: (B,) the group of each bag, which is never split; None where every bag is one of its own.

    Returns:
        (B,) the fold of each bag.

    >>> deal_folds(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0)).tolist() in ([0, 1, 0, 1], [1, 0, 0, 1],
    ...     [0, 1, 1, 0], [1, 0, 1, 0])
    True
    """
    if groups is not None:
        return _dealt_groups(strata, n_folds, rng, groups)
    shuffled = rng.permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    folds = np.empty(len(strata), dtype=np.intp)
    folds[dealt] = np.arange(len(strata)) % n_folds
    return folds


def _dealt_groups(
    strata: NDArray[np.intp], n_folds: int, rng: np.random.Generator, groups: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Deal whole groups, of each stratum those of many bags first, so that folds have about as many bags."""
    group, of_group = strata_of_groups(strata, groups)
    shuffled = rng.permutation(len(of_group))
    sizes = np.bincount(group)
    dealt = shuffled[np.lexsort((-sizes[shuffled], of_group[shuffled]))]
    folds = np.empty(len(of_group), dtype=np.intp)
    folds[dealt] = np.arange(len(of_group)) % n_folds
    return folds[group]


def strata_of_groups(strata: NDArray[np.intp], groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number groups from 0 in order of first appearance: that of each bag (B,), and the stratum of each group.

    A group that holds bags of several strata counts as one of the rarest of them: that is what folds lack first.

    >>> strata_of_groups(np.array([0, 0, 0, 1]), np.array([7, 7, 5, 5]))[1].tolist()
    [0, 1]
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first, kind="stable"), kind="stable")[inverse]
    by_count = np.argsort(np.bincount(strata), kind="stable")
    rank = np.argsort(by_count, kind="stable")
    rarest = np.full(len(first), len(by_count), dtype=np.intp)
    np.minimum.at(rarest, number, rank[strata])
    return number.astype(np.intp), by_count[rarest].astype(np.intp)


def usable_folds(strata: NDArray[np.intp], n_folds: int, train_on: str, groups: NDArray[np.intp] | None = None) -> int:
    """Return the largest number of folds, at most `n_folds`, that the bags allow.

    Every fold needs a bag, or a whole group of bags. Where single folds are held out (`train_on="rest"`), each of them
    must also be able to judge: it needs one of every stratum that has two or more.
    """
    if groups is not None:
        strata = strata_of_groups(strata, groups)[1]
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


def strata_of(weak: NDArray[Any]) -> NDArray[np.intp]:
    """Number the distinct weak labels; numbers with many values are cut into five ranges of equal size."""
    if weak.ndim > 1:
        weak = weak[:, 0] if weak.dtype.kind == "f" else np.array([str(row) for row in weak.tolist()])
    keys = weak if weak.dtype != object else np.array([str(v) for v in weak])
    distinct, positions = np.unique(keys, return_inverse=True)
    if keys.dtype.kind == "f" and len(distinct) > 5:
        positions = np.searchsorted(np.quantile(keys, [0.2, 0.4, 0.6, 0.8]), keys)
    return np.asarray(positions, dtype=np.intp)


def common_strata(strata: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put rare strata together where there are many, as where weak labels are combinations.

    Where single folds are held out, each needs a bag of every stratum, so a rare one would allow few folds only.

    Args:
        strata: (B,) integers from 0.

    Returns:
        (B,) integers from 0. With more than ten strata, those of fewer than five bags are one, which joins the largest
        if it is still as rare.

    >>> common_strata(np.arange(12) // 2).tolist() == (np.arange(12) // 2).tolist()
    True
    >>> np.bincount(common_strata(np.concatenate([np.repeat(0, 6), np.arange(1, 12)]))).tolist()
    [6, 11]
    """
    counts = np.bincount(strata)
    if np.count_nonzero(counts) <= MANY_LABELS:
        return strata
    rare = counts[strata] < FEW_BAGS
    rest = len(counts) if rare.sum() >= FEW_BAGS else int(counts.argmax())
    return np.unique(np.where(rare, rest, strata), return_inverse=True)[1].astype(np.intp)
