"""Sets of classes: one of them is right (partial labels), or none of them is (complementary labels)."""

import warnings
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError, WeakLabels, class_indicators
from bliss_weak_labels.likelihood.regime import EvidenceRegime
from bliss_weak_labels.regimes.words import COLLECTIONS, are_fractions, classes_of, is_missing, objects, refuse_missing

ONE_EACH = (
    "Every row has one class alone, so nothing is left to infer. Where classes may be wrong, use "
    'regime="noisy-labels"; where 1 is known to be positive and 0 is not known, regime="positive-unlabelled".'
)
OF_ANNOTATORS = ' Where columns are annotators, use regime="several-annotators".'
OF_CONFIDENCES = ' For the chance that a row is positive use regime="positive-confidences".'
OF_MISSING = ' Where rows have one class or none, use regime="semi-supervised".'
OF_SHARES = ' For shares of classes in bags use regime="llp".'


@frozen
class PartialLabels(EvidenceRegime):
    """Each row comes with a set of classes, one of which is right (Cour, Sapp and Taskar, JMLR 2011)."""

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Turn sets, lists or single classes, or a matrix of 0 and 1, into indicators."""
        values, classes = _indicators(weak, bags, "the classes that are possible")
        if (values.sum(axis=1) == 1).all():
            warnings.warn(ONE_EACH, BlissWarning, stacklevel=2)
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
        if not all(one in (0, 1) for one in weak.ravel().tolist()):
            hint = OF_SHARES if are_fractions(weak.ravel().tolist()) else OF_ANNOTATORS
            raise DataError(
                f"y is a matrix of {weak.shape[1]} columns, which must be 0 or 1: {what} are marked by 1.{hint}"
            )
        values, classes = weak.astype(np.int8), tuple(range(weak.shape[1]))
    else:
        present = [one for one in weak.tolist() if not is_missing(one)]
        if are_fractions(present):
            raise DataError(
                f"y holds numbers between 0 and 1, such as {min(present):g}, and a row has a set of {what}."
                f"{OF_SHARES if bags.n_rows > bags.n_bags else OF_CONFIDENCES}"
            )
        alone = not any(isinstance(one, COLLECTIONS) for one in present)
        refuse_missing(weak, bags, f"give it a set of {what}", OF_MISSING if alone else "")
        sets = _sets(weak)
        classes = classes_of([one for possible in sets for one in possible], "All sets")
        values = class_indicators(sets, classes)
    _refuse_rows(values.sum(axis=1) == 0, bags, f"has an empty set; give it a set of {what}")
    return values, classes


def _known_indicators(weak: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.int8]:
    return weak.astype(np.int8) if weak.ndim == 2 else class_indicators(_sets(weak), classes)


def _sets(weak: NDArray[Any]) -> NDArray[Any]:
    return objects([frozenset(one) if isinstance(one, COLLECTIONS) else frozenset([one]) for one in weak.tolist()])


def _refuse_rows(wrong: NDArray[np.bool_], bags: Bags, why: str) -> None:
    if wrong.any():
        raise DataError(f"Row {bags.ids.tolist()[int(np.flatnonzero(wrong)[0])]!r} {why}.")
