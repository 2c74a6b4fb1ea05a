"""The contract of rewards."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from attrs import field, frozen
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


@frozen(eq=False)
class Total:
    """Asks for the sum of an array over all blocks; it has the same shape in every block."""

    values: NDArray[Any] = field()


@frozen(eq=False)
class Gathered:
    """Asks for the rows of all blocks, those of the first above those of the next: (r, ...), of which r may differ."""

    rows: NDArray[Any] = field()


@frozen(eq=False)
class Effects:
    """Asks how much each training label of the block moves the held-out outputs of all blocks, along slopes.

    Attributes:
        slopes: (m,) or (m, T), by how much the weak labels are met better as the held-out outputs of the block grow.
            The answer is (n, T), and T is the same in every block.
    """

    slopes: NDArray[np.floating] = field()


Found = TypeVar("Found")
Asking: TypeAlias = Generator[Total | Gathered | Effects, NDArray[Any], Found]


class BlockReward(ABC):
    """A reward that sees one block of whole bags at a time, and asks for what it needs of all others.

    Its methods are generators. They yield a question, `Total`, `Gathered` or `Effects`, and are sent the answer, which
    is the same in every block but for effects. So they ask the same questions in the same order in every block.

    >>> class MeanOutput(BlockReward):
    ...     def rewards(self, outcome, n_heldout):
    ...         total = yield Total(outcome.heldout_scores.sum(axis=0))
    ...         return (outcome.scores > total / n_heldout).all(axis=1).astype(float)
    """

    @abstractmethod
    def rewards(self, outcome: Outcome, n_heldout: int) -> Asking[NDArray[np.float64]]:
        """Return the reward of the label of each training instance of the block: (n,) in [0, 1].

        Args:
            outcome: its training part and held-out set are what of a fold is in the block.
            n_heldout: held-out instances of the fold in all blocks.
        """

    def diagnostic(self, outcome: Outcome, n_heldout: int) -> Asking[str | None]:
        """Say what `RewardFunction.diagnostic` says, the same in every block; asks nothing and says None by default."""
        return None
        yield


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
        """Return the same reward in a form that sees a block of bags at a time; None where there is none."""
        return None

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Say of a reward that is its own function what `RewardFunction.diagnostic` says; None by default."""
        return None


def _itself(self: Any, fold: Fold, classifier: Any) -> Any:
    """Return the reward itself: it keeps nothing for a fold."""
    return self
