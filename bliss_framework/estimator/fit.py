"""The fit: labels, final classifier and thresholds, for one configuration."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import Spread
from bliss_framework.errors import BlissWarning, SettingsError
from bliss_framework.estimator.bag_head import HeadedBags, View, fitted_head, head_in_use, warn_of_head
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.final import (
    FinalClassifier,
    FinalLearner,
    naming_final,
    targets_of,
    warn_of_final,
)
from bliss_framework.estimator.instance_threshold import fixed_threshold, instance_threshold
from bliss_framework.estimator.label_inference import (
    OrderedData,
    labels_to_learn,
    naming_components,
    order_data,
    relabelled,
    warn_of_folds,
)
from bliss_framework.estimator.out_of_fold import HeldOutBags, OutOfFold
from bliss_framework.estimator.probabilities import probability_slope
from bliss_framework.estimator.selection import Pieces
from bliss_framework.estimator.self_training import self_trained
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.crossfit import CrossFit, RunTasks, cross_fit
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.guards import attributing_errors
from bliss_framework.kernel.pull import Part

# Is told what was inferred, and (n,) the caller's row of each of its rows.
Keep = Callable[[CrossFit, NDArray[np.intp]], None]
Scores = Callable[[], NDArray[np.float64]]
OUT_OF_FOLD = 5


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
        headed: what reads bags from their rows, too; None where bags are read from scores alone.
        inherited_share: how much was learnt of what instances inherit, where the regime chose it; else None.
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
    headed: HeadedBags | None = field(default=None)
    inherited_share: float | None = field(default=None)

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
            **({} if self.inherited_share is None else {"inherited_share": self.inherited_share}),
            **({"n_relabel_rounds": found.n_relabel_rounds} if found.n_relabel_rounds else {}),
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
    if not config.has_bandit:
        found = labels_to_learn(config, data, request.seed, request.run_tasks, request.emit)
    else:
        # Written out, so that the way from the console to Algorithm 1 is short.
        strata = config.regime.strata(data.weak)
        with naming_components(config):
            found = cross_fit(
                config.components, data, strata, config.inference, request.seed, request.run_tasks, request.emit
            )
            found = relabelled(found, config, data, request.seed, request.emit)
        warn_of_folds(found)
    request.keep(found, ready.order)
    trainer = _Trainer(ready, found, request.seed, Spread(request.n_jobs))
    with naming_final(config):
        trained = trainer.train(config)
        if config.chooses_share:
            trained = trainer.with_chosen_share(trained)
        warn_of_final(trained.final, trained.learner, config)
        member = Member(ready.scaling, trained.final, config["regime"])
        headed = _headed(trained, member, request)
        calibrated = _calibrated(trained, found.inferred.classes, headed)
    share = trained.config.learnt_share if config.chooses_share else None
    return FitResult(
        config, found, [member], (config.regime,), ready.order, *calibrated, headed=headed, inherited_share=share
    )


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


def learner_of(config: FitConfig, ready: OrderedData, found: CrossFit, seed: int) -> FinalLearner:
    inherited = config.regime.inherited(ready.data.weak, ready.data.bags)
    targets = targets_of(config, found.inferred, ready.data, inherited)
    return FinalLearner(config.final.estimator(seed), ready.data, targets)


@frozen(eq=False)
class _Trained:
    """A final classifier, what it learnt, and the scores of rows by such that did not learn from their bags.

    Attributes:
        config: with the inherited share in use.
        learner: what was learnt of each row.
        final: trained on all rows.
        waiting: waits for out-of-fold scores, (n,) or (n, C); None where bags are too few.
    """

    config: FitConfig = field()
    learner: FinalLearner = field()
    final: FinalClassifier = field()
    waiting: Scores | None = field()


@frozen(eq=False)
class _Trainer:
    """Trains final classifiers on the labels that were found."""

    ready: OrderedData = field()
    found: CrossFit = field()
    seed: int = field()
    spread: Spread = field()

    def train(self, config: FitConfig) -> _Trained:
        """Train on all rows, and begin with the scores out of fold."""
        learner = learner_of(config, self.ready, self.found, self.seed)
        if learner.data.bags.n_bags < OUT_OF_FOLD:
            return _Trained(config, learner, learner.fit_on(np.arange(learner.data.n_rows)), None)
        folds = _out_of_fold_folds(config, learner.data)
        if config["self_training"]:
            learner = self_trained(learner, config, folds, self.found.inferred.classes, self.spread)
        final, waiting = learner.with_out_of_fold(folds, self.spread)
        return _Trained(config, learner, final, cache(waiting))

    def with_chosen_share(self, trained: _Trained) -> _Trained:
        """Let the regime choose how much is learnt of what instances inherit, and train anew where that is another."""
        if trained.waiting is None:
            return trained
        scores, data, learnt = trained.waiting(), trained.learner.data, trained.config.learnt_share
        with attributing_errors("regime", "inherited_share of the reading"):
            share = float(trained.config.regime.reading.inherited_share(scores, data.bags, data.weak, learnt))
            if not 0 <= share <= 1:
                raise ValueError(f"it must return a number from 0 to 1, and returned {share}")
        chosen = trained.config.with_share(share)
        return evolve(trained, config=chosen) if share == learnt else self.train(chosen)


def _headed(trained: _Trained, member: Member, request: FitRequest) -> HeadedBags | None:
    """Fit the bag head, if the regime has one that can learn from these bags, on out-of-fold scores."""
    data, config = trained.learner.data, trained.config
    if config.regime.head is None:
        return None
    if trained.waiting is None:
        warn_of_head(f"there are fewer than {OUT_OF_FOLD} bags")
        return None
    folds = _out_of_fold_folds(config, data)
    head = head_in_use(config.regime, data.bags, data.weak, folds)
    if head is None:
        return None
    scores = trained.waiting()
    seen = order_data(request.data, config, scaling="none").data
    return fitted_head(head, [View([member], scores)], config.regime.reading.bag_scores(scores, data.bags), seen, folds)


def _calibrated(
    trained: _Trained, classes: NDArray[np.intp], headed: HeadedBags | None
) -> tuple[float, float, float, OutOfFold | None]:
    """Choose the bag threshold, the instance threshold and the slope of probability on out-of-fold scores."""
    config, data, reading = trained.config, trained.learner.data, trained.config.regime.reading
    wanted = config["bag_threshold"]
    threshold = 0.0 if isinstance(wanted, str) else float(wanted)
    if trained.waiting is None:
        fixed = fixed_threshold(config["instance_threshold"], config.learnt_share)
        return threshold, fixed or 0.0, 1.0, None
    scores = trained.waiting()
    if headed is None:
        bag_scores = reading.bag_scores(scores, data.bags)
    else:
        bag_scores, scores = headed.bag_scores, headed.head.joined(scores, headed.own_instances)
    # Rows that are bags of their own are ordinary classification: a bag is what its instance is.
    chosen = isinstance(wanted, str) and data.bags.n_bags < data.bags.n_rows
    if chosen:
        threshold = float(reading.bag_threshold(bag_scores, data.weak))
    cut = instance_threshold(config, scores, data.bags, data.weak, classes)
    own = scores - cut
    if reading.from_instances:
        bag_scores = reading.bag_scores(own, data.bags)
    heldout = HeldOutBags(reading, own, bag_scores, data.bags, data.weak, _out_of_fold_folds(config, data))
    return threshold, cut, probability_slope(own, classes), heldout.read(None if chosen else threshold)


def _out_of_fold_folds(config: FitConfig, data: Part) -> NDArray[np.intp]:
    return deal_folds(config.regime.strata(data.weak), OUT_OF_FOLD, np.random.default_rng(0), data.bags.groups)


def _check_self_training(config: FitConfig, data: Part) -> None:
    if config["self_training"] and data.bags.n_bags < OUT_OF_FOLD:
        raise SettingsError(
            f"self_training needs out-of-fold scores, which take {OUT_OF_FOLD} bags; there are {data.bags.n_bags}. Use "
            "more bags, or self_training=0."
        )
