"""The multi-class MIL regime: a bag holds an instance of each label of its set, and negatives beside them."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BagHead,
    Bags,
    LabelSetReading,
    LabelSpace,
    Part,
    Presets,
    Regime,
    WeakLabels,
    at_least,
    one_of,
)
from bliss_multiclass_mil.bag_head.label_stack import LabelStack
from bliss_multiclass_mil.regime.presets import presets_for
from bliss_multiclass_mil.regime.relabelling import every_label_kept
from bliss_multiclass_mil.regime.weak_label_sets import (
    LabelSetForm,
    check_known_label_sets,
    check_label_sets,
    is_text,
    label_names_of,
)

COMMON = 10  # A label set that fewer bags have is no stratum of its own: some folds would go without.


@frozen
class MultiClassMilRegime(Regime):
    """Multi-class MIL (paper, "Multi-Class MIL").

    Every label of a bag's set is the label of some instance of the bag; all others are negative. Class 0 is the
    negative class, classes 1 .. C are the labels, and weak labels are rows (B, C) of 0 and 1 without class 0.

    Args:
        negative_label: what instances without a label are called.
        n_negative: negative labels (arms) that all mean the negative class, so that each can stand for one mode of it.
        separator: between the labels of a set that is written as text, such as "cat;dog".
        label_names: all labels, in the order of their classes or of the columns of a matrix; None takes those that
            occur, and 1 .. C for a matrix.
        assignments: "free" lets a label assignment leave out a label of a bag (the paper); with "every-label" each
            label of a bag has an instance in every assignment, the one whose bound falls short least.
        classes: the same as label_names, as the regime "llp" calls them; it comes first where both are given.
        bag_head: what reads bags: "none" is instance scores alone, "stack" weighs these and networks of gated
            attention, and is the default where settings are chosen; "network" is the networks alone; see `LabelStack`.
    """

    reading: ClassVar[LabelSetReading] = LabelSetReading()
    reading_parameters: ClassVar[tuple[str, ...]] = ("bag_head",)

    negative_label: Any = field(default="negative")
    n_negative: int = field(default=1, validator=at_least(1))
    separator: str = field(default=";", validator=is_text)
    label_names: tuple[Any, ...] | None = field(default=None, converter=label_names_of)
    assignments: str = field(default="free", validator=one_of("free", "every-label"))
    classes: tuple[Any, ...] | None = field(default=None, converter=label_names_of)
    bag_head: str = field(default="none", validator=one_of("none", "stack", "network"))

    @property
    def head(self) -> BagHead | None:
        """The stack, or the networks alone."""
        return None if self.bag_head == "none" else LabelStack(self.bag_head)

    @property
    def label_columns(self) -> tuple[Any, ...] | None:
        """The names of the labels, where they are given."""
        return self.label_names if self.classes is None else self.classes

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read the label sets, and refuse those that tell nothing."""
        return check_label_sets(weak, bags, self._form)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read the label sets of test bags, and refuse labels that were not there in training."""
        return check_known_label_sets(weak, bags, self._form, classes)

    @property
    def _form(self) -> LabelSetForm:
        return LabelSetForm(self.negative_label, self.separator, self.label_columns)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Give instances the negative labels, first, and those of their bag's set.

        A bag with as many labels as instances, or more, has no room for negatives.
        """
        full = bags.spread(weak.values.sum(axis=1) >= bags.sizes)
        negative = np.repeat(~full[:, None], self.n_negative, axis=1)
        n_labels = weak.values.shape[1]
        class_of_label = np.concatenate([np.zeros(self.n_negative, dtype=np.intp), np.arange(1, n_labels + 1)])
        return LabelSpace(np.concatenate([negative, bags.spread(weak.values == 1)], axis=1), class_of_label)

    def constraint(self) -> Callable[[NDArray[np.float64], Part], NDArray[np.intp]] | None:
        """Keep every label of a bag in each assignment, where that is asked for."""
        return every_label_kept if self.assignments == "every-label" else None

    @property
    def presets(self) -> Presets:
        """What did best on handwritten digits in bags; see `presets_for`."""
        return presets_for(self.n_negative)

    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Stratify by label set; rare sets by their rarest label, and what is still rare together."""
        if weak.values.shape[1] == 1:
            return weak.values[:, 0].astype(np.intp)
        return grouped_sets(weak.values)


def grouped_sets(sets: NDArray[np.integer]) -> NDArray[np.intp]:
    """Number label sets (B, C) as strata (B,), so that each stratum has COMMON bags if that many can be put together.

    >>> grouped_sets(np.repeat([[0, 0], [1, 0], [1, 1]], [10, 12, 2], axis=0)).tolist() == [0] * 10 + [1] * 14
    True
    """
    distinct, positions, counts = np.unique(sets, axis=0, return_inverse=True, return_counts=True)
    key = positions.ravel()  # numpy 2.0.0 returns a column here.
    of_label = np.where(sets > 0, sets.sum(axis=0), len(sets) + 1)
    rarest = np.where(sets.any(axis=1), of_label.argmin(axis=1), sets.shape[1])
    key = np.where(counts[key] >= COMMON, key, len(distinct) + rarest)
    key = _merged(key, int(key.max()) + 1)
    key = _merged(key, int(np.bincount(key).argmax()))
    return np.unique(key, return_inverse=True)[1].astype(np.intp)


def _merged(key: NDArray[np.intp], into: int) -> NDArray[np.intp]:
    """Give bags of groups that are too small the key `into`."""
    return np.where(np.bincount(key)[key] >= COMMON, key, into)
