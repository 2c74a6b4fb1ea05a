"""Class balance: instance weights that follow the classes of an assignment."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.labels import LabelSpace


def balance_weights(
    assignments: NDArray[np.intp], space: LabelSpace, exponent: float, weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Weight each instance by (n / count of its class)^b, all labels of one class counted together.

    Args:
        assignments: (P, n) labels.
        space: says which class each label means.
        exponent: b >= 0; 0 means no balancing.
        weights: (n,) instance weights that count inside `count` and multiply the result, or None.

    Returns:
        (P, n) weights whose mean is 1 in each row, or None where b = 0 (the weights then do not depend on labels, and
        a classifier takes them from its training part).

    >>> space = LabelSpace(np.ones((4, 2), dtype=bool), np.array([0, 1]))
    >>> balance_weights(np.array([[0, 0, 0, 1]]), space, 1.0, None).round(3).tolist()
    [[0.667, 0.667, 0.667, 2.0]]
    """
    if exponent == 0:
        return None
    base = np.ones(assignments.shape[1]) if weights is None else weights
    classes = space.class_of_label[assignments]
    counts = np.stack([((classes == c) * base).sum(axis=1) for c in range(space.n_classes)], axis=1)
    balanced = base * np.take_along_axis(base.sum() / np.maximum(counts, 1e-12), classes, axis=1) ** exponent
    return np.asarray(balanced / balanced.mean(axis=1, keepdims=True))
