"""Baselines whose scores are sums over columns, or over kernel values with support rows."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bliss_framework.plugin import kernel_blocks, validators
from bliss_llp.baselines.features import (
    Features,
    kernel_matrix,
    linear_features,
    mean_square,
    rbf_features,
    rbf_gamma,
)
from bliss_llp.baselines.proportion_estimator import ProportionEstimator
from bliss_llp.baselines.softmax import Coefficients


class KernelEstimator(ProportionEstimator):
    """Linear in the columns of rows, or in an RBF kernel with some rows.

    Attributes:
        coef_: (d, ...) for a linear kernel, else (m, ...).
        intercept_: a number for each score.
        gamma_: of the RBF kernel, or None.
        support_rows_: (m, d) scaled rows that the RBF kernel compares with, or None.
    """

    allowed: ClassVar = {"kernel": validators.one_of("rbf", "linear"), "width": validators.positive}

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,) for two classes, positive for class 1, else (n, C)."""
        if self.support_rows_ is None:
            return np.asarray(rows @ self.coef_ + self.intercept_)
        if self.support_rows_.shape[0] == 0:  # Bags so alike that a constant meets all of them.
            return np.full(rows.shape[0], self.intercept_)
        blocks = kernel_blocks(rows.shape[0], self.support_rows_.shape[0])
        scores = [kernel_matrix(rows[block], self.support_rows_, self.gamma_) @ self.coef_ for block in blocks]
        return np.asarray(np.concatenate(scores) + self.intercept_)

    def measure(self, rows: Any) -> None:
        """Set gamma by the spread of training rows."""
        self.gamma_ = rbf_gamma(rows, self.width) if self.kernel == "rbf" else None

    def gram(self, rows: Any) -> NDArray[np.float64]:
        """Return the Gram matrix (n, n) of training rows, for a linear kernel in units of their mean squared length."""
        gram = kernel_matrix(rows, rows, self.gamma_)
        return gram / mean_square(rows) if self.gamma_ is None else gram

    def remember_rows(self, rows: Any, dual: NDArray[np.float64], intercept: float) -> None:
        """Keep the rows that count, or for a linear kernel their sum; `dual` (n,) belongs to `gram`."""
        self.intercept_: Any = intercept
        if self.gamma_ is None:
            self.support_rows_, self.coef_ = None, np.asarray(rows.T @ dual) / mean_square(rows)
        else:
            counted = np.flatnonzero(dual)
            self.support_rows_, self.coef_ = rows[counted], dual[counted]


class FeatureEstimator(KernelEstimator):
    """A softmax model on columns, or on leading features of an RBF kernel."""

    allowed: ClassVar = {
        **KernelEstimator.allowed,
        "n_features": validators.at_least(1),
        "ridge": validators.positive,
    }

    def features(self, rows: Any) -> Features:
        """Make the features of training rows."""
        self.measure(rows)
        if self.gamma_ is None:
            return linear_features(rows)
        return rbf_features(rows, self.gamma_, self.n_features, check_random_state(self.random_state))

    def remember_features(self, features: Features, found: Coefficients) -> None:
        """Keep a model on features as one on rows."""
        weights, self.intercept_ = found.scores()
        self.support_rows_, self.coef_ = features.support, features.to_rows(weights)
