"""Real rows of scikit-learn in bags whose label is not that of one witness."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from bliss_framework.plugin import WeakDataset, at_least, check_value

TWO_CONDITION_DETAILS = {
    "source": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998",
    "size": "bags of 8 pictures of 8 x 8, 200 by default; options n_bags, bag_seed, instance_labels",
    "licence": "CC BY 4.0",
}
COLLECTIVE_DETAILS = {
    "source": "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI, 1995",
    "size": "94 bags of 6 cell samples, 30 features; option bag_seed",
    "licence": "CC BY 4.0",
}
SIZE, FIRST, SECOND = 8, 0, 1
MOST_OF_ONE = 3
OF_COLLECTIVE = 6


def load_two_condition_digits(n_bags: int = 200, bag_seed: int = 0, instance_labels: bool = True) -> WeakDataset:
    """Put digits into bags, of which a positive one holds a 0 and a 1, and a negative one lacks one of them or both.

    Of the negative bags two in five hold zeros alone of the two, two in five ones, and one in five neither.

    Args:
        n_bags: half of them are positive.
        bag_seed: the same seed makes the same bags.
        instance_labels: whether to keep the concept of each row, which regimes of other classes do not take.

    >>> data = load_two_condition_digits(n_bags=20)
    >>> data.X.shape, data.weak.tolist()[:4], sorted(set(data.instance_labels.tolist()))
    ((160, 64), [0, 1, 0, 1], ['first', 'none', 'second'])
    """
    check_value("n_bags", n_bags, at_least(4))
    check_value("bag_seed", bag_seed, at_least(0))
    stored = load_digits()
    rng = np.random.default_rng(bag_seed)
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
    pools = [np.flatnonzero(stored.target > SECOND), *(np.flatnonzero(stored.target == one) for one in (FIRST, SECOND))]
    rows = np.choose(codes, [rng.choice(pool, codes.size) for pool in pools])
    return WeakDataset(
        name="digits-two-condition",
        X=stored.data[rows],
        bags=np.repeat(np.arange(n_bags), SIZE),
        weak=positive.astype(int),
        regime="two-condition-mil",
        instance_labels=np.array(["none", "first", "second"])[codes] if instance_labels else None,
    )


def load_collective_breast_cancer(bag_seed: int = 0) -> WeakDataset:
    """Put cell samples into bags of six, which are labelled 1 where more than three of them are malignant.

    Args:
        bag_seed: the same seed makes the same bags.

    >>> data = load_collective_breast_cancer()
    >>> data.X.shape, len(data.weak)
    ((564, 30), 94)
    """
    check_value("bag_seed", bag_seed, at_least(0))
    stored = load_breast_cancer()
    malignant = (stored.target == 0).astype(int)
    n_bags = len(malignant) // OF_COLLECTIVE
    rows = np.random.default_rng(bag_seed).permutation(len(malignant))[: n_bags * OF_COLLECTIVE]
    return WeakDataset(
        name="breast-cancer-collective",
        X=stored.data[rows],
        bags=np.repeat(np.arange(n_bags), OF_COLLECTIVE),
        weak=(malignant[rows].reshape(n_bags, -1).sum(axis=1) > OF_COLLECTIVE // 2).astype(int),
        regime="collective-mil",
        instance_labels=malignant[rows],
    )
