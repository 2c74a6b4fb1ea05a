"""The lines of a text file, whatever its line ends."""

import io
from pathlib import Path

from bliss_readers.text.encoding import decoded


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    r"""Read UTF-8 text with LF, CRLF or CR at the ends of lines.

    Returns:
        The number of each line, from 1, and its text without blanks around it.

    Raises:
        DataError: the file cannot be read or is no UTF-8 text.
    """
    return [(number, line.strip()) for number, line in enumerate(io.StringIO(decoded(path), newline=None), 1)]
