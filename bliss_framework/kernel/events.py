"""What a running label inference tells the outside: small records, sent to whoever listens."""

from collections.abc import Callable
from typing import Any

from attrs import frozen


@frozen
class FoldStarted:
    """A fold is prepared and its first pull is about to happen."""

    pass_number: int
    fold: int
    n_folds: int
    n_rounds: int


@frozen
class RoundFinished:
    """One round, or one batch of parallel pulls, is over; `mean_reward` is over its pulls and free instances."""

    pass_number: int
    fold: int
    round: int
    n_rounds: int
    mean_reward: float


@frozen
class FoldFinished:
    """The labels of one fold are inferred."""

    pass_number: int
    fold: int
    mean_reward: float


@frozen
class RelabellingStarted:
    """Labels are inferred, and bags are about to be relabelled by classifiers that have not seen them."""

    n_rounds: int


@frozen
class RelabellingAdvanced:
    """All bags were relabelled once more, and `n_changed` instances got another label."""

    round: int
    n_rounds: int
    n_changed: int


Emit = Callable[[Any], None]  # Rooms above the kernel tell of more than its own events.


def silent(event: Any) -> None:
    """Listen to nothing."""
