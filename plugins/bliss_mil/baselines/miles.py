"""MILES: bags as their similarities to training instances, and a sparse linear SVM that picks instances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bliss_framework.plugin import Bags, check_settings, in_own_order, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.row_kernels import positive_or_scale, reduced_blocks
from bliss_mil.baselines.row_order import contiguous


class Miles(WholeBagScorer):
    """Multiple-instance learning via embedded instance selection.

    A bag becomes its similarity to each training instance x_k, the largest exp(-|x - x_k|^2 / sigma^2) among its
    instances x, and an L1-regularised linear SVM weighs them. An instance is a bag of one. Source: Chen, Bi and Wang,
    MILES: multiple-instance learning via embedded instance selection, PAMI 28(12), 2006. The
    paper's linear program has the hinge loss and a free intercept; here the hinge loss is squared, and the intercept
    counts as a weight.

    Args:
        C: inverse strength of regularisation.
        sigma: width of the similarity between scaled rows; with "scale", sigma^2 is the mean squared distance between
            two training instances (twice the total variance, 2 d for standardised columns).
        max_iter: most passes of the solver over the instances.
        scaling: see `Scaling`; learnt on instances.
        random_state: seed of the order in which the solver visits instances.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        instances_: (s, d) the training instances that were picked, scaled.
        weights_: (s,) their weights.
        sigma_: the width.
    """

    def __init__(
        self,
        C: float = 10.0,
        sigma: float | str = "scale",
        max_iter: int = 10_000,
        scaling: str = "auto",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.C = C
        self.sigma = sigma
        self.max_iter = max_iter
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "Miles":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, C=validators.positive, sigma=positive_or_scale, max_iter=validators.at_least(1))
        rows, grouped, weak, _ = in_own_order(*self.learn(X, y, bags))
        self.sigma_ = similarity_width(rows, self.sigma)
        svc = self._svc().fit(similarities(rows, grouped.index, rows, self.sigma_), weak)
        picked = np.flatnonzero(svc.coef_[0])
        self.instances_, self.weights_ = rows[picked], svc.coef_[0, picked]
        self.intercept_ = float(svc.intercept_[0])
        return self

    def _svc(self) -> LinearSVC:
        # At liblinear's own tolerance of 1e-4 it gives up on MUSK1 after 10,000 passes.
        return LinearSVC(
            penalty="l1", C=self.C, dual=False, tol=1e-3, max_iter=self.max_iter, random_state=self.random_state
        )

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""
        if len(self.weights_) == 0:
            return np.full(bags.n_bags, self.intercept_)
        embedded = similarities(*contiguous(rows, bags), self.instances_, self.sigma_)
        return np.asarray(embedded @ self.weights_ + self.intercept_)


def similarity_width(rows: Any, sigma: float | str) -> float:
    """Return sigma itself, or for "scale" the root mean squared distance between two rows of (n, d)."""
    if sigma != "scale":
        return float(sigma)
    variance = StandardScaler(with_mean=False).fit(rows).var_.sum()
    return float(np.sqrt(2.0 * variance)) if variance > 0 else 1.0


def similarities(rows: Any, index: NDArray[np.intp], instances: Any, sigma: float) -> NDArray[np.float64]:
    """Return the largest exp(-|x - x_k|^2 / sigma^2) among the instances x of each bag, for each instance x_k: (B, m).

    Args:
        rows, instances: (n, d) and (m, d) arrays or CSR matrices; the rows of a bag are together.
        index: (n,) the bag of each row, ascending.
        sigma: the width.
    """
    found = np.zeros((index[-1] + 1, instances.shape[0]))
    for bags, values in reduced_blocks(np.maximum, rows, index, instances, 1.0 / sigma**2):
        found[bags] = np.maximum(found[bags], values)
    return found
