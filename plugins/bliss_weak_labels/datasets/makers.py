"""Weak labels of every kind out of a labelled set: what is hidden of the classes, and how."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_weak_labels.regimes.confidences import LEAST
from bliss_weak_labels.regimes.words import objects

Truth = NDArray[np.intp]


@frozen(eq=False)
class Weakened:
    """Rows of a labelled set with weak labels.

    Attributes:
        rows: (n,) which rows of the set, in order of their bags.
        bags: (n,) the bag of each.
        weak: (B, ...) weak labels in order of bags.
        regime: the regime and its parameters.
    """

    rows: NDArray[np.intp] = field()
    bags: NDArray[np.intp] = field()
    weak: Any = field()
    regime: Mapping[str, Any] = field()


def _of_rows(truth: Truth, weak: Any, regime: str, **parameters: Any) -> Weakened:
    every = np.arange(len(truth))
    return Weakened(every, every, weak, {"name": regime, **parameters})


def _others(truth: Truth, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw for each row a class that it is not of."""
    n_classes = int(truth.max()) + 1
    return (truth + rng.integers(1, n_classes, len(truth))) % n_classes


def partial(truth: Truth, rng: np.random.Generator, flip: float = 0.3) -> Weakened:
    """Add every wrong class to the set of a row with some chance."""
    n_classes = int(truth.max()) + 1
    marked = rng.random((len(truth), n_classes)) < flip
    marked[np.arange(len(truth)), truth] = True
    return _of_rows(truth, objects([frozenset(np.flatnonzero(one).tolist()) for one in marked]), "partial-labels")


def complementary(truth: Truth, rng: np.random.Generator, n_excluded: int = 1) -> Weakened:
    """Name for each row some classes that it is not of."""
    n_classes = int(truth.max()) + 1
    keys = rng.random((len(truth), n_classes))
    keys[np.arange(len(truth)), truth] = np.inf
    chosen = np.argsort(keys, axis=1)[:, :n_excluded]
    return _of_rows(truth, objects([frozenset(one) for one in chosen.tolist()]), "complementary-labels")


def positive_unlabelled(truth: Truth, rng: np.random.Generator, n_known: int = 30) -> Weakened:
    """Let a few positive rows be known."""
    weak = np.zeros(len(truth), dtype=np.int64)
    weak[rng.choice(np.flatnonzero(truth == 1), n_known, replace=False)] = 1
    return _of_rows(truth, weak, "positive-unlabelled", prior=float(truth[weak == 0].mean()))


def unlabelled_unlabelled(truth: Truth, rng: np.random.Generator, first: float = 0.3, second: float = 0.7) -> Weakened:
    """Deal rows to two sets: `first` of the negative ones and `second` of the positive ones to the set "b"."""
    weak = np.where(rng.random(len(truth)) < np.where(truth == 1, second, first), "b", "a")
    shares = [float(truth[weak == name].mean()) for name in ("a", "b")]
    return _of_rows(truth, weak, "unlabelled-unlabelled", shares=shares)


def noisy(truth: Truth, rng: np.random.Generator, rate: float = 0.4, told: bool = False) -> Weakened:
    """Call some rows another class; `told` whether the regime knows how many."""
    weak = np.where(rng.random(len(truth)) < rate, _others(truth, rng), truth)
    return _of_rows(truth, weak, "noisy-labels", noise=rate if told else "estimated")


def semi_supervised(truth: Truth, rng: np.random.Generator, n_known: int = 4) -> Weakened:
    """Keep the class of some rows of each class."""
    known = np.concatenate([rng.choice(np.flatnonzero(truth == c), n_known, replace=False) for c in np.unique(truth)])
    weak = [None] * len(truth)
    for row in known.tolist():
        weak[row] = int(truth[row])
    return _of_rows(truth, objects(weak), "semi-supervised")


def annotators(truth: Truth, rng: np.random.Generator, seen: float = 0.4) -> Weakened:
    """Let five annotators of different quality see some of the rows; every row is seen by one at least."""
    right = np.array([0.9, 0.7, 0.6, 0.5, 0.4]) if truth.max() > 1 else np.array([0.9, 0.75, 0.65, 0.6, 0.55])
    given = rng.random((len(truth), len(right))) < seen
    given[np.arange(len(truth)), rng.integers(len(right), size=len(truth))] = True
    called = [np.where(rng.random(len(truth)) < one, truth, _others(truth, rng)) for one in right]
    weak = np.stack(called, axis=1).astype(object)
    weak[~given] = None
    return _of_rows(truth, weak, "several-annotators")


def confidences(
    truth: Truth, rng: np.random.Generator, chances: NDArray[np.float64], unlabelled: bool = False
) -> Weakened:
    """Give positive rows the chance, of a model of the truth, that such a row is positive.

    Args:
        truth: (n,) classes.
        rng: not used.
        chances: (n,) of that model.
        unlabelled: whether the negative rows are kept, as rows without a confidence.
    """
    weak = [float(np.clip(r, LEAST, 1.0)) if true == 1 else None for true, r in zip(truth, chances, strict=True)]
    kept = np.arange(len(truth)) if unlabelled else np.flatnonzero(truth == 1)
    regime = {"name": "positive-confidences"}
    return Weakened(kept, np.arange(len(kept)), objects([weak[row] for row in kept.tolist()]), regime)


def _in_groups(truth: Truth, rng: np.random.Generator, n_known: int, size: int) -> tuple[list[int], NDArray[np.intp]]:
    """Draw some known rows of each class, and put the others into groups."""
    shuffled = rng.permutation(len(truth))
    known = [row for c in np.unique(truth) for row in shuffled[truth[shuffled] == c][:n_known].tolist()]
    others = shuffled[~np.isin(shuffled, known)]
    return known, others[: len(others) // size * size].reshape(-1, size)


def _with_known(truth: Truth, known: list[int], groups: NDArray[np.intp], words: list[Any], regime: str) -> Weakened:
    rows = np.concatenate([known, groups.ravel()]).astype(np.intp)
    bags = np.concatenate([np.arange(len(known)), len(known) + np.repeat(np.arange(len(groups)), groups.shape[1])])
    return Weakened(rows, bags.astype(np.intp), objects([*truth[known].tolist(), *words]), {"name": regime})


def similar_pairs(truth: Truth, rng: np.random.Generator, n_known: int = 6) -> Weakened:
    """Say of pairs whether they are of one class."""
    known, groups = _in_groups(truth, rng, n_known, 2)
    first, second = truth[groups].T
    words = np.where(first == second, "similar", "dissimilar").tolist()
    return _with_known(truth, known, groups, words, "similar-pairs")


def ordered_pairs(truth: Truth, rng: np.random.Generator, n_known: int = 6) -> Weakened:
    """Put the row of the higher class first; of equal ones any."""
    known, groups = _in_groups(truth, rng, n_known, 2)
    groups = np.where((truth[groups[:, 0]] < truth[groups[:, 1]])[:, None], groups[:, ::-1], groups)
    return _with_known(truth, known, groups, ["ordered"] * len(groups), "ordered-pairs")


def triplets(truth: Truth, rng: np.random.Generator, n_known: int = 6) -> Weakened:
    """Put the row that is of the class of the first one second; where both are or none is, any."""
    known, groups = _in_groups(truth, rng, n_known, 3)
    a, b, c = truth[groups].T
    swap = (a == c) & (a != b)
    groups = np.where(swap[:, None], groups[:, [0, 2, 1]], groups)
    return _with_known(truth, known, groups, ["nearer"] * len(groups), "triplets")


def intervals(truth: Truth, rng: np.random.Generator, size: int = 6) -> Weakened:
    """Say of bags in which of four intervals their number of positives lies: 0, up to a third, two thirds, all."""
    _, groups = _in_groups(truth, rng, 0, size)
    counts = truth[groups].sum(axis=1)
    edges = [(0, 0), (1, size // 3), (size // 3 + 1, 2 * size // 3), (2 * size // 3 + 1, size)]
    weak = np.array([next([low, high] for low, high in edges if low <= count <= high) for count in counts])
    bags = np.repeat(np.arange(len(groups)), size)
    return Weakened(groups.ravel(), bags, weak, {"name": "count-intervals"})


MAKERS: Mapping[str, Callable[..., Weakened]] = MappingProxyType(
    {
        "partial": partial,
        "complementary": complementary,
        "positive-unlabelled": positive_unlabelled,
        "unlabelled-unlabelled": unlabelled_unlabelled,
        "noisy": noisy,
        "semi-supervised": semi_supervised,
        "annotators": annotators,
        "confidences": confidences,
        "similar": similar_pairs,
        "ordered": ordered_pairs,
        "triplets": triplets,
        "intervals": intervals,
    }
)
