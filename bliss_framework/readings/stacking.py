"""A stack: non-negative weights of several bag scores, drawn to equal ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

PULL = 1.0


def stack_weights(scores: NDArray[np.float64], weak: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights w (h,) >= 0 of h scores; few bags cannot say much, so they are drawn to 1 / h each.

        minimise over w, b:   sum over bags of log(1 + exp(-y (w.a + b))) + h sum over scores of (w_h - 1/h)^2

    Args:
        scores: (B, h) out-of-fold scores a, each of mean 0 and deviation 1.
        weak: (B,) of 0 and 1; y is -1 and 1.

    >>> weak = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = np.stack([weak * 2.0 - 1.0, np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])], axis=1)
    >>> first, second = stack_weights(scores, weak)
    >>> bool(first > second)
    True
    """
    n, signs = scores.shape[1], 2.0 * weak - 1.0

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (scores @ values[:n] + values[n])
        missed, away = signs * expit(-margins), values[:n] - 1.0 / n
        slopes = np.append(-scores.T @ missed + 2.0 * PULL * n * away, -missed.sum())
        return float(np.logaddexp(0.0, -margins).sum() + PULL * n * (away @ away)), slopes

    start, limits = np.append(np.full(n, 1.0 / n), 0.0), [(0.0, None)] * n + [(None, None)]
    return np.asarray(minimize(loss, start, jac=True, bounds=limits, method="L-BFGS-B").x[:n])


def centred_stack(scores: NDArray[np.float64], weak: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weigh scores of any mean and deviation: return weights (h,) and means (h,), for sums of w_h (a_h - mean_h).

    Args:
        scores: (B, h) out-of-fold scores.
        weak: (B,) of 0 and 1.

    >>> scores = np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0], [7.0, 7.0]])
    >>> weights, means = centred_stack(scores, np.array([0, 0, 1, 1]))
    >>> means.tolist(), bool(weights[0] > 0)
    ([4.0, 7.0], True)
    """
    means, units = scores.mean(axis=0), np.where(scores.std(axis=0) > 0, scores.std(axis=0), 1.0)
    return stack_weights((scores - means) / units, weak) / units, means
