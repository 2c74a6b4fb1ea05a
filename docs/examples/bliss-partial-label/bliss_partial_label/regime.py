"""The regime: weak labels are sets of classes, one set for each instance (or for each bag of instances)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from bliss_framework.plugin import Bags, DataError, LabelSpace, Outcome, Presets, Regime, WeakLabels


@frozen
class PartialLabelRegime(Regime):
    """Partial-label learning (Cour, Sapp and Taskar, JMLR 2011): the right label is one of a set.

    Pass `bags=None`, and as `y` one set, list or tuple of class names for each instance.
    """

    presets = Presets(defaults={"reward": "partial-label"})

    def check(self, weak: np.ndarray, bags: Bags) -> WeakLabels:
        """Turn sets into an indicator matrix (B, C)."""
        sets = [_as_set(value, bag) for value, bag in zip(weak.tolist(), bags.ids.tolist(), strict=True)]
        classes = sorted(set().union(*sets), key=lambda value: (str(type(value)), value))
        if len(classes) < 2:
            raise DataError(f"All candidate sets hold the one class {classes}; at least two classes are needed.")
        position = {value: c for c, value in enumerate(classes)}
        values = np.zeros((len(sets), len(classes)), dtype=np.int8)
        for row, possible in enumerate(sets):
            values[row, [position[value] for value in possible]] = 1
        return WeakLabels(values, tuple(classes))

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """The candidates of an instance are the classes of its set."""
        n_classes = weak.values.shape[1]
        return LabelSpace(bags.spread(weak.values) > 0, np.arange(n_classes))

    def strata(self, weak: WeakLabels) -> np.ndarray:
        """Stratify by the first possible class."""
        return weak.values.argmax(axis=1).astype(np.intp)

    def bag_scores(self, scores: np.ndarray, bags: Bags) -> np.ndarray:
        """Score a bag by its best instance."""
        return bags.max(scores)

    def bag_labels(self, scores: np.ndarray, bags: Bags, threshold: float) -> np.ndarray:
        """Predict one class for each bag."""
        best = self.bag_scores(scores, bags)
        return (best > threshold).astype(np.intp) if best.ndim == 1 else best.argmax(axis=1)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out predictions that are possible."""
        heldout = outcome.fold.heldout
        possible = heldout.bags.spread(heldout.weak.values)
        return {"possible": float(possible[np.arange(len(possible)), outcome.heldout_classes].mean())}

    def evaluate(self, predicted: np.ndarray, scores: np.ndarray, weak: WeakLabels) -> Mapping[str, float]:
        """Return the share of predictions that lie in their candidate sets."""
        return {"possible": float(weak.values[np.arange(len(predicted)), predicted.astype(int)].mean())}


def _as_set(value: Any, bag: Any) -> set[Any]:
    if isinstance(value, str) or not isinstance(value, set | frozenset | list | tuple) or len(value) == 0:
        raise DataError(f"Bag {bag} has the weak label {value!r}; partial labels need a set of at least one class.")
    return set(value)
