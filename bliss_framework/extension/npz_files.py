"""Archives of arrays from anywhere: no pickle is run, and no header is believed before its array is really there."""

import os
import struct
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
from bliss_framework.extension.npy_files import PICKLED, ArrayHeader, map_array, read_header, reason

# The fixed part of what stands before a member of a zip archive, which ends with the lengths of name and extra field.
_LOCAL = struct.Struct("<4s22xHH")
_READ = 1 << 22


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
        with self._blamed(key):
            header = self._header(key)
            # Integers become float64 later.
            check_size(self.path, header.n_values * max(header.dtype.itemsize, 8))
            with self.members.open(f"{key}.npy") as member:
                return np.asarray(npy_format.read_array(member, allow_pickle=False))

    def mapped(self, key: str, fewest_bytes: int = 0) -> NDArray[Any] | None:
        """Map an array, so that its values are read where they are used and take no memory of their own.

        Its check sum is tested, for which it is read once.

        Args:
            key: its name.
            fewest_bytes: that it must have; smaller arrays are not worth it.

        Returns:
            A read-only memory map; None where the array is small or compressed, and must be read.

        Raises:
            DataError: as `array` does.
        """
        with self._blamed(key):
            header, about = self._header(key), self.members.getinfo(f"{key}.npy")
            stored = about.compress_type == zipfile.ZIP_STORED and not about.flag_bits & 1
            if not stored or not header.n_bytes or header.n_bytes < fewest_bytes:
                return None
            with self.members.open(about) as member:
                while member.read(_READ):
                    pass
            return map_array(self.path, header, self._offset(about) + header.start)

    def header(self, key: str) -> ArrayHeader:
        """Return what an array says of itself, without reading it.

        Args:
            key: its name.

        Raises:
            DataError: as `array` does.
        """
        with self._blamed(key):
            return self._header(key)

    def _header(self, key: str) -> ArrayHeader:
        if key not in self:
            raise DataError(f'{self.path} has no "{key}"; it holds {", ".join(self.keys) or "nothing"}.')
        header = _header(self.members, f"{key}.npy")
        if header.dtype.hasobject:
            raise self.error(key, PICKLED)
        return header

    def _offset(self, about: zipfile.ZipInfo) -> int:
        """Return where the content of a stored member begins in the file."""
        with self.path.open("rb") as file:
            file.seek(about.header_offset)
            signature, n_name, n_extra = _LOCAL.unpack(file.read(_LOCAL.size))
            start: int = about.header_offset + _LOCAL.size + n_name + n_extra
            if signature != b"PK\x03\x04" or start + about.file_size > file.seek(0, 2):
                raise ValueError("the archive says that it lies elsewhere")
        return start

    @contextmanager
    def _blamed(self, key: str) -> Iterator[None]:
        """Say of any error that the array is damaged."""
        try:
            yield
        except BlissError:
            raise
        except Exception as error:
            # A damaged header can raise nearly anything: tokenize.TokenError, SyntaxError, OverflowError, zlib.error.
            raise self.error(key, f"is damaged ({reason(error)}); copy or make the file again") from error

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


def _header(archive: zipfile.ZipFile, name: str) -> ArrayHeader:
    """Return what an array says of itself, which must have as many values as there are bytes for."""
    with archive.open(name) as member:
        header = read_header(member)
    n_bytes = archive.getinfo(name).file_size - header.start
    if not header.dtype.hasobject and header.n_bytes != n_bytes:
        raise ValueError(f"its header says {header.said()}, but {n_bytes} bytes follow")
    return header
