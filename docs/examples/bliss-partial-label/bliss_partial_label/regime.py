"""The regime: weak labels are sets of classes, one set for each instance."""

import numpy as np
from attrs import frozen

from bliss_framework.plugin import (
    Bags,
    ClassReading,
    DataError,
    LabelSpace,
    Presets,
    Regime,
    WeakLabels,
    class_indicators,
)


@frozen
class PartialLabelRegime(Regime):
    """Partial-label learning (Cour, Sapp and Taskar, JMLR 2011): the right label is one of a set.

    Pass `bags=None`, and as `y` one set, list or tuple of class names for each instance.
    """

    presets = Presets(defaults={"reward": "partial-label"})
    reading = ClassReading()
    rows_are_bags = True

    def check(self, weak: np.ndarray, bags: Bags) -> WeakLabels:
        """Turn sets into an indicator matrix (B, C)."""
        for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
            if not isinstance(value, set | frozenset | list | tuple) or len(value) == 0:
                raise DataError(f"Bag {bag} has the weak label {value!r}; give it a set of at least one class.")
        classes = tuple(sorted(set().union(*weak.tolist()), key=lambda value: (str(type(value)), value)))
        if len(classes) < 2:
            raise DataError(f"All sets hold the one class {list(classes)}; at least two classes are needed.")
        return WeakLabels(class_indicators(weak, classes), classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Give each instance the classes of its set as candidates."""
        return LabelSpace(bags.spread(weak.values) > 0, np.arange(weak.values.shape[1]))
