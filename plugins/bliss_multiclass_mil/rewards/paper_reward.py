"""The paper's multi-class MIL reward: recall and precision of label sets in the neighbourhood of each instance."""

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
    label_set_precision,
    label_set_recall,
    recall_precision_rewards,
)

OF, LOWER = "label sets", 0.7  # What a diagnostic says is recalled, and an alpha that it tells to try.


@frozen
class MultiClassMilReward(Reward):
    """Reward labels whose classifier meets the label sets nearby (paper, "Multi-Class MIL").

        R_x   = 1[pi(x) = f(x)] * R~_x
        R~_x  = gamma * mean_N Rec(B(x')) + (1 - gamma) * 1[mean_N Rec(B(x')) >= alpha] * mean_N Prec(x')

    Rec(B) is the share of the bag's labels that some instance is predicted to have, 1 for the empty set. Prec(x') is 1
    where x' is predicted negative or to have a label of its bag's set, else 0. N(x) are the k nearest held-out
    instances along the output of the label predicted for x.

    Args:
        gamma: balances recall against precision, in [0, 1]; 1/7 as in binary MIL.
        alpha: mean recall from which on precision counts, in [0, 1]. With many labels a bag is rarely complete, so
            less than 1 learns more: 0.7 with 20 neighbours on the paper's MNIST bags.
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
        return alpha_diagnostic(outcome, label_set_recall(outcome), self.alpha, of=OF, lower=LOWER)


def _judged(outcome: Outcome) -> tuple[NDArray[Any], NDArray[Any]]:
    return label_set_recall(outcome), label_set_precision(outcome)
