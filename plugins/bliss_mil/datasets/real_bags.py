"""Real rows of scikit-learn in bags whose label is not that of one witness."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from bliss_framework.plugin import Component, WeakDataset, at_least, check_value

Codes = NDArray[np.intp]
DIGITS = "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998"
WINE = "Aeberhard and Forina, Wine, UCI, 1992"
BREAST_CANCER = "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI, 1995"

SIZE, MOST_OF_ONE = 8, 3
OF_COLLECTIVE = 6
CONCEPTS = np.array(["none", "first", "second"])


def two_condition_bags(concepts: Codes, n_bags: int, rng: np.random.Generator) -> tuple[Codes, Codes, Codes]:
    """Draw rows for bags of eight, of which a positive one holds a first and a second, and a negative one lacks one.

    Of the negative bags two in five hold firsts alone of the two, two in five seconds, and one in five neither.

    Args:
        concepts: (n,) 0 none, 1 first, 2 second.
        n_bags: every second one is positive.
        rng: draws counts, and rows with repetition.

    Returns:
        The rows (8 n_bags,), their bags, and the weak label 0 or 1 of each bag.

    >>> rows, bags, weak = two_condition_bags(np.array([0, 1, 2]), 2, np.random.default_rng(0))
    >>> [sorted(set(rows[bags == bag].tolist())) for bag in (0, 1)], weak.tolist()
    ([[0, 2], [0, 1, 2]], [0, 1])
    """
    positive = np.arange(n_bags) % 2 == 1
    kind = rng.integers(5, size=n_bags)
    counts = np.stack(
        [
            np.where(positive, rng.integers(1, MOST_OF_ONE, n_bags), np.isin(kind, held) * rng.integers(1, 4, n_bags))
            for held in ((0, 1), (2, 3))
        ],
        axis=1,
    )
    place = np.arange(SIZE)
    first = place < counts[:, :1]
    second = ~first & (place < counts.sum(axis=1, keepdims=True))
    codes = np.where(first, 1, np.where(second, 2, 0)).ravel()
    rows = np.choose(codes, [rng.choice(np.flatnonzero(concepts == code), codes.size) for code in (0, 1, 2)])
    return rows, np.repeat(np.arange(n_bags), SIZE), positive.astype(np.intp)


def collective_bags(positive: Codes, rng: np.random.Generator) -> tuple[Codes, Codes, Codes]:
    """Deal rows to bags of six, which are labelled 1 where more than three of them are positive.

    Args:
        positive: (n,) 0 or 1.
        rng: shuffles rows, of which none is twice.

    Returns:
        The rows, their bags, and the weak label 0 or 1 of each bag.
    """
    n_bags = len(positive) // OF_COLLECTIVE
    rows = rng.permutation(len(positive))[: n_bags * OF_COLLECTIVE]
    weak = positive[rows].reshape(n_bags, -1).sum(axis=1) > OF_COLLECTIVE // 2
    return rows, np.repeat(np.arange(n_bags), OF_COLLECTIVE), weak.astype(np.intp)


def concepts_of_digits() -> tuple[Any, Codes]:
    """Return the digits, of which 0 is the first concept and 1 the second."""
    stored = load_digits()
    return stored.data, np.where(stored.target < 2, stored.target + 1, 0)


def concepts_of_wine() -> tuple[Any, Codes]:
    """Return the wines, of which class 0 is the first concept and class 1 the second."""
    stored = load_wine()
    return stored.data, (stored.target + 1) % 3


def malignant_samples() -> tuple[Any, Codes]:
    """Return the cell samples, 1 where they are malignant."""
    stored = load_breast_cancer()
    return stored.data, (stored.target == 0).astype(np.intp)


def odd_digits() -> tuple[Any, Codes]:
    """Return the digits, 1 where they are odd."""
    stored = load_digits()
    return stored.data, stored.target % 2


def _two_condition(
    name: str, rows: tuple[Any, Codes], n_bags: int, bag_seed: int, instance_labels: bool
) -> WeakDataset:
    check_value("n_bags", n_bags, at_least(4))
    check_value("bag_seed", bag_seed, at_least(0))
    X, concepts = rows
    drawn, bags, weak = two_condition_bags(concepts, n_bags, np.random.default_rng(bag_seed))
    return WeakDataset(
        name=name,
        X=X[drawn],
        bags=bags,
        weak=weak,
        regime="two-condition-mil",
        instance_labels=CONCEPTS[concepts[drawn]] if instance_labels else None,
    )


def load_two_condition_digits(n_bags: int = 200, bag_seed: int = 0, instance_labels: bool = True) -> WeakDataset:
    """Put digits into bags, of which a positive one holds a 0 and a 1, and a negative one lacks one of them or both.

    Args:
        n_bags: half of them are positive.
        bag_seed: the same seed makes the same bags.
        instance_labels: whether to keep the concept of each row, which regimes of other classes do not take.

    >>> data = load_two_condition_digits(n_bags=20)
    >>> data.X.shape, data.weak.tolist()[:4], sorted(set(data.instance_labels.tolist()))
    ((160, 64), [0, 1, 0, 1], ['first', 'none', 'second'])
    """
    return _two_condition("digits-two-condition", concepts_of_digits(), n_bags, bag_seed, instance_labels)


def load_two_condition_wine(n_bags: int = 200, bag_seed: int = 0, instance_labels: bool = True) -> WeakDataset:
    """Put wines into bags, of which a positive one holds two of three cultivars; see `load_two_condition_digits`."""
    return _two_condition("wine-two-condition", concepts_of_wine(), n_bags, bag_seed, instance_labels)


def _collective(name: str, rows: tuple[Any, Codes], bag_seed: int) -> WeakDataset:
    check_value("bag_seed", bag_seed, at_least(0))
    X, positive = rows
    dealt, bags, weak = collective_bags(positive, np.random.default_rng(bag_seed))
    return WeakDataset(
        name=name, X=X[dealt], bags=bags, weak=weak, regime="collective-mil", instance_labels=positive[dealt]
    )


def load_collective_breast_cancer(bag_seed: int = 0) -> WeakDataset:
    """Put cell samples into bags of six, which are labelled 1 where more than three of them are malignant.

    Args:
        bag_seed: the same seed makes the same bags.

    >>> data = load_collective_breast_cancer()
    >>> data.X.shape, len(data.weak)
    ((564, 30), 94)
    """
    return _collective("breast-cancer-collective", malignant_samples(), bag_seed)


def load_collective_digits(bag_seed: int = 0) -> WeakDataset:
    """Put digits into bags of six, which are labelled 1 where more than three of them are odd.

    Args:
        bag_seed: the same seed makes the same bags.
    """
    return _collective("odd-digits-collective", odd_digits(), bag_seed)


def _details(source: str, size: str) -> dict[str, str]:
    return {"source": source, "size": size, "licence": "CC BY 4.0"}


REAL_BAGS = (
    Component(
        "digits-two-condition",
        load_two_condition_digits,
        "Bags of digits, of which a positive one holds a 0 and a 1",
        _details(DIGITS, "bags of 8 pictures of 8 x 8, 200 by default; options n_bags, bag_seed, instance_labels"),
    ),
    Component(
        "wine-two-condition",
        load_two_condition_wine,
        "Bags of wines, of which a positive one holds two of three cultivars",
        _details(WINE, "bags of 8 wines, 13 features, 200 bags by default; options n_bags, bag_seed, instance_labels"),
    ),
    Component(
        "breast-cancer-collective",
        load_collective_breast_cancer,
        "Bags of cell samples, of which most of a positive one are malignant",
        _details(BREAST_CANCER, "94 bags of 6 cell samples, 30 features; option bag_seed"),
    ),
    Component(
        "odd-digits-collective",
        load_collective_digits,
        "Bags of digits, of which most of a positive one are odd",
        _details(DIGITS, "299 bags of 6 pictures of 8 x 8; option bag_seed"),
    ),
)
