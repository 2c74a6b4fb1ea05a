"""Bags in HDF5 files: nothing outside of the file is opened, and no chunk is decoded before its size is known."""

import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from bliss_framework.plugin import BlissError, DataError, check_size, needed
from bliss_readers.bag_files.bag_file import BLOCK_BYTES
from bliss_readers.bag_files.named_arrays import About

SIGNATURE = b"\x89HDF\r\n\x1a\n"
# By the number of HDF5: others load a library, or decode what their authors never meant for strangers.
_GZIP, _SHUFFLE, _FLETCHER, _LZF = 1, 2, 3, 32000
_FILTERS = (_GZIP, _SHUFFLE, _FLETCHER, _LZF)
_MOST_ARRAYS = 1000
_DEEPEST = 4
# Bytes by which what is stored of a chunk may exceed the chunk: rows that cannot be compressed grow a little.
_OVERHEAD = 1 << 16


@define(eq=False, slots=False)
class Hdf5Arrays:
    """The arrays of an HDF5 file, those in groups by their path."""

    path: Path = field()

    @cached_property
    def about(self) -> Mapping[str, About]:
        """What each array of numbers or of text of a fixed length says of itself."""
        with opened(self.path) as file:
            found = dict(_datasets(self.path, file))
            for one in found.values():
                check_dataset(self.path, one)
            return {name: About(one.shape, one.dtype) for name, one in found.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Return an array."""
        with opened(self.path) as file:
            stored = _one(file, name)
            check_dataset(self.path, stored, whole=True)
            return np.asarray(stored[...])

    def copy(self, name: str, out: NDArray[Any]) -> None:
        """Write the rows into an array, some at a time."""
        with opened(self.path) as file:
            stored = _one(file, name)
            check_dataset(self.path, stored, whole=True)
            if stored.shape[-2:] != out.shape:
                raise ValueError("its shape is another one than before")
            step = max(1, BLOCK_BYTES // max(1, out.shape[1] * stored.dtype.itemsize))
            for start in range(0, len(out), step):
                place = slice(start, start + step)
                out[place] = stored[place] if stored.ndim == 2 else stored[0, place]


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file for reading, and say of any error within the block that the file is damaged.

    Raises:
        DataError: naming the file.
        MissingExtraError: h5py is not installed.
    """
    package = needed("h5py", "files", "HDF5 files need")
    try:
        with package.File(path, "r", locking=False, rdcc_nbytes=0) as file:
            yield file
    except BlissError:
        raise
    except Exception as error:
        # A damaged file can raise nearly anything: OSError, KeyError, RuntimeError, ValueError, OverflowError.
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} is damaged or no HDF5 file ({said}); copy or make it again.") from error


def check_dataset(path: Path, stored: Any, whole: bool = False) -> None:
    """Refuse an array that lies in other files, is coded strangely, or would take too much memory.

    Args:
        path: of the file.
        stored: the array.
        whole: whether the chunks themselves are looked at, because the array is to be read.

    Raises:
        DataError: naming the file and the array.
    """
    name = stored.name
    if stored.is_virtual or stored.external:
        raise DataError(f'{path}: "{name}" lies in other files, which are not opened; copy its values into this one.')
    check_size(path, math.prod(stored.shape) * max(stored.dtype.itemsize, 4))
    if stored.chunks is None:
        if whole and stored.id.get_storage_size() < math.prod(stored.shape) * stored.dtype.itemsize:
            raise DataError(f'{path}: "{name}" says that it has the shape {stored.shape} and stores fewer values.')
        return
    chunk_bytes = math.prod(stored.chunks) * stored.dtype.itemsize
    check_size(path, chunk_bytes)
    filters = _filters(stored)
    unknown = sorted(set(filters) - set(_FILTERS))
    if unknown or filters.count(_GZIP) + filters.count(_LZF) > 1:
        raise DataError(
            f'{path}: "{name}" is compressed by the filters {filters} of HDF5; allowed are gzip or lzf, with shuffle '
            f"and check sums. Write it again with one of these."
        )
    if whole:
        _check_chunks(path, stored, chunk_bytes, filters)


def _filters(stored: Any) -> list[int]:
    about = stored.id.get_create_plist()
    return [int(about.get_filter(number)[0]) for number in range(about.get_nfilters())]


def _check_chunks(path: Path, stored: Any, chunk_bytes: int, filters: list[int]) -> None:
    """Refuse chunks that are missing, or that are larger once they are decoded than they say."""
    n_chunks = stored.id.get_num_chunks()
    wanted = math.prod(-(-length // side) for length, side in zip(stored.shape, stored.chunks, strict=True))
    if n_chunks != wanted:
        raise DataError(
            f'{path}: {n_chunks} of {wanted} chunks of "{stored.name}" are stored; it was cut short, or never filled. '
            f"Copy or make it again."
        )
    for number in range(n_chunks):
        chunk = stored.id.get_chunk_info(number)
        if chunk.size > chunk_bytes + _OVERHEAD:
            raise DataError(f'{path}: a chunk of "{stored.name}" is larger than it says; make the file again.')
        # HDF5 takes all the memory that a stream wants, whatever the chunk says.
        if _GZIP in filters and not chunk.filter_mask & 1 << filters.index(_GZIP):
            _check_stream(path, stored, chunk.chunk_offset, filters, chunk_bytes)


def _check_stream(path: Path, stored: Any, offset: tuple[int, ...], filters: list[int], chunk_bytes: int) -> None:
    """Decode a chunk as far as it may go."""
    if filters[-1] == _FLETCHER:
        stream = stored.id.read_direct_chunk(offset)[1][:-4]
    else:
        stream = stored.id.read_direct_chunk(offset)[1]
    decoder = zlib.decompressobj()
    n_bytes = len(decoder.decompress(stream, chunk_bytes + 8))
    if n_bytes > chunk_bytes + 4 or not decoder.eof:
        raise DataError(f'{path}: a chunk of "{stored.name}" holds another number of bytes than it says.')


def _datasets(path: Path, group: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a file; links to elsewhere are refused, others are passed over."""
    package = needed("h5py", "files", "HDF5 files need")
    if depth > _DEEPEST or len(group) > _MOST_ARRAYS:
        raise DataError(f"{path} has too many groups or arrays for a file of one bag.")
    for name in group:
        link = group.get(name, getlink=True)
        if isinstance(link, package.ExternalLink):
            raise DataError(f'{path}: "{prefix}{name}" is a link to another file, which is not opened.')
        if not isinstance(link, package.HardLink):
            continue
        kind = group.get(name, getclass=True)
        if kind is package.Group:
            yield from _datasets(path, group[name], f"{prefix}{name}/", depth + 1)
        elif kind is package.Dataset and group[name].dtype.kind in "biufS" and group[name].shape is not None:
            yield f"{prefix}{name}", group[name]


def _one(file: Any, name: str) -> Any:
    """Return an array, whose links on the way are those of this file: they were looked at by `_datasets`."""
    return file[name]
