"""Files that appear whole or not at all, and JSON that any reader can read."""

import errno
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bliss_framework.errors import FileError
from bliss_framework.extension.naming import writable
from bliss_framework.faults import in_words

PARTIAL = re.compile(r"\..+\.\d+\.part")
LONGEST = 200  # Bytes of a name that its partial file repeats; file systems take 255.


def write_text(path: Path, text: str) -> None:
    """Write a file under another name and rename it.

    Raises:
        FileError: if the file cannot be written; what was there before is kept.
    """
    _write(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file of bytes under another name and rename it; raises as `write_text` does."""
    _write(path, lambda partial: partial.write_bytes(content))


def partial_of(path: Path) -> Path:
    """Return where the part of a file is, that this process has written so far."""
    name = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    return path.with_name(f".{name}.{os.getpid()}.part")


def make_folder(folder: Path) -> None:
    """Make a directory with those above it.

    Raises:
        OSError: it cannot be made; where a file has its name, that it is no directory.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if folder.is_file():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
        raise


def sweep(folder: Path) -> None:
    """Delete what processes that died have left of files; the caller holds the lock, so none is being written."""
    for path in list(folder.rglob(".*.part")):
        if PARTIAL.fullmatch(path.name):
            _discard(path)


def sweep_beside(path: Path) -> None:
    """Delete what processes that died have left of one file; the caller holds its lock."""
    name = re.escape(partial_of(path).name.rsplit(".", 2)[0])
    for other in list(path.parent.glob(".*.part")):
        if re.fullmatch(rf"{name}\.\d+\.part", other.name):
            _discard(other)


def _write(path: Path, write: Callable[[Path], int]) -> None:
    partial = partial_of(path)
    try:
        make_folder(path.parent)
        write(partial)
        partial.replace(path)
    except OSError as error:
        raise FileError(in_words(error, path, "cannot be written")) from error
    finally:
        _discard(partial)


def _discard(partial: Path) -> None:
    """Leave no part of a file behind; where even that cannot be done, the error of writing it is the one to tell."""
    try:
        partial.unlink(missing_ok=True)
    except OSError:
        return


def to_json(value: Any) -> str:
    """Write JSON: arrays as lists, NaN and infinity as null, anything else that JSON lacks as text."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def plain(value: Any, *, finite: bool = True) -> Any:
    """Turn records of numbers, arrays and paths into what JSON knows.

    Args:
        value: anything.
        finite: turn NaN and infinity, which JSON does not know, into None.
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), finite=finite)
    if isinstance(value, float):
        return value if math.isfinite(value) or not finite else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {writable(str(key)): plain(item, finite=finite) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        # The order of a set is another in every process.
        return plain(sorted(value, key=str), finite=finite)
    if isinstance(value, list | tuple):
        return [plain(item, finite=finite) for item in value]
    return writable(str(value))
