"""KL-UCB: the Kullback-Leibler upper confidence bound, for rewards in [0, 1]."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import ArmStatistics, Strategy, between

BLOCK = 1 << 15  # Arms that are solved together: what is computed of so many stays in the processor's cache.
N_STEPS = 20  # Most arms need three; the cap ends the loop where rounding hides the bound, below d = 1e-13.
ACCURACY = 1e-13
SMALLEST, EPSILON = 1e-100, np.finfo(np.float64).eps


@frozen
class KlUcb(Strategy):
    """Bound each arm by the largest mean that its rewards do not rule out (Garivier and Cappé, COLT 2011).

        max { q in [p, 1] : T kl(p, q) <= log t + c log log t },   p = s / T

    `kl` is the Bernoulli divergence, so the bound holds for any rewards in [0, 1]. The right side is clipped at 0.

    Args:
        c: weight of the log log t term; 0 works best in practice.

    >>> arms = ArmStatistics(np.array([[4.0]]), np.array([[3.0]]), np.array([[True]]))
    >>> KlUcb().bounds(arms, 10, np.random.default_rng(0)).round(6).tolist()
    [[0.989101]]
    """

    c: float = field(default=0.0, validator=between(0.0, 100.0))

    def bounds(self, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Solve for the bound of each arm."""
        pulls = np.maximum(arms.pulls, 1.0)
        return kl_upper_bound(arms.means.ravel(), (self._budget(round) / pulls).ravel()).reshape(pulls.shape)

    def _budget(self, round: int) -> float:
        log_t = np.log(round)
        log_log_t = np.log(log_t) if log_t > 0 else -np.inf
        return max(0.0, float(log_t + self.c * log_log_t)) if self.c > 0 else float(log_t)


def kl_upper_bound(means: NDArray[np.float64], divergence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest q in [p, 1] with kl(p, q) <= d, to 1e-12 where d is above 1e-9.

    Args:
        means: (n,) p in [0, 1].
        divergence: (n,) d >= 0.

    >>> kl_upper_bound(np.array([0.0, 0.0, 1.0]), np.log(10) / np.array([1, 4, 3])).round(6).tolist()
    [0.9, 0.437659, 1.0]
    """
    p = np.clip(means, 0.0, 1.0)
    q = p.copy()
    bounded = np.flatnonzero((p < 1.0) & (divergence > 0))
    for first in range(0, len(bounded), BLOCK):
        arms = bounded[first : first + BLOCK]
        q[arms] = np.clip(_solved(p[arms], divergence[arms]), p[arms], 1.0)
    return q


def _solved(p: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve kl(p, q) = d for p < 1 and d > 0, by Halley's method on the arms that are still open.

    The unknown is y = -log(1 - q), which also tells bounds next to 1 apart. In it

        f(y) = p log p + r log r - p log q + r y - d,  r = 1 - p,     f' = 1 - p / q,     f'' = p (1 - q) / q^2

    is convex and nearly straight. Its root lies below that of p log p + r log r + r y - d and below Pinsker's bound
    q = p + sqrt(d / 2), and above that of the parabola at q = p, because f'' falls.
    """
    r = 1.0 - p
    constant = p * np.log(np.maximum(p, SMALLEST)) + r * np.log(r) - d
    low = np.sqrt(2.0 * d * p / r) - np.log(r)
    high = np.minimum(-constant / r, -np.log(np.maximum(r - np.sqrt(d / 2.0), SMALLEST)))
    y = np.minimum((low + high) / 2.0, high)
    found, open_ = np.empty(len(p)), np.arange(len(p))
    for _ in range(N_STEPS):
        q = np.maximum(-np.expm1(-y), SMALLEST)
        slope = np.maximum(1.0 - p / q, EPSILON)
        newton = (constant - p * np.log(q) + r * y) / slope
        # What a Newton step leaves of the error, as a share of that step; Halley's method leaves less.
        share = 0.5 * newton * (p / q) * (1.0 - q) / q / slope
        y = np.clip(y - newton / np.maximum(1.0 - share, 0.5), low, high)
        found[open_] = y
        left = np.abs(newton * share) * (1.0 - q) > ACCURACY
        if not left.any():
            break
        open_ = open_[left]
        p, r, constant, low, high, y = (part[left] for part in (p, r, constant, low, high, y))
    return -np.expm1(-found)
