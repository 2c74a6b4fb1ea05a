"""The contract of rewards."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.pull import Fold, Outcome


class RewardFunction(ABC):
    """A reward that is prepared for one fold; the only thing that is called with an outcome."""

    @abstractmethod
    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the reward of the label of each training instance.

        Args:
            outcome: the assignment, what the classifier trained on it predicts, and the fold.

        Returns:
            (n,) numbers in [0, 1].
        """

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say in one sentence, with a hint, why this outcome cannot tell labels apart, or return None."""
        return None


class BlockReward(ABC):
    """A reward that sees one block of whole bags at a time, and of all others only sums.

    Each method gets an outcome of which training and held-out part are what of a fold is in the block. What the methods
    called sums return is added up over all blocks; it has the same shape in every block and every pull.
    """

    @abstractmethod
    def heldout_sums(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return sums over held-out rows or bags, which `slopes` and `rewards` are then given of all blocks."""

    def slopes(self, outcome: Outcome, totals: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return by how much the weak labels are met better as held-out outputs grow, (m,) or (m, L).

        None, if the reward does not ask for the effects of training labels along them.
        """
        return None

    def training_sums(self, outcome: Outcome, effects: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return sums over training rows, which `rewards` is then given of all blocks; effects are (n, T)."""
        return np.zeros(0)

    @abstractmethod
    def rewards(
        self,
        outcome: Outcome,
        effects: NDArray[np.float64] | None,
        heldout_totals: NDArray[np.float64],
        training_totals: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the reward of the label of each training instance of the block: (n,) in [0, 1]."""


class Reward(ABC):  # noqa: B024 - `prepare` is made abstract below
    """How well a label assignment meets the weak labels: a regime is a reward function.

    A reward that keeps nothing for a fold defines `__call__(outcome)` alone, as of `RewardFunction`: it is then its own
    reward function, and `prepare` returns the reward itself.

    >>> class Agreement(Reward):
    ...     def __call__(self, outcome):
    ...         return (outcome.assignment == outcome.labels).astype(float)
    >>> reward = Agreement()
    >>> reward.prepare(None, None) is reward
    True
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Supply `prepare` to a class that defines `__call__` and has none."""
        super().__init_subclass__(**options)
        is_function = any("__call__" in vars(base) for base in cls.__mro__)
        if is_function and getattr(cls.prepare, "__isabstractmethod__", False):
            cls.prepare = _itself  # type: ignore[method-assign]

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Do once for a fold all that does not depend on labels.

        Args:
            fold: training part, held-out set, k, and the regime with its parameters.
            classifier: the prepared classifier, or None; its `smoother` may be of use.
        """
        raise NotImplementedError

    if not TYPE_CHECKING:
        # It is abstract, but a type checker cannot see that `__call__` alone is enough.
        prepare = abstractmethod(prepare)

    def in_blocks(self) -> BlockReward | None:
        """Return the same reward in a form that needs only sums of other bags; None where it has to see all at once."""
        return None

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say of a reward that is its own function what `RewardFunction.diagnostic` says; None by default."""
        return None


def _itself(self: Any, fold: Fold, classifier: Any) -> Any:
    """Return the reward itself: it keeps nothing for a fold."""
    return self
