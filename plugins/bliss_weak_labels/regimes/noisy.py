"""Each row has a class, which is wrong at a known or an unknown rate."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Part, SettingsError, WeakLabels
from bliss_weak_labels.likelihood.regime import SMALLEST
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedRegime
from bliss_weak_labels.regimes.words import classes_of, refuse_several

WANTED = "a row has one class, which may be wrong"
PRIOR_ROWS = 10.0  # So many rows of each class are taken to have been labelled right before any are counted.


def _rates(_: Any, attribute: Any, value: Any) -> None:
    """Allow "estimated", a rate, or a matrix of rates (an attrs validator)."""
    if value == "estimated" or (isinstance(value, int | float) and 0 <= value < 1):
        return
    matrix = np.asarray(value, dtype=object)
    if isinstance(value, str) or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise SettingsError(
            f'{attribute.name} must be "estimated", a number from 0 up to 1, or a square matrix whose row c holds the '
            f"chances with which class c is called each of the classes; got {value!r}."
        )
    rates = matrix.astype(float)
    if (rates < 0).any() or np.abs(rates.sum(axis=1) - 1).max() > 0.01:
        raise SettingsError(f"Each row of {attribute.name} must hold chances that sum to 1; got {value!r}.")
    if abs(np.linalg.det(rates)) < 1e-6:
        raise SettingsError(
            f"The matrix of {attribute.name} cannot be inverted, so some classes are called alike and nothing tells "
            f"them apart; got {value!r}."
        )


@frozen
class NoisyLabels(EstimatedRegime):
    """Each row has a class, which is wrong with known chances, or with chances that are estimated.

    Args:
        noise: the share of wrong labels, which are any other class alike; a matrix whose row c holds the chances with
            which class c is called each of the classes (in sorted order); or "estimated", from how the classes that are
            predicted for held-out rows were called (Raykar et al., JMLR 2010).
    """

    noise: Any = field(default="estimated", validator=_rates)

    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Return the mean of T^-1[seen, predicted] (Natarajan et al., NeurIPS 2013); agreement where T is estimated."""
        if isinstance(self.noise, str):
            return float((predicted == known).mean())
        return float(np.linalg.inv(self._matrix(n_classes))[known, predicted].mean())

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Find the classes, and how likely each of them is to be called what the row is."""
        refuse_several(weak, bags, WANTED, ' Where some rows have no class, use regime="semi-supervised".')
        classes = classes_of(weak.tolist(), "All rows")
        codes = np.array([classes.index(one) for one in weak.tolist()], dtype=np.intp)
        return WeakLabels(codes, classes, of_rows=bags.spread(self._matrix(len(classes)).T[codes]))

    def _matrix(self, n_classes: int) -> NDArray[np.float64]:
        if not isinstance(self.noise, str | int | float):
            rates = np.asarray(self.noise, dtype=float)
            if len(rates) != n_classes:
                raise SettingsError(f"regime.noise has {len(rates)} rows, and the data {n_classes} classes.")
            return rates
        wrong = 0.3 if isinstance(self.noise, str) else float(self.noise)
        if abs(wrong * n_classes / (n_classes - 1) - 1) < 1e-6:
            raise SettingsError(
                f"regime.noise is {wrong:g}, at which each of {n_classes} classes is called anything alike, so that "
                f"labels tell nothing; it must be another number."
            )
        return np.where(np.eye(n_classes) > 0, 1 - wrong, wrong / (n_classes - 1))

    def totals(self, classes: NDArray[np.intp], part: Part) -> NDArray[np.float64]:
        """Count how often each predicted class (m,) is called each class: (C, C)."""
        n_classes = len(part.weak.classes)
        pairs = classes * n_classes + part.bags.spread(part.weak.values)
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes).astype(np.float64)

    def slopes(
        self, chances: NDArray[np.float64], part: Part, totals: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return P(seen | c) / sum_j s_j P(seen | j), by the counts of a pull where the chances are estimated."""
        if self.noise != "estimated":
            return super().slopes(chances, part)
        totals = self.totals(chances.argmax(axis=1), part) if totals is None else totals
        counts = totals + PRIOR_ROWS * self._matrix(chances.shape[1])
        evidence = (counts / counts.sum(axis=1, keepdims=True)).T[part.bags.spread(part.weak.values)]
        return np.asarray(evidence / np.maximum((chances * evidence).sum(axis=1, keepdims=True), SMALLEST))
