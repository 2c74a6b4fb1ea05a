"""The start of a run: its directory, what is finished there already, and who hears of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.runs.events import Tell
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.run_folder import RunFolder

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
        finished: the result, where the directory holds the finished run: nothing is left to compute.
        resumed_from: the versions that the run had before, where it goes on with others; for result.json.
    """

    checkpoint: Checkpoint = field()
    tell: Tell = field()
    finished: RunResult | None = field(default=None)
    resumed_from: list[dict[str, Any]] = field(factory=list)

    def remarks(self) -> dict[str, Any]:
        """Return what result.json says of how the run went on; nothing where it went straight."""
        return {"resumed_from": self.resumed_from} if self.resumed_from else {}


def start(folder: RunFolder | None, settings: Mapping[str, Any], record: Mapping[str, Any], tell: Tell) -> Start:
    """Start a run in its directory, or go on with the one that is there.

    Args:
        folder: of the run; None keeps nothing.
        settings: all that decides the result.
        record: the digest of the data and the versions.
        tell: called with each event.

    Raises:
        RunError: the directory is taken, or holds a run with other settings, other data or other versions.
    """
    if folder is None:
        return Start(Checkpoint(None), tell)
    folder.check(settings, record)
    earlier = folder.resumed_from(record)
    checkpoint = folder.open(settings, record)
    document = folder.result(settings)
    if document is None:
        return Start(checkpoint, _logging(folder, tell), resumed_from=earlier)
    notes = (f"{folder.path} holds the finished run; nothing was computed.",)
    return Start(checkpoint, tell, RunResult(document, notes, folder.path))


def _logging(folder: RunFolder, tell: Tell) -> Tell:
    """Return a listener that also writes events.jsonl."""

    def log_and_tell(event: Any) -> None:
        folder.log(event)
        tell(event)

    return log_and_tell
