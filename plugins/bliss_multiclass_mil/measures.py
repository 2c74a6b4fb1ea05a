"""How well predicted label sets agree with those of bags, and the threshold with the best agreement."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score


def set_measures(predicted: NDArray[np.integer], truth: NDArray[np.integer]) -> dict[str, float]:
    """Compare predicted label sets with the true ones over all pairs of a bag and a label; larger is better.

    Args:
        predicted: (B, C) of 0 and 1.
        truth: (B, C) of 0 and 1.

    Returns:
        F1, precision (1 where nothing is predicted), recall (1 where there is nothing to find), and the share of pairs
        that are right, which is 1 less the Hamming loss.

    >>> set_measures(np.array([[1, 1], [0, 0]]), np.array([[1, 0], [0, 1]]))["label_set_hamming"]
    0.5
    """
    found, claimed, there = (int(part.sum()) for part in ((predicted == 1) & (truth == 1), predicted, truth))
    return {
        "label_set_f1": 2 * found / (claimed + there) if claimed + there else 1.0,
        "label_set_precision": found / claimed if claimed else 1.0,
        "label_set_recall": found / there if there else 1.0,
        "label_set_hamming": float((predicted == truth).mean()),
    }


def average_precisions(scores: NDArray[np.float64], truth: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the average precision (C,) of each label when bags are ranked by its scores; NaN where no bag has it."""
    pairs = zip(scores.T, truth.T, strict=True)
    return np.array([average_precision_score(own, one) if own.any() else np.nan for one, own in pairs])


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


def best_threshold(scores: NDArray[np.float64], truth: NDArray[np.integer]) -> float:
    """Return the threshold that separates scores (m,) of 0 and 1 (m,) with the fewest errors.

    Several thresholds are often equally good; the one in the middle of their list is taken.

    >>> best_threshold(np.array([-1.0, 0.5, 2.0, 3.0]), np.array([0, 0, 1, 1]))
    1.25
    """
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], truth[order]
    cuts = np.concatenate([[ordered[0] - 1.0], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1.0]])
    # Below cut i lie the first i scores, which are called 0.
    right = np.concatenate([[0], np.cumsum(labels == 0)]) + np.concatenate([np.cumsum((labels == 1)[::-1])[::-1], [0]])
    separating = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    right = np.where(separating, right, -1)
    best = np.flatnonzero(right == right.max())
    return float(cuts[best[len(best) // 2]])
