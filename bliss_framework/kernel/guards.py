"""What components return is held to their contracts here, at the first pull that breaks one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import BlissError, PluginError, RewardError
from bliss_framework.faults import is_fault
from bliss_framework.kernel.arms import ArmStatistics
from bliss_framework.kernel.pull import Part

ROUNDING = 1e-9


@contextmanager
def attributing_errors(kind: str, what: str, round: int) -> Iterator[None]:
    """Turn whatever a component raises into a PluginError that says what raised, and in which round.

    Args:
        kind: of the component, for whoever knows its name.
        what: of it was called.
        round: 0 for the initial sweep.
    """
    try:
        yield
    except BlissError as error:
        if isinstance(error, PluginError):
            error.kind = error.kind or kind
        raise
    except Exception as error:
        if is_fault(error):
            raise
        raise _broken(kind, f"the {what} raised {type(error).__name__} in round {round}: {error}") from error


def _broken(kind: str, message: str, cls: type[PluginError] = PluginError) -> PluginError:
    error = cls(message)
    error.kind = kind
    return error


def checked_rewards(returned: Any, n: int, round: int) -> NDArray[np.float64]:
    """Hold what a reward returned to its contract: (n,) numbers in [0, 1].

    Args:
        returned: what the reward returned.
        n: training instances.
        round: in which it was called; 0 for the initial sweep.

    Raises:
        RewardError: if the shape is wrong, or a value is not a number in [0, 1] up to rounding.
        PluginError: if it cannot be read as an array.
    """
    with attributing_errors("reward", "reward", round):
        values = np.asarray(returned)
    if returned is None or values.shape != (n,) or values.dtype.kind not in "fiub":
        found = "None" if returned is None else f"an array of shape {values.shape} and dtype {values.dtype}"
        message = f"the reward returned {found} in round {round}; it must return {n} numbers, one an instance."
        raise _broken("reward", message, RewardError)
    rewards: NDArray[np.float64] = values.astype(np.float64)
    if n > 0 and rewards.min() >= 0.0 and rewards.max() <= 1.0:
        return rewards
    wrong = ~((rewards >= -ROUNDING) & (rewards <= 1 + ROUNDING))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        value = f"{rewards[row]} for training instance {row} in round {round}"
        raise _broken("reward", f"the reward returned {value}; rewards lie in [0, 1].", RewardError)
    return np.clip(rewards, 0.0, 1.0)


def checked_bounds(strategy: Any, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Ask a strategy for its bounds and hold it to its contract: numbers of the shape of the arms, no NaN.

    Raises:
        PluginError: if they are something else, or the strategy raises.
    """
    with attributing_errors("strategy", "strategy", round):
        raw = strategy.bounds(arms, round, rng)
        # A copy, because it is written to, and the strategy may have returned an array that it needs, or the sums.
        bounds = np.array(raw, dtype=np.float64)
    if bounds.shape != arms.pulls.shape or np.isnan(bounds).any():
        raise _broken(
            "strategy",
            f"the strategy returned bounds of shape {bounds.shape} in round {round}, {int(np.isnan(bounds).sum())} of "
            f"them NaN; it must return numbers of shape {arms.pulls.shape}.",
        )
    return bounds


def checked_assignment(
    constrain: Callable[[NDArray[np.float64], Part], NDArray[np.intp]],
    bounds: NDArray[np.float64],
    part: Part,
    round: int,
) -> NDArray[np.intp]:
    """Let a regime's constraint choose an assignment, and see that it chose candidates only.

    Raises:
        PluginError: if the assignment has the wrong shape or holds a label that is no candidate.
    """
    with attributing_errors("regime", "constraint of the regime", round):
        assignment = np.asarray(constrain(bounds, part))
    n, n_labels = bounds.shape
    if assignment.shape != (n,) or assignment.dtype.kind not in "iu":
        raise _broken(
            "regime",
            f"the constraint of the regime returned an array of shape {assignment.shape} and dtype {assignment.dtype} "
            f"in round {round}; it must return {n} labels.",
        )
    inside = (assignment >= 0) & (assignment < n_labels)
    if not (inside.all() and part.space.candidates[np.arange(n), assignment].all()):
        allowed = inside & part.space.candidates[np.arange(n), np.where(inside, assignment, 0)]
        row = int(np.flatnonzero(~allowed)[0])
        raise _broken(
            "regime",
            f"the constraint of the regime gave training instance {row} the label {int(assignment[row])} in round "
            f"{round}, which is no candidate of it.",
        )
    return assignment.astype(np.intp)
