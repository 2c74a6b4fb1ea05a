"""The marginal-effect reward of LLP: does giving x this label move the held-out bags towards their shares?"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Bags,
    BlockMarginalEffect,
    BlockReward,
    Fold,
    MarginalEffect,
    Outcome,
    Reward,
    RewardFunction,
    influence,
    positive,
)


@frozen
class LlpMarginalReward(Reward):
    """Reward labels by their marginal effect on the squared error of the shares of held-out bags.

    For two classes, with held-out outputs z, s = logistic(steepness * z / std z), q_b the mean of s over bag b and p_b
    its known share of class 1,

        E_x    = sum over held-out x' of (p_b - q_b) s (1 - s) k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + (2 l - 1)/2 * tanh(gain * E_x / mean |E|))

    where b is the bag of x' and k(x, x') is the influence of the label of x on z_x'. Up to a factor E_x is minus the
    slope of sum_b |b| (p_b - q_b)^2 / 2 in the label of x.

    For several classes, with outputs z_c, s = softmax(steepness / 2 * z / std z) over classes, std z pooled over the
    columns, q_b and p_b vectors, and r = p_b - q_b,

        E_x(c) = sum over held-out x' of s_c (r_c - sum_j r_j s_j) k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|))

    which is minus the slope of sum_b |b| sum_c (p_bc - q_bc)^2 / 2, and for two classes with outputs -z and z the same
    as above. The mean |E| is over free training instances and their candidate labels.

    Args:
        steepness: of the logistic curve or the softmax, in standard deviations of the output; above 0.
        gain: how soon a marginal effect above the mean counts in full; above 0.
    """

    steepness: float = field(default=3.4, validator=positive)
    gain: float = field(default=0.7, validator=positive)

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Find out once how far each training label moves each held-out output."""
        return MarginalEffect(influence(fold, classifier), self._slopes, self.gain)

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return BlockMarginalEffect(_outputs, self._slopes, self.gain)

    def _slopes(self, outcome: Outcome, spread: float | None = None) -> NDArray[np.float64]:
        """Return the slope in each held-out output: (m, 1) for two classes, else (m, C)."""
        heldout = outcome.fold.heldout
        slopes = share_slopes(_outputs(outcome), heldout.bags, heldout.weak.values, self.steepness, spread)
        return slopes[:, 1:] if slopes.shape[1] == 2 else slopes


def _outputs(outcome: Outcome) -> NDArray[np.floating]:
    return outcome.heldout_scores


def share_slopes(
    outputs: NDArray[np.floating],
    bags: Bags,
    shares: NDArray[np.float64],
    steepness: float,
    spread: float | None = None,
) -> NDArray[np.float64]:
    """Return minus the slope of the squared error of bags' shares in each output, up to a common factor.

    Args:
        outputs: (m, 1) decision values of class 1, or (m, C).
        bags: of the m instances.
        shares: (B, C) known shares.
        steepness: of the logistic curve, in standard deviations of `outputs`.
        spread: that standard deviation, where there are outputs beside these; None for that of these.

    Returns:
        (m, C); each row sums to 0.

    >>> share_slopes(np.array([[-1.0], [1.0]]), Bags.from_ids([0, 0]), np.array([[0.0, 1.0]]), 1.0).round(3).tolist()
    [[-0.197, 0.197], [-0.197, 0.197]]
    """
    outputs = np.asarray(outputs, dtype=np.float64)
    columns = np.concatenate([-outputs, outputs], axis=1) if outputs.shape[1] == 1 else outputs
    spread = float(np.sqrt(columns.var(axis=0).mean())) if spread is None else spread
    steep = steepness / 2 * columns / spread if spread > 0 else np.zeros_like(columns)
    chances = np.exp(steep - steep.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    missing = bags.spread(shares - bags.mean(chances))
    return np.asarray(chances * (missing - (missing * chances).sum(axis=1, keepdims=True)))
