"""Thresholds of scores, chosen on weak labels alone.

Instances of negative bags are known to be negative, and so are 1 - pi of the instances of positive bags. With the
distribution functions F0 of scores in negative bags, F1 in positive ones and F+ of positive instances,

    F1(t) = (1 - pi) F0(t) + pi F+(t),    so    1 - pi <= F1(t) / F0(t)  for every t.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root
from scipy.special import expit

LOWEST, N_LEVELS = 0.05, 60  # Ratios of fewer scores of negative bags are too noisy to be looked at.
RIDGE, LEAST_SLOPE = 0.1, 1e-3  # Of a logistic curve through scores of deviation 1.
CAUTION = 2.0  # Deviations that a ratio is raised by, so that noise makes no witnesses.


def best_threshold(scores: NDArray[np.float64], truth: NDArray[Any]) -> float:
    """Return the threshold that separates two classes of scores with the best accuracy.

    Several thresholds are often equally good; the one in the middle of their list is taken.

    Args:
        scores: (B,) real numbers.
        truth: (B,) 0 or 1.

    >>> best_threshold(np.array([-1.0, 0.5, 2.0, 3.0]), np.array([0, 0, 1, 1]))
    1.25
    """
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], truth[order]
    cuts = np.concatenate([[ordered[0] - 1.0], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1.0]])
    # Below cut i lie the first i scores, which are called negative.
    right = np.concatenate([[0], np.cumsum(labels == 0)]) + np.concatenate([np.cumsum((labels == 1)[::-1])[::-1], [0]])
    separating = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    right = np.where(separating, right, -1)
    best = np.flatnonzero(right == right.max())
    return float(cuts[best[len(best) // 2]])


def logistic_threshold(scores: NDArray[np.float64], truth: NDArray[Any]) -> float:
    """Return the score at which a logistic curve through two classes of scores says that both are equally likely.

        minimise over a, b:   sum over bags of log(1 + exp(-y (a z + b))) + 0.1 a^2,      y in {-1, 1}

    with z of mean 0 and deviation 1; the threshold is z = -b / a. The best threshold of a few dozen bags hangs on one
    or two of them, this one on all. Source: Platt, Probabilistic outputs for support vector machines, 1999; what it is
    worth: "Bags as wholes" in the documentation.

    Args:
        scores: (B,) real numbers.
        truth: (B,) 0 or 1. Where all are alike, or larger scores do not speak for 1, this is `best_threshold`.

    >>> round(logistic_threshold(np.array([-1.0, 0.5, 2.0, 3.0]), np.array([0, 0, 1, 1])), 2)
    1.19
    """
    # In another order the last bits of sums would be others.
    order = np.lexsort((truth, scores))
    ordered, signs = scores[order], 2.0 * truth[order] - 1.0
    largest = max(float(np.abs(scores).max()), np.finfo(np.float64).tiny)  # Squares of some scores are no numbers.
    mean, unit = (ordered / largest).mean(), (ordered / largest).std()
    if unit <= 0 or truth.min() == truth.max():
        return best_threshold(scores, truth)
    z = (ordered / largest - mean) / unit

    def loss_slopes(curve: NDArray[np.float64]) -> NDArray[np.float64]:
        slope, shift = curve
        missed = signs * expit(-signs * (slope * z + shift))
        return np.array([2.0 * RIDGE * slope - missed @ z, -missed.sum()])

    def curvature(curve: NDArray[np.float64]) -> NDArray[np.float64]:
        slope, shift = curve
        likely = expit(slope * z + shift)
        weights = likely * (1.0 - likely)
        mixed = weights @ z
        return np.array([[weights @ (z * z) + 2.0 * RIDGE, mixed], [mixed, weights.sum()]])

    # The loss is convex: it is smallest where both of its slopes are 0.
    found = root(loss_slopes, np.array([1.0, 0.0]), jac=curvature)
    slope, shift = found.x
    if not found.success or slope <= LEAST_SLOPE:
        return best_threshold(scores, truth)
    # Beyond all scores it makes no difference how far.
    return float(largest * (mean + unit * np.clip(-shift / slope, z[0] - 1.0, z[-1] + 1.0)))


def best_f1_threshold(scores: NDArray[np.float64], truth: NDArray[np.integer]) -> float:
    """Return the threshold above which scores (m,) are called 1 with the best F1 against 0 and 1 (m,).

    Where most pairs of a bag and a label are 0, the fewest errors would leave nearly all sets empty.

    >>> best_f1_threshold(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 0, 1, 0]))
    0.5
    """
    order = np.argsort(-scores, kind="stable")
    ordered, labels = scores[order], truth[order]
    claimed = np.arange(1, len(scores) + 1)
    f1 = 2 * np.cumsum(labels, dtype=np.int64) / (claimed + labels.sum(dtype=np.int64))
    separating = np.concatenate([ordered[:-1] > ordered[1:], [True]])
    best = np.flatnonzero(separating & (f1 == f1[separating].max()))
    last = int(best[len(best) // 2])
    below = ordered[last + 1] if last + 1 < len(ordered) else ordered[last] - 2.0
    return float((ordered[last] + below) / 2)


def witness_share(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """Estimate the share pi of positives among the instances of positive bags, rather too low than too high.

    The smallest upper confidence bound of F1(t) / F0(t), over t, is 1 - pi. Source: Blanchard, Lee and Scott,
    Semi-supervised novelty detection, JMLR 11 (2010), section 3; their bound is uniform, this one has a few deviations.

    Args:
        positive: (p,) scores of the instances of positive bags that had no say in them.
        negative: (q,) those of negative bags.

    >>> negatives, witnesses = np.linspace(0.0, 1.0, 700), np.full(300, 2.0)
    >>> round(witness_share(np.concatenate([negatives, witnesses]), np.linspace(0.0, 1.0, 1000)), 2)
    0.27
    """
    if len(positive) == 0:
        return 0.0
    levels = np.quantile(negative, np.linspace(LOWEST, 1.0, N_LEVELS))
    below_positive, below_negative = (_count_up_to(levels, scores) for scores in (positive, negative))
    f1, f0 = below_positive / len(positive), below_negative / len(negative)
    ratio = f1 / f0
    variance = (1.0 - f1) / np.maximum(below_positive, 1) + (1.0 - f0) / below_negative
    return float(max(0.0, 1.0 - (ratio * (1.0 + CAUTION * np.sqrt(variance))).min()))


def fewest_mistakes(
    positive: NDArray[np.float64], negative: NDArray[np.float64], known: NDArray[np.float64] | None = None
) -> float:
    """Return the threshold with the fewest expected mistakes of instances, in the middle where several are as good.

    Above a cut t lie (1 - pi) p (1 - F0) negatives of positive bags and q (1 - F0) of negative ones, all of them
    mistakes; what else lies above it in positive bags are witnesses, and those below it are mistakes too.

    Args:
        positive: (p,) scores of the instances of positive bags that had no say in them.
        negative: (q,) those of negative bags.
        known: (r,) those of instances that are positive for sure, which are none of the p.

    >>> fewest_mistakes(np.array([-1.0, -0.5, 3.0, 4.0] * 20), np.array([-1.0, -0.5] * 40))
    1.25
    """
    known = np.empty(0) if known is None else known
    distinct = np.unique(np.concatenate([positive, negative, known]))
    cuts = np.concatenate([[distinct[0] - 1.0], (distinct[1:] + distinct[:-1]) / 2, [distinct[-1] + 1.0]])
    above_positive = len(positive) - _count_up_to(cuts, positive)
    above_negative = 1.0 - _count_up_to(cuts, negative) / len(negative)
    negatives = (1.0 - witness_share(positive, negative)) * len(positive) * above_negative
    witnesses = np.maximum(above_positive - negatives, 0.0)
    above_known = len(known) - _count_up_to(cuts, known)
    gain = witnesses + above_known - negatives - len(negative) * above_negative
    best = np.flatnonzero(gain == gain.max())
    return float(cuts[best[len(best) // 2]])


def _count_up_to(levels: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Count the scores that are no larger than each level."""
    return np.searchsorted(np.sort(scores), levels, side="right")
