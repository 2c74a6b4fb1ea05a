"""The fit: labels, final classifiers and thresholds, for one configuration or for the best of several."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import Spread, fold_runner
from bliss_framework.errors import BlissWarning, SettingsError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.events import SelectionAdvanced, SelectionStarted
from bliss_framework.estimator.final import FinalClassifier, FinalLearner, probability_slope, targets_of, warn_of_final
from bliss_framework.estimator.instance_threshold import fixed_threshold, instance_threshold
from bliss_framework.estimator.label_inference import (
    OrderedData,
    infer,
    inherited_labels,
    naming_components,
    order_data,
    warn_of_folds,
)
from bliss_framework.estimator.out_of_fold import HeldOutBags, OutOfFold
from bliss_framework.estimator.selection import Pieces, Trial, groups_of, trials_of, unit_of
from bliss_framework.estimator.self_training import self_trained
from bliss_framework.estimator.training_parts import check_training_parts
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.crossfit import CrossFit, RunTasks, cross_fit
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.folds import deal_folds, usable_folds
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import conclude

# Is told what was inferred, and (n,) the caller's row of each of its rows.
Keep = Callable[[CrossFit, NDArray[np.intp]], None]
Scores = Callable[[], NDArray[np.float64]]
OUT_OF_FOLD = 5
SELECTION = 'settings = "select", which scores settings on held-out bags'


@frozen(eq=False)
class FitRequest:
    """What is to be fitted, and how the work runs.

    Attributes:
        config: everything that decides the fit but data and seed.
        data: checked rows, bags and weak labels.
        seed: of all draws.
        emit: is told of folds, rounds and selection.
        run_tasks: runs the fold tasks of a pass.
        n_jobs: processes.
        n_members: how many of the best candidates are averaged.
        keep: is told of the inferred labels before a final classifier is trained, so that none that fails costs them.
        pieces: where finished parts of a choice of settings are kept, or None.
    """

    config: FitConfig = field()
    data: CheckedData = field()
    seed: int = field()
    emit: Emit = field()
    run_tasks: RunTasks = field()
    n_jobs: int | None = field()
    n_members: int = field()
    keep: Keep = field()
    pieces: Pieces | None = field(default=None)


@frozen(eq=False)
class FitResult:
    """What a fit leaves behind, in canonical order.

    Attributes:
        config: of the final classifier, or of the best one.
        found: the inferred labels.
        members: final classifiers.
        regimes: of each member.
        order: (n,) the caller's row of each row.
        bag_threshold: bags that score above it are positive.
        instance_threshold: instances that score above it are of class 1, where there are two classes.
        slope: of the logistic curve from scores to probabilities.
        out_of_fold: what is said of bags that were not trained on; None where there are too few of them.
        chosen: the settings of each member that were chosen, with their selection score.
    """

    config: FitConfig = field()
    found: CrossFit = field()
    members: list[Member] = field()
    regimes: tuple[Regime, ...] = field()
    order: NDArray[np.intp] = field()
    bag_threshold: float = field()
    instance_threshold: float = field()
    slope: float = field()
    out_of_fold: OutOfFold | None = field()
    chosen: list[dict[str, Any]] = field(factory=list)

    def inference(self, classes: NDArray[Any]) -> dict[str, Any]:
        """Say what was inferred, as `result.json` does under "inference"; `classes` (C,) are the user's values."""
        found, inferred = self.found, self.found.inferred
        return {
            "mean_reward": found.mean_reward,
            "n_undecided": int(inferred.undecided.sum()),
            "collapsed": found.collapsed,
            "weak_score": found.weak_score,
            "n_pulls": found.n_pulls,
            "n_folds": found.n_folds,
            "label_counts": {
                str(value): int((inferred.classes == c).sum()) for c, value in enumerate(classes.tolist())
            },
            "reward_curves": [list(fold.curve) for fold in found.folds if fold.curve],
            "seconds": found.seconds,
            **({"chosen": self.chosen} if self.chosen else {}),
        }


def fit(request: FitRequest) -> FitResult:
    """Infer labels and train the final classifier with one configuration.

    Raises:
        PluginError: a component broke its contract.
        SettingsError: self-training is asked of too few bags.
    """
    config = request.config
    ready = order_data(request.data, config)
    data = ready.data
    _check_self_training(config, data)
    if config["inherited_share"] == 1:
        found = inherited_labels(config.regime.inherited(data.weak, data.bags), data.space)
    else:
        # Written out, so that the way from the console to Algorithm 1 is short.
        strata = config.regime.strata(data.weak)
        with naming_components(config):
            found = cross_fit(
                config.components, data, strata, config.inference, request.seed, request.run_tasks, request.emit
            )
        warn_of_folds(found)
    request.keep(found, ready.order)
    learner, spread = _learner(config, ready, found, request.seed), Spread(request.n_jobs)
    if config["self_training"]:
        learner = self_trained(learner, config, _out_of_fold_folds(config, data), found.inferred.classes, spread)
    final, scores = _final_and_scores(learner, config, spread)
    warn_of_final(final, learner, config)
    member, calibrated = Member(ready.scaling, final, config["regime"]), _calibrated(learner, config, found, scores)
    return FitResult(config, found, [member], (config.regime,), ready.order, *calibrated)


def fit_best(request: FitRequest) -> FitResult:
    """Choose settings on held-out bags of the training data, and average the best of them."""
    trials = ranked_trials(request)
    winners = trials[: request.n_members]
    needed = _inferring(winners, trials)
    ready = _ordered_once(request, [one.config for one in winners] + needed)
    inferences = _inferences(needed, winners[0].config, ready, request)
    any_ready = next(iter(ready.values()))
    regime, data = winners[0].config.regime, any_ready.data
    found = _combined(list(inferences.values()), data, regime.constraint())
    request.keep(found, any_ready.order)
    members = [_member(one, ready[one.config.order_key], inferences, request.seed) for one in winners]
    scores = np.mean([one.scores / unit_of(one.scores) for one in winners], axis=0)[any_ready.order]
    largest = max(winners, key=lambda one: float(one.config["inherited_share"])).config
    classes = found.inferred.classes
    threshold = instance_threshold(largest, scores, data.bags, data.weak, classes)
    slope = probability_slope(scores - threshold, classes)
    chosen = [{**one.config.chosen, "score": one.score} for one in winners]
    bag_threshold = _joint_threshold(winners, request.data)
    heldout = _heldout_of_trials(winners, request, any_ready, scores - threshold)
    wanted = winners[0].config["bag_threshold"]
    read = heldout.read(None if isinstance(wanted, str) else float(wanted))
    regimes, best = tuple(one.config.regime for one in winners), winners[0].config
    return FitResult(best, found, members, regimes, any_ready.order, bag_threshold, threshold, slope, read, chosen)


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


def warn_of_collapse(found: CrossFit, classes: NDArray[Any]) -> None:
    """Warn where all free instances got one label, or no pull could tell labels apart."""
    diagnostics = [fold.uninformative for fold in found.folds]
    never = diagnostics[0] if diagnostics and all(diagnostics) else None
    if found.collapsed:
        free = ~found.inferred.known
        ended = sorted({str(classes[c]) for c in np.unique(found.inferred.classes[free])})
        warnings.warn(
            f"Label inference collapsed: all free instances of every fold got one label ({' or '.join(ended)}). Try "
            f'train_on="rest", class_balance=0.5, other n_folds, or more bags.{f" Also, {never}" if never else ""}',
            BlissWarning,
            stacklevel=5,
        )
    elif never:
        warnings.warn(f"No pull could tell labels apart: {never}", BlissWarning, stacklevel=5)


def _learner(config: FitConfig, ready: OrderedData, found: CrossFit, seed: int) -> FinalLearner:
    inherited = config.regime.inherited(ready.data.weak, ready.data.bags)
    targets = targets_of(config, found.inferred, ready.data, inherited)
    return FinalLearner(config.final.estimator(seed), ready.data, targets)


def _final_and_scores(
    learner: FinalLearner, config: FitConfig, spread: Spread
) -> tuple[FinalClassifier, Scores | None]:
    """Train the final classifier, and return what waits for out-of-fold scores; None where bags are too few."""
    if learner.data.bags.n_bags < OUT_OF_FOLD:
        return learner.fit_on(np.arange(learner.data.n_rows)), None
    return learner.with_out_of_fold(_out_of_fold_folds(config, learner.data), spread)


def _calibrated(
    learner: FinalLearner, config: FitConfig, found: CrossFit, waiting: Scores | None
) -> tuple[float, float, float, OutOfFold | None]:
    """Choose the bag threshold, the instance threshold and the slope of probability on out-of-fold scores."""
    wanted, data, reading = config["bag_threshold"], learner.data, config.regime.reading
    threshold = 0.0 if isinstance(wanted, str) else float(wanted)
    if waiting is None:
        fixed = fixed_threshold(config["instance_threshold"], config["inherited_share"])
        return threshold, fixed or 0.0, 1.0, None
    scores = waiting()
    bag_scores = reading.bag_scores(scores, data.bags)
    # Rows that are bags of their own are ordinary classification: a bag is what its instance is.
    chosen = isinstance(wanted, str) and data.bags.n_bags < data.bags.n_rows
    if chosen:
        threshold = float(reading.bag_threshold(bag_scores, data.weak))
    classes = found.inferred.classes
    cut = instance_threshold(config, scores, data.bags, data.weak, classes)
    own = scores - cut
    if reading.from_instances:
        bag_scores = reading.bag_scores(own, data.bags)
    heldout = HeldOutBags(reading, own, bag_scores, data.bags, data.weak, _out_of_fold_folds(config, data))
    return threshold, cut, probability_slope(own, classes), heldout.read(None if chosen else threshold)


def _heldout_of_trials(
    winners: Sequence[Trial], request: FitRequest, ready: OrderedData, scores: NDArray[np.float64]
) -> HeldOutBags:
    """Put what the best candidates said of held-out bags together; `scores` (n,) or (n, C) are in canonical order."""
    data, reading = ready.data, winners[0].config.regime.reading
    positions = request.data.bags.take(ready.order)[1]
    bag_scores = _joint_bag_scores(winners)[positions]
    if reading.from_instances:
        bag_scores = reading.bag_scores(scores, data.bags)
    return HeldOutBags(reading, scores, bag_scores, data.bags, data.weak, _selection_folds(request)[positions])


def _out_of_fold_folds(config: FitConfig, data: Part) -> NDArray[np.intp]:
    return deal_folds(config.regime.strata(data.weak), OUT_OF_FOLD, np.random.default_rng(0), data.bags.groups)


def _check_self_training(config: FitConfig, data: Part) -> None:
    if config["self_training"] and data.bags.n_bags < OUT_OF_FOLD:
        raise SettingsError(
            f"self_training needs out-of-fold scores, which take {OUT_OF_FOLD} bags; there are {data.bags.n_bags}. Use "
            "more bags, or self_training=0."
        )


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
        return {None: inherited_labels(best.regime.inherited(data.weak, data.bags), data.space)}
    found: dict[str | None, CrossFit] = {}
    for number, one in enumerate(needed, start=1):
        runner = fold_runner(request.n_jobs)
        if request.pieces is not None:
            runner = request.pieces.folds(runner, f"inference{number}")
        found[one.inference_key] = infer(one, ready[one.order_key].data, request.seed, runner, request.emit)
    return found


def _member(trial: Trial, ready: OrderedData, inferences: Mapping[str | None, CrossFit], seed: int) -> Member:
    config = trial.config
    found = inferences.get(config.inference_key, next(iter(inferences.values())))
    learner = _learner(config, ready, found, seed)
    final = learner.fit_on(np.arange(ready.data.n_rows))
    warn_of_final(final, learner, config)
    return Member(ready.scaling, final, config["regime"], unit_of(trial.scores), unit_of(trial.bag_scores))


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
        inferred=conclude(average, pulls, data, constrain, 0, np.random.default_rng(0)),
        folds=tuple(fold for one in inferences for fold in one.folds),
        n_pulls=sum(one.n_pulls for one in inferences),
        seconds={what: sum(one.seconds[what] for one in inferences) for what in first.seconds},
    )


def _joint_threshold(winners: Sequence[Trial], data: CheckedData) -> float:
    wanted = winners[0].config["bag_threshold"]
    if not isinstance(wanted, str):
        return float(wanted)
    return float(winners[0].config.regime.reading.bag_threshold(_joint_bag_scores(winners), data.labels))


def _joint_bag_scores(winners: Sequence[Trial]) -> NDArray[np.float64]:
    """Average the out-of-fold bag scores (B, ...) of candidates, each in its own units, in the caller's order."""
    return np.asarray(np.mean([one.bag_scores / unit_of(one.bag_scores) for one in winners], axis=0))
