"""InvCal: support vector regression from the mean row of a bag to the log-odds of its share."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.svm import SVR

from bliss_framework.plugin import Bags, validators
from bliss_llp.baselines.kernel_estimator import KernelEstimator


class InvCal(KernelEstimator):
    """Inverse calibration: the mean score of a bag is to be the log-odds of its share of class 1.

    Shares are kept half an instance, or a quarter where bags hold a single one, away from 0 and 1, where log-odds are
    infinite. Source: Rueping, SVM classifier estimation from group probabilities, ICML 2010. For two classes. The Gram
    matrix takes 8 n^2 bytes.

    Args:
        C: inverse strength of regularisation.
        eps: deviations of log-odds below it cost nothing.
        kernel: "rbf" or "linear" (inner products in units of the mean squared length of rows).
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        scaling: see `Scaling`.
        classes: names of the classes; 0 and 1 by default.
    """

    binary = True
    allowed: ClassVar = {**KernelEstimator.allowed, "C": validators.positive, "eps": validators.positive}

    def __init__(
        self,
        C: float = 100.0,
        eps: float = 0.1,
        kernel: str = "rbf",
        width: float = 0.5,
        scaling: str = "auto",
        classes: Any = None,
    ) -> None:
        self.C = C
        self.eps = eps
        self.kernel = kernel
        self.width = width
        self.scaling = scaling
        self.classes = classes

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Fit the regression on bags, and keep it as one on rows."""
        self.measure(rows)
        margin = np.minimum(0.5 / bags.sizes, 0.25)
        targets = logit(np.clip(shares[:, 1], margin, 1 - margin))
        between = bags.mean(bags.mean(self.gram(rows)).T)
        svr = SVR(kernel="precomputed", C=self.C, epsilon=self.eps).fit(between, targets)
        dual = np.zeros(bags.n_bags)
        dual[svr.support_] = svr.dual_coef_[0]
        self.remember_rows(rows, bags.spread(dual / bags.sizes), float(svr.intercept_[0]))
