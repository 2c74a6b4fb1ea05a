"""Archives of arrays from anywhere: no pickle is run, and no header is believed before its array is really there."""

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from attrs import field, frozen
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from bliss_framework.errors import BlissError, DataError
from bliss_framework.extension.file_limits import check_size

_HEADERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
_PICKLED = "holds Python objects; opening them could run code, so they are refused. Save numbers or text"


@frozen(eq=False)
class NpzFile:
    """An open archive.

    Attributes:
        path: for messages.
        members: the open zip file.
    """

    path: Path = field()
    members: zipfile.ZipFile = field()

    @property
    def keys(self) -> list[str]:
        """The names of all arrays."""
        return [name.removesuffix(".npy") for name in self.members.namelist()]

    def __contains__(self, key: str) -> bool:
        return f"{key}.npy" in self.members.NameToInfo

    def array(self, key: str) -> NDArray[Any]:
        """Return an array.

        Args:
            key: its name.

        Raises:
            DataError: the array is missing, damaged or pickled, or the file would take too much memory.
        """
        if key not in self:
            raise DataError(f'{self.path} has no "{key}"; it holds {", ".join(self.keys) or "nothing"}.')
        try:
            dtype, count = _header(self.members, f"{key}.npy")
            if dtype.hasobject:
                raise self.error(key, _PICKLED)
            # Rows become float64 whatever they were.
            check_size(self.path, count * max(dtype.itemsize, 8))
            with self.members.open(f"{key}.npy") as member:
                return np.asarray(npy_format.read_array(member, allow_pickle=False))
        except BlissError:
            raise
        except Exception as error:
            # A damaged header can raise nearly anything: tokenize.TokenError, SyntaxError, OverflowError, zlib.error.
            raise self.error(key, f"is damaged ({_reason(error)}); copy or make the file again") from error

    def error(self, key: str, what: str) -> DataError:
        """Return an error that names the file and the key."""
        return DataError(f'{self.path}: "{key}" {what}.')


@contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """Open an archive of arrays for as long as the block lasts.

    Args:
        path: of the .npz file.

    Raises:
        DataError: the file is missing, is no .npz archive, or would take too much memory.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=[1.0, 2.0])
    ...     with open_npz(Path(folder) / "a.npz") as archive:
    ...         archive.array("X").tolist()
    [1.0, 2.0]
    """
    if not os.path.isfile(path):
        raise DataError(f"{path}: there is no such file.")
    try:
        members = zipfile.ZipFile(path)
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({error.strerror or error}).") from error
    except Exception as error:
        raise DataError(f"{path} is damaged or no .npz archive; write it with numpy.savez.") from error
    with members:
        check_size(path, sum(one.file_size for one in members.infolist()))
        yield NpzFile(path, members)


def check_archive(path: Path, content: IO[bytes] | None = None) -> None:
    """Refuse an archive that would take too much memory: all its members, and the arrays that they claim to be.

    Args:
        path: of the file.
        content: of an archive within it; None means the file itself.

    Raises:
        DataError: naming the file; any other exception where the archive is damaged.
    """
    with zipfile.ZipFile(path if content is None else content) as archive:
        check_size(path, sum(one.file_size for one in archive.infolist()))
        for name in archive.namelist():
            if name.endswith(".npy"):
                _header(archive, name)
            elif name.endswith(".npz"):
                check_archive(path, BytesIO(archive.read(name)))


def _header(archive: zipfile.ZipFile, name: str) -> tuple[np.dtype[Any], int]:
    """Return the type and the number of entries of an array, which must be as many as there are bytes for."""
    with archive.open(name) as member:
        version = npy_format.read_magic(member)
        if version not in _HEADERS:
            raise ValueError(f"its header has the unknown version {version}")
        shape, _, dtype = _HEADERS[version](member)
        n_bytes = archive.getinfo(name).file_size - member.tell()
    count = math.prod(shape)
    if min(shape, default=0) < 0 or (not dtype.hasobject and count * dtype.itemsize != n_bytes):
        raise ValueError(f"its header says shape {shape} of {dtype}, but {n_bytes} bytes follow")
    return dtype, count


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
