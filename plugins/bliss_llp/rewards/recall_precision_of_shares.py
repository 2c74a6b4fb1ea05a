"""The recall/precision reward of LLP: how well predicted shares meet the known ones near each instance."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Bags,
    BlockRecallPrecision,
    BlockReward,
    Fold,
    Outcome,
    Part,
    Reward,
    RewardFunction,
    alpha_diagnostic,
    between,
    recall_precision_rewards,
)
from bliss_llp.regime.counts import reachable_shares

OF, LOWER = "shares", 0.0  # What a diagnostic says is recalled, and an alpha that it tells to try.


@frozen
class LlpReward(Reward):
    """Reward labels whose classifier meets the shares of the bags nearby (the form of the paper's MIL reward).

        R_x   = 1[pi(x) = f(x)] * R~_x
        R~_x  = gamma * mean_N Rec(B(x')) + (1 - gamma) * 1[mean_N Rec(B(x')) >= alpha] * mean_N Prec(x')

    With p_l the share of label l in a bag and q_l the share of its instances that are predicted to have it, Rec(B) is
    the mean of min(1, q_l / p_l) over labels with p_l > 0, and Prec(x') = min(1, p_l / q_l) for the label l = f(x').
    N(x) are the k nearest held-out instances in classifier output. Shares are those that the size of the bag can
    reach, so that a bag whose counts are met has recall and precision 1. In a bag with one positive instance the term
    of class 1 in Rec is the recall of MIL, and in a bag without any Prec of a predicted positive is 0 as in MIL.

    Args:
        gamma: balances recall against precision, in [0, 1].
        alpha: mean recall from which on precision counts, in [0, 1].
    """

    gamma: float = field(default=0.5, validator=between(0.0, 1.0))
    alpha: float = field(default=0.0, validator=between(0.0, 1.0))

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Round the shares of the held-out bags once."""
        return _OnFold(self, _reachable(fold.heldout))

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return BlockRecallPrecision(_judged, self.gamma, self.alpha, OF, LOWER)


class _OnFold(RewardFunction):
    def __init__(self, reward: LlpReward, shares: NDArray[np.float64]) -> None:
        self._reward, self._shares = reward, shares

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        judged = _recall_precision(outcome, self._shares)
        return recall_precision_rewards(outcome, *judged, self._reward.gamma, self._reward.alpha)

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say when no neighbourhood reaches alpha: every label then earns at most gamma."""
        met = recall(outcome.heldout_classes, outcome.fold.heldout.bags, self._shares)
        return alpha_diagnostic(outcome, met, self._reward.alpha, of=OF, lower=LOWER)


def _reachable(part: Part) -> NDArray[np.float64]:
    return reachable_shares(part.weak.values, part.bags.sizes)


def _judged(outcome: Outcome) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _recall_precision(outcome, _reachable(outcome.fold.heldout))


def _recall_precision(outcome: Outcome, shares: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    bags, predicted = outcome.fold.heldout.bags, outcome.heldout_classes
    return recall(predicted, bags, shares), precision(predicted, bags, shares)


def _predicted(classes: NDArray[np.intp], bags: Bags, n_classes: int) -> NDArray[np.float64]:
    return bags.mean(classes[:, None] == np.arange(n_classes))


def recall(classes: NDArray[np.intp], bags: Bags, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rec(B(x')) of each instance: predicted classes (m,), their bags, shares (B, C) -> (m,)."""
    found = _predicted(classes, bags, shares.shape[1])
    wanted = shares > 0
    met = np.minimum(1.0, found / np.where(wanted, shares, 1.0))
    return bags.spread((met * wanted).sum(axis=1) / wanted.sum(axis=1))


def precision(classes: NDArray[np.intp], bags: Bags, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prec(x') of each instance: predicted classes (m,), their bags, shares (B, C) -> (m,)."""
    found = _predicted(classes, bags, shares.shape[1])
    own = bags.index, classes
    return np.asarray(np.minimum(1.0, shares[own] / found[own]))
