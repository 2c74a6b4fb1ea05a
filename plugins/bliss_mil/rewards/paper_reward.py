"""The paper's MIL reward: recall and precision of the weak labels in the neighbourhood of each instance."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Outcome,
    Reward,
    alpha_diagnostic,
    between,
    binary_precision,
    binary_recall,
    recall_precision_rewards,
)


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
        recall, precision = binary_recall(outcome), binary_precision(outcome)
        return recall_precision_rewards(outcome, recall, precision, self.gamma, self.alpha)

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say when no neighbourhood reaches alpha: every label then earns at most gamma."""
        return alpha_diagnostic(outcome, binary_recall(outcome), self.alpha, of="bag labels", lower=0.8)
