"""The lines of a text file, whatever its line ends."""

from pathlib import Path

from bliss_framework import DataError


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    r"""Read UTF-8 text with LF, CRLF or CR at the ends of lines.

    Returns:
        The number of each line, from 1, and its text without blanks around it.

    Raises:
        DataError: the file cannot be read or is no UTF-8 text.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = [(number, line.strip()) for number, line in enumerate(file, 1)]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in lines:
        if "\0" in line:
            raise DataError(f"{path}, line {number}: a NUL character, so this is no text; copy or make the file again.")
    return lines
