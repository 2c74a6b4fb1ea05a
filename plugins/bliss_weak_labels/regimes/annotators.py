"""Several annotators, each with a quality of its own, some of whom have not seen some rows."""

from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Presets, WeakLabels
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.likelihood.regime import EvidenceRegime
from bliss_weak_labels.regimes.words import OF_SETS, classes_of, is_missing

WANTED = "y has one column for each annotator, with classes, and None where there is none"
N_STEPS, SMOOTHING = 100, 0.1


@frozen
class SeveralAnnotators(EvidenceRegime):
    """Each row has a class from each of several annotators, or None; how good they are is estimated.

    The chances with which an annotator calls class c each of the classes are those of Dawid and Skene (1979), found by
    EM on the annotations alone, and P(seen | c) is the product over annotators.
    """

    presets: ClassVar[Presets] = presets_with("dawid-skene")
    columns_are_classes: ClassVar[bool] = False

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read the table of annotations, and estimate how good each annotator is."""
        if weak.ndim != 2 or weak.shape[1] < 2:
            raise DataError(f"y has the shape {weak.shape}; {WANTED}, and there are two at least.{_hint(weak)}")
        given = np.array([[not is_missing(one) for one in row] for row in weak.tolist()])
        values = [one for row in weak.tolist() for one in row if not is_missing(one)]
        classes = classes_of(values, "All annotations")
        codes = np.full(weak.shape, -1)
        codes[given] = [classes.index(one) for one in values]
        _refuse_apart(given, bags)
        chances = dawid_skene(codes, len(classes))
        return WeakLabels(chances.argmax(axis=1), classes, of_rows=bags.spread(chances))


def _hint(weak: NDArray[Any]) -> str:
    of_one = ' For one class a row, which may be wrong, use regime="noisy-labels".'
    if weak.ndim != 1:
        return of_one
    if any(isinstance(one, set | frozenset) for one in weak.tolist()):
        return OF_SETS
    is_list = any(isinstance(one, list | tuple) for one in weak.tolist())
    return " Pass an array with two axes instead of lists." if is_list else of_one


def _refuse_apart(given: NDArray[np.bool_], bags: Bags) -> None:
    empty = np.flatnonzero(~given.any(axis=1))
    if len(empty):
        raise DataError(f"Row {bags.ids.tolist()[empty[0]]!r} has no annotation; leave it out, or give it one.")
    shared = given.T.astype(np.intp) @ given
    alone = np.flatnonzero(shared.sum(axis=1) == np.diag(shared))
    if len(alone):
        raise DataError(
            f"Annotator {int(alone[0])} (of 0 to {given.shape[1] - 1}) shares no row with another one, so nothing says "
            f"how good it is; leave it out, or let it annotate rows that others have seen."
        )


def dawid_skene(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Estimate annotators and classes in turn, by EM from the majority (Dawid and Skene, Applied Statistics 1979).

    Args:
        codes: (n, A) classes, -1 where there is none.
        n_classes: C.

    Returns:
        (n, C) the chances of the annotations of a row under each class, of which the largest is 1.
    """
    seen = (codes[:, :, None] == np.arange(n_classes)).astype(float)
    votes = seen.sum(axis=1)
    believed = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(N_STEPS):
        matrices = np.einsum("nc,nao->aco", believed, seen) + SMOOTHING
        matrices /= matrices.sum(axis=2, keepdims=True)
        logs = np.einsum("nao,aco->nc", seen, np.log(matrices))
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True)) * (believed.mean(axis=0) + SMOOTHING / len(codes))
        before, believed = believed, posterior / posterior.sum(axis=1, keepdims=True)
        if np.abs(believed - before).max() < 1e-6:
            break
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))
