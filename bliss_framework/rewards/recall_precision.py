"""The paper's form of a reward: recall and precision of weak labels in the neighbourhood of each instance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts.reward import Asking, BlockReward, Gathered
from bliss_framework.kernel.pull import Outcome
from bliss_framework.rewards.block_neighbourhood import block_neighbour_means
from bliss_framework.rewards.neighbourhood import neighbourhood

ROUNDING = 1e-9  # Mean recall is a sum of small fractions; without slack alpha = 1 fails at random.


def recall_precision_rewards(
    outcome: Outcome, recall: NDArray[Any], precision: NDArray[Any], gamma: float, alpha: float
) -> NDArray[np.float64]:
    """Reward labels whose classifier meets the weak labels nearby (paper, "Binary MIL").

        R_x   = 1[pi(x) = f(x)] * R~_x
        R~_x  = gamma * mean_N Rec(B(x')) + (1 - gamma) * 1[mean_N Rec(B(x')) >= alpha] * mean_N Prec(x')

    N(x) are the k nearest held-out instances in classifier output.

    Args:
        outcome: the assignment pi and what the classifier f predicts.
        recall: (m,) Rec(B(x')) of the bag of each held-out instance, from 0 to 1, or bool.
        precision: (m,) Prec(x') of each held-out instance, from 0 to 1, or bool.
        gamma: balances recall against precision, in [0, 1].
        alpha: mean recall from which on precision counts, in [0, 1].

    Returns:
        (n,) in [0, 1].
    """
    near = neighbourhood(outcome)
    return _rewards_of_means(outcome, near.mean(recall), near.mean(precision), gamma, alpha)


def _rewards_of_means(
    outcome: Outcome,
    mean_recall: NDArray[np.float64],
    mean_precision: NDArray[np.float64],
    gamma: float,
    alpha: float,
) -> NDArray[np.float64]:
    """Return R_x of the means over N(x): the formula above."""
    reached = mean_recall >= alpha - ROUNDING
    local = gamma * mean_recall + (1 - gamma) * reached * mean_precision
    return np.where(outcome.assignment == outcome.labels, local, 0.0)


def alpha_diagnostic(outcome: Outcome, recall: NDArray[Any], alpha: float, of: str, lower: float) -> str | None:
    """Say that no neighbourhood reaches alpha, so that every label earns at most gamma; None where one does.

    Args:
        outcome: as in `recall_precision_rewards`.
        recall: as there.
        alpha: as there.
        of: what is recalled, such as "shares".
        lower: a value of alpha to try.
    """
    return _never_reached(float(neighbourhood(outcome).mean(recall).max()), alpha, of, lower)


def _never_reached(highest: float, alpha: float, of: str, lower: float) -> str | None:
    if highest >= alpha - ROUNDING:
        return None
    return (
        f"mean recall of {of} never reached alpha = {alpha:g} (the highest was {highest:.2f}), so precision "
        f"was never rewarded. Lower alpha (for instance --set reward.alpha={lower:g}) or give the classifier more bags."
    )


class BlockRecallPrecision(BlockReward):
    """The reward of `recall_precision_rewards` where bags come in blocks.

    Args:
        judged: a function from an outcome to recall and precision (m,), as there. Recall is that of whole bags, which
            a block holds.
        gamma: as there.
        alpha: as there.
        of: what is recalled, as in `alpha_diagnostic`.
        lower: as there.
    """

    def __init__(
        self,
        judged: Callable[[Outcome], tuple[NDArray[Any], NDArray[Any]]],
        gamma: float,
        alpha: float,
        of: str,
        lower: float,
    ) -> None:
        self._judged, self._gamma, self._alpha, self._of, self._lower = judged, gamma, alpha, of, lower

    def rewards(self, outcome: Outcome, n_heldout: int) -> Asking[NDArray[np.float64]]:
        """Ask for the held-out neighbours in all blocks."""
        recall, precision = self._judged(outcome)
        means = yield from block_neighbour_means(outcome, n_heldout, recall, precision)
        return _rewards_of_means(outcome, means[:, 0], means[:, 1], self._gamma, self._alpha)

    def diagnostic(self, outcome: Outcome, n_heldout: int) -> Asking[str | None]:
        """Ask for the highest mean recall of all blocks as well."""
        means = yield from block_neighbour_means(outcome, n_heldout, self._judged(outcome)[0])
        highest = yield Gathered(means.max(axis=0, keepdims=True))
        return _never_reached(float(highest.max()), self._alpha, self._of, self._lower)


def binary_recall(outcome: Outcome) -> NDArray[np.bool_]:
    """Rec(B(x')) of binary MIL: false for the instances of a positive bag without a predicted positive. (m,) bool."""
    bags = outcome.fold.heldout.bags
    found = bags.any(outcome.heldout_classes > 0)
    return np.asarray(bags.spread(found | (outcome.fold.heldout.weak.values == 0)))


def binary_precision(outcome: Outcome) -> NDArray[np.bool_]:
    """Prec(x') of binary MIL: false for a predicted positive in a negative bag. (m,) bool."""
    in_positive_bag = outcome.fold.heldout.bags.spread(outcome.fold.heldout.weak.values == 1)
    return np.asarray((outcome.heldout_classes == 0) | in_positive_bag)


def found_labels(outcome: Outcome) -> NDArray[np.bool_]:
    """Say which labels some instance of each held-out bag is predicted to have: (B, C), class 0 being no label."""
    n_labels = outcome.fold.heldout.weak.values.shape[1]
    predicted = outcome.heldout_classes[:, None] == np.arange(1, n_labels + 1)
    return np.asarray(outcome.fold.heldout.bags.any(predicted))


def label_set_recall(outcome: Outcome) -> NDArray[np.float64]:
    """Rec(B(x')) of multi-class MIL: the share of the labels of its bag that are found, 1 for the empty set. (m,)."""
    heldout = outcome.fold.heldout
    sets = heldout.weak.values == 1
    wanted = sets.sum(axis=1)
    found = (found_labels(outcome) & sets).sum(axis=1)
    return heldout.bags.spread(np.where(wanted > 0, found / np.maximum(wanted, 1), 1.0))


def label_set_precision(outcome: Outcome) -> NDArray[np.bool_]:
    """Prec(x') of multi-class MIL: false for a predicted label that is not in the set of the bag. (m,) bool."""
    heldout = outcome.fold.heldout
    # Column 0 is the negative class, which every bag allows.
    allowed = np.concatenate([np.ones((heldout.bags.n_bags, 1), dtype=bool), heldout.weak.values == 1], axis=1)
    return np.asarray(allowed[heldout.bags.index, outcome.heldout_classes])
