"""How much each held-out output moves with the label of each training instance, and rewards made of that."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_framework.extension.contracts.reward import Asking, BlockReward, Effects, RewardFunction, Total
from bliss_framework.kernel.pull import Fold, Outcome
from bliss_framework.kernel.row_view import RowView, as_rows
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.landmarks import Landmarks
from bliss_framework.primal.sums import moments, outputs

Slopes = Callable[[Outcome], NDArray[np.float64]]
Influence: TypeAlias = NDArray[np.floating] | LinearOperator

MOST_VALUES = 1 << 24  # Of a matrix that says how similar each held-out row is to each training row.
N_LANDMARKS = 200  # By which larger ones are approximated; the kernel is wide, and so has few directions.


class MarginalEffect(RewardFunction):
    """Rewards labels by their marginal effect on how well the held-out bags meet their weak labels.

        E_x(l) = sum over held-out x' of g_x'(l) k(x, x')
        R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|))

    where k(x, x') is the influence of the label of x on the output of x', and g says what an output has to do with the
    weak labels: the slope of a likelihood, or minus that of an error.

    Args:
        influence: (m, n) as `influence` returns it for a fold, a matrix or an operator.
        slopes: a function from an outcome to g: (m,) or (m, 1) for label 1 of two, which label 0 has with the opposite
            sign, or (m, L) for each label.
        gain: how soon an effect above the mean counts in full; above 0.
    """

    def __init__(self, influence: Influence, slopes: Slopes, gain: float) -> None:
        self._influence, self._slopes, self._gain = influence, slopes, gain

    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the rewards (n,) in [0, 1] of the labels of an assignment."""
        slopes = self._slopes(outcome).astype(self._influence.dtype)
        # The slopes of two labels differ in sign alone, and this product is what a pull waits for.
        effects = _transposed_product(self._influence, slopes).astype(np.float64).reshape(len(outcome.assignment), -1)
        return effect_rewards(outcome, effects, self._gain)


def influence(fold: Fold, classifier: Any) -> Influence:
    """Return the influence of training labels on held-out outputs, once for a fold.

    Args:
        fold: training part and held-out set.
        classifier: prepared for the fold, or None. Where it is linear in its labels, its `smoother` is exact.

    Returns:
        (m, n) matrix, or a `scipy.sparse.linalg.LinearOperator` where rows are many, of which time and memory grow with
        m + n. For any other classifier, exp(-|x - z|^2 / v) with v the total variance of the training rows; by way of
        landmarks, if that has too many values.
    """
    smoother = getattr(classifier, "smoother", None)
    if smoother is not None:
        return smoother if isinstance(smoother, LinearOperator) else np.asarray(smoother)
    if fold.heldout.n_rows * fold.train.n_rows > MOST_VALUES:
        return _similarity_by_landmarks(fold.heldout.rows, fold.train.rows)
    return _similarity(fold.heldout.X, fold.train.X)


def _transposed_product(influence: Influence, slopes: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the effects (n,) or (n, L) of slopes (m,) or (m, L)."""
    if isinstance(influence, LinearOperator):
        return np.asarray(influence.rmatmat(slopes.reshape(len(slopes), -1)))
    return np.asarray((slopes.T @ influence).T)


def effect_rewards(outcome: Outcome, effects: NDArray[np.float64], gain: float) -> NDArray[np.float64]:
    """Turn marginal effects into rewards: R_x(l) = 1[l = f(x)] * (1/2 + 1/2 * tanh(gain * E_x(l) / mean |E|)).

    Args:
        outcome: the assignment and what the classifier predicts.
        effects: (n, L) how much label l of instance x helps the held-out bags; below 0 where it harms them. Of two
            labels (n, 1) of label 1 will do, where label 0 has the same effect with the opposite sign.
        gain: how soon an effect above the mean counts in full.

    Returns:
        (n,) in [0, 1]. The mean |E| is over free instances and their candidate labels.
    """
    total, n = _sizes(outcome, effects)
    return _rewards_of_size(outcome, effects, total / n if n else 0.0, gain)


def _sizes(outcome: Outcome, effects: NDArray[np.float64]) -> tuple[float, int]:
    """Add up |E| over free instances and their candidate labels, and count them."""
    arms = outcome.fold.train.space.arms
    # What differs in sign alone has one size, so that of label 1 is the mean of both.
    counted = np.abs(effects[arms[:, -effects.shape[1] :]])
    return float(counted.sum()), len(counted)


def _rewards_of_size(outcome: Outcome, effects: NDArray[np.float64], size: float, gain: float) -> NDArray[np.float64]:
    if effects.shape[1] == 1:
        own = np.where(outcome.assignment == 1, effects[:, 0], -effects[:, 0])
    else:
        own = effects[np.arange(len(effects)), outcome.assignment]
    helps = np.tanh(gain * own / size) if size > 0 else np.zeros(len(own))
    return np.where(outcome.assignment == outcome.labels, 0.5 + 0.5 * helps, 0.0)


def as_columns(values: NDArray[Any]) -> NDArray[Any]:
    """Return one number or several for each row as a table: (n,) becomes (n, 1)."""
    return values[:, None] if values.ndim == 1 else values


class BlockMarginalEffect(BlockReward):
    """The marginal effect of labels where bags come in blocks; the same numbers up to rounding.

    Args:
        outputs: the held-out outputs (m,) or (m, L) of an outcome whose spread is the unit of slopes.
        slopes: as for `MarginalEffect`, of an outcome and that spread.
        gain: as there.
    """

    def __init__(
        self,
        outputs: Callable[[Outcome], NDArray[np.floating]],
        slopes: Callable[[Outcome, float], NDArray[np.float64]],
        gain: float,
    ) -> None:
        self._outputs, self._slopes, self._gain = outputs, slopes, gain

    def rewards(self, outcome: Outcome, n_heldout: int) -> Asking[NDArray[np.float64]]:
        """Ask for the spread of all held-out outputs, then for effects, then for their mean size."""
        n, sums, squares = yield Total(self._sums(outcome))
        variances = np.maximum(squares / n - np.square(sums / n), 0.0)
        effects = yield Effects(self._slopes(outcome, float(np.sqrt(variances.mean()))))
        total, n_counted = yield Total(np.array(_sizes(outcome, effects)))
        return _rewards_of_size(outcome, effects, total / n_counted if n_counted else 0.0, self._gain)

    def _sums(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the number of held-out rows, and sums of outputs and of their squares: (3, L)."""
        outputs = as_columns(np.asarray(self._outputs(outcome), dtype=np.float64))
        counts = np.full(outputs.shape[1], len(outputs), dtype=np.float64)
        return np.stack([counts, outputs.sum(axis=0), np.square(outputs).sum(axis=0)])


def _similarity_by_landmarks(rows: Rows | RowView, training: Rows | RowView) -> LinearOperator:
    landmarks = Landmarks.drawn(
        training, N_LANDMARKS, as_rows(training).gamma_by_distance(1.0), np.random.default_rng(0)
    )
    heldout, train = landmarks.features(rows), landmarks.features(training)

    def times(targets: NDArray[Any]) -> NDArray[Any]:
        return outputs(heldout, _without_constant(moments(train, targets.reshape(train.shape[0], -1))))

    def transposed(slopes: NDArray[Any]) -> NDArray[Any]:
        return outputs(train, _without_constant(moments(heldout, slopes.reshape(heldout.shape[0], -1))))

    shape = (heldout.shape[0], train.shape[0])
    return LinearOperator(
        shape, matvec=times, matmat=times, rmatvec=transposed, rmatmat=transposed, dtype=np.dtype(np.float32)
    )


def _without_constant(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    sums[-1] = 0.0
    return sums


def _similarity(X: Any, Z: Any) -> NDArray[np.float64]:
    rows, training = Rows(X), Rows(Z)
    lengths, mean = training.squared_norms(), training.column_means()
    distances = rows.products(Z) * -2.0
    distances += rows.squared_norms()[:, None]
    distances += lengths[None, :]
    variance = float(lengths.mean()) - float(mean @ mean)
    return np.exp(-np.maximum(distances, 0.0) / (variance if variance > 1e-12 else 1.0))
