"""What a run tells its observers, beside the kernel's own events."""

from collections.abc import Callable
from typing import Any

from attrs import frozen


@frozen
class RunStarted:
    """A run is about to start: its name, where its data come from, and how much there is to do."""

    name: str
    origin: str
    n_bags: int
    n_instances: int
    n_fits: int


@frozen
class RunEstimated:
    """A large or long run is about to start: its memory at the peak, and its seconds without baselines, if known."""

    n_instances: int
    n_bags: int
    n_bytes: int
    seconds: float | None


@frozen
class FitStarted:
    """A method is about to be fitted; `repeat` and `fold` are None for the whole data set."""

    method: str
    repeat: int | None
    fold: int | None


@frozen
class FitFinished:
    """A method was fitted and, on the bags of a fold, judged by the measures of the regime."""

    method: str
    repeat: int | None
    fold: int | None
    measures: dict[str, float]


@frozen
class PipelineStarted:
    """A pipeline is about to start: its name, what it works on, and how often it runs."""

    name: str
    origin: str
    n_repeats: int


@frozen
class StageReached:
    """A pipeline has come to a stage of a repeat, counted from 0."""

    repeat: int
    stage: str


@frozen
class RunFinished:
    """The run is over."""

    name: str
    seconds: float


Tell = Callable[[Any], None]
