"""A first look at a file, to say which reader it is for."""

import io
from pathlib import Path

from bliss_readers.text.encoding import encoding_of

FIRST_BYTES = 1024
FIRST_PART = 1 << 16
LONGEST_LINE = 1 << 20


def begins_like_text(path: Path) -> bool:
    """Say whether the file can be opened and its first bytes are text; never raises."""
    start = first_bytes(path, FIRST_BYTES)
    return start is not None and (b"\0" not in start or encoding_of(start) != "utf-8-sig")


def begins_like_utf16(path: Path) -> bool:
    """Say whether every second of the first bytes is 0, as in UTF-16 without a byte order mark; never raises."""
    start = first_bytes(path, FIRST_BYTES) or b""
    zeros = start[::2].count(b"\0"), start[1::2].count(b"\0")
    return min(zeros) == 0 and max(zeros) * 3 > len(start)


def first_bytes(path: Path, count: int) -> bytes | None:
    """Return the first bytes of a file, or None where it cannot be read; never raises."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except (OSError, ValueError):
        return None


def first_line(path: Path, comment: str) -> str:
    """Return the first line that is not blank and no comment; "" where there is none or it cannot be read.

    Args:
        path: of the file.
        comment: what a comment begins with.
    """
    if not begins_like_text(path):
        return ""
    try:
        with path.open(encoding=encoding_of(first_bytes(path, 4) or b""), errors="replace") as file:
            while line := file.readline(LONGEST_LINE):
                if line.strip() and not line.lstrip().startswith(comment):
                    return line.strip()
    except (OSError, ValueError):
        return ""
    return ""


def first_lines(path: Path, comment: str) -> list[str]:
    """Return the whole lines in the first part of a file that are not blank and no comments; never raises.

    Args:
        path: of the file.
        comment: what a comment begins with.
    """
    start = first_bytes(path, FIRST_PART) if begins_like_text(path) else None
    if not start:
        return []
    lines = io.StringIO(start.decode(encoding_of(start), "replace"), newline=None).read().split("\n")
    whole = lines if len(start) < FIRST_PART else lines[:-1]
    return [line.strip() for line in whole if line.strip() and not line.lstrip().startswith(comment)]
