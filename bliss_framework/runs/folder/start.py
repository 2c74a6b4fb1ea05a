"""The start of a run: its directory, what is finished there already, and who hears of it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.runs.events import Tell
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.run_folder import RUN, RunFolder

FORMAT = 1


@frozen(eq=False)
class RunResult:
    """What a run found out.

    Attributes:
        document: result.json.
        notes: sentences that a reader should know.
        folder: where it was written, or None.
    """

    document: dict[str, Any] = field()
    notes: tuple[str, ...] = field()
    folder: Path | None = field(default=None)


@frozen(eq=False)
class Start:
    """A run that may begin.

    Attributes:
        checkpoint: of its finished pieces.
        tell: called with each event; writes events.jsonl too where there is a directory.
        notes: sentences about the directory.
        finished: the result, where the directory holds the finished run: nothing is left to compute.
        resumed_from: the versions that the run had before, where it goes on with others; for result.json.
        missing: files that the finished run has lost, which are to be made again; its result stays.
    """

    checkpoint: Checkpoint = field()
    tell: Tell = field()
    notes: tuple[str, ...] = field(default=())
    finished: RunResult | None = field(default=None)
    missing: tuple[str, ...] = field(default=())
    resumed_from: list[dict[str, Any]] = field(factory=list)

    def remarks(self) -> dict[str, Any]:
        """Return what result.json says of how the run went on; nothing where it went straight."""
        return {"resumed_from": self.resumed_from} if self.resumed_from else {}


Files = Callable[[Mapping[str, Any]], Collection[str]]


def no_files(document: Mapping[str, Any]) -> Collection[str]:
    """Return the files that lie beside a result.json which says all: none."""
    return ()


@contextmanager
def start(
    folder: RunFolder | None,
    settings: Mapping[str, Any],
    record: Mapping[str, Any],
    tell: Tell,
    files: Files = no_files,
) -> Iterator[Start]:
    """Start a run in its directory, or go on with the one that is there, and hold its lock for the with block.

    A finished run is read without a lock, since it may lie where nothing can be written.

    Args:
        folder: of the run; None keeps nothing.
        settings: all that decides the result.
        record: the digest of the data and the versions.
        tell: called with each event.
        files: from a result to the names of the files that belong to it.

    Raises:
        RunError: the directory is taken, holds a run with other settings, other data or other versions, or another
            process is at work in it.
    """
    if folder is None:
        yield Start(Checkpoint(None), tell)
        return
    folder.check(settings, record)
    document = folder.result(settings)
    lost = () if document is None else tuple(folder.missing((RUN, *files(document))))
    if document is not None and not lost:
        folder.tidy()
        notes = (f"{folder.path} holds the finished run; nothing was computed.",)
        yield Start(Checkpoint(None), tell, finished=RunResult(document, notes, folder.path))
        return
    folder.check_versions(record)
    earlier, changed = folder.resumed_from(record), folder.changed(settings, record)
    with folder.at_work() as taken_over, _leaving_no_trace(folder, is_new=not (folder.path / RUN).exists()):
        checkpoint = folder.open(settings, record)
        if document is not None:
            made_again = f"{folder.path} lacked {', '.join(lost)}, which was made again; the result is as it was."
            result = RunResult(document, (*taken_over, made_again), folder.path)
            yield Start(checkpoint, tell, (), result, tuple(name for name in lost if name != RUN))
            folder.drop_state()
            return
        yield Start(checkpoint, _logging(folder, tell), (*taken_over, *changed), resumed_from=earlier)


@contextmanager
def _leaving_no_trace(folder: RunFolder, is_new: bool) -> Iterator[None]:
    """Withdraw a new run that fails before anything is finished."""
    try:
        yield
    except Exception:
        if is_new:
            folder.withdraw()
        raise


def _logging(folder: RunFolder, tell: Tell) -> Tell:
    """Return a listener that also writes events.jsonl."""

    def log_and_tell(event: Any) -> None:
        folder.log(event)
        tell(event)

    return log_and_tell
