"""A Bayesian model of latent labels and known counts, sampled by Markov chain Monte Carlo."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import log_ndtr, ndtri_exp
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, Rows, validators
from bliss_llp.baselines.kernel_estimator import FeatureEstimator
from bliss_llp.baselines.p_svm import leading
from bliss_llp.baselines.softmax import Coefficients

# Scaled rows differ in last bits by the order in which columns were added up, and a chain makes much of a little. They
# are rounded to this part of the power of two above the largest value.
FINEST = 2.0**-32
# A share that is nearer to a whole count than this is whole.
WHOLE = 1e-6
# Of the intercept, on which the prior has next to no say.
INTERCEPT_PRECISION = 1e-4


class LlpGraphicalModel(FeatureEstimator):
    """A probit model whose instance labels are latent, and known to add up to the count of each bag.

    Labels are drawn given the model and the counts, by swaps of a positive and a negative instance within a bag; then
    weights given labels, with normal variables in between (Albert and Chib, Bayesian analysis of binary and
    polychotomous response data, JASA 88, 1993). The score is the mean of the posterior means of the linear predictor,
    after a burn-in. A share that is no whole count is rounded up or down by lot, so that counts are right in the mean.
    For two classes. Source: de Freitas and Kueck, Learning about individuals from group statistics, UAI 2005, here with
    counts that are exact, features of an RBF kernel, and one bag for each instance.

    Args:
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_features: leading eigenvectors of the Gram matrix.
        ridge: precision of the normal prior of each weight; features have mean square 1.
        n_burn_in: sweeps before the first that counts.
        n_sweeps: sweeps that are averaged.
        n_swaps: rounds of swaps in each sweep; in each, every instance of the rarer class of a bag may swap once.
        scaling: see `Scaling`.
        classes: names of the classes; 0 and 1 by default.
        random_state: seed of the chain, and of the rows that features compare with, where there are more than 1,000.
    """

    binary = True
    kernel: ClassVar[str] = "rbf"
    allowed: ClassVar = {
        **FeatureEstimator.allowed,
        "n_burn_in": validators.at_least(0),
        "n_sweeps": validators.at_least(1),
        "n_swaps": validators.at_least(1),
    }

    def __init__(
        self,
        width: float = 0.5,
        n_features: int = 60,
        ridge: float = 10.0,
        n_burn_in: int = 100,
        n_sweeps: int = 300,
        n_swaps: int = 5,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.n_features = n_features
        self.ridge = ridge
        self.n_burn_in = n_burn_in
        self.n_sweeps = n_sweeps
        self.n_swaps = n_swaps
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Run the chain."""
        features = self.features(rounded(rows))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        counts = drawn_counts(shares[:, 1], bags, rng)
        labels = leading(rng.random(bags.n_rows), bags, counts)
        regression = ProbitRegression(features.values, self.ridge)
        weights = np.zeros(regression.design.shape[1])
        total = np.zeros_like(weights)
        for sweep in range(self.n_burn_in + self.n_sweeps):
            predictor = regression.design @ weights
            labels = swapped(labels, predictor, bags, self.n_swaps, rng)
            mean, weights = regression.sweep(predictor, labels, rng)
            total = total + mean * (sweep >= self.n_burn_in)
        found = total / self.n_sweeps
        both = np.stack([np.zeros_like(found), found], axis=1)
        self.remember_features(features, Coefficients(both[:-1], both[-1]))


def rounded(rows: Any) -> Any:
    """Round the values of each column of (n, d) to a multiple of a small part of the largest one."""
    exponents = np.frexp(Rows(rows).column_magnitudes() * FINEST)[1]
    whole = np.rint(Rows(rows).times_powers_of_two(-exponents).array)
    return Rows(whole).times_powers_of_two(exponents).array


class ProbitRegression:
    """Draws weights given labels, on features (n, D) with a column of ones beside them."""

    def __init__(self, values: NDArray[np.float64], ridge: float) -> None:
        self.design = np.column_stack([values, np.ones(len(values))])
        precision = np.append(np.full(values.shape[1], ridge), INTERCEPT_PRECISION)
        # The precision of weights given normal variables does not depend on those.
        self.factor = cho_factor(self.design.T @ self.design + np.diag(precision), lower=True)

    def sweep(
        self, predictor: NDArray[np.float64], labels: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw normal variables with the signs of labels (n,), and return the mean (D + 1,) and a draw of weights.

        Args:
            predictor: (n,) means of the normal variables, which have variance 1.
            labels: (n,) whether each of them is positive.
            rng: draws.
        """
        mean = cho_solve(self.factor, self.design.T @ truncated(predictor, labels, rng))
        noise = solve_triangular(self.factor[0], rng.standard_normal(len(mean)), lower=True, trans="T")
        return mean, mean + noise


def truncated(means: NDArray[np.float64], positive: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw normal variables of variance 1 that are above 0 where they are to be positive, and below 0 elsewhere: (n,).

    By the inverse of the distribution function, in logarithms, so that no mean is too far on the wrong side.
    """
    signs = np.where(positive, 1.0, -1.0)
    towards = signs * means
    # 1 - random() is never 0.
    log_uniform = np.log(1.0 - rng.random(len(means)))
    return np.asarray(signs * (towards - ndtri_exp(log_uniform + log_ndtr(towards))))


def swapped(
    labels: NDArray[np.bool_], predictor: NDArray[np.float64], bags: Bags, n_rounds: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Let positive and negative instances of the same bag swap labels, by the rule of Metropolis: (n,).

    In each round the positive instances of a bag are paired at random with negative ones, as far as there are enough of
    both. Pairs have no instance in common, and are as likely after a swap as before it, so that each is decided alone.
    Counts stay what they are, and what does is the distribution of labels given counts and predictor.

    Args:
        labels: (n,).
        predictor: (n,) of a probit model.
        bags: with an ascending index.
        n_rounds: rounds.
        rng: draws.
    """
    log_odds = log_ndtr(predictor) - log_ndtr(-predictor)
    found = labels.copy()
    for _ in range(n_rounds):
        up, down = random_pairs(found, bags, rng)
        accepted = np.log(1.0 - rng.random(len(up))) < log_odds[down] - log_odds[up]
        found[up[accepted]], found[down[accepted]] = False, True
    return found


def random_pairs(
    labels: NDArray[np.bool_], bags: Bags, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair positive with negative instances of the same bag at random: two arrays of as many positions.

    Args:
        labels: (n,).
        bags: with an ascending index.
        rng: draws.
    """
    n = len(labels)
    order = np.lexsort((rng.random(n), labels, bags.index))
    counts = bags.sum(labels.astype(np.intp))
    pairs = np.minimum(counts, bags.sizes - counts)
    ends = np.cumsum(bags.sizes)
    # In each bag negative instances come first, then positive ones, each in random order.
    place = np.arange(n) - bags.spread(ends - bags.sizes)
    from_end = bags.spread(ends) - 1 - np.arange(n)
    wanted = bags.spread(pairs)
    return order[from_end < wanted], order[place < wanted]


def drawn_counts(shares: NDArray[np.float64], bags: Bags, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return whole counts (B,) for shares (B,), rounded by lot where they are not whole: right in the mean."""
    expected = shares * bags.sizes
    nearest = np.round(expected)
    lot = np.floor(expected + rng.random(bags.n_bags))
    return np.where(np.abs(expected - nearest) < WHOLE, nearest, lot).astype(np.intp)
