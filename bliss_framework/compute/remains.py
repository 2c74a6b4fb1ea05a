"""Ends what a library started for a command that was killed: a process beside it waits for its end.

A command that is killed by SIGKILL ends nothing by itself. Ray's processes watch each other, but while ray starts not
all of them do yet, and some would run for a minute.
"""

import os
import select
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
BETWEEN_LOOKS = 0.3


@contextmanager
def ending_remains() -> Iterator[None]:
    """End what is started in a with block, and is still there some seconds after the block, or after this process.

    What is started inherits a variable of the environment, which tells it from everything else. Where other processes
    cannot be looked at, as on Windows, nothing is done.
    """
    if not PROCESSES.is_dir():
        yield
        return
    before, mark = os.environ.get(MARK), uuid.uuid4().hex
    nowhere = subprocess.DEVNULL
    # A session of its own: no signal to all processes of the command reaches it.
    watching = subprocess.Popen(
        [sys.executable, "-m", __name__, mark],
        stdin=subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )
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


class Started:
    """The processes that were started with a mark in their environment, and what those started.

    They are looked for again and again: a process that gives itself a title, as ray's do, overwrites its environment,
    and one whose parent has ended does not say any more who that was.
    """

    def __init__(self, mark: str) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._found: dict[int, str] = {}  # Its number, and when it began: numbers are given anew.

    def look(self) -> list[int]:
        """Look for them, and return the numbers of those that are running."""
        there = {number: one for number in _numbers() if (one := _parent_and_beginning(number))}
        for number, began in list(self._found.items()):
            if number not in there or there[number][1] != began:
                del self._found[number]
        for number, (parent, began) in there.items():
            if int(parent) in self._found or self._mark in _environment(number):
                self._found[number] = began
        return list(self._found)


def _numbers() -> list[int]:
    return sorted(int(name) for name in os.listdir(PROCESSES) if name.isdigit() and int(name) != os.getpid())


def _environment(number: int) -> list[bytes]:
    try:
        return (PROCESSES / str(number) / "environ").read_bytes().split(b"\0")
    except OSError:  # It is another user's, or has just ended.
        return []


def _parent_and_beginning(number: int) -> tuple[str, str] | None:
    """Return the number of a process's parent and its start time, or None where it has ended."""
    try:
        stat = (PROCESSES / str(number) / "stat").read_text(errors="replace")
    except OSError:
        return None
    state, parent, *others = stat.rpartition(")")[2].split()
    return None if state == "Z" else (parent, others[17])


def end_started(started: Started, patience: float = PATIENCE) -> None:
    """Wait until what was started has ended, and end what has not after some seconds.

    Args:
        started: which processes.
        patience: seconds that they have.
    """
    last = time.monotonic() + patience
    while started.look() and time.monotonic() < last:
        time.sleep(BETWEEN_LOOKS)
    for number in started.look():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)


def main(mark: str) -> None:
    """Look until standard input ends, which it does with the process that holds its other end."""
    started = Started(mark)
    while not select.select([sys.stdin], [], [], BETWEEN_LOOKS)[0]:
        started.look()
    end_started(started)


if __name__ == "__main__":
    main(sys.argv[1])
