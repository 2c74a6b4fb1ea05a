"""The regime: a bag of two instances agrees or differs; a bag of one has a known class."""

from collections.abc import Mapping

import numpy as np
from attrs import frozen

from bliss_framework.plugin import BagReading, Bags, DataError, LabelSpace, Outcome, Part, Presets, Regime, WeakLabels
from bliss_pairwise.patterns import AGREE, DIFFER, NAMES, NEGATIVE, POSITIVE, met


@frozen
class PairwiseRegime(Regime):
    """Learning from pairwise constraints (Wagstaff and others, ICML 2001) with a few known instances.

    Weak labels are "agree" and "differ" for bags of two, "negative" and "positive" for bags of one. Each assignment is
    constrained: instances that agree get one label, instances that differ get two.
    """

    presets = Presets(defaults={"reward": "pairwise"})

    @property
    def reading(self) -> BagReading:
        """Bags speak of pairs, their instances of classes."""
        return PairReading()

    def check(self, weak: np.ndarray, bags: Bags) -> WeakLabels:
        """Refuse other names, sizes that do not fit them, and data without a known instance of each class."""
        for bag, value, size in zip(bags.ids.tolist(), weak.tolist(), bags.sizes, strict=True):
            if value not in NAMES:
                raise DataError(f"Bag {bag} has the weak label {value!r}; it must be one of {', '.join(NAMES)}.")
            wanted = 2 if NAMES[value] >= AGREE else 1
            if size != wanted:
                raise DataError(f'Bag {bag} is "{value}" and has {size} instances; it needs {wanted}.')
        values = np.array([NAMES[value] for value in weak.tolist()], dtype=np.int8)
        if not {NEGATIVE, POSITIVE} <= set(values.tolist()):
            raise DataError(
                "At least one negative and one positive instance must be known, to say which class is which."
            )
        return WeakLabels(values, (0, 1), bag_classes=tuple(NAMES))

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Instances of pairs are free, single ones are known."""
        kind = bags.spread(weak.values)
        return LabelSpace(np.stack([kind != POSITIVE, kind != NEGATIVE], axis=1), np.array([0, 1]))

    def constraint(self):
        """Choose the best pair of labels that agrees or differs."""
        return assign_pairs


@frozen
class PairReading(BagReading):
    """A pair agrees where both instances are predicted to be of one class; a single instance speaks for itself."""

    def bag_scores(self, scores: np.ndarray, bags: Bags) -> np.ndarray:
        """Score a pair by how much it agrees (the product of its scores), a single instance by its score."""
        high, low = bags.max(scores), bags.min(scores)
        return np.where(bags.sizes == 1, high, high * low)

    def bag_labels(self, scores: np.ndarray, bags: Bags, threshold: float) -> np.ndarray:
        """Predict the kind of each bag: (B,) codes of NAMES."""
        positive = bags.sum((scores > 0).astype(int))
        pairs = np.where((positive == 0) | (positive == bags.sizes), AGREE, DIFFER)
        return np.where(bags.sizes == 1, np.where(positive > 0, POSITIVE, NEGATIVE), pairs)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags that are met."""
        heldout = outcome.fold.heldout
        return {"met": float(met(outcome.heldout_classes, heldout.bags, heldout.weak.values).mean())}

    def evaluate(self, predicted: np.ndarray, scores: np.ndarray, weak: WeakLabels) -> Mapping[str, float]:
        """Return the share of bags whose weak label is predicted."""
        return {"met": float((predicted == weak.values).mean())}


def assign_pairs(bounds: np.ndarray, part: Part) -> np.ndarray:
    """Return the assignment with the largest sum of bounds that keeps pairs together or apart.

    Args:
        bounds: (n, 2) upper bounds.
        part: whose bags are pairs and single instances.
    """
    gain = bounds[:, 1] - bounds[:, 0]
    kind, total = part.bags.spread(part.weak.values), part.bags.spread(part.bags.sum(np.nan_to_num(gain)))
    # Of two that differ, the one with the larger gain is positive; ties go to the later row.
    order = np.lexsort([gain, part.bags.index])
    last = np.zeros(len(gain), dtype=bool)
    last[order[np.cumsum(part.bags.sizes) - 1]] = True
    pairs = np.select([kind == AGREE, kind == DIFFER], [total > 0, last], default=kind == POSITIVE)
    return pairs.astype(np.intp)
