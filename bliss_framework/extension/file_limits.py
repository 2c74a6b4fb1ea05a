"""How much memory a file may take: what it says of itself is held against its size before anything is read.

A few hundred bytes can claim to be gigabytes. A file may take 128 MiB whatever its size, and beyond that a hundred
times its size, which no honest compression of numbers reaches. The environment variable BLISS_READ_LIMIT, for instance
4GB, allows more.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from bliss_framework.errors import DataError, SettingsError
from bliss_framework.validators import shown_size, size_or_none

VARIABLE = "BLISS_READ_LIMIT"
FREE = 2**27
RATIO = 100
BYTES_OF_A_COLUMN = 64  # A few vectors of float64 are made of the columns, even where all rows are sparse.


def check_size(path: Path, n_bytes: int, files: Sequence[Path] | None = None) -> None:
    """Refuse a file that would take more memory than a file of its size may.

    Args:
        path: of the file, or of a folder that is one data set.
        n_bytes: that its content takes in memory, as far as its header tells.
        files: that hold the content, where these are several; by default the file, or all files of the folder.

    Raises:
        DataError: naming the file, what it claims, and how to allow it.
        SettingsError: the variable BLISS_READ_LIMIT holds no size.
    """
    if n_bytes <= FREE:
        return
    size = _size(path) if files is None else sum(map(_size, files))
    if n_bytes <= max(RATIO * size, _wanted()):
        return
    raise DataError(
        f"{path} has {shown_size(size)} and says that it holds {shown_size(n_bytes)}. It is damaged or made to fill "
        f"the memory: allowed are {RATIO} times the size of a file, or {shown_size(FREE)}. If you know where it comes "
        f"from, set the environment variable {VARIABLE}, for instance to {_next_size(n_bytes)}."
    )


def check_columns(path: Path, n_columns: int) -> None:
    """Refuse a sparse file with so many columns that a few numbers for each of them would fill the memory.

    Args:
        path: of the file.
        n_columns: that it has.

    Raises:
        DataError, SettingsError: as `check_size` does.
    """
    try:
        check_size(path, n_columns * BYTES_OF_A_COLUMN)
    except DataError as error:
        raise DataError(f"{path} has {n_columns} columns. {error}") from None


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder that is one data set."""
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files)


def _next_size(n_bytes: int) -> str:
    return f"{n_bytes // 10**9 + 1}GB"


def _wanted() -> int:
    """Return the size that the user allows any file, 0 where nothing is said."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return 0
    found = size_or_none(text)
    if found is None:
        raise SettingsError(f"The environment variable {VARIABLE} is {text!r}; allowed is a size such as 500MB or 4GB.")
    return found
