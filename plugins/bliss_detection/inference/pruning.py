"""The paper's first step: a multi-class inference rules out boxes, and splits an image by the labels of its boxes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_detection.features.described_boxes import Described
from bliss_framework import infer_labels

SETTINGS: dict[str, Any] = {
    "classifier": {"name": "cooperative-softmax", "max_iter": 100},
    "reward": {"name": "multiclass-mil", "alpha": 0.7},
    "class_balance": 0.5,
    "n_rounds": 20,
    "n_folds": 3,
    "train_on": "one",
    "n_inferences": 1,
    "n_neighbors": 50,
    "scaling": "none",
}


def pruned(described: Described, seed: int, say: Callable[[str], None]) -> NDArray[np.bool_]:
    """Say which boxes may be positive for each class, (N, C): those of an image with it that were inferred to be it.

    Where none of an image's boxes was inferred to be of a class that the image shows, all of them stay.
    """
    say("multi-class inference")
    photos, image = described.photos, described.image
    rows = np.flatnonzero(photos.train[image])
    sets = [tuple(name for name, label in zip(photos.classes, own, strict=True) if label == 1) for own in photos.labels]
    weak = np.empty(len(rows), dtype=object)
    weak[:] = [sets[i] for i in image[rows]]
    regime = {"name": "multiclass-mil", "label_names": list(photos.classes), "assignments": "free"}
    found = infer_labels(described.X[rows], weak, image[rows], regime=regime, random_state=seed, **SETTINGS)
    allowed = np.zeros((len(image), len(photos.classes)), dtype=bool)
    for column in range(len(photos.classes)):
        # Class 0 of the regime is the background.
        allowed[rows, column] = found.classes == column + 1
    for i in np.flatnonzero(photos.train).tolist():
        own = described.of(i)
        missing = (photos.labels[i] == 1) & ~allowed[own].any(axis=0)
        allowed[own] |= missing
    return allowed
