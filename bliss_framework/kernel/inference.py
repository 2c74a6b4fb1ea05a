"""Algorithm 1 of the paper: bandit label inference on one fold.

The walk through the algorithm is `run_algorithm_1`: the initial sweep, the rounds, the result. Several inferences of
one fold run side by side, so that a classifier which can train on many assignments at once is asked only once a round.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.arms import ArmStatistics, best_label, draw_labels, draw_unpulled
from bliss_framework.kernel.guards import (
    attributing_errors,
    checked_assignment,
    checked_bounds,
    checked_predictions,
    checked_rewards,
)
from bliss_framework.kernel.pull import Fold, Outcome, Part, Predictions, balance_weights, outcome_of

NEVER_PULLED = 1e6
N_DIAGNOSED_ROUNDS = 10  # A diagnostic costs another look at the outcome, so only some rounds are diagnosed.
Constrain = Callable[[NDArray[np.float64], Part], NDArray[np.intp]]


@frozen
class InferenceSettings:
    """How labels are inferred, whatever the regime; defaults and checks are those of the learner's parameters.

    Attributes:
        n_rounds: N of Algorithm 1, rounds after the initial sweep.
        n_folds: K, folds of whole bags.
        train_on: "one" trains on each fold in turn and holds out the others (the paper); "rest" holds out each fold in
            turn, and averages the K - 1 inferences of a bag.
        n_inferences: inferences of each fold with other random draws, whose means are averaged.
        n_passes: passes of the bootstrapping procedure; 1 means none.
        pass_share: the share of instances outside the fold, most confident first, that join a later pass.
        n_parallel: P, assignments that are chosen before any of them is pulled.
        n_neighbors: k of the neighbourhood N(x).
        n_first_draws: None for the paper's initial sweep; or that many draws from the regime's prior, after which
            arms that were never pulled come first.
        class_balance: b, instances are weighted by (n / count of their class)^b in every pull; 0 means no weights.
    """

    n_rounds: int = field()
    n_folds: int = field()
    train_on: str = field()
    n_inferences: int = field()
    n_passes: int = field()
    pass_share: float = field()
    n_parallel: int = field()
    n_neighbors: int = field()
    n_first_draws: int | None = field()
    class_balance: float = field()


class Puller(Protocol):
    """A classifier that is prepared for one fold."""

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Train on P assignments (P, n) and predict the training part and the held-out set."""


class Rewarder(Protocol):
    """A reward that is prepared for one fold."""

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return one reward in [0, 1] for each training instance."""

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say why this outcome cannot tell labels apart, or nothing."""


class Bounder(Protocol):
    """A bandit strategy."""

    def bounds(self, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an upper bound (n, L) of the mean reward of each arm."""


@frozen(eq=False)
class FoldProblem:
    """One fold with everything that Algorithm 1 needs to pull on it.

    Attributes:
        fold: training part and held-out set.
        puller: the classifier, prepared for this fold.
        reward: the reward, prepared for this fold.
        strategy: gives the bounds.
        prior: (n, L) chances of the first draws, 0 where a label is no candidate.
        constrain: turns bounds (n, L) into an assignment (n,), or None for the argmax of each instance.
    """

    fold: Fold = field()
    puller: Puller = field()
    reward: Rewarder = field()
    strategy: Bounder = field()
    prior: NDArray[np.float64] = field()
    constrain: Constrain | None = field(default=None)


@frozen(eq=False)
class ArmResult:
    """What Algorithm 1 found out about the arms of one fold, averaged over its inferences.

    Attributes:
        means: (n, L) empirical means, averaged over the inferences that pulled the arm; 0 where none did.
        pulls: (n, L) pulls, added up over the inferences.
        n_pulls: label assignments that were tried.
        diagnostics: what the reward said of the pulls that were diagnosed, None where they tell labels apart.
        seconds: time spent in the "classifier", the "reward" and the "strategy".
    """

    means: NDArray[np.float64] = field()
    pulls: NDArray[np.float64] = field()
    n_pulls: int = field()
    diagnostics: tuple[str | None, ...] = field()
    seconds: dict[str, float] = field()


def run_algorithm_1(
    problem: FoldProblem,
    settings: InferenceSettings,
    rngs: Sequence[np.random.Generator],
    on_round: Callable[[int, float], None] = lambda round, mean_reward: None,
) -> ArmResult:
    """Run Algorithm 1 on one fold, once for each generator, side by side.

    Args:
        problem: the fold, the prepared classifier and reward, the strategy.
        settings: rounds N, parallel pulls P, first draws, class balance.
        rngs: one generator for each inference; their results are averaged.
        on_round: called after each batch of pulls with the last round in it and the mean reward.
    """
    table = _PullingTable(problem, settings)
    train = problem.fold.train
    inferences = [Inference(train, problem.prior, problem.strategy, problem.constrain, rng) for rng in rngs]
    n_draws = 0
    while any(inference.needs_draw(n_draws, settings.n_first_draws) for inference in inferences):
        forced = settings.n_first_draws is None
        table.pull([Choice(inference, 0, inference.draw(forced)) for inference in inferences])
        n_draws += 1
    for t in range(1, settings.n_rounds + 1, settings.n_parallel):
        batch = range(t, min(t + settings.n_parallel, settings.n_rounds + 1))
        start = perf_counter()
        chosen = [choice for inference in inferences for choice in inference.choose(batch)]
        table.count_time("strategy", start)
        on_round(batch[-1], table.pull(chosen))
    return table.result(inferences)


class Inference:
    """One inference of one fold: its arms, its generator, and the assignments that it chooses.

    Args:
        train: the training part, or what of it is in a block.
        prior: (n, L) chances of the first draws.
        strategy: gives the bounds.
        constrain: turns bounds (n, L) into an assignment (n,), or None for the argmax of each instance.
        rng: of all that is drawn.
    """

    def __init__(
        self,
        train: Part,
        prior: NDArray[np.float64],
        strategy: Bounder,
        constrain: Constrain | None,
        rng: np.random.Generator,
    ) -> None:
        self.train, self.strategy, self.constrain, self.rng = train, strategy, constrain, rng
        self.space = train.space
        self.free = np.flatnonzero(self.space.free)
        self.arms = ArmStatistics.empty(self.space.candidates[self.free])
        self.closed = None if self.arms.candidates.all() else ~self.arms.candidates
        self.weights = prior[self.free]

    def needs_draw(self, n_draws: int, n_first_draws: int | None) -> bool:
        """Say whether another draw comes before the rounds."""
        if n_first_draws is not None:
            return n_draws < n_first_draws
        return bool(self.arms.unpulled.any())

    def draw(self, forced: bool) -> NDArray[np.intp]:
        """Draw an assignment (n,): of the initial sweep, which pulls an arm never pulled, if it is forced."""
        if forced:
            return self._whole(draw_unpulled(self.arms, self.weights, self.rng))
        return self._whole(draw_labels(self.weights, self.rng))

    def choose(self, rounds: range) -> "list[Choice]":
        """Choose one assignment for each round of a batch before any of them is pulled."""
        arms = self.arms if len(rounds) == 1 else self.arms.copy()
        chosen = []
        for t in rounds:
            assignment = self._best(arms, t)
            chosen.append(Choice(self, t, assignment))
            if len(rounds) > 1:
                arms.add_assumed(assignment[self.free])
        return chosen

    def add(self, assignment: NDArray[np.intp], rewards: NDArray[np.float64]) -> None:
        """Count the rewards (n,) of an assignment (n,)."""
        self.arms.add(assignment[self.free], rewards[self.free])

    def _best(self, arms: ArmStatistics, t: int) -> NDArray[np.intp]:
        bounds = checked_bounds(self.strategy, arms, t, self.rng)
        if self.closed is not None:
            bounds[self.closed] = -np.inf
        bounds[arms.unpulled] = np.inf
        if self.constrain is None:
            return self._whole(best_label(bounds, self.rng))
        # Constraints hold for whole bags, so they see the known instances too. They compare differences of bounds, so
        # an arm that was never pulled gets a large finite one, and a random part decides among those.
        everywhere = np.where(self.space.candidates, 0.0, -np.inf)
        everywhere[self.free] = np.where(np.isposinf(bounds), NEVER_PULLED + self.rng.random(bounds.shape), bounds)
        return checked_assignment(self.constrain, everywhere, self.train, t)

    def _whole(self, of_free: NDArray[np.intp]) -> NDArray[np.intp]:
        assignment = self.space.known.copy()
        assignment[self.free] = of_free
        return assignment


@frozen(eq=False)
class Choice:
    """An assignment that an inference chose for a round; round 0 is the initial sweep."""

    inference: Inference = field()
    round: int = field()
    assignment: NDArray[np.intp] = field()


def averaged_arms(inferences: Sequence[Inference]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the means of every arm over the inferences that pulled it, and add up the pulls: (n, L) each."""
    space, free = inferences[0].space, inferences[0].free
    means, pulls = np.zeros(space.candidates.shape), np.zeros(space.candidates.shape)
    pulled_by = np.sum([inference.arms.pulls > 0 for inference in inferences], axis=0)
    means[free] = np.sum([inference.arms.means for inference in inferences], axis=0) / np.maximum(pulled_by, 1)
    pulls[free] = np.sum([inference.arms.pulls for inference in inferences], axis=0)
    return means, pulls


def diagnosed_rounds(n_rounds: int) -> set[int]:
    """Return the rounds in which the reward is asked whether it can tell labels apart.

    >>> sorted(diagnosed_rounds(5)), sorted(diagnosed_rounds(20))
    ([1, 2, 3, 4, 5], [2, 4, 6, 8, 10, 12, 14, 16, 18, 20])
    """
    return {-(-i * n_rounds // N_DIAGNOSED_ROUNDS) for i in range(1, N_DIAGNOSED_ROUNDS + 1)}


class _PullingTable:
    """Pulls batches of assignments, counts them, and keeps the time and the reward's diagnostics."""

    def __init__(self, problem: FoldProblem, settings: InferenceSettings) -> None:
        self.problem = problem
        self.balance = settings.class_balance
        self.diagnosed_rounds = diagnosed_rounds(settings.n_rounds)
        self.free = np.flatnonzero(problem.fold.train.space.free)
        self.seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
        self.diagnostics: list[str | None] = []
        self.n_pulls = 0

    def count_time(self, what: str, start: float) -> None:
        """Count the time since `start` for "classifier", "reward" or "strategy"."""
        self.seconds[what] += perf_counter() - start

    def pull(self, chosen: list[Choice]) -> float:
        """Pull a batch, count it, and return the mean reward of the free instances."""
        train = self.problem.fold.train
        assignments = np.array([choice.assignment for choice in chosen])
        weights = balance_weights(assignments, train.space, self.balance, train.weights)
        start = perf_counter()
        heldout = self.problem.fold.heldout
        predictions = checked_predictions(self.problem.puller, assignments, weights, heldout.n_rows, chosen[0].round)
        self.count_time("classifier", start)
        total = 0.0
        for p, choice in enumerate(chosen):
            outcome = outcome_of(self.problem.fold, choice.assignment, predictions, p)
            start = perf_counter()
            with attributing_errors("reward", "reward", choice.round):
                returned = self.problem.reward(outcome)
            rewards = checked_rewards(returned, train.n_rows, choice.round)
            self.count_time("reward", start)
            choice.inference.add(choice.assignment, rewards)
            total += float(rewards[self.free].sum()) / max(len(self.free), 1)
            if choice.round in self.diagnosed_rounds and choice.inference is chosen[0].inference:
                with attributing_errors("reward", "diagnostic of the reward", choice.round):
                    self.diagnostics.append(self.problem.reward.diagnostic(outcome))
        self.n_pulls += len(chosen)
        return total / len(chosen)

    def result(self, inferences: list[Inference]) -> ArmResult:
        means, pulls = averaged_arms(inferences)
        return ArmResult(means, pulls, self.n_pulls, tuple(self.diagnostics), self.seconds)
