"""Zarr stores: the arrays of the native file in a folder, cut into chunks that are compressed one by one."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BlissError, DataError, Reader, WeakDataset, check_size, empty_rows, needed
from bliss_readers.npz.npz_archive import Archive, row_dtype
from bliss_readers.npz.npz_reader import archive_dataset, stored_rows

_MARKS = ("zarr.json", ".zgroup", ".zarray")
# Others may run code: a pickle does, and what a program brings of its own may do anything.
_STORAGE = frozenset({"bytes", "transpose", "sharding_indexed", "crc32c", "adler32", "crc32", "vlen-utf8", "shuffle"})
_COMPRESSION = frozenset({"blosc", "zstd", "gzip", "zlib", "bz2", "lz4", "lzma"})
_ROUNDING = frozenset({"delta", "fixedscaleoffset", "quantize", "bitround", "packbits"})
_CODECS = _STORAGE | _COMPRESSION | _ROUNDING


class ZarrReader(Reader):
    """Reads Zarr stores of version 2 and 3 in a folder (extra `zarr`).

    The store is a group with the arrays of a native file: `X`, `bag`, one of `y`, `Y` and `proportions`, and so on.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the path is a folder with the file that a Zarr group or array has."""
        try:
            return any((path / mark).is_file() for mark in _MARKS)
        except (OSError, ValueError):
            return False

    def read(  # type: ignore[override]
        self, path: Path, *, regime: str | None = None, label_sets: bool | None = None, separator: str | None = None
    ) -> WeakDataset:
        """Read the store, chunk by chunk.

        Args:
            path: the folder.
            regime: what the weak labels are for, and so which of them is taken; see the reader `npz`.
            label_sets: whether `y` holds sets of names where it is text; found out as in tables.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".

        Returns:
            The data set, its rows of float32 or float64 as they are stored, float16 as float32, others as float64.

        Raises:
            DataError: naming the folder, the array, what was found and what is allowed.
            MissingExtraError: zarr is not installed.
        """
        path = Path(path)
        arrays = _opened(path)
        archive = Archive(path, arrays)
        dataset = archive_dataset(archive, stored_rows(archive), regime, label_sets, separator)
        return evolve(dataset, notes=(*arrays.empty_chunks("X"), *dataset.notes))


@frozen(eq=False)
class ZarrArrays:
    """The arrays of a store.

    Attributes:
        path: of the folder.
        stored: the arrays by name, of which nothing was read.
    """

    path: Path = field()
    stored: dict[str, Any] = field()

    @property
    def keys(self) -> list[str]:
        """The names of all arrays."""
        return list(self.stored)

    def __contains__(self, key: str) -> bool:
        return key in self.stored

    def array(self, key: str) -> NDArray[Any]:
        """Return an array.

        Raises:
            DataError: it is missing or damaged, would take too much memory, or is decoded by what may run code.
        """
        if key not in self:
            raise DataError(f'{self.path} has no "{key}"; it holds {", ".join(self.keys) or "nothing"}.')
        stored = self.stored[key]
        with _blamed(self.path, f'"{key}"'):
            self._check(key, stored)
            return self._text(np.asarray(stored[...]))

    def mapped(self, key: str, fewest_bytes: int = 0) -> NDArray[Any] | None:
        """Return an array of numbers (n, d), read a row of chunks at a time; None where it is small or another one.

        Where memory would not do it is mapped, from a temporary file that it is written to.
        """
        stored = self.stored.get(key)
        if stored is None or len(stored.shape) != 2 or stored.dtype.kind not in "biuf":
            return None
        with _blamed(self.path, f'"{key}"'):
            self._check(key, stored)
            if stored.nbytes < fewest_bytes:
                return None
            rows = empty_rows(*stored.shape, row_dtype(stored.dtype))
            step = max(1, (stored.shards or stored.chunks)[0])
            for first in range(0, len(rows), step):
                rows[first : first + step] = stored[first : first + step]
            return rows

    def error(self, key: str, what: str) -> DataError:
        """Return an error that names the store and the array."""
        return DataError(f'{self.path}: "{key}" {what}.')

    def empty_chunks(self, key: str) -> list[str]:
        """Note chunks that are not there, for which Zarr reads one value throughout: they may have been lost."""
        stored = self.stored.get(key)
        if stored is None:
            return []
        with _blamed(self.path, f'"{key}"'):
            absent = stored.nchunks - stored.nchunks_initialized
        # Of a shard that reaches beyond the rows, zarr counts all of its chunks.
        if absent <= 0:
            return []
        return [
            f'{self.path.name}: {absent} of {stored.nchunks} chunks of "{key}" are not stored and were read as '
            f"{stored.fill_value}; if the store was not copied as a whole, copy it again"
        ]

    def _check(self, key: str, stored: Any) -> None:
        unknown = sorted(_codecs(stored.metadata.to_dict()) - _CODECS)
        if unknown:
            raise self.error(
                key, f"is encoded with {', '.join(unknown)}; allowed are the usual ones, such as blosc, zstd and gzip"
            )
        chunk = math.prod(stored.shards or stored.chunks)
        check_size(self.path, max(math.prod(stored.shape), chunk) * max(np.dtype(stored.dtype).itemsize, 8))

    def _text(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return text of any length as that of the longest."""
        if values.dtype.kind != "T":
            return values
        check_size(self.path, 4 * values.size * int(np.strings.str_len(values).max(initial=0)))
        return np.array(values.tolist(), dtype=str)


def _opened(path: Path) -> ZarrArrays:
    """Open a store, for reading only.

    Raises:
        DataError: it is damaged, or a single array.
        MissingExtraError: zarr is not installed.
    """
    package = needed("zarr", "zarr", "Zarr stores need")
    with _blamed(path, "the store"):
        node = package.open(store=package.storage.LocalStore(path, read_only=True), mode="r")
        if isinstance(node, package.Array):
            raise DataError(
                f"{path} is a single Zarr array; needed is a group of arrays that are called as in a native file: X, "
                f"bag and y."
            )
        return ZarrArrays(path, dict(sorted(node.arrays())))


def _codecs(metadata: Any, within: bool = False) -> set[str]:
    """Return the names of all that decodes an array, as the metadata of version 2 or 3 say them."""
    if isinstance(metadata, list | tuple):
        return set().union(*(_codecs(one, within) for one in metadata))
    if not isinstance(metadata, dict):
        return set()
    own = metadata.get("id", metadata.get("name")) if within else None
    found = {str(own).removeprefix("numcodecs.")} if own is not None else set()
    for name, value in metadata.items():
        if name in ("codecs", "index_codecs", "compressor", "filters", "storage_transformers"):
            found |= _codecs(value, True)
        elif within and name == "configuration":
            found |= _codecs(value)
    return found


@contextmanager
def _blamed(path: Path, what: str) -> Iterator[None]:
    """Say of any error that the store is damaged; warnings of zarr are about how to write stores."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BlissError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: {what} is damaged or cannot be read ({said}); copy or make it again.") from error
