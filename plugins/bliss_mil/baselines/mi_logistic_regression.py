"""Logistic regression of bags whose instances all count: their mean probability, or the probability of their mean."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.settled_rows import settled

AVERAGES = ("arithmetic", "geometric")


class MiLogisticRegression(WholeBagScorer):
    """Logistic regression in which the likelihood is that of bags, and all instances of a bag count alike.

    An instance at x is positive with probability p = 1 / (1 + exp(-x w - b)). A bag is so with the mean probability of
    its instances ("arithmetic", MILogisticRegressionARITH), or with odds that are the geometric mean of theirs, which
    means that their log-odds are averaged ("geometric", MILogisticRegressionGEOM). The loss is the negative
    log-likelihood of bags plus ridge |w|^2. The score is the logarithm of a bag's odds; an instance is a bag of one.
    Source: Xu and Frank, Logistic regression and boosting for labeled bags of instances, PAKDD 2004; the default ridge
    was chosen on six sets that are not those of the paper's table.

    Args:
        average: "arithmetic" or "geometric".
        ridge: strength of regularisation.
        max_iter: most steps of L-BFGS.
        scaling: see `Scaling`.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        coef_: (d,) weights of scaled columns.
        intercept_: a number.
        loss_: what was minimised.
    """

    def __init__(
        self,
        average: str = "arithmetic",
        ridge: float = 0.1,
        max_iter: int = 500,
        scaling: str = "auto",
        positive_label: Any = None,
    ) -> None:
        self.average = average
        self.ridge = ridge
        self.max_iter = max_iter
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "MiLogisticRegression":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, average=validators.one_of(*AVERAGES), ridge=validators.positive)
        check_settings(self, max_iter=validators.at_least(1))
        rows, grouped, weak = settled(*self.learn(X, y, bags))
        start = np.zeros(rows.shape[1] + 1)
        data = (rows, grouped, weak, self.average, self.ridge)
        options = {"maxiter": self.max_iter, "ftol": 1e-12, "gtol": 1e-7}
        found = minimize(penalised_loss, start, args=data, jac=True, method="L-BFGS-B", options=options)
        self.coef_, self.intercept_, self.loss_ = found.x[:-1], float(found.x[-1]), float(found.fun)
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d) by their log-odds: (B,)."""
        logits = rows @ self.coef_ + self.intercept_
        if self.average == "geometric":
            return bags.mean(logits)
        return log_mean_exp(log_expit(logits), bags) - log_mean_exp(log_expit(-logits), bags)


def penalised_loss(
    point: NDArray[np.float64], rows: Any, bags: Bags, weak: NDArray[Any], average: str, ridge: float
) -> tuple[float, NDArray[np.float64]]:
    """Negative log-likelihood of bags plus ridge |w|^2, and its gradient (d + 1,).

    Args:
        point: (d + 1,) weights w, then the intercept, on which there is no penalty.
        rows: (n, d) array or CSR matrix.
        bags: B bags of n rows.
        weak: (B,) 1 for positive and 0 for negative bags.
        average: "arithmetic" or "geometric".
        ridge: strength of the penalty.
    """
    weights = point[:-1]
    # What is likely of a positive bag with these logits is so of a negative one with their negatives.
    signs = np.where(weak == 1, 1.0, -1.0)
    signed = bags.spread(signs) * (rows @ weights + point[-1])
    losses, slope = (arithmetic_loss if average == "arithmetic" else geometric_loss)(signed, bags)
    slope = bags.spread(signs) * slope
    gradient = np.append(np.asarray(rows.T @ slope) + 2.0 * ridge * weights, slope.sum())
    return float(losses.sum() + ridge * (weights @ weights)), gradient


def arithmetic_loss(signed: NDArray[np.float64], bags: Bags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Negative logarithm (B,) of the mean probability of instances, and its derivative (n,) by each logit (n,)."""
    logs = log_expit(signed)
    of_bag = log_mean_exp(logs, bags)
    shares = np.exp(logs - bags.spread(of_bag)) / bags.spread(bags.sizes)
    return -of_bag, -shares * expit(-signed)


def geometric_loss(signed: NDArray[np.float64], bags: Bags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Negative logarithm (B,) of the probability at the mean logit, and its derivative (n,) by each logit (n,)."""
    means = bags.mean(signed)
    return -log_expit(means), -bags.spread(expit(-means) / bags.sizes)


def log_mean_exp(logs: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Logarithm of the mean of exp over each bag: (n,) -> (B,)."""
    largest = bags.max(logs)
    return np.asarray(np.log(bags.mean(np.exp(logs - bags.spread(largest)))) + largest)
