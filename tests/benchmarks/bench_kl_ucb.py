"""What the bounds of a million arms cost: KL-UCB against CUCB, and against a plain bisection of all arms.

Run it by hand: python tests/benchmarks/bench_kl_ucb.py
Times are those of the process, by turns. The bisection halves [p, 1] forty times, which leaves 1e-12.
"""

# ruff: noqa: T201

from statistics import median
from time import process_time
from typing import Any

import numpy as np
from scipy.special import rel_entr

from bliss_bandits.cucb import Cucb
from bliss_bandits.kl_ucb import KlUcb, kl_upper_bound
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
    start = process_time()
    strategy.bounds(arms, ROUND, np.random.default_rng(0))
    return process_time() - start


def bisected(p: Any, divergence: Any) -> Any:
    """The bounds of all arms by halving."""
    low, high = p.copy(), np.ones_like(p)
    for _ in range(40):
        middle = (low + high) / 2
        above = rel_entr(p, middle) + rel_entr(1 - p, 1 - middle) > divergence
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low


def seconds_of_solving(solve: Any, p: Any, divergence: Any) -> tuple[float, Any]:
    """Time the bounds of given means and divergences, and return them too."""
    start = process_time()
    found = solve(p, divergence)
    return process_time() - start, found


def main() -> None:
    """Print one row for each kind of reward, and the ratio to bisection."""
    print(f"Bounds of {N_ARMS:,} arms, medians of {N_RUNS} pairs")
    print(f"{'rewards':<10}{'cucb s':>9}{'kl-ucb s':>10}{'ratio':>8}")
    for reward in ("0 or 1", "tenths", "real"):
        arms = arms_paid(reward)
        pairs = [(seconds_of(Cucb(), arms), seconds_of(KlUcb(), arms)) for _ in range(N_RUNS)]
        cucb, kl_ucb = (median(times) for times in zip(*pairs, strict=True))
        print(f"{reward:<10}{cucb:>9.3f}{kl_ucb:>10.3f}{median(k / c for c, k in pairs):>8.1f}")
    arms = arms_paid("real")
    p, divergence = arms.means.ravel(), (np.log(ROUND) / arms.pulls).ravel()
    ratios = []
    for _ in range(N_RUNS):
        slow, halved = seconds_of_solving(bisected, p, divergence)
        own, found = seconds_of_solving(kl_upper_bound, p, divergence)
        ratios.append(slow / own)
    apart = np.abs(halved - found).max()
    print(f"Bisection of all real arms takes {median(ratios):.1f} times as long; bounds differ by {apart:.0e} at most.")


if __name__ == "__main__":
    main()
