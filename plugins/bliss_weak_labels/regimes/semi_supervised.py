"""Some rows have a class, and of the others nothing is known."""

import warnings
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BagReading, Bags, BlissWarning, DataError, Presets, WeakLabels, class_indicators
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.likelihood.regime import EvidenceRegime
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedAccuracy, rate
from bliss_weak_labels.regimes.words import classes_of, is_missing, objects, refuse_collections

WANTED = "a row has one class, or None where it is not known"
NONE_MISSING = (
    "Every row has a class, so nothing is left to infer; write None where a class is not known. Where classes may be "
    'wrong, use regime="noisy-labels".'
)


@frozen
class SemiSupervised(EvidenceRegime):
    """A row has its class, or None (NaN, an empty cell) where it is not known."""

    empty_labels: ClassVar[bool] = True
    presets: ClassVar[Presets] = presets_with("self-training")

    @property
    def reading(self) -> BagReading:
        """A row is of one class; see `accuracy_of_known`."""
        return EstimatedAccuracy(accuracy_of_known)

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


def accuracy_of_known(predicted: NDArray[Any], possible: NDArray[Any], _: int) -> float:
    """Return the share of rows of known class that are predicted right; 1 where none is known.

    Args:
        predicted: (B,) classes.
        possible: (B, C), of which a row of known class has one.
    """
    known = possible.sum(axis=1) == 1
    right = possible[np.arange(len(predicted)), predicted] > 0
    return rate(right, known, 1.0)
