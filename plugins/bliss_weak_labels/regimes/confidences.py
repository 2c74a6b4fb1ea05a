"""Positive rows with the chance that such a row is positive, and perhaps rows of which nothing is known."""

from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, LabelSpace, Part, Presets, WeakLabels
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.likelihood.regime import SMALLEST, evidence_of
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedRegime
from bliss_weak_labels.regimes.words import is_missing, objects, refuse_collections

WANTED = "a positive row has its confidence, a number above 0 and up to 1, and any other row has None"
OF_ZEROS = ' Where 1 means positive, and 0 that nothing is known, use regime="positive-unlabelled".'
UNKNOWN = 0.0  # Where there is no confidence: none that there is can be 0.
LEAST = 0.02  # A row stands for no more than fifty.


@frozen
class PositiveConfidences(EstimatedRegime):
    """Positive rows alone, each with the confidence r = P(positive | row) (Ishida, Niu and Sugiyama, NeurIPS 2018).

    A positive row stands for itself, and with the weight (1 - r) / r for the negative rows that lie where it does. Rows
    with None are unlabelled.
    """

    empty_labels: ClassVar[bool] = True
    presets: ClassVar[Presets] = presets_with(
        "positive-confidence-risk", relabel_rounds=0, inherited_share=0.5, final_classifier="same"
    )
    binary: ClassVar[bool] = True

    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Return the mean of 1[positive] + 1[negative] (1 - r) / r over confident rows, over that of 1 / r."""
        confident = known != UNKNOWN
        if not confident.any():
            return 1.0
        stands_for = 1 / np.maximum(known[confident], LEAST)
        return float(np.where(predicted[confident] == 1, 1.0, stands_for - 1).sum() / stands_for.sum())

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read confidences of test rows."""
        # A row that is predicted to be negative has no confidence.
        confidence = _confidences(objects([None if one in (0, "0") else one for one in weak.tolist()]), bags)
        return WeakLabels(np.where(np.isnan(confidence), UNKNOWN, confidence), classes)

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read confidences."""
        refuse_collections(weak, bags, WANTED)
        confidence = _confidences(weak, bags)
        known = ~np.isnan(confidence)
        if not known.any():
            raise DataError(f"None of {len(confidence)} rows has a confidence; {WANTED}.")
        chances = np.where(known, confidence, 0.5)
        evidence = np.stack([1 - chances, chances], axis=1)
        return WeakLabels(np.where(known, confidence, UNKNOWN), (0, 1), of_rows=bags.spread(evidence))

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Let a row stand for 1 / r rows, of which it is the positive one."""
        confidence = bags.spread(weak.values)
        return np.where(confidence == UNKNOWN, 1.0, 1 / np.maximum(confidence, LEAST))

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Let every row be of either class: it stands for those about it."""
        return LabelSpace(np.ones((bags.n_rows, 2), dtype=bool), np.arange(2))

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope of (r log s_1 + (1 - r) log s_0) / r, and none for rows of which nothing is known."""
        confidence = part.bags.spread(part.weak.values)
        counted = np.where(confidence == UNKNOWN, 0.0, 1 / np.maximum(confidence, LEAST))
        return np.asarray(counted[:, None] * evidence_of(part) / np.maximum(chances, SMALLEST))


def _confidences(weak: NDArray[Any], bags: Bags) -> NDArray[np.float64]:
    found = np.full(len(weak), np.nan)
    for position, (bag, value) in enumerate(zip(bags.ids.tolist(), weak.tolist(), strict=True)):
        if is_missing(value):
            continue
        try:
            found[position] = float(value)
        except ValueError:
            raise DataError(f"Row {bag!r} has the weak label {value!r}, which is no number; {WANTED}.") from None
        if not 0 < found[position] <= 1:
            hint = OF_ZEROS if all(is_missing(one) or one in (0, 1) for one in weak.tolist()) else ""
            raise DataError(f"Row {bag!r} has the confidence {found[position]:g}; {WANTED}.{hint}")
    return found
