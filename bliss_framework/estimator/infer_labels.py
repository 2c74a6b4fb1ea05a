"""Label inference alone: Algorithm 1 on K folds, and nothing trained on what it finds."""

from typing import Any

import numpy as np

from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.kernel.events import Emit, silent
from bliss_framework.kernel.result import InferredLabels


def infer_labels(X: Any, y: Any, bags: Any = None, *, emit: Emit = silent, **parameters: Any) -> InferredLabels:
    """Infer the labels of weakly labelled instances (Algorithm 1 on K folds), and train nothing on them.

    Args:
        X, y, bags: as in `BlissClassifier.fit`.
        emit: is told of folds and rounds.
        **parameters: of `BlissClassifier`; those of the final classifier are not looked at.

    Returns:
        Labels, confidence and mean rewards in the caller's row order.

    Raises:
        BlissError: as `BlissClassifier.fit` does.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.arange(20) % 2
    >>> X[::3] += 6.0 * y[:, None]
    >>> found = infer_labels(X, y, np.repeat(np.arange(20), 3), n_rounds=20, random_state=0)
    >>> found.classes[:6].tolist()
    [0, 0, 0, 1, 0, 0]
    """
    found, order = BlissClassifier(**parameters).infer(X, y, bags, emit)
    return found.inferred.take(np.argsort(order))
