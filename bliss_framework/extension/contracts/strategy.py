"""The contract of bandit strategies."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.arms import ArmStatistics


class Strategy(ABC):
    """Turns arm statistics into an upper bound of the mean reward of each arm."""

    @abstractmethod
    def bounds(self, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the upper bound of each arm.

        Args:
            arms: pulls T, reward sums s and means of n instances x L labels. An arm that was never pulled, or that is
                no candidate, may get any number: it is overruled afterwards.
            round: t >= 1.
            rng: the inference's generator, for randomised strategies.

        Returns:
            (n, L) float64, no NaN.
        """
