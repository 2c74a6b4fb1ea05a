"""CUCB: the combinatorial upper confidence bound of Algorithm 1."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import ArmStatistics, Strategy, between


@frozen
class Cucb(Strategy):
    """Bound each arm by its empirical mean plus an exploration bonus (Chen et al., ICML 2013; paper, Algorithm 1).

        mu_bar = s / T + sqrt(3 log t / (2 T))

    Args:
        exploration: a factor on the bonus; 1 is the paper's.

    >>> arms = ArmStatistics(np.array([[4.0]]), np.array([[3.0]]), np.array([[True]]))
    >>> Cucb().bounds(arms, 10, np.random.default_rng(0)).round(6).tolist()
    [[1.679231]]
    """

    exploration: float = field(default=1.0, validator=between(0.0, 100.0))

    def bounds(self, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return s/T + sqrt(3 log t / (2T)) for each arm; at t = 1 the bonus is 0, as in the paper."""
        return arms.means + self.exploration * np.sqrt(3 * np.log(round) / (2 * np.maximum(arms.pulls, 1.0)))
