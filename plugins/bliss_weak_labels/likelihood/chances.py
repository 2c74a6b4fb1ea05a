"""Chances of the classes out of classifier outputs, and slopes in the one out of slopes in the other."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

LEAST_SPREAD = 1e-12


def class_chances(outputs: NDArray[np.floating], steepness: float, spread: float | None = None) -> NDArray[np.float64]:
    """Turn outputs into chances of the classes: s = softmax(steepness / 2 * z / std z).

    Args:
        outputs: (m, 1) decision values of class 1, or (m, C).
        steepness: of the curve, in standard deviations of the output.
        spread: that standard deviation, where there are outputs beside these; None for that of these.

    Returns:
        (m, C); each row sums to 1.

    >>> class_chances(np.array([[-1.0], [1.0]]), 2.0).round(3).tolist()
    [[0.881, 0.119], [0.119, 0.881]]
    """
    columns = both_columns(np.asarray(outputs, dtype=np.float64))
    spread = float(np.sqrt(columns.var(axis=0).mean())) if spread is None else spread
    steep = steepness / 2 * columns / spread if spread > LEAST_SPREAD else np.zeros_like(columns)
    return np.asarray(softmax(steep, axis=1))


def both_columns(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each class an output: decision values (m, 1) of class 1 become (m, 2)."""
    return np.concatenate([-outputs, outputs], axis=1) if outputs.shape[1] == 1 else outputs


def slopes_in_outputs(chances: NDArray[np.float64], slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn slopes of a loss in chances into slopes in outputs, up to a factor: g_c = s_c (h_c - sum_j s_j h_j).

    Args:
        chances: s (m, C), of a softmax.
        slopes: h (m, C) in each chance.

    Returns:
        (m, C); each row sums to 0.

    >>> slopes_in_outputs(np.array([[0.5, 0.5]]), np.array([[0.0, 2.0]])).tolist()
    [[-0.5, 0.5]]
    """
    return np.asarray(chances * (slopes - (chances * slopes).sum(axis=1, keepdims=True)))
