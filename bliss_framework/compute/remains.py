"""Ends what a library started for a command that was killed: a process beside it waits for its end.

A command that is killed by SIGKILL ends nothing by itself. Ray's processes watch each other, but while ray starts not
all of them do yet, and some would run for a minute.
"""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "BLISS_FRAMEWORK_STARTED_BY"
PROCESSES = Path("/proc")
PATIENCE = 4.0  # Seconds in which what was started may end by itself.
BETWEEN_LOOKS = 0.2


@contextmanager
def ending_remains() -> Iterator[None]:
    """End what is started in a with block, and is still there some seconds after the block, or after this process.

    What is started inherits a variable of the environment, which tells it from everything else. Where the environment
    of other processes cannot be read, as on Windows, nothing is done.
    """
    if not PROCESSES.is_dir():
        yield
        return
    before, mark = os.environ.get(MARK), uuid.uuid4().hex
    # A session of its own: no signal to all processes of the command reaches it.
    command = [sys.executable, "-m", __name__, mark]
    nowhere = subprocess.DEVNULL
    watching = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True)
    os.environ[MARK] = mark
    try:
        yield
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before
        assert watching.stdin is not None
        watching.stdin.close()
        watching.wait()


def marked(mark: str) -> list[int]:
    """Return the numbers of the processes that were started with a mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    return [int(one.parent.name) for one in PROCESSES.glob("[0-9]*/environ") if wanted in _environment(one)]


def _environment(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().split(b"\0")
    except OSError:  # It is another user's, or has just ended.
        return []


def end_marked(mark: str, patience: float = PATIENCE) -> None:
    """Wait until all marked processes have ended, and end those that have not after some seconds.

    Args:
        mark: in their environment.
        patience: seconds that they have.
    """
    last = time.monotonic() + patience
    while marked(mark) and time.monotonic() < last:
        time.sleep(BETWEEN_LOOKS)
    for number in marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    # Standard input ends with the process that holds its other end, however that ends.
    sys.stdin.buffer.read()
    end_marked(sys.argv[1])
