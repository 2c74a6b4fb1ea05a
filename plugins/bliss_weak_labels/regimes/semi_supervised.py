"""Some rows have a class, and of the others nothing is known."""

import warnings
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError, Presets, WeakLabels, class_indicators
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedRegime, rate
from bliss_weak_labels.regimes.words import classes_of, is_missing, objects, refuse_collections

WANTED = "a row has one class, or None where it is not known"
NONE_MISSING = (
    "Every row has a class, so nothing is left to infer; write None where a class is not known. Where classes may be "
    'wrong, use regime="noisy-labels".'
)


@frozen
class SemiSupervised(EstimatedRegime):
    """A row has its class, or None (NaN, an empty cell) where it is not known."""

    empty_labels: ClassVar[bool] = True
    presets: ClassVar[Presets] = presets_with("self-training")

    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Return the share of rows of known class, which have one of (B, C), that are right; 1 without any."""
        right = known[np.arange(len(predicted)), predicted] > 0
        return rate(right, known.sum(axis=1) == 1, 1.0)

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Tell rows with a class from those without."""
        refuse_collections(weak, bags, WANTED)
        values = weak.tolist()
        known = np.array([not is_missing(one) for one in values])
        if not known.any():
            raise DataError(f"None of {len(values)} rows has a class; {WANTED}.")
        if known.all():
            warnings.warn(NONE_MISSING, BlissWarning, stacklevel=2)
        classes = classes_of([one for one in values if not is_missing(one)], "The rows that have a class")
        possible = _possible(values, classes)
        return WeakLabels(possible, classes, of_rows=bags.spread(possible.astype(float)))

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read classes of training, and rows without one."""
        return WeakLabels(_possible(weak.tolist(), classes), classes)


def _possible(values: list[Any], classes: tuple[Any, ...]) -> NDArray[np.int8]:
    """Mark the classes (B, C) that each row may have: its own, or all."""
    return class_indicators(objects([classes if is_missing(one) else (one,) for one in values]), classes)
