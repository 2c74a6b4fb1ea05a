"""Class probabilities of instances that meet the shares of their bags."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bliss_framework.plugin import Bags

# No instance is so certain that its bag could not overrule it.
SMALLEST_LOG = -20.0
TOLERANCE = 1e-4
MOST_STEPS = 200


def meet_shares(logs: NDArray[np.float64], shares: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Multiply the odds of the classes by one factor for each bag and class, so that bags have their shares.

    Found by iterative proportional fitting, to within `TOLERANCE`.

    Args:
        logs: (n, C) logarithms of class probabilities.
        shares: (B, C) shares of the classes.
        bags: B bags of n rows.

    Returns:
        (n, C) probabilities; a class without a share in the bag has none.
    """
    logs = np.maximum(logs, SMALLEST_LOG)
    with np.errstate(divide="ignore"):
        factors = target = np.log(shares)
    for _ in range(MOST_STEPS):
        posteriors = softmax(logs + bags.spread(factors), axis=1)
        means = bags.mean(posteriors)
        if np.abs(means - shares).max() < TOLERANCE:
            break
        # A class without a share stays without one: -inf less a finite number.
        factors = factors + np.where(shares > 0, target - np.log(np.where(shares > 0, means, 1.0)), 0.0)
    return np.asarray(posteriors)
