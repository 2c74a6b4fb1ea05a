"""Softmax regression on labels that were settled before: by Dawid and Skene, or step by step by the model itself."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bliss_framework.plugin import Part, Regime
from bliss_weak_labels.baselines.row_model import RowModel, minimised, soft_label_loss
from bliss_weak_labels.regimes.annotators import SeveralAnnotators
from bliss_weak_labels.regimes.semi_supervised import SemiSupervised

CERTAIN, N_STEPS = 0.9, 10


class DawidSkene(RowModel):
    """Softmax regression on what annotators are believed to mean (Dawid and Skene, Applied Statistics 1979)."""

    def regime_of_labels(self) -> Regime:
        """Return the regime of several annotators."""
        return SeveralAnnotators()

    def learn(self, features: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Fit the chances of the classes."""
        targets = self.regime_of_labels().inherited(part.weak, part.bags)
        start = np.zeros((features.shape[1], targets.shape[1]))
        return minimised(soft_label_loss(targets), features, start, self.ridge, self.max_iter)


class SelfTraining(RowModel):
    """Softmax regression on rows of known class, and on those that it is sure of (Yarowsky, ACL 1995)."""

    def regime_of_labels(self) -> Regime:
        """Return the regime of rows with and without a class."""
        return SemiSupervised()

    def learn(self, features: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Fit known rows, add those that are of some class with chance 0.9 or more, and again."""
        known = ~part.space.free
        targets = np.where(known[:, None], part.weak.of_rows, 0.0)
        counted = known.astype(float)
        weights = np.zeros((features.shape[1], targets.shape[1]))
        for _ in range(N_STEPS):
            loss = soft_label_loss(targets, counted * len(counted) / counted.sum())
            weights = minimised(loss, features, weights, self.ridge, self.max_iter)
            chances = softmax(features @ weights, axis=1)
            sure = ~known & (chances.max(axis=1) >= CERTAIN)
            targets = np.where(sure[:, None], np.eye(targets.shape[1])[chances.argmax(axis=1)], targets)
            if (sure == (counted > 0) & ~known).all():
                break
            counted = (known | sure).astype(float)
        return weights
