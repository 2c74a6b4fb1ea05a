"""Some rows have a class, and of the others nothing is known."""

import warnings
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError, Presets, WeakLabels
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.likelihood.regime import EvidenceRegime
from bliss_weak_labels.regimes.words import classes_of, is_missing, refuse_collections

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
        evidence = np.ones((len(values), len(classes)))
        codes = [classes.index(one) for one in values if not is_missing(one)]
        evidence[known] = np.eye(len(classes))[codes]
        return WeakLabels(evidence.astype(np.int8), classes, of_rows=bags.spread(evidence))
