"""An .npz archive whose arrays are handed out by the kind and shape that they must have."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, open_npz

Shape = tuple[int | EllipsisType | None, ...]

_WORDS = {"b": "true/false", "i": "integers", "u": "integers", "f": "numbers", "U": "text", "S": "text"}


# Smaller rows are read: nothing is gained by a map, and its values lie where processors are slow with them.
FEWEST_MAPPED = 2**26


class Arrays(Protocol):
    """Arrays by name, such as those of an .npz archive."""

    @property
    def keys(self) -> list[str]:
        """The names of all arrays."""

    def __contains__(self, key: str) -> bool: ...

    def array(self, key: str) -> NDArray[Any]:
        """Return an array, or raise DataError."""

    def mapped(self, key: str, fewest_bytes: int = 0) -> NDArray[Any] | None:
        """Map an array of as many bytes, or return None where that cannot be."""

    def error(self, key: str, what: str) -> DataError:
        """Return an error that names the file and the key."""


@frozen(eq=False)
class Archive:
    """An open archive.

    Attributes:
        path: for messages.
        arrays: those of the file.
    """

    path: Path = field()
    arrays: Arrays = field()

    @property
    def keys(self) -> list[str]:
        """The names of all arrays."""
        return self.arrays.keys

    def __contains__(self, key: str) -> bool:
        return key in self.arrays

    def get(self, key: str, *, kinds: str, shape: Shape, mapped: bool = False) -> NDArray[Any]:
        """Return an array.

        Args:
            key: its name.
            kinds: letters of the NumPy kinds that are allowed.
            shape: the shape that is allowed; None is any length, and a last `...` any further axes.
            mapped: whether a large array is mapped from the file, where it can be.

        Raises:
            DataError: the array is missing, damaged or pickled, or is of another kind or shape.
        """
        array = self.arrays.mapped(key, FEWEST_MAPPED) if mapped else None
        array = self.arrays.array(key) if array is None else array
        if array.dtype.kind not in kinds:
            allowed = " or ".join(dict.fromkeys(_WORDS[kind] for kind in kinds))
            raise self.error(key, f"holds values of type {array.dtype}; allowed are {allowed}")
        if not _fits(array.shape, shape):
            raise self.error(key, f"has the shape {array.shape}; allowed is {_spelt(shape)}")
        return array

    def error(self, key: str, what: str) -> DataError:
        """Return an error that names the file and the key."""
        return self.arrays.error(key, what)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive for as long as the block lasts.

    Raises:
        DataError: the file is missing or is no .npz archive.
    """
    with open_npz(path) as arrays:
        yield Archive(path, arrays)


def as_rows(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as rows: float32 and float64 as they are, others as `row_dtype` says."""
    return values.astype(row_dtype(values.dtype), copy=False)


def row_dtype(dtype: np.dtype[Any]) -> type[np.floating]:
    """Return the dtype of rows that are stored in another: float16 as float32, all others but float32 as float64.

    Sums and products of float16 would overflow at 65,504, and float32 holds every one of its values.
    """
    return np.float32 if dtype.str[1:] in ("f4", "f2") else np.float64


def _fits(found: tuple[int, ...], allowed: Shape) -> bool:
    if allowed[-1:] == (...,):
        allowed, found = allowed[:-1], found[: len(allowed) - 1]
    return len(found) == len(allowed) and all(want in (None, have) for have, want in zip(found, allowed, strict=True))


def _spelt(shape: Shape) -> str:
    axes = ["any" if axis is None else "..." if axis is ... else str(axis) for axis in shape]
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
