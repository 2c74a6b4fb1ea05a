"""Messages that are dropped where nobody takes them, so that no work is lost to a terminal that went away."""

import io
import os
import sys
from contextlib import suppress
from typing import Any

OUTPUT, ERROR = 1, 2


class Messages(io.RawIOBase):
    """A stream that drops what it cannot write: work is worth more than what is said about it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor

    def fileno(self) -> int:
        """Return the number of the file for the system."""
        return self.descriptor

    def isatty(self) -> bool:
        """Say whether it is a terminal."""
        return os.isatty(self.descriptor)

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, content: Any) -> int:
        """Write bytes, and return how many were taken."""
        try:
            return os.write(self.descriptor, content)
        except OSError:
            return len(content)


def drop_what_nobody_takes() -> None:
    """Let what is printed in this process, which is a worker, be no reason to stop."""
    for name, descriptor in (("stdout", OUTPUT), ("stderr", ERROR)):
        with suppress(OSError, ValueError):
            setattr(sys, name, text_stream(Messages(descriptor), getattr(sys, name), line_buffering=True))


def text_stream(raw: io.RawIOBase, before: Any, line_buffering: bool) -> io.TextIOWrapper:
    """Return a stream of text in place of another one, with its encoding; what that lacks is written as an escape."""
    with suppress(Exception):
        before.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=line_buffering or raw.isatty(),
    )
