"""The paper's multi-class MIL reward: recall and precision of label sets in the neighbourhood of each instance."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Outcome, Reward, between, neighbourhood

ROUNDING = 1e-9  # Mean recall is a sum of small fractions; without slack alpha = 1 fails at random.


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
            f"mean recall of label sets never reached alpha = {self.alpha:g} (at most {mean_recall.max():.2f}); "
            f"precision was never rewarded. Lower alpha (for instance --set reward.alpha=0.7) or give the classifier "
            f"more bags."
        )


def found_labels(outcome: Outcome) -> NDArray[np.bool_]:
    """Say which labels some instance of each held-out bag is predicted to have: (B, C)."""
    n_labels = outcome.fold.heldout.weak.values.shape[1]
    predicted = outcome.heldout_classes[:, None] == np.arange(1, n_labels + 1)
    return np.asarray(outcome.fold.heldout.bags.any(predicted))


def recall(outcome: Outcome) -> NDArray[np.float64]:
    """Rec(B(x')): the share of the labels of its bag that are found, 1 for the empty set. (m,)."""
    heldout = outcome.fold.heldout
    sets = heldout.weak.values == 1
    wanted = sets.sum(axis=1)
    found = (found_labels(outcome) & sets).sum(axis=1)
    return heldout.bags.spread(np.where(wanted > 0, found / np.maximum(wanted, 1), 1.0))


def precision(outcome: Outcome) -> NDArray[np.bool_]:
    """Prec(x'): false for an instance predicted to have a label that is not in the set of its bag. (m,) bool."""
    heldout = outcome.fold.heldout
    # Column 0 is the negative class, which every bag allows.
    allowed = np.concatenate([np.ones((heldout.bags.n_bags, 1), dtype=bool), heldout.weak.values == 1], axis=1)
    return np.asarray(allowed[heldout.bags.index, outcome.heldout_classes])
