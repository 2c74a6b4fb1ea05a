"""The reward: are predictions near an instance possible at all?"""

import numpy as np
from attrs import frozen

from bliss_framework.plugin import Outcome, Reward, is_possible, neighbourhood


@frozen
class PartialLabelReward(Reward):
    """Reward a label by the share of near held-out instances whose prediction lies in their candidate set.

        R_x = 1[pi(x) = f(x)] * mean over x' in N(x) of 1[f(x') in S(x')]

    N(x) are the held-out instances that are nearest to x along the output of its predicted label, and S(x') is the set
    of possible labels of x'. This is the precision term of the multi-class MIL reward for bags of one instance.
    """

    def __call__(self, outcome: Outcome) -> np.ndarray:
        """Return one reward in [0, 1] for the label of each training instance."""
        heldout = outcome.fold.heldout
        met = is_possible(outcome.heldout_classes, heldout.bags.spread(heldout.weak.values))
        return np.where(outcome.assignment == outcome.labels, neighbourhood(outcome).mean(met), 0.0)
