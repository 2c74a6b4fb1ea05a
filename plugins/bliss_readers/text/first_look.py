"""A first look at a file, to say which reader it is for."""

from pathlib import Path

FIRST_BYTES = 1024
LONGEST_LINE = 1 << 20


def begins_like_text(path: Path) -> bool:
    """Say whether the file can be opened and its first bytes are text; never raises."""
    start = first_bytes(path, FIRST_BYTES)
    return start is not None and b"\0" not in start


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
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            while line := file.readline(LONGEST_LINE):
                if line.strip() and not line.lstrip().startswith(comment):
                    return line.strip()
    except (OSError, ValueError):
        return ""
    return ""
