"""Soft labels: what inference and the bag say of an instance, as shares of the classes."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.labels import LabelSpace
from bliss_framework.kernel.result import InferredLabels


def inferred_shares(inferred: InferredLabels, space: LabelSpace) -> NDArray[np.float64]:
    """Return shares (n, C) of the classes: all for the inferred class where its confidence is high.

    A confidence of twice the mean of the free instances, or more, counts in full; below that, the rest is divided among
    all candidate classes. Rewards differ in scale, so confidence scores mean something only beside each other.
    """
    free = ~inferred.known
    mean = inferred.confidence[free].mean() if free.any() else 0.0
    certainty = np.where(free, np.clip(inferred.confidence / max(2 * mean, 1e-12), 0.0, 1.0), 1.0)[:, None]
    return certainty * np.eye(space.n_classes)[inferred.classes] + (1 - certainty) * space.class_shares()


def leading(shares: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the class with the largest share (n,) and its lead over the runner-up (n,).

    >>> [part.round(2).tolist() for part in leading(np.array([[0.75, 0.25], [0.5, 0.5]]))]
    [[0, 0], [0.5, 0.0]]
    """
    ordered = np.sort(shares, axis=1)
    lead = ordered[:, -1] - ordered[:, -2] if shares.shape[1] > 1 else np.ones(len(shares))
    return shares.argmax(axis=1), lead
