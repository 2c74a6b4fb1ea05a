"""How well scores rank bags or instances: the area under the ROC curve and the average precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import DataError


def roc_auc(truth: NDArray[Any], scores: NDArray[Any], weights: NDArray[np.float64] | None = None) -> float:
    """Return the chance that a positive scores higher than a negative, a tie counting half (Mann and Whitney, 1947).

    Args:
        truth: (m,) 1 for positives, anything else for negatives; both are there.
        scores: (m,) larger where a positive is likelier.
        weights: (m,) how much each counts, or None where all count alike.

    Raises:
        DataError: a score is no number.

    >>> roc_auc(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    positive, every = _by_score(truth, scores, weights)
    negative = every - positive
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below / (positive.sum() * negative.sum()))


def average_precision(truth: NDArray[Any], scores: NDArray[Any], weights: NDArray[np.float64] | None = None) -> float:
    """Return the precision down to each positive, averaged over positives; those of equal score come together.

    Arguments and errors are those of `roc_auc`; there is a positive.

    >>> average_precision(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.3, 0.8]))
    1.0
    """
    positive, every = (counts[::-1] for counts in _by_score(truth, scores, weights))
    precision = np.cumsum(positive) / np.maximum(np.cumsum(every), np.finfo(np.float64).tiny)
    return float(positive @ precision / positive.sum())


def _by_score(
    truth: NDArray[Any], scores: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of the positives at each distinct score, lowest first, and that of all."""
    scores = np.asarray(scores, dtype=np.float64)
    if np.isnan(scores).any():
        raise DataError("Some scores are NaN, so they rank nothing; whatever made them must give a number for each.")
    levels, level = np.unique(scores, return_inverse=True)
    own = np.ones(len(scores)) if weights is None else weights
    positive, every = (np.bincount(level, of, minlength=len(levels)) for of in (own * (truth == 1), own))
    return np.asarray(positive, dtype=np.float64), np.asarray(every, dtype=np.float64)
