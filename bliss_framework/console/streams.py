"""Standard streams that may be closed, full, or without a reader: messages are dropped then, results are an error."""

import errno
import os
import select
import sys
from contextlib import suppress
from typing import Any

from bliss_framework.compute.messages import ERROR, OUTPUT, Messages, text_stream
from bliss_framework.errors import BlissError

INPUT = 0


class OutputLost(BlissError):
    """Standard output does not take what is printed.

    Attributes:
        silent: whether the reader has seen enough, such as `head`, and wants no word about it.
    """

    def __init__(self, number: int) -> None:
        """Take the number of the error of the system."""
        closed = number == errno.EBADF
        super().__init__(
            "Standard output is closed, so nothing can be printed there."
            if closed
            else f"Standard output cannot be written: {os.strerror(number)}."
        )
        self.silent = number == errno.EPIPE


class _Results(Messages):
    """A stream whose first failure is an error that a user can understand; what comes after is dropped."""

    def __init__(self, descriptor: int, lost: bool) -> None:
        super().__init__(descriptor)
        self.told = False
        self.closed_before = lost

    def write(self, content: Any) -> int:
        """Write bytes, and return how many were taken.

        Raises:
            OutputLost: they cannot be written.
        """
        if self.told:
            return len(content)
        try:
            if self.closed_before:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return self._write_patiently(content)
        except OSError as error:
            self.told = True
            raise OutputLost(error.errno or errno.EIO) from None

    def _write_patiently(self, content: Any) -> int:
        """Wait for a reader that is slow, where whoever made the pipe did not want to be waited for."""
        while True:
            try:
                return os.write(self.descriptor, content)
            except BlockingIOError:
                select.select([], [self.descriptor], [])


def guard_streams() -> None:
    """Take over the standard streams of this process, and open those that are closed, so that no file gets their place.

    Streams that are no files of the system, as in a notebook or a test, are left as they are, but write what their
    encoding lacks as an escape, instead of ending the run.
    """
    lost = _open_what_is_closed()
    if _is_own(sys.stdout, sys.__stdout__, OUTPUT, lost):
        sys.stdout = text_stream(_Results(OUTPUT, OUTPUT in lost), sys.stdout, line_buffering=False)
    if _is_own(sys.stderr, sys.__stderr__, ERROR, lost):
        sys.stderr = text_stream(Messages(ERROR), sys.stderr, line_buffering=True)
    if sys.stdin is None:
        sys.stdin = open(INPUT, closefd=False)  # noqa: SIM115 - it lives as long as the process.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _open_what_is_closed() -> set[int]:
    closed = set()
    for descriptor in (INPUT, OUTPUT, ERROR):
        try:
            os.fstat(descriptor)
        except OSError:
            closed.add(descriptor)
            # The system takes the lowest number that is free, which is this one.
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
                os.set_inheritable(descriptor, True)
    return closed


def _is_own(stream: Any, original: Any, descriptor: int, closed: set[int]) -> bool:
    """Say whether a stream is the one that the process was started with."""
    if stream is None:
        return descriptor in closed
    if stream is not original:
        return False
    try:
        return bool(stream.fileno() == descriptor)
    except (AttributeError, OSError, ValueError):
        return False
