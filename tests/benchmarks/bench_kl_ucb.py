"""What the bounds of a million arms cost: KL-UCB against CUCB.

Run it by hand: python tests/benchmarks/bench_kl_ucb.py
Rewards on a coarse grid, as the MIL reward pays them, leave few distinct arms to solve; real-valued rewards leave a
million.
"""

# ruff: noqa: T201

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bliss_bandits.cucb import Cucb
from bliss_bandits.kl_ucb import KlUcb
from bliss_framework import ArmStatistics

N_ARMS = 1_000_000
N_RUNS = 3
ROUND = 100


def arms_paid(reward: str) -> ArmStatistics:
    """A million arms with 1 to 60 pulls each, two for each instance."""
    rng = np.random.default_rng(0)
    pulls = rng.integers(1, 61, (N_ARMS // 2, 2)).astype(np.float64)
    means = rng.random(pulls.shape)
    sums = {"0 or 1": np.round(means * pulls), "tenths": np.round(means * pulls * 10) / 10, "real": means * pulls}
    return ArmStatistics(pulls, sums[reward], np.ones(pulls.shape, dtype=bool))


def seconds_of(strategy: Any, arms: ArmStatistics) -> float:
    """Time the bounds of one round."""
    start = perf_counter()
    strategy.bounds(arms, ROUND, np.random.default_rng(0))
    return perf_counter() - start


def main() -> None:
    """Print one row for each kind of reward."""
    print(f"Bounds of {N_ARMS:,} arms, medians of {N_RUNS} pairs")
    print(f"{'rewards':<10}{'distinct arms':>15}{'cucb s':>9}{'kl-ucb s':>10}{'ratio':>8}")
    for reward in ("0 or 1", "tenths", "real"):
        arms = arms_paid(reward)
        distinct = len(np.unique(arms.means + 1j * arms.pulls))
        pairs = [(seconds_of(Cucb(), arms), seconds_of(KlUcb(), arms)) for _ in range(N_RUNS)]
        cucb, kl_ucb = (median(times) for times in zip(*pairs, strict=True))
        print(f"{reward:<10}{distinct:>15,}{cucb:>9.3f}{kl_ucb:>10.3f}{median(k / c for c, k in pairs):>8.1f}")


if __name__ == "__main__":
    main()
