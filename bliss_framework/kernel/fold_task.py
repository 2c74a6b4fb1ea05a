"""One fold: classifier and reward are prepared, Algorithm 1 runs, and what it inferred is judged."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import PluginError
from bliss_framework.kernel.events import Emit, FoldFinished, FoldStarted, RoundFinished, silent
from bliss_framework.kernel.guards import attributing_errors, checked_predictions, checked_rewards
from bliss_framework.kernel.inference import (
    ArmResult,
    Bounder,
    Constrain,
    FoldProblem,
    InferenceSettings,
    Puller,
    Rewarder,
    run_algorithm_1,
)
from bliss_framework.kernel.pull import Fold, Outcome, Part, balance_weights, outcome_of
from bliss_framework.kernel.result import conclude
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows

CURVE_POINTS = 20


class FoldClassifier(Protocol):
    """A classifier that can be prepared for a fold."""

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> Puller:
        """Do once all that does not depend on labels."""

    def in_sums(self, rows: Rows | RowView, weights: NDArray[np.float64] | None, rng: np.random.Generator) -> Any:
        """Return the classifier as least squares on features, or None."""


class FoldReward(Protocol):
    """A reward that can be prepared for a fold."""

    def prepare(self, fold: Fold, classifier: Any) -> Rewarder:
        """Do once all that does not depend on labels."""

    def in_blocks(self) -> Any:
        """Return the reward in a form that needs only sums of other bags, or None."""


class FoldReading(Protocol):
    """The part of a bag reading that label inference needs."""

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score how well a classifier's held-out predictions meet the weak labels."""


class FoldRegime(Protocol):
    """The part of a regime that label inference needs."""

    @property
    def reading(self) -> FoldReading:
        """How bags are read from their instances."""

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Return chances (n, L) of the first draws, or None for the default."""

    def constraint(self) -> Constrain | None:
        """Return a function from bounds to an assignment, or None for the plain argmax."""


@frozen(eq=False)
class Components:
    """The four things that a label inference is made of."""

    classifier: FoldClassifier = field()
    reward: FoldReward = field()
    strategy: Bounder = field()
    regime: FoldRegime = field()


@frozen(eq=False)
class FoldTask:
    """One fold of one pass: all that a worker needs, and nothing that depends on other folds.

    Attributes:
        components: classifier, reward, strategy, regime.
        data: the whole data set; in later passes confident labels outside the fold are already fixed.
        rows: rows of the fold whose arms are pulled.
        extra: rows outside the fold that join its training data.
        heldout: rows of the held-out set.
        settings: of the inference.
        seed: starts this task's own generators.
        pass_number: 1, 2, ...
        fold: 0 .. n_folds - 1.
        n_folds: folds in this pass.
    """

    components: Components = field()
    data: Part = field()
    rows: NDArray[np.intp] = field()
    extra: NDArray[np.intp] = field()
    heldout: NDArray[np.intp] = field()
    settings: InferenceSettings = field()
    seed: np.random.SeedSequence = field()
    pass_number: int = field()
    fold: int = field()
    n_folds: int = field()


@frozen(eq=False)
class FoldResult:
    """What one fold found out.

    Attributes:
        rows: the rows whose labels were inferred.
        arms: their statistics.
        mean_reward: of the inferred labels, pulled once more.
        weak_score: of the classifier trained on them.
        one_class: whether all free instances of the fold ended in one class.
        uninformative: the reward's diagnostic if all pulls that were diagnosed had one, else None.
        curve: the mean reward of the free instances in up to CURVE_POINTS consecutive parts of the rounds; empty where
            it was not followed.
    """

    rows: NDArray[np.intp] = field()
    arms: ArmResult = field()
    mean_reward: float = field()
    weak_score: dict[str, float] = field()
    one_class: bool = field()
    uninformative: str | None = field()
    curve: tuple[float, ...] = field(default=())


def run_fold(task: FoldTask, emit: Emit = silent) -> FoldResult:
    """Prepare the classifier and the reward for one fold, and run Algorithm 1 on it."""
    try:
        return _run_fold(task, emit)
    except PluginError as error:
        error.add_note(f"(fold {task.fold + 1} of {task.n_folds}, pass {task.pass_number})")
        raise


def _run_fold(task: FoldTask, emit: Emit) -> FoldResult:
    # A seed counts its children, so a task that is run again needs a fresh copy of it.
    seed = np.random.SeedSequence(task.seed.entropy, spawn_key=task.seed.spawn_key)
    prepare_seed, *seeds = seed.spawn(1 + task.settings.n_inferences)
    problem = _problem(task, np.random.default_rng(prepare_seed))
    n_rounds = task.settings.n_rounds
    emit(FoldStarted(task.pass_number, task.fold, task.n_folds, n_rounds))
    rewards: list[float] = []

    def follow(t: int, reward: float) -> None:
        rewards.append(reward)
        emit(RoundFinished(task.pass_number, task.fold, t, n_rounds, reward))

    arms = run_algorithm_1(problem, task.settings, [np.random.default_rng(seed) for seed in seeds], follow)
    result = evolve(_judge(task, problem, arms), curve=curve_of(rewards))
    emit(FoldFinished(task.pass_number, task.fold, result.mean_reward))
    return result


def curve_of(rewards: Sequence[float]) -> tuple[float, ...]:
    """Average the rewards of rounds in up to CURVE_POINTS consecutive parts of nearly the same length.

    >>> curve_of([0.0, 0.5])
    (0.0, 0.5)
    """
    parts = np.array_split(np.asarray(rewards, dtype=np.float64), min(CURVE_POINTS, max(len(rewards), 1)))
    return tuple(float(part.mean()) for part in parts if len(part))


def _problem(task: FoldTask, rng: np.random.Generator) -> FoldProblem:
    components = task.components
    # Extra rows come last, so that the first rows are those whose labels are wanted.
    train = task.data.take(np.concatenate([task.rows, task.extra]))
    heldout = task.data.take(task.heldout)
    fold = Fold(train, heldout, min(task.settings.n_neighbors, heldout.n_rows), components.regime)
    with attributing_errors("classifier", "classifier"):
        puller = components.classifier.prepare(train, heldout, rng)
    with attributing_errors("reward", "reward"):
        reward = components.reward.prepare(fold, puller)
    with attributing_errors("regime", "regime"):
        prior, constrain = prior_of(train, components.regime), components.regime.constraint()
    return FoldProblem(fold, puller, reward, components.strategy, prior, constrain)


def prior_of(part: Part, regime: FoldRegime) -> NDArray[np.float64]:
    """Return the chances (n, L) of the first draws: the regime's, or the default where it has none for an instance."""
    given, default = regime.draw_prior(part), part.space.draw_weights()
    if given is None:
        return default
    possible = np.where(part.space.candidates, given, 0.0)
    return np.where(possible.sum(axis=1, keepdims=True) > 0, possible, default)


def _judge(task: FoldTask, problem: FoldProblem, arms: ArmResult) -> FoldResult:
    """Pull the inferred labels once more, to say how good they are."""
    fold = problem.fold
    inferred = conclude(
        arms.means, arms.pulls, fold.train, problem.constrain, task.settings.n_rounds, np.random.default_rng(0)
    )
    assignment = inferred.labels
    weights = balance_weights(assignment[None], fold.train.space, task.settings.class_balance, fold.train.weights)
    n_rounds = task.settings.n_rounds
    predictions = checked_predictions(problem.puller, assignment[None], weights, fold.heldout.n_rows, n_rounds)
    outcome = outcome_of(fold, assignment, predictions, 0)
    free = fold.train.space.free
    with attributing_errors("reward", "reward", n_rounds):
        returned = problem.reward(outcome)
    rewards = checked_rewards(returned, fold.train.n_rows, n_rounds)
    said = arms.diagnostics
    uninformative = said[-1] if said and all(said) else None
    one_class = len(np.unique(inferred.classes[free])) == 1 and free.sum() > 1
    own = np.arange(len(task.rows))
    kept = evolve(arms, means=arms.means[own], pulls=arms.pulls[own])
    with attributing_errors("regime", "regime"):
        score = dict(task.components.regime.reading.weak_score(outcome))
    return FoldResult(task.rows, kept, float(rewards[free].mean()), score, bool(one_class), uninformative)
