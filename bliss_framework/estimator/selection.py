"""Settings chosen from weak labels alone: candidates, scored on held-out bags of the training data.

Every candidate infers labels from the other bags only, trains the final classifier on them, and scores the held-out
bags. No bag that judges a candidate has had a say in the labels that it is judged by.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import Spread, one_blas_thread
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.final import FinalLearner, Targets, targets_of
from bliss_framework.estimator.instance_threshold import instance_threshold
from bliss_framework.estimator.label_inference import OrderedData, labels_to_learn, order_data, part_of
from bliss_framework.estimator.ordering import canonical_order
from bliss_framework.kernel.crossfit import RunTasks, in_turn
from bliss_framework.kernel.events import silent
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels

Progress = Callable[[int, int], None]
HeldoutScores = tuple[int, NDArray[np.intp], NDArray[np.float64]]
Read = TypeVar("Read")


class Pieces(Protocol):
    """Where finished parts of long work are kept, such as the state of a run."""

    def load(self, key: str, read: Callable[[dict[str, Any]], Read]) -> Read | None:
        """Return a piece as it was saved, or None."""

    def save(self, key: str, piece: dict[str, Any]) -> dict[str, Any]:
        """Keep a piece."""

    def folds(self, run_tasks: RunTasks, name: str = ...) -> RunTasks:
        """Wrap a runner of fold tasks, so that finished folds of an inference are loaded."""


@frozen(eq=False)
class Trial:
    """A configuration and how it did on held-out bags.

    Attributes:
        config: what was tried.
        scores: (n,) or (n, C) out-of-fold instance scores.
        bag_scores: (B,) or (B, C) out-of-fold bag scores.
        threshold: the bag threshold that they suggest.
        score: the regime's selection score; larger is better.
    """

    config: FitConfig = field()
    scores: NDArray[np.float64] = field()
    bag_scores: NDArray[np.float64] = field()
    threshold: float = field()
    score: float = field()


def trials_of(
    candidates: Sequence[FitConfig],
    data: CheckedData,
    folds: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
    progress: Progress,
    pieces: Pieces | None = None,
) -> list[Trial]:
    """Score all candidates out of fold, best first; ties keep the order of the grid.

    Args:
        candidates: configurations of one regime.
        data: rows, bags and weak labels.
        folds: (B,) the fold of each bag.
        seed: of all inferences.
        n_jobs: processes; each takes one inference on one fold.
        progress: is told how many inferences are done, and of how many.
        pieces: where each of them is kept as soon as it is done, or None.
    """
    groups = groups_of(candidates)
    tasks = [(fold, group) for fold in range(int(folds.max()) + 1) for group in groups]
    out_of_fold: list[list[tuple[NDArray[np.intp], NDArray[np.float64]]]] = [[] for _ in candidates]
    found = _kept(pieces, tasks, candidates, data, folds, seed, n_jobs)
    for number, results in enumerate(found, start=1):
        for position, rows, scores in results:
            out_of_fold[position].append((rows, scores))
        progress(number, len(tasks))
    trials = [_trial(one, parts, data) for one, parts in zip(candidates, out_of_fold, strict=True)]
    return sorted(trials, key=lambda one: -one.score)


def groups_of(candidates: Sequence[FitConfig]) -> list[list[int]]:
    """Put positions of candidates together that share scaling and inference.

    One that infers nothing joins those with its final classifier, whose preparation then serves it too.
    """
    groups: dict[Any, list[int]] = {}
    host: dict[str, Any] = {}
    for position, one in enumerate(candidates):
        if one.inference_key is not None:
            key = (one["scaling"], one.inference_key)
            groups.setdefault(key, []).append(position)
            host.setdefault(one.preparation_key, key)
    for position, one in enumerate(candidates):
        if one.inference_key is None:
            groups.setdefault(host.get(one.preparation_key, one.preparation_key), []).append(position)
    return list(groups.values())


def _kept(
    pieces: Pieces | None,
    tasks: Sequence[tuple[int, list[int]]],
    candidates: Sequence[FitConfig],
    data: CheckedData,
    folds: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
) -> Iterator[list[HeldoutScores]]:
    """Yield the scores of each task, those that were kept as they were; new ones are kept as soon as they are there."""
    names = [f"selection-task{number}" for number in range(1, len(tasks) + 1)]
    heldout = [data.bags.rows_of(np.flatnonzero(folds == fold)) for fold, _ in tasks]
    kept = [
        None if pieces is None else pieces.load(name, partial(_scores_of, positions=task[1], rows=rows))
        for name, task, rows in zip(names, tasks, heldout, strict=True)
    ]
    missing = [task for task, one in zip(tasks, kept, strict=True) if one is None]
    new = _on_processes(missing, candidates, data, folds, seed, n_jobs)
    for name, one in zip(names, kept, strict=True):
        if one is not None:
            yield one
        elif pieces is None:
            yield next(new)
        else:
            yield _saved(pieces, name, new)


def _saved(pieces: Pieces, name: str, new: Iterator[list[HeldoutScores]]) -> list[HeldoutScores]:
    """Keep the next scores, with what was warned of meanwhile: a run that goes on says it, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = next(new)
    said = [str(one.message) for one in caught]
    pieces.save(name, {"scores": [scores for _, _, scores in results], "warnings": said})
    _warn(said)
    return results


def _warn(said: Sequence[str]) -> None:
    for sentence in said:
        warnings.warn(sentence, UserWarning, stacklevel=2)


def _scores_of(piece: dict[str, Any], positions: list[int], rows: NDArray[np.intp]) -> list[HeldoutScores]:
    """Read what was kept of a task; any exception means that it is none of it."""
    _warn(piece["warnings"])
    scores = [np.array(one, dtype=np.float64) for one in piece["scores"]]
    if len(scores) != len(positions) or any(len(one) != len(rows) for one in scores):
        raise ValueError("it has the scores of other candidates or rows")
    return [(position, rows, one) for position, one in zip(positions, scores, strict=True)]


def _on_processes(
    tasks: Sequence[tuple[int, list[int]]],
    candidates: Sequence[FitConfig],
    data: CheckedData,
    folds: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
) -> Iterator[list[HeldoutScores]]:
    arguments = [(group, [candidates[i] for i in group], data, folds == fold, seed) for fold, group in tasks]
    return Spread(n_jobs).calls(_heldout_scores, arguments)


def _heldout_scores(
    positions: list[int], group: list[FitConfig], data: CheckedData, held_bags: NDArray[np.bool_], seed: int
) -> list[HeldoutScores]:
    """Infer once without the held-out bags, and score their instances by every final classifier of the group."""
    with one_blas_thread():
        first = next((one for one in group if one.inference_key is not None), group[0])
        training = order_data(data.take_bags(np.flatnonzero(~held_bags)), first)
        outside = data.bags.rows_of(np.flatnonzero(held_bags))
        heldout, order = _heldout(data.take_bags(np.flatnonzero(held_bags)), training, first)
        inferred = None
        if first.inference_key is not None:
            inferred = labels_to_learn(first, training.data, seed, in_turn, silent).inferred
        finals = {one.final_key: one for one in group}
        found = _final_scores(list(finals.values()), training.data, heldout, inferred)
        scores = {key: own[np.argsort(order)] for key, own in zip(finals, found, strict=True)}
        return [(position, outside, scores[one.final_key]) for position, one in zip(positions, group, strict=True)]


def _heldout(data: CheckedData, training: OrderedData, config: FitConfig) -> tuple[Part, NDArray[np.intp]]:
    """Return held-out bags as classifiers see them, in canonical order, and the caller's row of each of their rows."""
    regime = config.regime
    # The place of a row in a matrix product decides its last bits, and scores are compared and added up.
    order = canonical_order(data.rows, data.bags, regime.strata(data.labels))
    bags, positions = data.bags.take(order)
    weights = None if data.weights is None else data.weights[order]
    rows = training.scaling.transform(data.rows.take(order).array)
    return part_of(rows, bags, data.labels.take(positions, order), regime, weights), order


def _final_scores(
    group: list[FitConfig], training: Part, heldout: Part, inferred: InferredLabels | None
) -> Iterator[NDArray[np.float64]]:
    """Train the final classifier of each candidate; where one is linear in its labels, it is prepared only once."""
    inherited = group[0].regime.inherited(training.weak, training.bags)
    targets = [targets_of(one, inferred, training, inherited) for one in group]
    prepared: dict[str, Any] = {}
    for one, own in zip(group, targets, strict=True):
        key = repr(one.final_spec)
        if key not in prepared:
            prepared[key] = one.final.prepare(training, heldout, np.random.default_rng(0))
        linear = prepared[key].respond(_as_targets(own))
        if linear is None:
            learner = FinalLearner(one.final.estimator(0), training, own)
            yield learner.fit_on(np.arange(training.n_rows)).decision(heldout.X)
        else:
            yield np.asarray(linear[:, 0] if linear.shape[1] == 1 else linear, dtype=np.float64)


def _as_targets(targets: Targets) -> NDArray[np.float64]:
    signed = 2.0 * targets.shares - 1.0
    return signed[:, 1:] if signed.shape[1] == 2 else signed


def _trial(config: FitConfig, parts: list[tuple[NDArray[np.intp], NDArray[np.float64]]], data: CheckedData) -> Trial:
    rows = np.concatenate([rows for rows, _ in parts])
    scores = np.concatenate([scores for _, scores in parts])[np.argsort(rows)]
    regime, weak = config.regime, data.labels
    if regime.reading.from_instances:
        scores = scores - instance_threshold(config, scores, data.bags, weak, None)
    bag_scores = regime.reading.bag_scores(scores, data.bags)
    threshold = float(regime.reading.bag_threshold(bag_scores, weak))
    predicted = regime.reading.bag_labels(scores, data.bags, threshold)
    score = regime.reading.selection_score(bag_scores - threshold, predicted, weak)
    return Trial(config, scores, bag_scores, threshold, score)


def unit_of(scores: NDArray[np.float64]) -> float:
    """Return the standard deviation of scores, which makes those of different classifiers comparable."""
    # A sum in another order has other last bits, and the order of rows must not change any.
    spread = float(np.sort(scores, axis=None).std())
    return spread if spread > 0 else 1.0
