"""The paper's MIL reward: recall and precision of the weak labels in the neighbourhood of each instance."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BlockRecallPrecision,
    BlockReward,
    Outcome,
    Reward,
    alpha_diagnostic,
    between,
    binary_precision,
    binary_recall,
    recall_precision_rewards,
)

OF, LOWER = "bag labels", 0.8  # What a diagnostic says is recalled, and an alpha that it tells to try.


@frozen
class MilReward(Reward):
    """Reward labels whose classifier meets the MIL constraints nearby (paper, "Binary MIL").

        R_x   = 1[pi(x) = f(x)] * R~_x
        R~_x  = gamma * mean_N Rec(B(x')) + (1 - gamma) * 1[mean_N Rec(B(x')) >= alpha] * mean_N Prec(x')

    Rec(B) is 0 for a positive bag without a predicted positive, else 1. Prec(x') is 0 for a predicted positive in a
    negative bag, else 1. N(x) are the k nearest held-out instances in classifier output.

    Args:
        gamma: balances recall against precision, in [0, 1]; the paper uses 1/7.
        alpha: mean recall from which on precision counts, in [0, 1]; the paper uses 1.
    """

    gamma: float = field(default=1 / 7, validator=between(0.0, 1.0))
    alpha: float = field(default=1.0, validator=between(0.0, 1.0))

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return R_x(pi(x)) for each training instance: (n,) in [0, 1]."""
        return recall_precision_rewards(outcome, *_judged(outcome), self.gamma, self.alpha)

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return BlockRecallPrecision(_judged, self.gamma, self.alpha, OF, LOWER)

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say when no neighbourhood reaches alpha: every label then earns at most gamma."""
        return alpha_diagnostic(outcome, binary_recall(outcome), self.alpha, of=OF, lower=LOWER)


def _judged(outcome: Outcome) -> tuple[NDArray[Any], NDArray[Any]]:
    return binary_recall(outcome), binary_precision(outcome)
