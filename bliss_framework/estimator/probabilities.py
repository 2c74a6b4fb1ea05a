"""From scores to probabilities, by a logistic curve through scores that were made out of fold."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

RIDGE = 0.01  # Of the slope of scores of mean size 1; without one, it has no end where scores make no mistake.


def probability_slope(scores: NDArray[np.float64], classes: NDArray[np.intp]) -> float:
    """Fit a of p = 1 / (1 + exp(-a s)) to out-of-fold scores (Platt, 1999, without the shift).

        minimise over a:   sum of log(1 + exp(-a y z)) + 0.01 a^2 / 2,      y in {-1, 1}

    with z of mean size 1. Without a shift, the more probable class is the predicted one.

    Args:
        scores: (n,) for two classes, or (n, C).
        classes: (n,) inferred classes.

    Returns:
        The slope; 1 where all are of one class, or larger scores do not speak for class 1.

    >>> round(probability_slope(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 1, 0, 1])), 2)
    0.62
    """
    if scores.ndim == 2:
        classes = (classes[:, None] == np.arange(scores.shape[1])).astype(np.intp).ravel()
        scores = scores.ravel()
    largest = float(np.abs(scores).max())
    if not 0 < largest < np.inf or classes.min() == classes.max():
        return 1.0
    # Scores may be so large that their sum is no number.
    signed = np.where(classes == 1, scores, -scores) / largest
    unit = float(np.abs(signed).mean())
    margins = signed / unit

    def loss_slope(a: float) -> float:
        return RIDGE * a - float((margins * expit(-a * margins)).sum())

    if loss_slope(0.0) >= 0:
        return 1.0
    # The sizes of n margins add up to n, so at n / ridge the ridge outweighs them all.
    return float(brentq(loss_slope, 0.0, len(margins) / RIDGE)) / unit / largest


def probabilities(scores: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """Turn scores, (n,) or (n, C), into probabilities (n, C)."""
    columns = scores if scores.ndim == 2 else np.stack([np.zeros_like(scores), scores], axis=1)
    powers = np.exp(slope * (columns - columns.max(axis=1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
