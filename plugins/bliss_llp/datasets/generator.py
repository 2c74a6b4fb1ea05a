"""LLP bags out of any labelled set: random ones, ones whose shares differ strongly, or do not differ at all."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, SettingsError, WeakDataset, at_least, check_value, one_of

NOISE = 0.5  # Of the order of rows in skewed bags; classes are 1 apart.


def make_llp_bags(
    X: Any,
    y: NDArray[Any],
    bag_size: int = 8,
    bags: str = "random",
    seed: int = 0,
    name: str = "bags",
    feature_names: Sequence[str] | None = None,
) -> WeakDataset:
    """Put all instances of a labelled set into bags of about one size, and keep of their classes the shares.

    Args:
        X: (n, d) rows, dense or sparse.
        y: (n,) classes; they become 0 .. C - 1 in sorted order.
        bag_size: the size of bags, of which there are as many as n / bag_size rounds to, and two at least; sizes are
            equal to within one.
        bags: "random" bags have about the same shares, the nearer the larger they are. "skewed" bags are runs of rows
            that are sorted by class with normal noise of half a class distance, so that large bags differ strongly too.
            "alike" bags have the same shares but for rounding, so that nothing can be learnt from them.
        seed: the same seed makes the same bags.
        name: of the data set.
        feature_names: one for each column, or None.

    Returns:
        Rows in order of bags, ids 0, 1, ...; the share of class 1 for two classes, else vectors of shares; the true
        classes as `instance_labels`.

    Raises:
        SettingsError: naming the option, its value and what is allowed.

    >>> data = make_llp_bags(np.arange(6.0)[:, None], np.array(["a", "b"] * 3), bag_size=3)
    >>> data.bags.tolist(), np.round(data.weak * 3).sum()
    ([0, 0, 0, 1, 1, 1], np.float64(3.0))
    """
    classes, codes = _checked(y, bag_size, bags, seed)
    rng = np.random.default_rng(seed)
    n = len(codes)
    order = ORDERS[bags](codes, rng)
    n_bags = max(2, round(n / bag_size))
    runs = np.arange(n) * n_bags // n
    # Skewed bags would be in order of their shares.
    ids = rng.permutation(n_bags)[runs]
    order, ids = order[np.argsort(ids, kind="stable")], np.sort(ids)
    labels = codes[order].astype(np.int64)
    shares = Bags.from_ids(ids).mean(labels[:, None] == np.arange(len(classes)))
    two = len(classes) == 2
    return WeakDataset(
        name=name,
        X=X[order],
        bags=ids,
        weak=shares[:, 1] if two else shares,
        regime="llp",
        instance_labels=labels,
        feature_names=None if feature_names is None else tuple(feature_names),
        label_names=None if two else tuple(str(value) for value in classes.tolist()),
    )


def _at_random(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.permutation(len(codes))


def _by_class(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    place = rng.permutation(int(codes.max()) + 1)[codes] + NOISE * rng.standard_normal(len(codes))
    return np.argsort(place, kind="stable")


def _evenly(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Spread each class evenly over the whole order."""
    shuffled = rng.permutation(len(codes))
    sizes = np.bincount(codes)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    rank = np.concatenate([np.arange(size) for size in sizes])
    return by_class[np.argsort((rank + 0.5) / np.repeat(sizes, sizes), kind="stable")]


ORDERS: Mapping[str, Callable[[NDArray[np.intp], np.random.Generator], NDArray[np.intp]]] = MappingProxyType(
    {"random": _at_random, "skewed": _by_class, "alike": _evenly}
)
KINDS = tuple(ORDERS)


def _checked(y: NDArray[Any], bag_size: Any, bags: Any, seed: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Check the options, and return the distinct classes and their positions (n,)."""
    for option, allow, value in (
        ("bag_size", at_least(1), bag_size),
        ("bags", one_of(*KINDS), bags),
        ("bag_seed", at_least(0), seed),
    ):
        check_value(option, value, allow)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise SettingsError(f"All {len(codes)} instances are of class {classes.tolist()[0]!r}; bags need two classes.")
    if bag_size > len(codes) // 2:
        raise SettingsError(
            f"bag_size is {bag_size}, which makes fewer than two bags of {len(codes)} instances; choose "
            f"{len(codes) // 2} at most."
        )
    return classes, codes
