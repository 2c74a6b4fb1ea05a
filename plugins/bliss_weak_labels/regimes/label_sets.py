"""Sets of classes: one of them is right (partial labels), or none of them is (complementary labels)."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, WeakLabels, class_indicators
from bliss_weak_labels.likelihood.regime import EvidenceRegime
from bliss_weak_labels.regimes.words import COLLECTIONS, classes_of, refuse_missing


@frozen
class PartialLabels(EvidenceRegime):
    """Each row comes with a set of classes, one of which is right (Cour, Sapp and Taskar, JMLR 2011)."""

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Turn sets, lists or single classes, or a matrix of 0 and 1, into indicators."""
        values, classes = _indicators(weak, bags, "the classes that are possible")
        return WeakLabels(values, classes, of_rows=bags.spread(values.astype(float)))

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read sets of the classes of training."""
        return WeakLabels(_known_indicators(weak, classes), classes)


@frozen
class ComplementaryLabels(EvidenceRegime):
    """Each row comes with a class, or a set of them, that it is not of (Ishida et al., NeurIPS 2017)."""

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Leave of all classes those that are not excluded."""
        excluded, classes = _indicators(weak, bags, "the classes that are excluded")
        values = 1 - excluded
        _refuse_rows(values.sum(axis=1) == 0, bags, "excludes every class; leave at least one of them")
        return WeakLabels(values, classes, of_rows=bags.spread(values.astype(float)))

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read excluded classes, of those of training."""
        return WeakLabels(1 - _known_indicators(weak, classes), classes)


def _indicators(weak: NDArray[Any], bags: Bags, what: str) -> tuple[NDArray[np.int8], tuple[Any, ...]]:
    if weak.ndim == 2:
        values, classes = weak.astype(np.int8), tuple(range(weak.shape[1]))
        if not np.isin(weak, (0, 1)).all():
            raise DataError(f"y is a matrix of {weak.shape[1]} columns, which must be 0 or 1: {what} are marked by 1.")
    else:
        refuse_missing(weak, bags, f"give it a set of {what}")
        sets = _sets(weak)
        classes = classes_of([one for possible in sets for one in possible], "All sets")
        values = class_indicators(sets, classes)
    _refuse_rows(values.sum(axis=1) == 0, bags, f"has an empty set; give it a set of {what}")
    return values, classes


def _known_indicators(weak: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.int8]:
    return weak.astype(np.int8) if weak.ndim == 2 else class_indicators(_sets(weak), classes)


def _sets(weak: NDArray[Any]) -> NDArray[Any]:
    sets = np.empty(len(weak), dtype=object)
    sets[:] = [frozenset(one) if isinstance(one, COLLECTIONS) else frozenset([one]) for one in weak.tolist()]
    return sets


def _refuse_rows(wrong: NDArray[np.bool_], bags: Bags, why: str) -> None:
    if wrong.any():
        raise DataError(f"Row {bags.ids.tolist()[int(np.flatnonzero(wrong)[0])]!r} {why}.")
