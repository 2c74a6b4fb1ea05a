"""Arrays in files from anywhere: headers are held against the bytes that follow them, large arrays are mapped."""

import math
from pathlib import Path
from typing import IO, Any

import numpy as np
from attrs import field, frozen
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from bliss_framework.errors import BlissError, DataError

PICKLED = "holds Python objects; opening them could run code, so they are refused. Save numbers or text"
_HEADERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}


@frozen
class ArrayHeader:
    """What an array in the form of .npy says of itself.

    Attributes:
        shape: of the array.
        dtype: of its values.
        by_columns: whether the first index is the one that changes fastest (Fortran order).
        start: bytes before the first value.
    """

    shape: tuple[int, ...] = field()
    dtype: np.dtype[Any] = field()
    by_columns: bool = field()
    start: int = field()

    @property
    def n_values(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """Bytes of all values."""
        return self.n_values * self.dtype.itemsize

    def said(self) -> str:
        """Return shape and type as words for a message."""
        return f"shape {self.shape} of {self.dtype}"


def read_header(file: IO[bytes]) -> ArrayHeader:
    """Read the header of an array at the place where a file stands.

    Raises:
        ValueError: the header has an unknown version or a length that is none. A damaged one can raise nearly anything.
    """
    before = file.tell()
    version = npy_format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"its header has the unknown version {version}")
    shape, by_columns, dtype = _HEADERS[version](file)
    if min(shape, default=0) < 0 or any(isinstance(length, bool) for length in shape):
        raise ValueError(f"its header says shape {shape} of {dtype}")
    return ArrayHeader(shape, dtype, by_columns, file.tell() - before)


def map_array(path: Path, header: ArrayHeader, offset: int) -> NDArray[Any]:
    """Map values of a file, which are read where they are used and take no memory of their own.

    Args:
        path: of the file.
        header: what the values are; they must all be there.
        offset: of the first value, in bytes.

    Returns:
        A read-only memory map of the shape; an empty array where there are no values.

    Raises:
        DataError: the file cannot be mapped.
    """
    if not header.n_bytes:
        return np.empty(header.shape, dtype=header.dtype)
    order: Any = "F" if header.by_columns else "C"
    try:
        return np.memmap(path, header.dtype, "r", offset, header.shape, order)
    except (OSError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path} cannot be mapped into memory ({getattr(error, 'strerror', None) or error})."
        ) from error


def map_npy(path: Path) -> NDArray[Any]:
    """Map the array of an .npy file, see `map_array`.

    Args:
        path: of the file.

    Raises:
        DataError: the file is missing, damaged, shorter or longer than its header says, or holds Python objects.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "X.npy", np.eye(2, dtype=np.float32))
    ...     rows = map_npy(Path(folder) / "X.npy")
    ...     type(rows).__name__, str(rows.dtype), rows.tolist()
    ('memmap', 'float32', [[1.0, 0.0], [0.0, 1.0]])
    """
    try:
        with path.open("rb") as file:
            header = read_header(file)
            n_bytes = file.seek(0, 2) - header.start
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except BlissError:
        raise
    except Exception as error:
        raise DataError(f"{path} is damaged or no .npy file ({reason(error)}); write it with numpy.save.") from error
    if header.dtype.hasobject:
        raise DataError(f"{path} {PICKLED}.")
    if n_bytes != header.n_bytes:
        what = "It was cut short" if n_bytes < header.n_bytes else "Something else stands behind the array"
        raise DataError(
            f"{path} says that it holds an array of {header.said()}, which is {header.n_bytes} bytes, and {n_bytes} "
            f"bytes follow. {what}; copy or make it again."
        )
    return map_array(path, header, header.start)


def reason(error: Exception) -> str:
    """Return what an error says, or what it is called where it says nothing."""
    return str(error) or type(error).__name__
