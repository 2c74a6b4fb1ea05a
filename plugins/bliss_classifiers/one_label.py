"""From labels to targets, and from outputs to predictions; a pull with one label predicts that label everywhere."""

from typing import Any

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


def signed_targets(assignments: NDArray[np.intp], n_labels: int) -> NDArray[np.float64]:
    """Return targets (n, P, S) of -1 and 1: one column for two labels, else one for each label."""
    if n_labels == 2:
        return 2.0 * assignments.T[:, :, None] - 1.0
    return 2.0 * (assignments.T[:, :, None] == np.arange(n_labels)) - 1.0


def from_outputs(
    train: NDArray[Any], heldout: NDArray[Any], assignments: NDArray[np.intp], n_labels: int
) -> Predictions:
    """Make predictions of outputs (P, n, S) and (P, m, S); those of pulls with one label are overwritten."""
    for p, assignment in enumerate(assignments):
        label = one_label(assignment)
        if label is not None:
            for outputs in (train, heldout):
                outputs[p] = constant_scores(label, outputs.shape[1], n_labels).reshape(outputs[p].shape)
    if n_labels == 2:
        return Predictions.from_scores(train[:, :, 0], heldout[:, :, 0])
    return Predictions.from_scores(train, heldout)
