"""Regimes that say how likely their weak labels are, given the chances of the classes of each row."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import BagReading, Bags, ClassReading, LabelSpace, Part, Presets, Regime, WeakLabels
from bliss_weak_labels.likelihood.presets import PRESETS

SMALLEST = 1e-9


class LikelihoodRegime(Regime):
    """A regime whose weak labels have a likelihood, which the reward "weak-likelihood" follows."""

    presets: ClassVar[Presets] = PRESETS

    @abstractmethod
    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope of the log-likelihood of a part's weak labels in the chances of its rows.

        Args:
            chances: (m, C) of the classes, each row summing to 1.
            part: m rows with their bags and weak labels.

        Returns:
            (m, C).
        """


class EvidenceRegime(LikelihoodRegime):
    """A regime in which each row is known by what was seen of it: P(seen | class) (n, C) is `weak.of_rows`.

    The log-likelihood of a row is log sum_c s_c P(seen | c), and a class under which it could not have been seen is no
    candidate.
    """

    rows_are_bags: ClassVar[bool] = True

    @property
    def reading(self) -> BagReading:
        """A bag is of the class of its rows."""
        return ClassReading()

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return P(seen | c) / sum_j s_j P(seen | j)."""
        evidence = evidence_of(part)
        seen = (chances * evidence).sum(axis=1, keepdims=True)
        return np.asarray(evidence / np.maximum(seen, SMALLEST))

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Leave the classes under which a row could have been seen as it was."""
        assert weak.of_rows is not None
        return LabelSpace(weak.of_rows > 0, np.arange(weak.of_rows.shape[1], dtype=np.intp))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return what was seen as chances of the classes, where all are as frequent."""
        assert weak.of_rows is not None
        return np.asarray(weak.of_rows / weak.of_rows.sum(axis=1, keepdims=True))

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw first labels by what was seen."""
        return self.inherited(part.weak, part.bags)


def evidence_of(part: Any) -> NDArray[np.float64]:
    """Return P(seen | class) (n, C) of the rows of a part."""
    evidence: NDArray[np.float64] = part.weak.of_rows
    return evidence
