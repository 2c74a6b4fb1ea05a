"""Proportion matching: a model whose mean probability in each bag is the bag's share."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, at_least
from bliss_llp.baselines.kernel_estimator import FeatureEstimator
from bliss_llp.baselines.softmax import fit_soft_labels, minimise, proportion_loss


class ProportionMatching(FeatureEstimator):
    """Softmax regression that fits the mean class probabilities of each bag to its shares, by cross-entropy.

    It starts from the model fitted to the share of the bag as soft label of each instance, because the loss has many
    minima. Where every bag is one instance it is ordinary softmax regression. Source: the proportion loss of Ardehaly
    and Culotta, Co-training for demographic classification using deep learning from label proportions, ICDMW 2017, here
    with a model that is linear in features.

    Args:
        kernel: "rbf" (features are leading eigenvectors of the Gram matrix) or "linear".
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_features: of the RBF kernel.
        ridge: regularisation, beside a loss in which each instance counts 1 / n.
        max_iter: steps of the solver.
        scaling: see `Scaling`.
        classes: names of the classes; 0, 1, ... by default.
        random_state: seed of the rows that features compare with, where there are more than 1,000.
    """

    allowed: ClassVar = {**FeatureEstimator.allowed, "max_iter": at_least(1)}

    def __init__(
        self,
        kernel: str = "rbf",
        width: float = 0.5,
        n_features: int = 60,
        ridge: float = 0.01,
        max_iter: int = 300,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.n_features = n_features
        self.ridge = ridge
        self.max_iter = max_iter
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Fit the model."""
        features = self.features(rows)
        start = fit_soft_labels(features.values, bags.spread(shares), max(self.ridge, 0.01))
        found = minimise(proportion_loss(shares, bags), features.values, start, self.ridge, self.max_iter)
        self.remember_features(features, found)
