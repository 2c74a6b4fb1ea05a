"""The fit of `BlissClassifier`: labels, members and threshold, for settings as they are or chosen ones."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import fold_runner
from bliss_framework.errors import BlissWarning, SettingsError
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.final import FinalLearner, probability_slope
from bliss_framework.estimator.inputs import TrainingInput
from bliss_framework.estimator.recipes import Arranged, Recipe, arranged, recipe_of
from bliss_framework.estimator.selection import SAME, Candidate, Scored, groups_of, scored, targets_of, unit_of
from bliss_framework.estimator.self_training import self_trained
from bliss_framework.estimator.soft_labels import leading
from bliss_framework.estimator.thresholds import fixed_cut, instance_cut
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.crossfit import CrossFit, RunTasks
from bliss_framework.kernel.events import Emit, SelectionAdvanced, SelectionStarted
from bliss_framework.kernel.fold_task import concluded
from bliss_framework.kernel.folds import deal_folds, usable_folds
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.labels import LabelSpace, WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels

OUT_OF_FOLD = 5


@frozen(eq=False)
class Fitted:
    """What a fit leaves behind, in canonical order.

    Attributes:
        found: the inferred labels.
        members: final classifiers.
        order: (n,) the caller's row of each row.
        bag_threshold: bags that score above it are positive.
        instance_threshold: instances that score above it are of class 1, where there are two classes.
        slope: of the logistic curve from scores to probabilities.
        chosen: the settings of each member that were chosen, with their selection score.
    """

    found: CrossFit = field()
    members: list[Member] = field()
    order: NDArray[np.intp] = field()
    bag_threshold: float = field()
    instance_threshold: float = field()
    slope: float = field()
    chosen: list[dict[str, Any]] = field(factory=list)


@frozen(eq=False)
class Given:
    """Checked training input with everything that both ways to fit need."""

    training: TrainingInput = field()
    weak: WeakLabels = field()
    seed: int = field()
    emit: Emit = field()
    run_tasks: RunTasks = field()
    n_jobs: int | None = field()


def fit_as_set(given: Given, parameters: Mapping[str, Any]) -> Fitted:
    """Infer labels and train the final classifier with the parameters as they are."""
    recipe = recipe_of(parameters)
    ready = arranged(given.training, given.weak, recipe.regime, recipe.scaling)
    _check_self_training(parameters, ready.data)
    found = _labels(recipe, ready, parameters, given)
    spec = parameters["classifier"] if parameters["final_classifier"] == SAME else parameters["final_classifier"]
    learner = _learner(recipe, ready, found, parameters, resolve("classifier", spec).estimator(given.seed))
    if parameters["self_training"]:
        folds = _out_of_fold_folds(recipe.regime, ready.data)
        learner = self_trained(learner, parameters, folds, found.inferred.classes, recipe.regime)
    member = Member(ready.scaling, learner.fit_on(np.arange(ready.data.n_rows)), parameters["regime"])
    return Fitted(found, [member], ready.order, *_calibrated(learner, recipe.regime, found, parameters))


def fit_selected(given: Given, candidates: Sequence[Candidate], n_members: int) -> Fitted:
    """Choose settings on held-out bags of the training data, and average the best of them."""
    regime = candidates[0].recipe.regime
    ranked = ranked_settings(given, candidates, n_members)
    winners = ranked[:n_members]
    needed = _inferring(winners, ranked)
    ready = _arranged(given, [one.candidate for one in winners] + needed)
    inferences = _inferences(needed, winners[0].candidate, ready, given)
    members = [_member(one, ready[one.candidate.arrangement], inferences, given.seed) for one in winners]
    any_ready = next(iter(ready.values()))
    found = _combined(list(inferences.values()), any_ready.data, regime.constraint())
    threshold = _joint_threshold(winners, given, regime)
    scores = np.mean([one.scores / unit_of(one.scores) for one in winners], axis=0)[any_ready.order]
    largest = max(winners, key=lambda one: float(one.candidate.parameters["inherited_share"])).candidate.parameters
    data, classes = any_ready.data, found.inferred.classes
    cut = instance_cut(largest, scores, data.bags, data.weak, classes, regime)
    slope = probability_slope(scores - cut, classes)
    chosen = [{**one.candidate.chosen, "score": one.score} for one in winners]
    return Fitted(found, members, any_ready.order, threshold, cut, slope, chosen)


def ranked_settings(given: Given, candidates: Sequence[Candidate], n_members: int) -> list[Scored]:
    """Score candidates on held-out bags of the training data, best first, and tell of it."""
    folds = _selection_folds(given, candidates[0].recipe.regime)
    n_tasks = len(groups_of(candidates)) * (int(folds.max()) + 1)
    given.emit(SelectionStarted(len(candidates), n_tasks, n_members))

    def progress(done: int, total: int) -> None:
        given.emit(SelectionAdvanced(done, total))

    return scored(candidates, given.training, given.weak, folds, given.seed, given.n_jobs, progress)


def _labels(recipe: Recipe, ready: Arranged, parameters: Mapping[str, Any], given: Given) -> CrossFit:
    if parameters["inherited_share"] == 1:
        return inherited_labels(recipe.regime.inherited(ready.data.weak, ready.data.bags), ready.data.space)
    return recipe.infer(ready.data, given.seed, given.run_tasks, given.emit)


def inherited_labels(inherited: NDArray[np.float64], space: LabelSpace) -> CrossFit:
    """Return what instances inherit from their bags in the form of an inference that pulled nothing."""
    classes, lead = leading(inherited)
    labels = np.asarray((space.class_of_label == classes[:, None]).argmax(axis=1), dtype=np.intp)
    nothing = np.full(space.candidates.shape, np.nan)
    inferred = InferredLabels(labels, classes, lead, lead == 0, ~space.free, nothing, np.zeros(space.candidates.shape))
    seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
    return CrossFit(inferred, (), 0, 0, space.class_of_label, seconds)


def _learner(
    recipe: Recipe, ready: Arranged, found: CrossFit, parameters: Mapping[str, Any], estimator: Any
) -> FinalLearner:
    inherited = recipe.regime.inherited(ready.data.weak, ready.data.bags)
    return FinalLearner(estimator, ready.data, targets_of(parameters, found.inferred, ready.data, inherited))


def _calibrated(
    learner: FinalLearner, regime: Regime, found: CrossFit, parameters: Mapping[str, Any]
) -> tuple[float, float, float]:
    """Choose the bag threshold, the instance threshold and the slope of probability on out-of-fold scores."""
    wanted, data, inferred = parameters["bag_threshold"], learner.data, found.inferred
    chosen = isinstance(wanted, str)
    threshold = 0.0 if chosen else float(wanted)
    if data.bags.n_bags < OUT_OF_FOLD:
        return threshold, fixed_cut(parameters) or 0.0, 1.0
    scores = learner.out_of_fold(_out_of_fold_folds(regime, data))
    # Rows that are bags of their own are ordinary classification: a bag is what its instance is.
    if chosen and data.bags.n_bags < data.bags.n_rows:
        threshold = float(regime.reading.bag_threshold(regime.reading.bag_scores(scores, data.bags), data.weak))
    cut = instance_cut(parameters, scores, data.bags, data.weak, inferred.classes, regime)
    return threshold, cut, probability_slope(scores - cut, inferred.classes)


def _out_of_fold_folds(regime: Regime, data: Part) -> NDArray[np.intp]:
    return deal_folds(regime.strata(data.weak), OUT_OF_FOLD, np.random.default_rng(0))


def _check_self_training(parameters: Mapping[str, Any], data: Part) -> None:
    if parameters["self_training"] and data.bags.n_bags < OUT_OF_FOLD:
        raise SettingsError(
            f"self_training needs out-of-fold scores, which take {OUT_OF_FOLD} bags; there are {data.bags.n_bags}. Use "
            "more bags, or self_training=0."
        )


def _selection_folds(given: Given, regime: Any) -> NDArray[np.intp]:
    """Deal bags in canonical order, so that the order of rows in the caller's data changes nothing."""
    ready = arranged(given.training, given.weak, regime, "none")
    strata = regime.strata(ready.data.weak)
    n_folds = usable_folds(strata, OUT_OF_FOLD, "rest")
    dealt = deal_folds(strata, n_folds, np.random.default_rng(given.seed))
    positions = given.training.bags.take(ready.order)[1]
    folds = np.empty(len(dealt), dtype=np.intp)
    folds[positions] = dealt
    return folds


def _inferring(winners: Sequence[Scored], ranked: Sequence[Scored]) -> list[Candidate]:
    """Return a candidate for each inference that a winner needs, and the best that infers where none does."""
    needed: dict[str, Candidate] = {}
    for one in winners:
        if one.candidate.inference is not None:
            needed.setdefault(one.candidate.inference, one.candidate)
    return list(needed.values()) or [one.candidate for one in ranked if one.candidate.inference is not None][:1]


def _arranged(given: Given, candidates: Sequence[Candidate]) -> dict[str, Arranged]:
    """Arrange the training data once for each way that a candidate needs."""
    first = {one.arrangement: one.recipe for one in reversed(candidates)}
    return {key: arranged(given.training, given.weak, one.regime, one.scaling) for key, one in first.items()}


def _inferences(
    needed: Sequence[Candidate], best: Candidate, ready: Mapping[str, Arranged], given: Given
) -> dict[str | None, CrossFit]:
    """Infer the labels of all training rows once for each candidate; where there is none, they are inherited."""
    if not needed:
        data = ready[best.arrangement].data
        return {None: inherited_labels(best.recipe.regime.inherited(data.weak, data.bags), data.space)}
    runner = fold_runner(given.n_jobs)
    return {
        one.inference: one.recipe.infer(ready[one.arrangement].data, given.seed, runner, given.emit) for one in needed
    }


def _member(one: Scored, ready: Arranged, inferences: Mapping[str | None, CrossFit], seed: int) -> Member:
    candidate = one.candidate
    found = inferences.get(candidate.inference, next(iter(inferences.values())))
    learner = _learner(candidate.recipe, ready, found, candidate.parameters, candidate.final.estimator(seed))
    final = learner.fit_on(np.arange(ready.data.n_rows))
    return Member(ready.scaling, final, candidate.parameters["regime"], unit_of(one.scores), unit_of(one.bag_scores))


def _combined(inferences: Sequence[CrossFit], data: Part, constrain: Constrain | None) -> CrossFit:
    """Average the means of every arm over several inferences of the same rows."""
    if len(inferences) == 1:
        return inferences[0]
    means = np.stack([one.inferred.means for one in inferences])
    pulls = np.sum([one.inferred.pulls for one in inferences], axis=0)
    times = (~np.isnan(means)).sum(axis=0)
    average = np.nansum(means, axis=0) / np.maximum(times, 1)
    first = inferences[0]
    return evolve(
        first,
        inferred=concluded(average, pulls, data, constrain, 0, np.random.default_rng(0)),
        folds=tuple(fold for one in inferences for fold in one.folds),
        n_pulls=sum(one.n_pulls for one in inferences),
        seconds={what: sum(one.seconds[what] for one in inferences) for what in first.seconds},
    )


def _joint_threshold(winners: Sequence[Scored], given: Given, regime: Regime) -> float:
    wanted = winners[0].candidate.parameters["bag_threshold"]
    if not isinstance(wanted, str):
        return float(wanted)
    joint = np.mean([one.bag_scores / unit_of(one.bag_scores) for one in winners], axis=0)
    return float(regime.reading.bag_threshold(joint, given.weak))


def warn_of_collapse(found: CrossFit, classes: NDArray[Any]) -> None:
    """Say once and plainly when the bandit learnt nothing."""
    diagnostics = [fold.uninformative for fold in found.folds]
    never = diagnostics[0] if diagnostics and all(diagnostics) else None
    if found.collapsed:
        free = ~found.inferred.known
        ended = sorted({str(classes[c]) for c in np.unique(found.inferred.classes[free])})
        warnings.warn(
            f"Label inference collapsed: all free instances of every fold got one label ({' or '.join(ended)}). Try "
            f'train_on="rest", class_balance=0.5, other n_folds, or more bags.{f" Also, {never}" if never else ""}',
            BlissWarning,
            stacklevel=4,
        )
    elif never:
        warnings.warn(f"Label inference was never informed: {never}", BlissWarning, stacklevel=4)
