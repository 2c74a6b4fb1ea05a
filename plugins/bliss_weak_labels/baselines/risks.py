"""Risks of the literature for two classes: estimates of the error on labelled rows that need weak labels only."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bliss_framework.plugin import Part, Regime
from bliss_weak_labels.baselines.row_model import RowModel, minimised
from bliss_weak_labels.regimes.confidences import UNKNOWN, PositiveConfidences
from bliss_weak_labels.regimes.patterns import OrderedPairs
from bliss_weak_labels.regimes.positive_unlabelled import PositiveUnlabelled
from bliss_weak_labels.regimes.unlabelled_unlabelled import UnlabelledUnlabelled

Risks = list[tuple[NDArray[np.float64], NDArray[np.float64]]]


class CorrectedRisk(RowModel):
    """A logistic model that minimises a sum of risks, each of which is 0 at least.

    A risk is sum over rows of a log(1 + exp(-z)) + b log(1 + exp(z)), with weights a and b that may be negative.
    """

    def learn(self, features: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Minimise the sum of the risks, each cut off at 0."""
        risks = self.risks(part)

        def loss(outputs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            z = outputs[:, 0]
            value, slope = 0.0, np.zeros(len(z))
            for as_positive, as_negative in risks:
                own = float((as_positive * np.logaddexp(0, -z) + as_negative * np.logaddexp(0, z)).sum())
                if own > 0:
                    value += own
                    slope += as_negative * expit(z) - as_positive * expit(-z)
            return value, slope[:, None]

        found = minimised(loss, features, np.zeros((features.shape[1], 1)), self.ridge, self.max_iter)
        return np.concatenate([np.zeros_like(found), found], axis=1)

    @abstractmethod
    def risks(self, part: Part) -> Risks:
        """Return the weights (n,), (n,) of each risk."""


class NonNegativePu(CorrectedRisk):
    """The non-negative risk of positive and unlabelled rows (Kiryo et al., NeurIPS 2017), with a logistic loss.

    Args:
        prior: the share of positives among the unlabelled rows.
        width, n_features, ridge, max_iter, scaling, random_state: see `RowModel`.
    """

    def __init__(
        self,
        prior: float | None = None,
        width: float = 0.5,
        n_features: int = 300,
        ridge: float = 1e-3,
        max_iter: int = 200,
        scaling: str = "standard",
        random_state: Any = None,
    ) -> None:
        super().__init__(width, n_features, ridge, max_iter, scaling, random_state)
        self.prior = prior

    def regime_of_labels(self) -> Regime:
        """Return the regime with this prior."""
        return PositiveUnlabelled(self.prior)

    def risks(self, part: Part) -> Risks:
        """Return the risk of positives, and that of negatives: of all less that of positives."""
        known = part.bags.spread(part.weak.values) == 1
        of_known, of_unlabelled = self.prior * known / known.sum(), ~known / (~known).sum()
        nothing = np.zeros(len(known))
        return [(of_known, nothing), (nothing, of_unlabelled - of_known)]


class UnlabelledRisk(CorrectedRisk):
    """The corrected risk of two sets with known shares (Lu et al., ICLR 2019 and AISTATS 2020), with a logistic loss.

    Args:
        shares: of positives in the two sets, in sorted order of their names.
        width, n_features, ridge, max_iter, scaling, random_state: see `RowModel`.
    """

    def __init__(
        self,
        shares: Any = None,
        width: float = 0.5,
        n_features: int = 300,
        ridge: float = 1e-3,
        max_iter: int = 200,
        scaling: str = "standard",
        random_state: Any = None,
    ) -> None:
        super().__init__(width, n_features, ridge, max_iter, scaling, random_state)
        self.shares = shares

    def regime_of_labels(self) -> Regime:
        """Return the regime with these shares."""
        return UnlabelledUnlabelled(self.shares)

    def risks(self, part: Part) -> Risks:
        """Return the risks of positives and of negatives, each a difference of the sets."""
        inside = part.bags.spread(part.weak.values)[:, None] == np.arange(2)
        first, second = (inside / inside.sum(axis=0)).T
        a, b = self.shares
        prior = float(inside.mean(axis=0) @ np.array([a, b]))
        positives = prior * ((1 - b) * first - (1 - a) * second) / (a - b)
        negatives = (1 - prior) * (a * second - b * first) / (a - b)
        nothing = np.zeros(len(first))
        return [(positives, nothing), (nothing, negatives)]


class PositiveConfidenceRisk(CorrectedRisk):
    """Logistic regression on positive rows that count as negative, too, (1 - r) / r times (Ishida et al. 2018)."""

    def regime_of_labels(self) -> Regime:
        """Return the regime of confidences."""
        return PositiveConfidences()

    def risks(self, part: Part) -> Risks:
        """Return the one risk."""
        confidence = part.bags.spread(part.weak.values)
        known = confidence != UNKNOWN
        positive = known / known.sum()
        return [(positive, np.where(known, positive * (1 / np.where(known, confidence, 1.0) - 1), 0.0))]


class PairwiseComparisonRisk(CorrectedRisk):
    """The corrected risk of ordered pairs (Feng et al., ICML 2021), with a logistic loss; and known rows.

    Args:
        prior: the share of positives among all rows.
        width, n_features, ridge, max_iter, scaling, random_state: see `RowModel`.
    """

    def __init__(
        self,
        prior: float = 0.5,
        width: float = 0.5,
        n_features: int = 300,
        ridge: float = 1e-3,
        max_iter: int = 200,
        scaling: str = "standard",
        random_state: Any = None,
    ) -> None:
        super().__init__(width, n_features, ridge, max_iter, scaling, random_state)
        self.prior = prior

    def regime_of_labels(self) -> Regime:
        """Return the regime of ordered pairs."""
        return OrderedPairs()

    def risks(self, part: Part) -> Risks:
        """Return the risks of the firsts, of the seconds and of known rows."""
        words, places = part.bags.spread(part.weak.values), part.weak.of_rows
        pair, nothing = words >= 2, np.zeros(len(words))
        first, second = pair & (places == 0), pair & (places == 1)
        n_pairs, n_known = max(first.sum(), 1), max((~pair).sum(), 1)
        positives = (first - (1 - self.prior) * second) / n_pairs
        negatives = (second - self.prior * first) / n_pairs
        known = ((words == 1) / n_known, (words == 0) / n_known)
        return [(positives, nothing), (nothing, negatives), known]
