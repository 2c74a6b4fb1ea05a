"""Checks of a reward."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Reward, RewardFunction
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.guards import attributing_errors, checked_rewards
from bliss_framework.kernel.pull import Fold, Outcome
from bliss_framework.testing.arrays import assert_close, pickled, unchanged
from bliss_framework.testing.blocks import answered, cut_into_blocks, rewards_in_blocks
from bliss_framework.testing.checks import Check, Example
from bliss_framework.testing.examples import (
    fold_of,
    mil_example,
    outcomes,
    random_outcome,
    with_heldout_rows,
    with_train_rows,
)

IN_BLOCKS = 1e-4  # So are sums over blocks, of which effects are quotients.
SMOOTHED = 1e-4  # A smoother has single precision.


def prepared_classifiers(fold: Fold) -> Iterator[Any]:
    """Yield what rewards are prepared with: no classifier, and one that is linear in its labels, with a smoother."""
    yield None
    yield resolve("classifier", "kernel-ridge").prepare(fold.train, fold.heldout, np.random.default_rng(0))


def rewards_of(reward: Reward, outcome: Outcome) -> NDArray[np.float64]:
    """Prepare a reward for the fold of an outcome in every way and call it, holding it to its contract: (2, n)."""
    functions = [reward.prepare(outcome.fold, classifier) for classifier in prepared_classifiers(outcome.fold)]
    return np.stack([_rewards_of(function, outcome) for function in functions])


def _rewards_of(function: RewardFunction, outcome: Outcome) -> NDArray[np.float64]:
    with attributing_errors("reward", "reward", 1):
        returned = function(outcome)
    return checked_rewards(returned, len(outcome.assignment), 1)


def reward_checks(reward: Reward, example: Example | None = None) -> list[Check]:
    """List the checks of a reward.

    Args:
        reward: the component.
        example: data of the regime that the reward is made for; by default of `mil`.
    """
    tests = _RewardChecks(reward, example or mil_example())
    return [
        Check("is-a-reward", tests.is_a_reward),
        Check("one-number-in-0-1-for-each-instance", tests.in_bounds),
        Check("deterministic", tests.deterministic),
        Check("changes-no-input", tests.changes_no_input),
        Check("order-of-training-instances", tests.training_order),
        Check("order-of-held-out-instances", tests.heldout_order),
        Check("names-of-bags", tests.bag_names),
        Check("picklable", tests.picklable),
        Check("one-training-instance", tests.one_training_instance),
        Check("one-held-out-bag", tests.one_heldout_bag),
        Check("more-neighbours-than-instances", tests.many_neighbours),
        Check("diagnostic", tests.diagnostic),
        Check("the-same-in-blocks", tests.in_blocks),
    ]


class _RewardChecks:
    def __init__(self, reward: Reward, example: Example) -> None:
        self.reward = reward
        self.fold = fold_of(example)

    def is_a_reward(self) -> None:
        assert isinstance(self.reward, Reward), "a reward must be an instance (not the class) of a subclass of Reward"
        prepared: Any = self.reward.prepare(self.fold, None)
        assert callable(prepared), f"prepare must return a RewardFunction; got {prepared!r}"
        assert prepared is self.reward or not callable(self.reward), (
            "a reward that is prepared must not be callable itself; leave __call__ to what prepare returns"
        )

    def in_bounds(self) -> None:
        for outcome in outcomes(self.fold):
            rewards_of(self.reward, outcome)

    def deterministic(self) -> None:
        outcome = random_outcome(self.fold, 3)
        for classifier in prepared_classifiers(self.fold):
            function = self.reward.prepare(self.fold, classifier)
            first, second = (_rewards_of(function, outcome) for _ in range(2))
            assert np.array_equal(first, second), "two calls with the same outcome differ"

    def changes_no_input(self) -> None:
        outcome = random_outcome(self.fold, 4)
        with unchanged(outcome):
            rewards_of(self.reward, outcome)

    def training_order(self) -> None:
        for outcome in outcomes(self.fold):
            order = np.random.default_rng(5).permutation(len(outcome.assignment))
            found = rewards_of(self.reward, with_train_rows(outcome, order))
            assert_close(
                found, rewards_of(self.reward, outcome)[:, order], "rewards after instances changed places", SMOOTHED
            )

    def heldout_order(self) -> None:
        for outcome in outcomes(self.fold):
            order = np.random.default_rng(6).permutation(len(outcome.heldout_labels))
            found = rewards_of(self.reward, with_heldout_rows(outcome, order))
            assert_close(
                found, rewards_of(self.reward, outcome), "rewards after held-out instances changed places", SMOOTHED
            )

    def bag_names(self) -> None:
        outcome = random_outcome(self.fold, 7)
        heldout = outcome.fold.heldout
        names = np.array([f"other {i}" for i in range(heldout.bags.n_bags)])
        renamed = evolve(outcome.fold, heldout=evolve(heldout, bags=Bags(names, heldout.bags.index)))
        found = rewards_of(self.reward, evolve(outcome, fold=renamed))
        assert_close(found, rewards_of(self.reward, outcome), "rewards after bags got other names")

    def picklable(self) -> None:
        outcome = random_outcome(self.fold, 8)
        assert_close(rewards_of(pickled(self.reward), outcome), rewards_of(self.reward, outcome), "rewards of the copy")

    def one_training_instance(self) -> None:
        rewards_of(self.reward, with_train_rows(random_outcome(self.fold, 9), np.array([0])))

    def one_heldout_bag(self) -> None:
        outcome = random_outcome(self.fold, 10)
        for bag in range(outcome.fold.heldout.bags.n_bags):
            rewards_of(self.reward, with_heldout_rows(outcome, outcome.fold.heldout.bags.rows_of(np.array([bag]))))

    def many_neighbours(self) -> None:
        outcome = random_outcome(self.fold, 11)
        every = evolve(outcome.fold, n_neighbors=outcome.fold.heldout.n_rows)
        rewards_of(self.reward, evolve(outcome, fold=every))

    def diagnostic(self) -> None:
        for outcome in outcomes(self.fold):
            for classifier in prepared_classifiers(outcome.fold):
                said: Any = self.reward.prepare(outcome.fold, classifier).diagnostic(outcome)
                assert said is None or (isinstance(said, str) and said), (
                    f"diagnostic must be text or None; got {said!r}"
                )

    def in_blocks(self) -> None:
        form = self.reward.in_blocks()
        if form is None:
            return
        classifier = list(prepared_classifiers(self.fold))[1]
        function = self.reward.prepare(self.fold, classifier)
        for outcome in outcomes(self.fold):
            expected, said = _rewards_of(function, outcome), function.diagnostic(outcome)
            for n_blocks in (1, 2, 5):
                found = rewards_in_blocks(form, outcome, n_blocks, classifier.smoother)
                assert_close(found, expected, f"rewards in {n_blocks} blocks", IN_BLOCKS)
                diagnostics = answered(form.diagnostic, cut_into_blocks(outcome, n_blocks), classifier.smoother)
                assert set(diagnostics) == {said}, f"blocks say {diagnostics!r}; all together say {said!r}"
