"""KL-UCB: the Kullback-Leibler upper confidence bound, for rewards in [0, 1]."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import rel_entr

from bliss_framework.plugin import ArmStatistics, Strategy, between

N_STEPS = 60  # Newton from above needs far fewer; the cap only ends the loop.
ACCURACY = 1e-12


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
        """Solve for the bound of each distinct (pulls, reward sum) once: rewards sit on a small grid."""
        pulls = np.maximum(arms.pulls, 1.0)
        pairs = (arms.means + 1j * pulls).ravel()
        distinct, inverse = np.unique(pairs, return_inverse=True)
        bounds = kl_upper_bound(distinct.real, self._budget(round) / distinct.imag)
        return bounds[inverse].reshape(pulls.shape)

    def _budget(self, round: int) -> float:
        log_t = np.log(round)
        log_log_t = np.log(log_t) if log_t > 0 else -np.inf
        return max(0.0, float(log_t + self.c * log_log_t)) if self.c > 0 else float(log_t)


def kl_upper_bound(means: NDArray[np.float64], divergence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest q in [p, 1] with kl(p, q) <= d, to 1e-9.

    kl(p, .) is convex and increases on [p, 1], so Newton steps from a point above the root fall towards it and never
    overshoot. Pinsker's bound p + sqrt(d / 2) is such a point where it is below 1; elsewhere bisection makes one.

    Args:
        means: (n,) p in [0, 1].
        divergence: (n,) d >= 0.

    >>> kl_upper_bound(np.array([0.0, 0.0, 1.0]), np.log(10) / np.array([1, 4, 3])).round(6).tolist()
    [0.9, 0.437659, 1.0]
    """
    p = np.clip(means, 0.0, 1.0)
    low, high = p.copy(), np.minimum(1.0, p + np.sqrt(divergence / 2))
    # Next to 1 the slope is so steep that a Newton step there looks like the last one.
    q = np.where(high < 0.999, high, 0.5 * (low + high))
    done = np.zeros(p.shape, dtype=bool)
    for _ in range(N_STEPS):
        gap = _bernoulli_kl(p, q) - divergence
        low, high = np.where(gap <= 0, np.maximum(low, q), low), np.where(gap > 0, np.minimum(high, q), high)
        slope = (q - p) / np.maximum(q * (1 - q), 1e-300)
        newton = q - gap / np.where(slope > 0, slope, 1.0)
        inside = (newton > low) & (newton < high) & (slope > 0)
        step = np.where(inside, newton, 0.5 * (low + high))
        # A bound that is found stays: the rounding of its own gap would send it back to bisection.
        done |= (np.abs(newton - q) <= ACCURACY) | (high - low <= ACCURACY)
        q = np.where(done, q, step)
        if done.all():
            break
    return np.where(p >= 1.0, 1.0, np.where(divergence <= 0, p, np.clip(q, p, 1.0)))


def _bernoulli_kl(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0."""
    return rel_entr(p, q) + rel_entr(1 - p, 1 - q)
