"""The contract of rewards."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.pull import Fold, Outcome


class RewardFunction(ABC):
    """A reward that is prepared for one fold."""

    @abstractmethod
    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the reward of the label of each training instance.

        Args:
            outcome: the assignment, what the classifier trained on it predicts, and the fold.

        Returns:
            (n,) numbers in [0, 1].
        """

    def complaint(self, outcome: Outcome) -> str | None:
        """Say in one sentence with a remedy why this outcome cannot tell labels apart, or return None."""
        return None


class Reward(RewardFunction):
    """How well a label assignment meets the weak labels: a regime is a reward function."""

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Do once for a fold all that does not depend on labels; by default nothing.

        Args:
            fold: training part, held-out set and k.
            classifier: the prepared classifier; its `smoother` may be of use.
        """
        return self
