"""The paper's MIL reward: recall and precision of the weak labels in the neighbourhood of each instance."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Outcome, Reward, between, neighbourhood

ROUNDING = 1e-9  # Mean recall is a sum of small fractions; without slack alpha = 1 fails at random.


@frozen
class MilReward(Reward):
    """Reward labels whose classifier meets the MIL constraints nearby (paper, "Binary MIL").

        R_x   = 1[pi(x) = f(x)] * R~_x
        R~_x  = gamma * mean_N Rec(B(x')) + (1 - gamma) * 1[mean_N Rec(B(x')) >= alpha] * mean_N Prec(x')

    N(x) are the k nearest held-out instances in classifier output.

    Args:
        gamma: balances recall against precision, in [0, 1]; the paper uses 1/7.
        alpha: mean recall from which on precision counts, in [0, 1]; the paper uses 1.
    """

    gamma: float = field(default=1 / 7, validator=between(0.0, 1.0))
    alpha: float = field(default=1.0, validator=between(0.0, 1.0))

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return R_x(pi(x)) for each training instance: (n,) in [0, 1]."""
        near = neighbourhood(outcome)
        mean_recall = near.mean(recall(outcome))
        mean_precision = near.mean(precision(outcome))
        reached = mean_recall >= self.alpha - ROUNDING
        local = self.gamma * mean_recall + (1 - self.gamma) * reached * mean_precision
        return np.where(outcome.assignment == outcome.labels, local, 0.0)

    def complaint(self, outcome: Outcome) -> str | None:
        """Complain when no neighbourhood reaches alpha: every label then earns at most gamma."""
        mean_recall = neighbourhood(outcome).mean(recall(outcome))
        if (mean_recall >= self.alpha - ROUNDING).any():
            return None
        return (
            f"mean recall never reached alpha = {self.alpha:g} (the highest was {mean_recall.max():.2f}), so precision "
            f"was never rewarded. Lower alpha (for instance --set reward.alpha=0.8) or give the classifier more bags."
        )


def recall(outcome: Outcome) -> NDArray[np.bool_]:
    """Rec(B(x')): false for the instances of a positive bag without a predicted positive. (m,) bool."""
    bags = outcome.fold.heldout.bags
    found = bags.any(outcome.heldout_classes > 0)
    return bags.spread(found | (outcome.fold.heldout.weak.values == 0))


def precision(outcome: Outcome) -> NDArray[np.bool_]:
    """Prec(x'): false for a predicted positive in a negative bag. (m,) bool."""
    in_positive_bag = outcome.fold.heldout.bags.spread(outcome.fold.heldout.weak.values == 1)
    return (outcome.heldout_classes == 0) | in_positive_bag
