"""The reward: are held-out pairs met near an instance, and are the known instances right?"""

import numpy as np
from attrs import frozen

from bliss_framework.plugin import Outcome, Reward, neighbourhood
from bliss_pairwise.patterns import AGREE, met


@frozen
class PairwiseReward(Reward):
    """Reward labels whose classifier keeps pairs near an instance together or apart, as they should be.

        R_x = 1[pi(x) = f(x)] * mean over x' in N(x) of 1[pair of x' is met] * share of known held-out instances met

    Pairs alone cannot tell which class is which: turning all labels round meets them just as well. The last factor
    makes one of the two ways pay, so a handful of known instances is enough.
    """

    def __call__(self, outcome: Outcome) -> np.ndarray:
        """Return one reward in [0, 1] for the label of each training instance."""
        heldout = outcome.fold.heldout
        good = met(outcome.heldout_classes, heldout.bags, heldout.weak.values)
        known = heldout.weak.values < AGREE
        anchored = good[known].mean() if known.any() else 1.0
        local = neighbourhood(outcome).mean(heldout.bags.spread(good))
        return np.where(outcome.assignment == outcome.labels, local * anchored, 0.0)
