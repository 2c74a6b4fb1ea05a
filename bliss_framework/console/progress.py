"""Progress of a run: bars with rounds, mean reward and time left on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from bliss_framework.kernel.events import FoldStarted, RoundFinished
from bliss_framework.runs.events import FitFinished, FitStarted, RunFinished, RunStarted

SECONDS_BETWEEN_LINES = 5.0
Listener = Callable[[Any], None]


@contextmanager
def progress_on(console: Console, clock: Callable[[], float] = time.monotonic) -> Iterator[Listener]:
    """Yield a listener that shows the events of runs on a console until the block ends."""
    if not console.is_terminal:
        yield Lines(console, clock)
        return
    with _bars(console, clock) as progress:
        yield Bars(progress)


def _bars(console: Console, clock: Callable[[], float]) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[reward]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        get_time=clock,
        transient=True,
    )


class Bars:
    """One bar for the fits of a run, and one for the rounds of the label inference in work."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._fits = progress.add_task("fits", total=None, reward="", visible=False)
        self._rounds = progress.add_task("rounds", total=None, reward="", visible=False)

    def __call__(self, event: Any) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self._progress.reset(self._fits, total=event.n_fits, description=f"{event.name}: fits", visible=True)
        elif isinstance(event, FoldStarted):
            self._progress.reset(
                self._rounds,
                total=event.n_rounds,
                description=f"fold {event.fold + 1}/{event.n_folds}: rounds",
                visible=True,
            )
        elif isinstance(event, RoundFinished):
            self._progress.update(self._rounds, completed=event.round, reward=f"reward {event.mean_reward:.3f}")
        elif isinstance(event, FitFinished):
            self._progress.advance(self._fits)
        elif isinstance(event, RunFinished):
            self._progress.update(self._rounds, visible=False)


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
            self._say(f"{event.name}: {event.n_bags} bags, {event.n_instances} instances, {event.n_fits} fits")
        elif isinstance(event, FitFinished):
            self._done += 1
            self._now_and_then(f"{self._name}: {self._done} of {self._total} fits")
        elif isinstance(event, RoundFinished):
            self._now_and_then(
                f"{self._name}: fold {event.fold + 1}, round {event.round} of {event.n_rounds}, "
                f"mean reward {event.mean_reward:.3f}"
            )

    def _now_and_then(self, line: str) -> None:
        if self._clock() >= self._next:
            self._say(line)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._next = self._clock() + SECONDS_BETWEEN_LINES


__all__ = ["Bars", "FitStarted", "Lines", "progress_on"]
