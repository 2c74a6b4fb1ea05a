"""Labels, classes and candidates: which arms each instance has, and what each of them means."""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.kernel.read_only import read_only
from bliss_framework.kernel.words import positions_of


@frozen(eq=False, slots=False)
class WeakLabels:
    """The checked weak label of each bag.

    Attributes:
        values: (B, ...) one entry for each bag, in the order of the bags: 0/1 in MIL, an indicator row in multi-class
            MIL, a row of proportions in LLP.
        classes: the user's own value of each class, for instance `(0, 1)` or `("absent", "present")`.
        of_rows: (n, ...) what is weakly known of each row beyond its bag, such as a role or a confidence; or None.
        bag_classes: the user's own value of each code in `values`, where bags speak other words than their instances,
            such as `("agree", "differ")`; None where the words are `classes`.
        notes: a sentence for each thing in the weak labels that was understood but not said, such as which of two
            words means positive; a run says them.
    """

    values: NDArray[Any] = field(converter=read_only)
    classes: tuple[Any, ...] = field()
    of_rows: NDArray[Any] | None = field(default=None, converter=read_only)
    bag_classes: tuple[Any, ...] | None = field(default=None)
    notes: tuple[str, ...] = field(default=())

    @property
    def bag_words(self) -> tuple[Any, ...]:
        """The words in which bags are labelled: `bag_classes`, or `classes` where there are none of their own."""
        return self.classes if self.bag_classes is None else self.bag_classes

    def take(self, bags: NDArray[np.intp], rows: NDArray[np.intp]) -> "WeakLabels":
        """Keep some bags and some rows, in the given order.

        Args:
            bags: (b,) positions of the bags that are kept.
            rows: (r,) positions of the rows that are kept, which are those of the bags.

        >>> weak = WeakLabels(np.array([0, 1]), ("no", "yes"), of_rows=np.array([0.1, 0.2, 0.3]))
        >>> weak.take(np.array([1]), np.array([2, 1])).of_rows.tolist()
        [0.3, 0.2]
        """
        of_rows = None if self.of_rows is None else self.of_rows[rows]
        return WeakLabels(self.values[bags], self.classes, of_rows, self.bag_classes)


@frozen(eq=False, slots=False)
class LabelSpace:
    """The candidate labels of each instance, and the class that each label means.

    Attributes:
        candidates: (n, L) bool, whether label l is possible for instance x, given its bag's weak label.
        class_of_label: (L,) intp. Several labels may mean one class (multiple negative labels).

    >>> space = LabelSpace(np.array([[True, False], [True, True]]), np.array([0, 1]))
    >>> space.free.tolist(), space.known.tolist()
    ([False, True], [0, -1])
    """

    candidates: NDArray[np.bool_] = field(converter=read_only)
    class_of_label: NDArray[np.intp] = field(converter=read_only)

    @property
    def n_labels(self) -> int:
        """The number of labels L."""
        return int(self.candidates.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of classes that the labels mean."""
        return int(self.class_of_label.max()) + 1

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(n,) instances with more than one candidate: the bandit problem. The others are known."""
        return np.asarray(self.candidates.sum(axis=1) > 1)

    @cached_property
    def arms(self) -> NDArray[np.bool_]:
        """(n, L) the arms: the candidates of instances that are free."""
        return np.asarray(self.candidates & self.free[:, None])

    @cached_property
    def known(self) -> NDArray[np.intp]:
        """(n,) the only candidate of an instance, -1 where it is free."""
        return np.where(self.free, -1, self.candidates.argmax(axis=1))

    def take(self, rows: NDArray[np.intp]) -> "LabelSpace":
        """Keep some instances."""
        return LabelSpace(self.candidates[rows], self.class_of_label)

    def draw_weights(self) -> NDArray[np.float64]:
        """(n, L) chance of each candidate when a class is drawn first and then one of its labels.

        With many negative labels, a draw over labels would start almost all negative and stay there.
        """
        n_labels_of_class = np.zeros((len(self.candidates), self.n_classes))
        for label, cls in enumerate(self.class_of_label):
            n_labels_of_class[:, cls] += self.candidates[:, label]
        weights = self.candidates / np.maximum(n_labels_of_class[:, self.class_of_label], 1.0)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def class_shares(self) -> NDArray[np.float64]:
        """(n, C) the same chance for every class that is a candidate.

        >>> LabelSpace(np.array([[True, False], [True, True]]), np.array([0, 1])).class_shares().tolist()
        [[1.0, 0.0], [0.5, 0.5]]
        """
        weights = self.draw_weights()
        return np.stack([weights[:, self.class_of_label == c].sum(axis=1) for c in range(self.n_classes)], axis=1)


def class_codes(weak: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.int8]:
    """Return the position in `classes` of each weak label (B,), in any spelling: "1" and True stand for 1.

    Raises:
        DataError: if a weak label is none of the classes.
    """
    values = weak.tolist()
    distinct = list(dict.fromkeys(values))
    found = positions_of(distinct, classes)
    if found is None:
        unknown = [value for value in distinct if positions_of([value], classes) is None] or distinct
        raise DataError(f"y has the weak label {unknown[0]!r}, which was not there in training: {list(classes)}.")
    return np.array([found[value] for value in values], dtype=np.int8)


def class_indicators(weak: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.int8]:
    """Return a matrix (B, C) of 0 and 1: whether each class is in the set that is the weak label (B,) of a bag.

    Raises:
        DataError: if a set holds what is none of the classes.

    >>> sets = np.array([{"cat", "dog"}, {"dog"}], dtype=object)
    >>> class_indicators(sets, ("cat", "dog")).tolist()
    [[1, 1], [0, 1]]
    """
    unknown = [value for possible in weak for value in possible if value not in classes]
    if unknown:
        raise DataError(f"y has the weak label {unknown[0]!r}, which was not there in training: {list(classes)}.")
    return np.array([[value in possible for value in classes] for possible in weak], dtype=np.int8)
