"""What scikit-learn classifiers do with classes and weights, before and after what is computed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

FLOATS = [np.float64, np.float32]  # Types in which rows are taken as they are.


def positions_of_classes(estimator: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes (C,), at least two, and the position of each label among them, (n,)."""
    check_classification_targets(y)
    classes, positions = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{type(estimator).__name__} needs two classes or more; y has 1 class, {classes[0]!r}.")
    return classes, positions


def row_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return weights (n,), or None where none are given; ValueError where all of them are 0."""
    if sample_weight is None:
        return None
    weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n)
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return weights


def best_class(classes: NDArray[Any], scores: NDArray[np.floating]) -> NDArray[Any]:
    """Return the class of the largest score (n, C), or of the sign of a score (n,)."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]
