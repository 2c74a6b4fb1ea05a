"""Pulls with one label only: the prediction is that label everywhere, whatever the classifier would do."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Predictions


def one_label(assignment: NDArray[np.intp]) -> int | None:
    """Return the only label of an assignment (n,), or None if there are several."""
    return int(assignment[0]) if (assignment == assignment[0]).all() else None


def constant_scores(label: int, n: int, n_labels: int) -> NDArray[np.float64]:
    """Return scores that say `label` for n rows: (n,) of -1 or 1 for two labels, else (n, L) of 0 and 1."""
    if n_labels == 2:
        return np.full(n, 2.0 * label - 1.0)
    scores = np.zeros((n, n_labels))
    scores[:, label] = 1.0
    return scores


def from_pairs(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> Predictions:
    """Stack the (training, held-out) scores of each pull into predictions."""
    return Predictions.from_scores(np.stack([t for t, _ in pairs]), np.stack([h for _, h in pairs]))
