"""The marginal-effect reward of MIL: does a positive label here move the held-out bags towards their weak labels?"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import expit

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

CERTAIN = 1e-6  # A positive bag of probability 0 would pull without end.


@frozen
class MilMarginalReward(Reward):
    """Reward labels by their marginal effect on the log-likelihood of the held-out bags.

    With held-out outputs z, s = logistic(steepness * z / std z) is the probability that an instance is positive, and
    P_B = 1 - prod over B of (1 - s) that its bag is (noisy-or, Maron and Lozano-Perez, 1998). The log-likelihood of the
    weak labels changes with z by

        g_x' = (1 - P_B) / P_B * s_x'   in positive bags,      g_x' = -s_x'   in negative ones,

    and z_x' changes with the label of x by the influence k(x, x'). So

        E_x    = sum over held-out x' of g_x' k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + (2l - 1)/2 * tanh(gain * E_x / mean |E|))

    The paper's reward counts met and missed constraints near x; this one also sees by how much a label helps.

    Args:
        steepness: of the logistic curve, in standard deviations of the output; above 0.
        gain: how soon a marginal effect above the mean counts in full; above 0.
    """

    steepness: float = field(default=3.4, validator=positive)
    gain: float = field(default=0.7, validator=positive)

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Take the influence of training labels on held-out outputs from the classifier."""
        return MarginalEffect(influence(fold, classifier), self._slopes, self.gain)

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return BlockMarginalEffect(_outputs, self._slopes, self.gain)

    def _slopes(self, outcome: Outcome, spread: float | None = None) -> NDArray[np.float64]:
        """Return g of each held-out instance: (m,)."""
        heldout = outcome.fold.heldout
        return bag_slopes(_outputs(outcome), heldout.bags, heldout.weak.values, self.steepness, spread)


def _outputs(outcome: Outcome) -> NDArray[np.floating]:
    return outcome.output(1)[1]


def bag_slopes(
    outputs: NDArray[np.floating],
    bags: Bags,
    positive_bags: NDArray[Any],
    steepness: float,
    spread: float | None = None,
) -> NDArray[np.float64]:
    """Return the slope of the weak labels' log-likelihood in each output, up to a common factor.

    Args:
        outputs: (m,) decision values.
        bags: of the m instances.
        positive_bags: (B,) 0 or 1.
        steepness: of the logistic curve, in standard deviations of `outputs`.
        spread: that standard deviation, where there are outputs beside these; None for that of these.

    Returns:
        (m,) at least 0 in positive bags and at most 0 in negative ones.

    >>> bag_slopes(np.array([-1.0, 1.0]), Bags.from_ids([0, 1]), np.array([1, 0]), 1.0).round(3).tolist()
    [0.731, -0.731]
    """
    outputs = np.asarray(outputs, dtype=np.float64)
    if spread is None:
        # As `std` has it, in a third of its time for so few numbers.
        centred = outputs - outputs.sum() / len(outputs)
        spread = float(np.sqrt((centred * centred).sum() / len(outputs)))
    steep = steepness * outputs / spread if spread > 0 else np.zeros(len(outputs))
    instance = expit(steep)
    # log(1 - s) = log expit(-z), which stays finite where s rounds to 1.
    no_positive = np.exp(bags.sum(-np.logaddexp(0.0, steep)))
    bag = np.maximum(1.0 - no_positive, CERTAIN)
    return np.asarray(bags.spread(np.where(positive_bags == 1, no_positive / bag, -1.0)) * instance)
