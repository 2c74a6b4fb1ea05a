"""The reward of all weak labels that have a likelihood: does a label move held-out rows to where these are likely?"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Asking,
    BlockMarginalEffect,
    BlockReward,
    Fold,
    MarginalEffect,
    Outcome,
    Reward,
    RewardFunction,
    SettingsError,
    Total,
    influence,
    positive,
)
from bliss_weak_labels.likelihood.chances import class_chances, slopes_in_outputs


@frozen
class LikelihoodReward(Reward):
    """Reward labels by their marginal effect on the log-likelihood of held-out weak labels.

    With held-out outputs z, chances s = softmax(steepness / 2 * z / std z), and the log-likelihood L of weak labels,

        h_c    = dL / ds_c
        g_c    = s_c (h_c - sum_j s_j h_j)
        E_x(c) = sum over held-out x' of g_c(x') k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|))

    where k(x, x') is the influence of the label of x on the output of x'. The regime has a method
    `slopes(chances, part) -> h`, and where it needs sums over all held-out rows another one, `totals(classes, part)`,
    which `slopes` is given then; all else is the same for every kind of weak label, as in the imprecise-label EM of
    Chen et al., A general framework for learning from weak supervision, ICML 2024.

    Args:
        steepness: of the softmax, in standard deviations of the output; above 0.
        gain: how soon a marginal effect above the mean counts in full; above 0.
    """

    steepness: float = field(default=2.0, validator=positive)
    gain: float = field(default=0.7, validator=positive)

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Find out once how far each training label moves each held-out output."""
        _check_regime(fold.regime)
        return MarginalEffect(influence(fold, classifier), self.slopes, self.gain)

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return LikelihoodInBlocks(self)

    def slopes(self, outcome: Outcome, spread: float | None = None, totals: Any = None) -> NDArray[np.float64]:
        """Return the slope in each held-out output: (m, 1) for two classes, else (m, C).

        Args:
            outcome: what the classifier says of the held-out rows, or of a block of them.
            spread: the deviation of all held-out outputs; None for that of these.
            totals: the sum over all blocks of what the regime's `totals` returns; None for that of these.
        """
        regime, heldout = outcome.fold.regime, outcome.fold.heldout
        chances = class_chances(_outputs(outcome), self.steepness, spread)
        known = _totals(outcome) if totals is None else (totals,)
        slopes = slopes_in_outputs(chances, regime.slopes(chances, heldout, *known))
        return slopes[:, 1:] if slopes.shape[1] == 2 else slopes


class LikelihoodInBlocks(BlockReward):
    """The same reward where bags come in blocks."""

    def __init__(self, reward: LikelihoodReward) -> None:
        self._reward = reward

    def rewards(self, outcome: Outcome, n_heldout: int) -> Asking[NDArray[np.float64]]:
        """Ask for what the regime sums over all rows, then as a marginal effect does."""
        _check_regime(outcome.fold.regime)
        own, totals = _totals(outcome), None
        if own:
            totals = yield Total(own[0])

        def slopes(block: Outcome, spread: float) -> NDArray[np.float64]:
            return self._reward.slopes(block, spread, totals)

        return (yield from BlockMarginalEffect(_outputs, slopes, self._reward.gain).rewards(outcome, n_heldout))


def _check_regime(regime: Any) -> None:
    if not hasattr(regime, "slopes"):
        raise SettingsError(
            f'The reward "weak-likelihood" asks its regime for slopes(chances, part), which '
            f"{type(regime).__name__} has not; use a reward made for this regime."
        )


def _totals(outcome: Outcome) -> tuple[Any, ...]:
    """Return what the regime sums over held-out rows; nothing where it sums nothing."""
    totals = getattr(outcome.fold.regime, "totals", None)
    return () if totals is None else (totals(outcome.heldout_classes, outcome.fold.heldout),)


def _outputs(outcome: Outcome) -> NDArray[np.floating]:
    return outcome.heldout_scores
