"""Bags out of any labelled set: random instances, and the set of their labels."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, SettingsError, WeakDataset

NEGATIVE = "negative"


def make_bags(
    X: Any,
    y: NDArray[Any],
    positive: Collection[Any],
    bag_size: Sequence[int] = (5, 15),
    n_bags: int | None = None,
    seed: int = 0,
    name: str = "bags",
) -> WeakDataset:
    """Put instances of a labelled set into bags at random, each instance into one bag at most.

    The label set of a bag is the set of positive classes among its instances; all other classes become one negative
    class (paper, "Multi-Class MIL": MNIST, bags of 5 to 15, digits 0 to 4 positive).

    Args:
        X: (n, d) rows, dense or sparse; their precision is kept.
        y: (n,) classes.
        positive: the classes that are labels.
        bag_size: smallest and largest size; each size between them is as likely.
        n_bags: how many bags; None fills bags until the instances are used up, and leaves out what is too little for
            a last one.
        seed: the same seed makes the same bags.
        name: of the data set.

    Returns:
        Rows in order of bags, label sets as tuples of text, and true classes as text, "negative" for all others.

    Raises:
        SettingsError: naming the option, its value and what is allowed.

    >>> data = make_bags(np.arange(12.0)[:, None], np.arange(12) % 3, positive=[1], bag_size=(3, 4))
    >>> sorted(set(data.instance_labels.tolist()))
    ['1', 'negative']
    """
    labels = _checked_labels(y, positive)
    chosen, bags = drawn_bags(len(y), bag_size, n_bags, seed)
    classes = np.where(np.isin(y, labels), np.asarray(y).astype(str), NEGATIVE)[chosen]
    weak = _label_sets(classes, Bags.from_ids(bags))
    return WeakDataset(name, X[chosen], bags, weak, regime="multiclass-mil", instance_labels=classes)


def drawn_bags(
    n: int, bag_size: Sequence[int] = (5, 15), n_bags: int | None = None, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of n instances `make_bags` takes with the same options, in order of bags, and the bag of each.

    >>> rows, bags = drawn_bags(100, bag_size=(3, 4))
    >>> len(rows) == len(set(rows.tolist())) == len(bags)
    True
    """
    smallest, largest = _checked_sizes(bag_size)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    sizes = _sizes(rng, n, smallest, largest, n_bags)
    return order[: sizes.sum()], np.repeat(np.arange(len(sizes)), sizes)


def _sizes(rng: np.random.Generator, n: int, smallest: int, largest: int, n_bags: int | None) -> NDArray[np.intp]:
    most = n // smallest if n_bags is None else n_bags
    sizes = rng.integers(smallest, largest + 1, most)
    if n_bags is None:
        sizes = sizes[np.cumsum(sizes) <= n]
    elif sizes.sum() > n:
        raise SettingsError(f"n_bags = {n_bags} of {smallest} to {largest} need more than the {n} instances there are.")
    if len(sizes) < 2:
        raise SettingsError(f"{n} instances are too few for two bags of {smallest} to {largest}; choose smaller bags.")
    return sizes.astype(np.intp)


def _label_sets(classes: NDArray[Any], bags: Bags) -> NDArray[Any]:
    names = [label for label in np.unique(classes).tolist() if label != NEGATIVE]
    there = bags.any(classes[:, None] == np.array(names))
    sets = np.empty(bags.n_bags, dtype=object)
    sets[:] = [tuple(name for name, found in zip(names, row, strict=True) if found) for row in there.tolist()]
    return sets


def _checked_sizes(bag_size: Any) -> tuple[int, int]:
    sizes = list(bag_size) if isinstance(bag_size, list | tuple) else [bag_size, bag_size]
    integers = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if len(sizes) != 2 or not integers or not 1 <= sizes[0] <= sizes[1]:
        raise SettingsError(f"bag_size must be two integers from 1 on, the smaller first; got {bag_size!r}.")
    return int(sizes[0]), int(sizes[1])


def _checked_labels(y: NDArray[Any], positive: Any) -> list[Any]:
    given = np.unique(y).tolist()
    if isinstance(positive, str) or not isinstance(positive, Collection) or not positive:
        raise SettingsError(f"positive must be a list of classes; got {positive!r}.")
    unknown = [label for label in positive if label not in given]
    if unknown:
        raise SettingsError(f"positive has {unknown[0]!r}, which is no class of the data: {given}.")
    return list(positive)
