"""An .npz archive whose arrays are handed out without ever running a pickle."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework import DataError

Shape = tuple[int | EllipsisType | None, ...]

_DAMAGE = (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
_WORDS = {"b": "true/false", "i": "integers", "u": "integers", "f": "numbers", "U": "text", "S": "text"}


@frozen(eq=False)
class Archive:
    """An open archive.

    Attributes:
        path: for messages.
        arrays: what `numpy.load` returned.
    """

    path: Path = field()
    arrays: Any = field()

    @property
    def keys(self) -> list[str]:
        """The names of all arrays."""
        return list(self.arrays.files)

    def __contains__(self, key: str) -> bool:
        return key in self.arrays.files

    def get(self, key: str, *, kinds: str, shape: Shape) -> NDArray[Any]:
        """Return an array.

        Args:
            key: its name.
            kinds: letters of the NumPy kinds that are allowed.
            shape: the shape that is allowed; None is any length, and a last `...` any further axes.

        Raises:
            DataError: the array is missing, damaged or pickled, or is of another kind or shape.
        """
        array = np.asarray(self._load(key))
        if array.dtype.kind not in kinds:
            allowed = " or ".join(dict.fromkeys(_WORDS[kind] for kind in kinds))
            raise self.error(key, f"holds values of type {array.dtype}; allowed are {allowed}")
        if not _fits(array.shape, shape):
            raise self.error(key, f"has the shape {array.shape}; allowed is {_spelt(shape)}")
        return array

    def error(self, key: str, what: str) -> DataError:
        """Return an error that names the file and the key."""
        return DataError(f'{self.path}: "{key}" {what}.')

    def _load(self, key: str) -> Any:
        if key not in self:
            raise DataError(f'{self.path} has no "{key}"; it holds {", ".join(self.keys) or "nothing"}.')
        try:
            return self.arrays[key]
        except _DAMAGE as error:
            if "pickle" in str(error):
                what = "holds Python objects; opening them could run code, so they are refused. Save numbers or text"
                raise self.error(key, what) from error
            raise self.error(key, f"is damaged ({error}); copy or make the file again") from error


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive for as long as the block lasts.

    Raises:
        DataError: the file is missing or is no .npz archive.
    """
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} is damaged or no .npz archive; write it with numpy.savez.")
    try:
        arrays = np.load(path, allow_pickle=False)
    except _DAMAGE as error:
        raise DataError(f"{path} cannot be opened ({error}); copy or make the file again.") from error
    with arrays:
        yield Archive(path, arrays)


def _fits(found: tuple[int, ...], allowed: Shape) -> bool:
    if allowed[-1:] == (...,):
        allowed, found = allowed[:-1], found[: len(allowed) - 1]
    return len(found) == len(allowed) and all(want in (None, have) for have, want in zip(found, allowed, strict=True))


def _spelt(shape: Shape) -> str:
    axes = ["any" if axis is None else "..." if axis is ... else str(axis) for axis in shape]
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
