"""What a running fit tells the outside: the kernel's events, and those of a choice of settings."""

from collections.abc import Callable

from attrs import frozen

from bliss_framework.kernel.events import FoldFinished, FoldStarted, RoundFinished


@frozen
class SelectionStarted:
    """Settings are about to be chosen: how many there are, the inferences that takes, and how many are averaged."""

    n_candidates: int
    n_inferences: int
    n_members: int


@frozen
class SelectionAdvanced:
    """Some of the inferences of a selection are done."""

    done: int
    total: int


Event = FoldStarted | RoundFinished | FoldFinished | SelectionStarted | SelectionAdvanced
Emit = Callable[[Event], None]
