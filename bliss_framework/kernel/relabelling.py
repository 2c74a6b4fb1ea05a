"""Relabelling across folds: each bag is labelled anew, round by round, by a classifier that has not seen it.

Labels that one bag suggests reach the instances of others, and since no classifier labels the bags that it learns from,
no label confirms itself. The start may be anything: what a bandit inferred, what instances inherit, or draws.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.arms import TIE, best_label
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.events import Emit, RelabellingAdvanced, RelabellingStarted, silent
from bliss_framework.kernel.folds import deal_folds, train_and_heldout
from bliss_framework.kernel.guards import checked_assignment
from bliss_framework.kernel.inference import Constrain, Puller
from bliss_framework.kernel.labels import LabelSpace
from bliss_framework.kernel.pull import Part, balance_weights
from bliss_framework.kernel.result import leads_of_classes

RELABEL_FOLDS = 5
OWN_DRAWS = 1 << 29  # The place of what is drawn here among what else follows from a seed.


class Preparing(Protocol):
    """A classifier that can be prepared for a fold."""

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> Puller:
        """Do once all that does not depend on labels."""


@frozen(eq=False)
class Relabelling:
    """The labels after the last round, and how they came about.

    Attributes:
        labels: (n,) the label of each instance in the end.
        agreement: (n,) in (0, 1], the share of all labellings, the start and those of the rounds, that gave an instance
            the class that it has in the end.
        tied: (n,) bool, free instances whose best classes had the same output in the last round.
        n_rounds: rounds that were run: fewer than asked for if labels settled before, 0 where bags are too few.
        seconds: that the classifiers took.
    """

    labels: NDArray[np.intp] = field()
    agreement: NDArray[np.float64] = field()
    tied: NDArray[np.bool_] = field()
    n_rounds: int = field()
    seconds: float = field(default=0.0)


def too_few_to_relabel(bags: Bags) -> str | None:
    """Say why bags cannot be dealt to folds and relabelled; None where they can."""
    n, what = (bags.n_bags, "bags") if bags.groups is None else (len(np.unique(bags.groups)), "groups of bags")
    if n >= RELABEL_FOLDS:
        return None
    return f"Labels were not relabelled across folds: that takes {RELABEL_FOLDS} {what}, and there are {n}."


def relabelled_across_folds(
    classifier: Preparing,
    data: Part,
    strata: NDArray[np.intp],
    labels: NDArray[np.intp],
    constrain: Constrain | None,
    n_rounds: int,
    class_balance: float,
    seed: int,
    emit: Emit = silent,
) -> Relabelling:
    """Relabel instances, each by a classifier that was not trained on its bag, until labels settle.

    Whole bags, or whole groups of them, are dealt to folds once, and for each fold a classifier is prepared that learns
    from the other folds. In each round it takes one pull on their labels, and the instances of its own fold take the
    candidates with the largest outputs, as far as the constraint lets them.

    Args:
        classifier: prepared once for each fold, so that one with a warm start goes on from round to round.
        data: rows, bags, weak labels and candidates.
        strata: (B,) the stratum of each bag.
        labels: (n,) the start.
        constrain: turns bounds (n, L) into an assignment (n,), or None for the best candidate of each instance.
        n_rounds: most rounds.
        class_balance: exponent of the class weights in every pull.
        seed: any integer >= 0.
        emit: is told of rounds.

    Returns:
        The start itself, after 0 rounds, where there are fewer bags than folds; see `too_few_to_relabel`.

    Raises:
        PluginError: if `constrain` fails or chooses what is no candidate.
    """
    space, history = data.space, [data.space.class_of_label[labels]]
    tied, seconds = np.zeros(data.n_rows, dtype=bool), 0.0
    if too_few_to_relabel(data.bags) is not None or not space.free.any():
        return Relabelling(labels, np.ones(data.n_rows), tied, 0)
    deal_seed, tie_seed, *fold_seeds = np.random.SeedSequence(seed, spawn_key=(OWN_DRAWS,)).spawn(2 + RELABEL_FOLDS)
    ties = np.random.default_rng(tie_seed)
    dealt = deal_folds(strata, RELABEL_FOLDS, np.random.default_rng(deal_seed), data.bags.groups)
    start = perf_counter()
    folds = list(_prepared(classifier, data, dealt, fold_seeds))
    emit(RelabellingStarted(n_rounds))
    round = 0
    for round in range(1, n_rounds + 1):
        outputs = np.empty(space.candidates.shape)
        for fold in folds:
            outputs[fold.heldout] = fold.outputs(labels, space, class_balance)
        seconds += perf_counter() - start
        possible = np.where(space.candidates, outputs, -np.inf)
        tied = space.free & (leads_of_classes(possible, space) <= TIE)
        given = (
            best_label(possible, ties) if constrain is None else checked_assignment(constrain, possible, data, round)
        )
        n_changed = int(np.count_nonzero(given != labels))
        labels = given
        history.append(space.class_of_label[labels])
        emit(RelabellingAdvanced(round, n_rounds, n_changed))
        if n_changed == 0:
            break
        start = perf_counter()
    agreement = np.mean([one == history[-1] for one in history], axis=0)
    return Relabelling(labels, agreement, tied, round, seconds)


@frozen(eq=False)
class _RelabelFold:
    """A fold that is relabelled, and the classifier that learns from the others.

    Attributes:
        puller: prepared for them.
        train: (a,) rows of the other folds.
        heldout: (h,) rows of the fold.
        weights: (a,) instance weights of the other folds, or None.
    """

    puller: Puller = field()
    train: NDArray[np.intp] = field()
    heldout: NDArray[np.intp] = field()
    weights: NDArray[np.float64] | None = field()

    def outputs(self, labels: NDArray[np.intp], space: LabelSpace, class_balance: float) -> NDArray[np.float64]:
        """Learn the labels (n,) of the other folds in one pull, and return outputs (h, L) for the rows of this one."""
        assignment = labels[self.train][None]
        weights = balance_weights(assignment, space.take(self.train), class_balance, self.weights)
        return label_columns(self.puller.pull(assignment, weights).heldout_scores[0])


def _prepared(
    classifier: Preparing, data: Part, folds: NDArray[np.intp], seeds: list[np.random.SeedSequence]
) -> Iterator[_RelabelFold]:
    for (train_bags, heldout_bags), seed in zip(train_and_heldout(folds, "rest"), seeds, strict=True):
        train, heldout = data.bags.rows_of(train_bags), data.bags.rows_of(heldout_bags)
        part = data.take(train)
        puller = classifier.prepare(part, data.take(heldout), np.random.default_rng(seed))
        yield _RelabelFold(puller, train, heldout, part.weights)


def label_columns(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return an output for each label, where two labels may share one decision value.

    Args:
        scores: (n,) or (n, 1) decision values, positive for label 1; or (n, L) with an output for each label.

    >>> label_columns(np.array([0.5, -1.0])).tolist()
    [[-0.5, 0.5], [1.0, -1.0]]
    """
    columns = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
    return np.concatenate([-columns, columns], axis=1) if columns.shape[1] == 1 else columns
