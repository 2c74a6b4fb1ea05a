"""How much each held-out output moves with the label of each training instance, and rewards made of that."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts.reward import RewardFunction
from bliss_framework.kernel.pull import Fold, Outcome
from bliss_framework.kernel.rows import Rows

Slopes = Callable[[Outcome], NDArray[np.float64]]


class MarginalEffect(RewardFunction):
    """Rewards labels by their marginal effect on how well the held-out bags meet their weak labels.

        E_x(l) = sum over held-out x' of g_x'(l) k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|))

    where k(x, x') is the influence of the label of x on the output of x', and g says what an output has to do with the
    weak labels: the slope of a likelihood, or minus that of an error.

    Args:
        influence: (m, n) as `influence` returns it for a fold.
        slopes: a function from an outcome to g: (m,) or (m, 1) for label 1 of two, which label 0 has with the opposite
            sign, or (m, L) for each label.
        gain: how soon an effect above the mean counts in full; above 0.
    """

    def __init__(self, influence: NDArray[np.floating], slopes: Slopes, gain: float) -> None:
        self._influence, self._slopes, self._gain = influence, slopes, gain

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the rewards (n,) in [0, 1] of the labels of an assignment."""
        slopes = self._slopes(outcome).T.astype(self._influence.dtype)
        # The slopes of two labels differ in sign alone, and this product is what a pull waits for.
        effects = (slopes @ self._influence).T.astype(np.float64).reshape(self._influence.shape[1], -1)
        if effects.shape[1] == 1:
            effects = np.concatenate([-effects, effects], axis=1)
        return effect_rewards(outcome, effects, self._gain)


def influence(fold: Fold, classifier: Any) -> NDArray[np.floating]:
    """Return the influence of training labels on held-out outputs, once for a fold.

    Args:
        fold: training part and held-out set.
        classifier: prepared for the fold, or None. Where it is linear in its labels, its `smoother` is exact.

    Returns:
        (m, n). For any other classifier, exp(-|x - z|^2 / v) with v the total variance of the training rows.
    """
    smoother = getattr(classifier, "smoother", None)
    if smoother is not None:
        return np.asarray(smoother)
    return _similarity(fold.heldout.X, fold.train.X)


def effect_rewards(outcome: Outcome, effects: NDArray[np.float64], gain: float) -> NDArray[np.float64]:
    """Turn marginal effects into rewards: R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|)).

    Args:
        outcome: the assignment and what the classifier predicts.
        effects: (n, L) how much label l of instance x helps the held-out bags; below 0 where it harms them.
        gain: how soon an effect above the mean counts in full.

    Returns:
        (n,) in [0, 1]. The mean |E| is over free instances and their candidate labels.
    """
    space = outcome.fold.train.space
    counted = np.abs(effects[space.arms])
    size = counted.sum() / len(counted) if len(counted) else 0.0
    own = effects[np.arange(len(effects)), outcome.assignment]
    helps = np.tanh(gain * own / size) if size > 0 else np.zeros(len(own))
    return np.where(outcome.assignment == outcome.labels, 0.5 + 0.5 * helps, 0.0)


def _similarity(X: Any, Z: Any) -> NDArray[np.float64]:
    rows, training = Rows(X), Rows(Z)
    lengths, mean = training.squared_norms(), training.column_means()
    distances = rows.products(Z) * -2.0
    distances += rows.squared_norms()[:, None]
    distances += lengths[None, :]
    variance = float(lengths.mean()) - float(mean @ mean)
    return np.exp(-np.maximum(distances, 0.0) / (variance if variance > 1e-12 else 1.0))
