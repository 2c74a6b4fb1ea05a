"""Settings chosen from weak labels alone: candidates, scored on held-out bags of the training data.

Every candidate infers labels from the other bags only, trains the final classifier on them, and scores the held-out
bags. No bag that judges a candidate has had a say in the labels that it is judged by.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bliss_framework.compute.processes import in_parallel, several
from bliss_framework.errors import SettingsError
from bliss_framework.estimator.final import FinalLearner, Targets, final_targets
from bliss_framework.estimator.inputs import TrainingInput
from bliss_framework.estimator.own_defaults import COMPONENTS, IsSet, as_table, with_values
from bliss_framework.estimator.parameters import check_final_values
from bliss_framework.estimator.recipes import Arranged, Recipe, arranged, part_of, recipe_of
from bliss_framework.estimator.thresholds import instance_cut
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Classifier, Regime
from bliss_framework.kernel.crossfit import in_turn
from bliss_framework.kernel.events import silent
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels

SAME = "same"  # The final classifier that is the classifier of label inference.
NOT_CHOSEN = ("bag_threshold", "instance_threshold", "self_training")  # They come after the choice, or not at all.
AFTER_INFERENCE = ("final_classifier", "confidence_weights", "inherited_share", "bag_threshold", "instance_threshold")
Progress = Callable[[int, int], None]


@frozen(eq=False)
class Candidate:
    """Settings that may be chosen.

    Attributes:
        parameters: of `BlissClassifier`.
        chosen: those that the grid set.
        recipe: of its label inference.
        final: its final classifier.
        inference: equal for candidates that infer the same labels; None where nothing is inferred.
        arrangement: equal for candidates whose rows are scaled, and whose instances are weighted, alike.
        preparation: equal for candidates whose final classifiers are prepared alike.
    """

    parameters: Mapping[str, Any] = field()
    chosen: Mapping[str, Any] = field()
    recipe: Recipe = field()
    final: Classifier = field()
    inference: str | None = field()
    arrangement: str = field()
    preparation: str = field()

    @property
    def final_key(self) -> str:
        """Equal for candidates of one inference whose final classifiers are the same."""
        return repr([self.parameters[name] for name in AFTER_INFERENCE[:3]])


@frozen(eq=False)
class Scored:
    """A candidate and how it did on held-out bags.

    Attributes:
        candidate: the settings.
        scores: (n,) or (n, C) out-of-fold instance scores.
        bag_scores: (B,) or (B, C) out-of-fold bag scores.
        threshold: the bag threshold that they suggest.
        score: the regime's selection score; larger is better.
    """

    candidate: Candidate = field()
    scores: NDArray[np.float64] = field()
    bag_scores: NDArray[np.float64] = field()
    threshold: float = field()
    score: float = field()


def candidates_of(parameters: Mapping[str, Any], grid: Mapping[str, Sequence[Any]], is_set: IsSet) -> list[Candidate]:
    """Make one candidate of every combination in a grid.

    A parameter that the user has set stays as it is, and its axis is left out.

    Args:
        parameters: of `BlissClassifier`, which combinations are laid over.
        grid: values by parameter, or by "component.parameter".
        is_set: says whether the user has set a parameter.

    Raises:
        SettingsError, UnknownNameError: if a name or value of the grid cannot be used.
    """
    _check_grid(grid, [name for name in parameters if name not in NOT_CHOSEN])
    axes = {name: values for name, values in grid.items() if not is_set(name)}
    combinations = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [_candidate(parameters, chosen) for chosen in combinations]


def _check_grid(grid: Any, allowed: Sequence[str]) -> None:
    if not isinstance(grid, Mapping):
        raise SettingsError(f"grid must be a table of lists of values, or None for the regime's own; got {grid!r}.")
    for name, values in grid.items():
        component, dot, _ = str(name).partition(".")
        if component not in (COMPONENTS if dot else allowed):
            raise SettingsError(f'The grid has "{name}", which is no parameter. Allowed: {", ".join(allowed)}.')
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise SettingsError(f'The grid must give "{name}" a list of values; got {values!r}.')


def _candidate(parameters: Mapping[str, Any], chosen: Mapping[str, Any]) -> Candidate:
    own = with_values(parameters, chosen)
    check_final_values(own)
    recipe = recipe_of(own)
    spec = own["classifier"] if own["final_classifier"] == SAME else own["final_classifier"]
    inferring = {name: value for name, value in own.items() if name not in AFTER_INFERENCE}
    regime = {k: v for k, v in as_table(own["regime"]).items() if k not in recipe.regime.reading_parameters}
    inference = None if own["inherited_share"] == 1 else repr({**inferring, "regime": regime})
    arrangement = repr([own["scaling"], regime])
    preparation = repr([arrangement, spec])
    parameters = {**own, "final_classifier": spec}
    return Candidate(parameters, chosen, recipe, resolve("classifier", spec), inference, arrangement, preparation)


def scored(
    candidates: Sequence[Candidate],
    given: TrainingInput,
    weak: WeakLabels,
    folds: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
    progress: Progress,
) -> list[Scored]:
    """Score all candidates out of fold, best first; ties keep the order of the grid.

    Args:
        candidates: settings of one regime.
        given: rows and bags.
        weak: what the regime made of their weak labels.
        folds: (B,) the fold of each bag.
        seed: of all inferences.
        n_jobs: processes; each takes one inference on one fold.
        progress: is told how many inferences are done, and of how many.
    """
    groups = groups_of(candidates)
    tasks = [(fold, group) for fold in range(int(folds.max()) + 1) for group in groups]
    out_of_fold: list[list[tuple[NDArray[np.intp], NDArray[np.float64]]]] = [[] for _ in candidates]
    done = _on_processes(tasks, candidates, given, weak, folds, seed, n_jobs)
    for number, results in enumerate(done, start=1):
        for position, rows, scores in results:
            out_of_fold[position].append((rows, scores))
        progress(number, len(tasks))
    judged = [_judged(one, parts, given, weak) for one, parts in zip(candidates, out_of_fold, strict=True)]
    return sorted(judged, key=lambda one: -one.score)


def groups_of(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Put positions of candidates together that share scaling and inference.

    One that infers nothing joins those with its final classifier, whose preparation then serves it too.
    """
    groups: dict[Any, list[int]] = {}
    host: dict[str, Any] = {}
    for position, one in enumerate(candidates):
        if one.inference is not None:
            key = (one.recipe.scaling, one.inference)
            groups.setdefault(key, []).append(position)
            host.setdefault(one.preparation, key)
    for position, one in enumerate(candidates):
        if one.inference is None:
            groups.setdefault(host.get(one.preparation, one.preparation), []).append(position)
    return list(groups.values())


def _on_processes(
    tasks: Sequence[tuple[int, list[int]]],
    candidates: Sequence[Candidate],
    given: TrainingInput,
    weak: WeakLabels,
    folds: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
) -> Iterator[list[tuple[int, NDArray[np.intp], NDArray[np.float64]]]]:
    arguments = [(group, [candidates[i] for i in group], given, weak, folds == fold, seed) for fold, group in tasks]
    if several(n_jobs):
        yield from in_parallel(n_jobs, _heldout_scores, arguments)
        return
    yield from (_heldout_scores(*one) for one in arguments)


def _heldout_scores(
    positions: list[int],
    group: list[Candidate],
    given: TrainingInput,
    weak: WeakLabels,
    held_bags: NDArray[np.bool_],
    seed: int,
) -> list[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Infer once without the held-out bags, and score their instances by every final classifier of the group."""
    with threadpool_limits(limits=1):
        inside, outside = given.bags.rows_of(np.flatnonzero(~held_bags)), given.bags.rows_of(np.flatnonzero(held_bags))
        first = next((one for one in group if one.inference is not None), group[0])
        recipe = first.recipe
        own, own_weak = _subset(given, weak, inside)
        training = arranged(own, own_weak, recipe.regime, recipe.scaling)
        heldout = _heldout(given, weak, outside, training, recipe.regime)
        inferred = None
        if first.inference is not None:
            inferred = recipe.infer(training.data, seed, in_turn, silent).inferred
        finals = {one.final_key: one for one in group}
        scores = dict(zip(finals, _final_scores(list(finals.values()), training.data, heldout, inferred), strict=True))
        return [(position, outside, scores[one.final_key]) for position, one in zip(positions, group, strict=True)]


def _subset(given: TrainingInput, weak: WeakLabels, rows: NDArray[np.intp]) -> tuple[TrainingInput, WeakLabels]:
    bags, positions = given.bags.take(rows)
    return TrainingInput(given.X[rows], bags, given.weak[positions]), weak.take(positions, rows)


def _heldout(
    given: TrainingInput, weak: WeakLabels, rows: NDArray[np.intp], training: Arranged, regime: Regime
) -> Part:
    bags, positions = given.bags.take(rows)
    return part_of(training.scaling.transform(given.X[rows]), bags, weak.take(positions, rows), regime)


def _final_scores(
    group: list[Candidate], training: Part, heldout: Part, inferred: InferredLabels | None
) -> Iterator[NDArray[np.float64]]:
    """Train the final classifier of each candidate; where one is linear in its labels, it is prepared only once."""
    inherited = group[0].recipe.regime.inherited(training.weak, training.bags)
    targets = [targets_of(one.parameters, inferred, training, inherited) for one in group]
    prepared: dict[str, Any] = {}
    for one, own in zip(group, targets, strict=True):
        key = repr(one.parameters["final_classifier"])
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


def targets_of(
    parameters: Mapping[str, Any], inferred: InferredLabels | None, data: Part, inherited: NDArray[np.float64]
) -> Targets:
    """Return what the final classifier of some settings learns."""
    share, weighted = float(parameters["inherited_share"]), bool(parameters["confidence_weights"])
    return final_targets(inferred if share < 1 else None, data, inherited, share, weighted)


def _judged(
    candidate: Candidate,
    parts: list[tuple[NDArray[np.intp], NDArray[np.float64]]],
    given: TrainingInput,
    weak: WeakLabels,
) -> Scored:
    rows = np.concatenate([rows for rows, _ in parts])
    scores = np.concatenate([scores for _, scores in parts])[np.argsort(rows)]
    regime = candidate.recipe.regime
    if regime.reading.from_instances:
        scores = scores - instance_cut(candidate.parameters, scores, given.bags, weak, None, regime)
    bag_scores = regime.reading.bag_scores(scores, given.bags)
    threshold = float(regime.reading.bag_threshold(bag_scores, weak))
    predicted = regime.reading.bag_labels(scores, given.bags, threshold)
    return Scored(
        candidate,
        scores,
        bag_scores,
        threshold,
        regime.reading.selection_score(bag_scores - threshold, predicted, weak),
    )


def unit_of(scores: NDArray[np.float64]) -> float:
    """Return the standard deviation of scores, which makes those of different classifiers comparable."""
    # A sum in another order has other last bits, and the order of rows must not change any.
    spread = float(np.sort(scores, axis=None).std())
    return spread if spread > 0 else 1.0
