"""The variables of a MATLAB file, of version 5 by SciPy and of version 7.3 by h5py; no object of a class is made."""

import math
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from attrs import field, frozen

from bliss_framework.plugin import BlissError, DataError, check_columns, check_size
from bliss_readers.bag_files.hdf5_bags import SIGNATURE, check_dataset, opened
from bliss_readers.text.first_look import first_bytes

_TEXT = b"MATLAB "
_HEADER, _TAG = 128, 8
_COMPRESSED = 15  # As version 5 numbers a variable that is compressed.
_READ = 1 << 20
_BYTES_OF_A_VALUE = 8  # A stored byte may become a double.
_NUMBERS = frozenset(
    ("double", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
_WIDE = frozenset(("cell", "char", "sparse"))


@frozen(eq=False)
class MatFile:
    """A file whose variables were listed; none of them was read.

    Attributes:
        path: of the file.
        shapes: of the variables that are arrays of numbers, text, cells or sparse.
        others: what the other variables are.
        is_hdf5: whether the file is of version 7.3.
    """

    path: Path = field()
    shapes: Mapping[str, tuple[int, ...]] = field()
    others: Mapping[str, str] = field()
    is_hdf5: bool = field(default=False)

    def read(self, name: str) -> Any:
        """Return a variable: an array, an object array of the entries of a cell, or a sparse matrix.

        Raises:
            DataError: it is damaged.
        """
        if self.is_hdf5:
            with opened(self.path) as file:
                return _of_hdf5(self.path, file[name])
        with _blamed(self.path):
            found = scipy.io.loadmat(self.path, variable_names=[name], appendmat=False)[name]
            cells = found.ravel().tolist() if found.dtype.kind == "O" else ()
            for one in [found, *cells]:
                if sp.issparse(one):
                    # An index beyond the last row would be written to memory that is not ours.
                    one.check_format(full_check=True)
            return found


def looks_like_mat(path: Path) -> bool:
    """Say whether a file begins as MATLAB writes it, of version 5 or later; never raises."""
    start = first_bytes(path, 512 + len(SIGNATURE)) or b""
    return start.startswith(_TEXT) or start[512:] == SIGNATURE


def list_variables(path: Path) -> MatFile:
    """List the variables of a file.

    Raises:
        DataError: the file is damaged, or would take too much memory.
        MissingExtraError: it is of version 7.3, and h5py is not installed.
    """
    if (first_bytes(path, 512 + len(SIGNATURE)) or b"")[512:] == SIGNATURE:
        return _listed_hdf5(path)
    with _blamed(path):
        check_size(path, _BYTES_OF_A_VALUE * _stored_bytes(path))
        found = {name: (tuple(map(int, shape)), kind) for name, shape, kind in scipy.io.whosmat(path, appendmat=False)}
    for shape, kind in found.values():
        if kind == "sparse":
            check_columns(path, shape[-1])
        elif kind in _NUMBERS:
            check_size(path, _BYTES_OF_A_VALUE * math.prod(shape))
    _try_elsewhere(path)
    usable = {name: shape for name, (shape, kind) in found.items() if kind in _NUMBERS | _WIDE}
    others = {name: kind for name, (_, kind) in found.items() if name not in usable}
    return MatFile(path, usable, others)


def _try_elsewhere(path: Path) -> None:
    """Read the file once in a process of its own: a damaged variable can end the process that SciPy reads it in."""
    words = [sys.executable, "-I", "-c", "import sys, scipy.io; scipy.io.loadmat(sys.argv[1], appendmat=False)"]
    done = subprocess.run([*words, str(path)], capture_output=True, check=False)
    if done.returncode < 0:
        raise DataError(f"{path} is damaged: what its variables say of themselves does not fit; copy or make it again.")


def _stored_bytes(path: Path) -> int:
    """Count the bytes of all variables as they are when they are decompressed, without keeping them."""
    with path.open("rb") as file:
        n_bytes = file.seek(0, 2)
        file.seek(_HEADER - 2)
        order = {b"IM": "<", b"MI": ">"}[file.read(2)]
        total, at = 0, _HEADER
        while at < n_bytes:
            file.seek(at)
            kind, length = struct.unpack(f"{order}II", file.read(_TAG))
            if at + _TAG + length > n_bytes:
                raise ValueError("it was cut short")
            total += _decompressed(path, file, length) if kind == _COMPRESSED else length
            at += _TAG + length
    return total


def _decompressed(path: Path, file: IO[bytes], length: int) -> int:
    """Return how long the content of a compressed variable is; more than the file may hold is refused on the way."""
    decoder, total, left = zlib.decompressobj(), 0, length
    while left and not decoder.eof:
        piece = file.read(min(left, _READ))
        left -= len(piece)
        while piece and not decoder.eof:
            total += len(decoder.decompress(piece, _READ))
            piece = decoder.unconsumed_tail
            check_size(path, _BYTES_OF_A_VALUE * total)
    return total


def _listed_hdf5(path: Path) -> MatFile:
    usable: dict[str, tuple[int, ...]] = {}
    others: dict[str, str] = {}
    with opened(path) as file:
        for name in file:
            if name.startswith("#"):
                continue
            if type(file.get(name, getlink=True)).__name__ != "HardLink":
                raise DataError(f'{path}: "{name}" is a link, which MATLAB never writes; it is not followed.')
            kind = _kind(file[name])
            if kind == "sparse":
                usable[name] = (int(file[name].attrs["MATLAB_sparse"]), len(file[name]["jc"]) - 1)
            elif kind in _NUMBERS:
                check_dataset(path, file[name])
                usable[name] = tuple(reversed(file[name].shape))
            else:
                others[name] = kind
    return MatFile(path, usable, others, is_hdf5=True)


def _kind(stored: Any) -> str:
    if "MATLAB_sparse" in stored.attrs:
        return "sparse"
    kind = stored.attrs.get("MATLAB_class", b"double" if hasattr(stored, "dtype") else b"struct")
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _of_hdf5(path: Path, stored: Any) -> Any:
    """Return an array, whose axes MATLAB stores the other way round, or a sparse matrix."""
    if _kind(stored) != "sparse":
        check_dataset(path, stored, whole=True)
        return np.asarray(stored[...]).T
    parts = [stored[name] for name in ("data", "ir", "jc") if name in stored]
    for part in parts:
        check_dataset(path, part, whole=True)
    if len(parts) < 3:
        raise DataError(f'{path}: "{stored.name}" is a sparse matrix without values.')
    data, rows, starts = (np.asarray(part[...]) for part in parts)
    shape = (int(stored.attrs["MATLAB_sparse"]), len(starts) - 1)
    check_columns(path, max(shape))
    with _blamed(path):
        matrix = sp.csc_matrix((data, rows.astype(np.int64), starts.astype(np.int64)), shape=shape)
        matrix.check_format(full_check=True)
    return matrix


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """Say of any error that the file is damaged."""
    try:
        yield
    except BlissError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:
        # A damaged file can raise nearly anything: MatReadError, ValueError, TypeError, KeyError, zlib.error.
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} is damaged or no MATLAB file ({said}); copy or make it again.") from error
