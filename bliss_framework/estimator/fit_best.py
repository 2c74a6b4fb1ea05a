"""The fit with the best of several settings: they are scored on held-out bags, and the best of them are averaged."""

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import fold_runner
from bliss_framework.estimator.bag_head import HeadedBags, View, fitted_head, head_in_use, views_of
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.events import SelectionAdvanced, SelectionStarted
from bliss_framework.estimator.final import FinalClassifier, warn_of_final
from bliss_framework.estimator.fit import OUT_OF_FOLD, FitRequest, FitResult, learner_of
from bliss_framework.estimator.instance_threshold import instance_threshold
from bliss_framework.estimator.label_inference import OrderedData, inherited_labels, labels_to_learn, order_data
from bliss_framework.estimator.out_of_fold import HeldOutBags
from bliss_framework.estimator.probabilities import probability_slope
from bliss_framework.estimator.selection import Trial, groups_of, trials_of, unit_of
from bliss_framework.estimator.training_parts import check_training_parts
from bliss_framework.kernel.crossfit import CrossFit
from bliss_framework.kernel.folds import deal_folds, usable_folds
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import conclude

SELECTION = 'settings = "select", which scores settings on held-out bags'


def fit_best(request: FitRequest) -> FitResult:
    """Choose settings on held-out bags of the training data, and average the best of them."""
    trials = ranked_trials(request)
    winners = trials[: request.n_members]
    folds, regime = _selection_folds(request), winners[0].config.regime
    head = head_in_use(regime, request.data.bags, request.data.labels, folds)
    needed = _inferring(winners, trials)
    # A head asks classifiers that were not chosen, too.
    groups = [] if head is None else views_of(trials)
    asked = [*winners, *(one for group in groups for one in group)]
    all_needed = _inferring(asked, trials)
    ready = _ordered_once(request, [one.config for one in asked] + all_needed)
    any_ready = ready[winners[0].config.order_key]
    inferences = _inferences(all_needed, winners[0].config, ready, request)
    own = [inferences[one.inference_key] for one in needed] or list(inferences.values())
    found = _combined(own, any_ready.data, regime.constraint())
    request.keep(found, any_ready.order)
    trained = _TrainedOnAll(ready, inferences, request.seed)
    members = [trained.member(one) for one in winners]
    positions = request.data.bags.take(any_ready.order)[1]
    headed = None
    if head is not None:
        seen = order_data(request.data, winners[0].config, scaling="none")
        views = [View([trained.member(one) for one in group], _mean_scores(group, any_ready)) for group in groups]
        bag_scores = _joint_bag_scores(winners)[positions]
        headed = fitted_head(head, views, bag_scores, seen.data, folds[positions])
    # Those that learnt most of what was inferred score instances, however well they read bags.
    scored = winners if headed is None else groups[0]
    return _read_by(winners, scored, headed, members, found, any_ready, folds[positions], positions)


def ranked_trials(request: FitRequest) -> list[Trial]:
    """Score candidates on held-out bags of the training data, best first, and tell of it."""
    candidates = request.config.candidates
    folds = _selection_folds(request)
    heldout = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
    check_training_parts(request.data, candidates[0].regime, heldout, SELECTION)
    n_tasks = len(groups_of(candidates)) * (int(folds.max()) + 1)
    request.emit(SelectionStarted(len(candidates), n_tasks, request.n_members))

    def progress(done: int, total: int) -> None:
        request.emit(SelectionAdvanced(done, total))

    return trials_of(candidates, request.data, folds, request.seed, request.n_jobs, progress, request.pieces)


def _mean_scores(trials: Sequence[Trial], ready: OrderedData) -> NDArray[np.float64]:
    """Average the instance scores of candidates, each in its own units: (n,) or (n, C) in canonical order."""
    return np.asarray(np.mean([one.scores / unit_of(one.scores) for one in trials], axis=0)[ready.order])


def _read_by(
    winners: Sequence[Trial],
    scored: Sequence[Trial],
    headed: HeadedBags | None,
    members: list[Member],
    found: CrossFit,
    ready: OrderedData,
    folds: NDArray[np.intp],
    positions: NDArray[np.intp],
) -> FitResult:
    """Choose thresholds on what was said of held-out bags; `folds` (B,) are in canonical order, as `ready` is."""
    best, data, classes = winners[0].config, ready.data, found.inferred.classes
    reading, wanted = best.regime.reading, best["bag_threshold"]
    scores = _mean_scores(scored, ready)
    scores = scores if headed is None else headed.head.joined(scores, headed.own_instances)
    largest = max(scored, key=lambda one: float(one.config["inherited_share"])).config
    threshold = instance_threshold(largest, scores, data.bags, data.weak, classes)
    scores = scores - threshold
    bag_scores = _joint_bag_scores(winners)[positions] if headed is None else headed.bag_scores
    fixed = None if isinstance(wanted, str) else float(wanted)
    bag_threshold = float(reading.bag_threshold(bag_scores, data.weak)) if fixed is None else fixed
    if reading.from_instances:
        bag_scores = reading.bag_scores(scores, data.bags)
    return FitResult(
        config=best,
        found=found,
        members=members,
        regimes=tuple(one.config.regime for one in winners),
        order=ready.order,
        bag_threshold=bag_threshold,
        instance_threshold=threshold,
        slope=probability_slope(scores, classes),
        out_of_fold=HeldOutBags(reading, scores, bag_scores, data.bags, data.weak, folds).read(fixed),
        chosen=[{**one.config.chosen, "score": one.score} for one in winners],
        headed=headed,
    )


@frozen(eq=False)
class _TrainedOnAll:
    """Final classifiers of candidates, trained on all training bags: one for all that differ in how bags are read.

    Attributes:
        ready: training data by order key.
        inferences: by inference key.
        seed: of final classifiers.
        finals: those that were trained.
    """

    ready: Mapping[str, OrderedData] = field()
    inferences: Mapping[str | None, CrossFit] = field()
    seed: int = field()
    finals: dict[str, FinalClassifier] = field(factory=dict)

    def member(self, trial: Trial) -> Member:
        """Return the final classifier of a candidate."""
        config = trial.config
        ready = self.ready[config.order_key]
        found = self.inferences.get(config.inference_key, next(iter(self.inferences.values())))
        key = repr([config.order_key, config.inference_key, config.final_key])
        if key not in self.finals:
            learner = learner_of(config, ready, found, self.seed)
            self.finals[key] = learner.fit_on(np.arange(ready.data.n_rows))
            warn_of_final(self.finals[key], learner, config)
        regime = config["regime"]
        return Member(ready.scaling, self.finals[key], regime, unit_of(trial.scores), unit_of(trial.bag_scores))


def _selection_folds(request: FitRequest) -> NDArray[np.intp]:
    """Deal bags in canonical order, so that the order of rows in the caller's data changes nothing."""
    config = request.config.candidates[0]
    ready = order_data(request.data, config, scaling="none")
    dealt = selection_folds(config.regime.strata(ready.data.weak), request.seed, ready.data.bags.groups)
    positions = request.data.bags.take(ready.order)[1]
    folds = np.empty(len(dealt), dtype=np.intp)
    folds[positions] = dealt
    return folds


def selection_folds(strata: NDArray[np.intp], seed: int, groups: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Deal bags (B,) of some strata to the folds on which settings are scored; groups (B,) stay whole."""
    n_folds = usable_folds(strata, OUT_OF_FOLD, "rest", groups)
    return deal_folds(strata, n_folds, np.random.default_rng(seed), groups)


def _inferring(winners: Sequence[Trial], trials: Sequence[Trial]) -> list[FitConfig]:
    """Return a configuration for each inference that a winner needs, and the best that infers where none does."""
    needed: dict[str, FitConfig] = {}
    for one in winners:
        if one.config.inference_key is not None:
            needed.setdefault(one.config.inference_key, one.config)
    return list(needed.values()) or [one.config for one in trials if one.config.inference_key is not None][:1]


def _ordered_once(request: FitRequest, configs: Sequence[FitConfig]) -> dict[str, OrderedData]:
    """Order and scale the training data once for each way that a configuration needs."""
    first = {one.order_key: one for one in reversed(configs)}
    return {key: order_data(request.data, one) for key, one in first.items()}


def _inferences(
    needed: Sequence[FitConfig], best: FitConfig, ready: Mapping[str, OrderedData], request: FitRequest
) -> dict[str | None, CrossFit]:
    """Infer the labels of all training rows once for each configuration; where there is none, they are inherited."""
    if not needed:
        data = ready[best.order_key].data
        return {None: inherited_labels(best, data)}
    found: dict[str | None, CrossFit] = {}
    for number, one in enumerate(needed, start=1):
        runner = fold_runner(request.n_jobs)
        if request.pieces is not None:
            runner = request.pieces.folds(runner, f"inference{number}")
        found[one.inference_key] = labels_to_learn(one, ready[one.order_key].data, request.seed, runner, request.emit)
    return found


def _combined(inferences: Sequence[CrossFit], data: Part, constrain: Constrain | None) -> CrossFit:
    """Average the means of every arm over several inferences of the same rows; relabelled ones vote.

    After relabelling the means of arms do not say what labels are, so each inference votes with its confidence.
    """
    if len(inferences) == 1:
        return inferences[0]
    means = np.stack([one.inferred.means for one in inferences])
    pulls = np.sum([one.inferred.pulls for one in inferences], axis=0)
    times = (~np.isnan(means)).sum(axis=0)
    average = np.nansum(means, axis=0) / np.maximum(times, 1)
    first = inferences[0]
    deciding = average
    if any(one.n_relabel_rounds for one in inferences):
        votes = [np.eye(data.space.n_labels)[one.inferred.labels] for one in inferences]
        weights = [one.inferred.confidence[:, None] for one in inferences]
        deciding = np.mean([vote * weight for vote, weight in zip(votes, weights, strict=True)], axis=0)
    inferred = conclude(deciding, pulls, data, constrain, 0, np.random.default_rng(0))
    return evolve(
        first,
        inferred=evolve(inferred, means=np.where(pulls > 0, average, np.nan)),
        folds=tuple(fold for one in inferences for fold in one.folds),
        n_pulls=sum(one.n_pulls for one in inferences),
        seconds={what: sum(one.seconds[what] for one in inferences) for what in first.seconds},
    )


def _joint_bag_scores(winners: Sequence[Trial]) -> NDArray[np.float64]:
    """Average the out-of-fold bag scores (B, ...) of candidates, each in its own units, in the caller's order."""
    return np.asarray(np.mean([one.bag_scores / unit_of(one.bag_scores) for one in winners], axis=0))
