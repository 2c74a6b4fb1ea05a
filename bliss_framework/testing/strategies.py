"""Checks of a strategy."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Strategy
from bliss_framework.kernel.arms import ArmStatistics
from bliss_framework.testing.arrays import pickled, unchanged
from bliss_framework.testing.checks import Check


def strategy_checks(strategy: Strategy) -> list[Check]:
    """List the checks of a strategy."""
    tests = _StrategyChecks(strategy)
    return [
        Check("is-a-strategy", tests.is_a_strategy),
        Check("one-number-for-each-arm", tests.shape),
        Check("means-of-0-and-1", tests.extreme_means),
        Check("first-round", tests.first_round),
        Check("not-below-the-mean", tests.optimistic),
        Check("fewer-pulls-are-no-lower", tests.explores),
        Check("deterministic-for-one-seed", tests.deterministic),
        Check("changes-no-input", tests.changes_no_input),
        Check("picklable", tests.picklable),
    ]


def _arms(pulls: NDArray[np.float64], means: NDArray[np.float64]) -> ArmStatistics:
    return ArmStatistics(pulls, means * pulls, np.ones(pulls.shape, dtype=bool))


class _StrategyChecks:
    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        rng = np.random.default_rng(0)
        self.arms = _arms(rng.integers(1, 50, (30, 3)).astype(float), rng.random((30, 3)))

    def bounds(self, arms: ArmStatistics, t: int, seed: int = 0) -> NDArray[np.float64]:
        found = np.asarray(self.strategy.bounds(arms, t, np.random.default_rng(seed)))
        assert found.shape == arms.pulls.shape, f"bounds have shape {found.shape}, arms {arms.pulls.shape}"
        assert np.isfinite(found).all(), f"bounds of pulled arms must be finite numbers (round {t})"
        return found

    def is_a_strategy(self) -> None:
        assert isinstance(self.strategy, Strategy), "a strategy must be an instance of a subclass of Strategy"

    def shape(self) -> None:
        for t in (1, 2, 10, 100_000):
            self.bounds(self.arms, t)

    def extreme_means(self) -> None:
        pulls = np.array([[1.0, 4.0, 1000.0]])
        for mean in (0.0, 1.0):
            self.bounds(_arms(pulls, np.full_like(pulls, mean)), 10)

    def first_round(self) -> None:
        # log t is 0 at t = 1, and log log t is minus infinity.
        self.bounds(self.arms, 1)

    def optimistic(self) -> None:
        assert (self.bounds(self.arms, 50) >= self.arms.means - 1e-9).all(), "an upper bound lies below the mean"

    def explores(self) -> None:
        few, many = (self.bounds(_arms(np.full((1, 9), n), np.linspace(0, 1, 9)[None]), 50) for n in (2.0, 40.0))
        assert (few >= many - 1e-9).all(), "an arm with fewer pulls and the same mean has a lower bound"

    def deterministic(self) -> None:
        assert np.array_equal(self.bounds(self.arms, 9, 1), self.bounds(self.arms, 9, 1)), "one seed, two results"

    def changes_no_input(self) -> None:
        with unchanged(self.arms):
            self.bounds(self.arms, 9)

    def picklable(self) -> None:
        copy = _StrategyChecks(pickled(self.strategy))
        assert np.array_equal(copy.bounds(self.arms, 9), self.bounds(self.arms, 9)), "the copy gives other bounds"
