"""MeanMap: the mean of each class, estimated from the means of bags, is all that a logistic loss needs of labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags
from bliss_llp.baselines.kernel_estimator import FeatureEstimator
from bliss_llp.baselines.softmax import fit_soft_labels


class MeanMap(FeatureEstimator):
    """Logistic regression on estimated class means.

    The mean features of bags are taken for mixtures, by their shares, of one mean for each class, and least squares
    gives the class means. Source: Quadrianto, Smola, Caetano and Le, Estimating labels from label proportions, JMLR 10
    (2009), algorithm 1. The logistic loss of all rows needs no more than their features and these means.

    Args:
        kernel: "rbf" (features are leading eigenvectors of the Gram matrix) or "linear".
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_features: of the RBF kernel.
        ridge: regularisation, beside a mean loss.
        scaling: see `Scaling`.
        classes: names of the classes; 0, 1, ... by default.
        random_state: seed of the rows that features compare with, where there are more than 1,000.
    """

    def __init__(
        self,
        kernel: str = "rbf",
        width: float = 0.5,
        n_features: int = 60,
        ridge: float = 0.3,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.n_features = n_features
        self.ridge = ridge
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Fit the model."""
        features = self.features(rows)
        found = fit_soft_labels(features.values, mean_operator(shares, bags), self.ridge)
        self.remember_features(features, found)


def mean_operator(shares: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Return weights (n, C) of rows such that the weighted mean of features is share times mean of each class.

    The mean of class c is a sum of bag means, so it is one over rows; the weights of a row act as its soft label, which
    may be negative or above 1.

    Args:
        shares: (B, C) shares of the classes.
        bags: B bags of n rows.
    """
    root = np.sqrt(bags.sizes)[:, None]
    from_bag_means = np.linalg.pinv(shares * root, rcond=1e-8) * root.T
    overall = bags.sizes @ shares / bags.n_rows
    per_row = (overall[:, None] * from_bag_means).T * (bags.n_rows / bags.sizes)[:, None]
    return bags.spread(per_row)
