"""Example data, folds and outcomes for the checks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.estimator.inputs import check_training
from bliss_framework.extension.components import resolve
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.labels import LabelSpace, WeakLabels
from bliss_framework.kernel.pull import Fold, Outcome, Part, Predictions, outcome_of
from bliss_framework.testing.checks import Example

SIZES = (1, 4, 3, 5, 2, 4, 3, 6, 1, 4, 5, 2)


def mil_example(seed: int = 0) -> Example:
    """Make twelve bags, half of them positive with one shifted instance each, for the regime `mil`.

    >>> example = mil_example()
    >>> example.X.shape, example.weak.tolist()
    ((40, 3), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    """
    rng = np.random.default_rng(seed)
    bags = np.repeat([f"bag {i}" for i in range(len(SIZES))], SIZES)
    weak = (np.arange(len(SIZES)) + 1) % 2
    X = rng.normal(size=(len(bags), 3))
    first = np.concatenate([[0], np.cumsum(SIZES)[:-1]])
    X[first] += 3.0 * weak[:, None]
    return Example(resolve("regime", "mil"), X, bags, weak)


def part_of(example: Example) -> tuple[Part, NDArray[np.intp]]:
    """Make the whole part of an example, and the strata of its bags."""
    given = check_training(example.X, example.weak, example.bags)
    weak = example.regime.check(given.weak, given.bags)
    space = example.regime.label_space(weak, given.bags)
    part = Part(given.X, given.bags, weak, space, example.regime.instance_weights(given.bags, weak))
    return part, example.regime.strata(weak)


def fold_of(example: Example, n_neighbors: int = 5) -> Fold:
    """Train on one half of the bags of an example and hold out the other."""
    part, strata = part_of(example)
    folds = deal_folds(strata, 2, np.random.default_rng(0))
    train, heldout = (part.take(part.bags.rows_of(np.flatnonzero(folds == fold))) for fold in range(2))
    return Fold(train, heldout, min(n_neighbors, heldout.n_rows), example.regime)


def plain_part(X: NDArray[Any], n_labels: int, weights: NDArray[np.float64] | None = None) -> Part:
    """Make a part of single rows in which every label is possible, for classifiers."""
    n = len(X) if isinstance(X, np.ndarray) else X.shape[0]
    space = LabelSpace(np.ones((n, n_labels), dtype=bool), np.arange(n_labels, dtype=np.intp))
    return Part(X, Bags.from_ids(np.arange(n)), WeakLabels(np.zeros(n, dtype=np.int8), (0, 1)), space, weights)


def random_outcome(fold: Fold, seed: int, levels: int | None = None) -> Outcome:
    """Make an outcome with random assignment and scores; a few levels of scores make many ties."""
    rng = np.random.default_rng(seed)
    space, n, m = fold.train.space, fold.train.n_rows, fold.heldout.n_rows
    n_scores = 1 if space.n_labels == 2 else space.n_labels
    scores, heldout = rng.normal(size=(n, n_scores)), rng.normal(size=(m, n_scores))
    if levels is not None:
        scores, heldout = np.round(scores * levels) / levels, np.round(heldout * levels) / levels
    lots = np.where(space.candidates, rng.random(space.candidates.shape), -1.0)
    return outcome_from(fold, np.asarray(lots.argmax(axis=1), dtype=np.intp), scores, heldout)


def outcome_from(
    fold: Fold, assignment: NDArray[np.intp], scores: NDArray[np.float64], heldout: NDArray[np.float64]
) -> Outcome:
    """Make an outcome from an assignment (n,) and scores (n, S) and (m, S)."""
    return outcome_of(fold, assignment, Predictions.from_scores(scores[None], heldout[None]), 0)


def one_label_outcome(fold: Fold, label: int) -> Outcome:
    """Make an outcome in which everything is given, and predicted as, one label."""
    space, n, m = fold.train.space, fold.train.n_rows, fold.heldout.n_rows
    if space.n_labels == 2:
        scores, heldout = np.full((n, 1), 2.0 * label - 1), np.full((m, 1), 2.0 * label - 1)
    else:
        scores, heldout = np.zeros((n, space.n_labels)), np.zeros((m, space.n_labels))
        scores[:, label] = heldout[:, label] = 1.0
    return outcome_from(fold, np.full(n, label, dtype=np.intp), scores, heldout)


def outcomes(fold: Fold) -> Iterator[Outcome]:
    """Yield outcomes of all sorts on one fold: random, with many ties, and with one label only."""
    yield random_outcome(fold, 1)
    yield random_outcome(fold, 2, levels=1)
    for label in range(fold.train.space.n_labels):
        yield one_label_outcome(fold, label)


def with_train_rows(outcome: Outcome, rows: NDArray[np.intp]) -> Outcome:
    """Reorder or keep training instances of an outcome."""
    return evolve(
        outcome,
        fold=evolve(outcome.fold, train=outcome.fold.train.take(rows)),
        assignment=outcome.assignment[rows],
        labels=outcome.labels[rows],
        scores=outcome.scores[rows],
    )


def with_heldout_rows(outcome: Outcome, rows: NDArray[np.intp]) -> Outcome:
    """Reorder or keep held-out instances of an outcome."""
    heldout = outcome.fold.heldout.take(rows)
    k = min(outcome.fold.n_neighbors, heldout.n_rows)
    return evolve(
        outcome,
        fold=evolve(outcome.fold, heldout=heldout, n_neighbors=k),
        heldout_labels=outcome.heldout_labels[rows],
        heldout_scores=outcome.heldout_scores[rows],
    )
