"""Progress of a run: bars with rounds, mean reward and time left on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from bliss_framework.estimator.events import SelectionAdvanced, SelectionStarted
from bliss_framework.kernel.events import (
    FoldFinished,
    FoldStarted,
    RelabellingAdvanced,
    RelabellingStarted,
    RoundFinished,
)
from bliss_framework.runs.events import (
    FitFinished,
    FitStarted,
    PipelineStarted,
    RunEstimated,
    RunFinished,
    RunStarted,
    StageReached,
)
from bliss_framework.validators import shown_size

SECONDS_BETWEEN_LINES = 5.0
WIDE, NARROW = 80, 60  # Columns for bars with times beside them, and for bars at all.
BESIDE = 28  # Columns of the counts and the reward.
Listener = Callable[[Any], None]


@contextmanager
def progress_on(console: Console, clock: Callable[[], float] = time.monotonic) -> Iterator[Listener]:
    """Yield a listener that shows the events of runs on a console until the block ends."""
    if not console.is_terminal:
        yield Lines(console, clock)
        return
    with _bars(console, clock) as progress:
        yield Bars(progress)


def headline(event: RunStarted) -> str:
    """Say what a run is about to work on."""
    fits = f"{event.n_fits} fit{'s' if event.n_fits != 1 else ''}"
    return f"{event.name} ({event.origin}): {event.n_bags} bags, {event.n_instances} instances, {fits}"


def expectation(event: RunEstimated) -> str:
    """Say what a run will take.

    >>> expectation(RunEstimated(58157, 40, 3_200_000_000, 700.0))
    '58,157 rows in 40 bags: about 3.2 GB of memory and roughly 12 minutes, without baselines'
    """
    minutes = "" if event.seconds is None else f" and {_minutes(event.seconds)}, without baselines"
    return f"{event.n_instances:,} rows in {event.n_bags:,} bags: about {shown_size(event.n_bytes)} of memory{minutes}"


def _minutes(seconds: float) -> str:
    if seconds < 100:
        return "a minute or two" if seconds > 30 else "less than a minute"
    return f"roughly {seconds / 60:.0f} minutes" if seconds < 7200 else f"roughly {seconds / 3600:.0f} hours"


def _bars(console: Console, clock: Callable[[], float]) -> Progress:
    bar: list[ProgressColumn] = [BarColumn(bar_width=16)] if console.width >= NARROW else []
    times: list[ProgressColumn] = [TimeElapsedColumn(), TimeRemainingColumn()] if console.width >= WIDE else []
    return Progress(
        TextColumn("{task.description}", markup=False),
        *bar,
        TextColumn("{task.fields[unit]} {task.completed}/{task.total}", markup=False),
        TextColumn("{task.fields[reward]}", markup=False),
        *times,
        console=console,
        get_time=clock,
        transient=True,
    )


class Bars:
    """One bar for the fits of a run, and one for the rounds of the label inference in work, with the mean reward."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        width = progress.console.width
        self._room = width if width >= NARROW else max(width - BESIDE, 0)
        self._fits = progress.add_task("", total=None, unit="fit", reward="", visible=False)
        self._rounds = progress.add_task("", total=None, unit="round", reward="", visible=False)

    def __call__(self, event: Any) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self._progress.console.print(Text(headline(event)))
            self._progress.reset(self._fits, total=event.n_fits, visible=True)
        elif isinstance(event, RunEstimated):
            self._progress.console.print(Text(expectation(event)))
        elif isinstance(event, PipelineStarted):
            self._progress.console.print(Text(f"{event.name}: {event.origin}"))
            self._progress.reset(self._fits, total=event.n_repeats, visible=True, unit="repeat", reward="")
        elif isinstance(event, StageReached):
            self._progress.update(self._fits, completed=event.repeat, description=event.stage[: self._room])
        elif isinstance(event, FitStarted):
            self._progress.update(self._fits, description=_fit(event)[: self._room])
            self._progress.update(self._rounds, visible=False)
        elif isinstance(event, SelectionStarted):
            self._progress.reset(
                self._rounds,
                total=event.n_inferences,
                description="settings",
                visible=True,
                unit="inference",
                reward="",
            )
        elif isinstance(event, SelectionAdvanced):
            self._progress.update(self._rounds, completed=event.done)
        elif isinstance(event, FoldStarted):
            description = f"fold {event.fold + 1}/{event.n_folds}"
            # Resetting a bar drops the fields that are not given again.
            fields: dict[str, Any] = {"unit": "round", "reward": ""}
            self._progress.reset(self._rounds, total=event.n_rounds, description=description, visible=True, **fields)
        elif isinstance(event, RoundFinished):
            self._progress.update(self._rounds, completed=event.round, reward=_reward(event))
        elif isinstance(event, FoldFinished):
            # Rounds in other processes are not seen; what their folds end with is.
            self._progress.update(self._fits, reward=_reward(event))
        elif isinstance(event, RelabellingStarted):
            anew: dict[str, Any] = {"unit": "round", "reward": ""}
            self._progress.reset(self._rounds, total=event.n_rounds, description="relabelling", visible=True, **anew)
        elif isinstance(event, RelabellingAdvanced):
            self._progress.update(self._rounds, completed=event.round)
        elif isinstance(event, FitFinished):
            self._progress.update(self._fits, advance=1, description="", reward="")
        elif isinstance(event, RunFinished):
            self._progress.update(self._rounds, visible=False)


def _fit(event: FitStarted) -> str:
    if event.repeat is None or event.fold is None:
        return "inference"
    return f"{event.method}, repeat {event.repeat + 1}, fold {event.fold + 1}"


def _reward(event: RoundFinished | FoldFinished) -> str:
    return f"reward {event.mean_reward:.3f}"


class Lines:
    """Where there is no terminal: plain lines without cursor codes, at most one every few seconds."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._next = clock() + SECONDS_BETWEEN_LINES
        self._done = self._total = 0
        self._name = ""

    def __call__(self, event: Any) -> None:
        """Show one event, if the last line is old enough."""
        if isinstance(event, RunStarted):
            self._name, self._done, self._total = event.name, 0, event.n_fits
            self._say(headline(event))
        elif isinstance(event, RunEstimated):
            self._say(expectation(event))
        elif isinstance(event, PipelineStarted):
            self._name, self._total = event.name, event.n_repeats
            self._say(f"{event.name}: {event.origin}")
        elif isinstance(event, StageReached):
            self._now_and_then(f"{self._name}: repeat {event.repeat + 1} of {self._total}, {event.stage}")
        elif isinstance(event, FitFinished):
            self._done += 1
            self._now_and_then(f"{self._name}: {self._done} of {self._total} fits")
        elif isinstance(event, SelectionAdvanced):
            self._now_and_then(f"{self._name}: {event.done} of {event.total} inferences to choose settings")
        elif isinstance(event, FoldFinished):
            self._now_and_then(f"{self._name}: fold {event.fold + 1} is done, mean {_reward(event)}")
        elif isinstance(event, RoundFinished):
            self._now_and_then(
                f"{self._name}: fold {event.fold + 1}, round {event.round} of {event.n_rounds}, mean {_reward(event)}"
            )

        elif isinstance(event, RelabellingAdvanced):
            changed = f"{event.n_changed:,} labels changed"
            self._now_and_then(f"{self._name}: relabelling, round {event.round} of {event.n_rounds}, {changed}")

    def _now_and_then(self, line: str) -> None:
        if self._clock() >= self._next:
            self._say(line)

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
        self._next = self._clock() + SECONDS_BETWEEN_LINES
