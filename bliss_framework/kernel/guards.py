"""What components return is held to their contracts here, at the first pull that breaks one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import BlissError, PluginError, RewardError
from bliss_framework.faults import is_fault
from bliss_framework.kernel.arms import ArmStatistics
from bliss_framework.kernel.pull import Part, Predictions
from bliss_framework.kernel.read_only import read_only

ROUNDING = 1e-9


class attributing_errors:
    """Turn whatever a component raises into a PluginError that says what raised, and in which round.

    Ctrl-C comes through, and nothing else does: a component that calls sys.exit must not end a run without a word. A
    pull passes it three times, and a class takes a quarter of the time of a generator.

    Args:
        kind: of the component, for whoever knows its name.
        what: of it was called.
        round: 0 for the initial sweep, None where it was not in a round.
    """

    __slots__ = ("kind", "round", "what")

    def __init__(self, kind: str, what: str, round: int | None = None) -> None:
        self.kind, self.what, self.round = kind, what, round

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, KeyboardInterrupt):
            return
        if isinstance(error, BlissError):
            if isinstance(error, PluginError):
                error.kind = error.kind or self.kind
            return
        if is_fault(error):
            return
        when = "" if self.round is None else f" in round {self.round}"
        raise _broken(self.kind, f"the {self.what} raised {type(error).__name__}{when}: {error}") from error


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


def checked_predictions(
    puller: Any, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None, n_heldout: int, round: int
) -> Predictions:
    """Train a classifier on a batch of assignments, and hold what it says to its contract.

    Args:
        puller: a prepared classifier.
        assignments: (P, n) labels.
        weights: (P, n) of the instances, or None.
        n_heldout: held-out instances m.
        round: of the first of them; 0 for the initial sweep.

    Raises:
        PluginError: if the classifier raises, or returns no `Predictions` of P assignments, n and m instances.
    """
    with attributing_errors("classifier", "classifier", round):
        said = puller.pull(read_only(assignments), read_only(weights))
    if not isinstance(said, Predictions):
        what = "None" if said is None else f"an object of type {type(said).__name__}"
        raise _broken("classifier", f"the classifier returned {what} in round {round}; it must return Predictions.")
    n_pulls, n = assignments.shape
    for name, length in (("train", n), ("heldout", n_heldout)):
        found = getattr(said, f"{name}_scores").shape
        if found[:2] != (n_pulls, length):
            raise _broken(
                "classifier",
                f"the classifier returned {name} scores of shape {found} in round {round}; it must return one for each "
                f"of {n_pulls} assignments and {length} instances.",
            )
    return said


def checked_bounds(strategy: Any, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Ask a strategy for its bounds and hold it to its contract: numbers of the shape of the arms, no NaN.

    Raises:
        PluginError: if they are something else, or the strategy raises.
    """
    with attributing_errors("strategy", "strategy", round):
        returned = strategy.bounds(arms.read_only, round, rng)
        raw = np.asarray(returned)
    if returned is None or raw.dtype.kind not in "fiub":
        found = "None" if returned is None else f"bounds of dtype {raw.dtype}"
        raise _broken("strategy", f"the strategy returned {found} in round {round}; it must return real numbers.")
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
