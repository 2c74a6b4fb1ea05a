"""The rows of several files as one array, each of them written once."""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.bag_files.bag_file import BagFile

# More stand in a temporary file and are mapped, so that they need not fit into memory.
MOST_IN_MEMORY = 1 << 30


@frozen(eq=False)
class GatheredRows:
    """The rows of bags, one bag below the other.

    Attributes:
        rows: (n, d) of float32 or float64.
        files: whose rows these are.
        bad: what is wrong with the others, by bag id.
        notes: sentences for the user.
    """

    rows: NDArray[Any] = field()
    files: tuple[BagFile, ...] = field()
    bad: dict[str, str] = field()
    notes: tuple[str, ...] = field(default=())


def gathered(files: Sequence[BagFile]) -> GatheredRows:
    """Read the rows of all files, which have the same columns, into one array.

    Args:
        files: of which nothing but what they say of themselves was read.
    """
    n_columns, columns = files[0].shape[1], files[0].columns
    precision = np.result_type(*(one.precision for one in files))
    place = _place((sum(one.shape[0] for one in files), n_columns), precision)
    taken, bad, start = [], {}, 0
    for one in files:
        try:
            _copy(one, columns, place[start : start + one.shape[0]])
        except DataError as error:
            bad[one.id] = str(error)
            continue
        taken.append(one)
        start += one.shape[0]
    if not isinstance(place, np.memmap):
        return GatheredRows(place[:start], tuple(taken), bad)
    if not taken:
        shutil.rmtree(Path(str(place.filename)).parent, ignore_errors=True)
        return GatheredRows(np.empty((0, n_columns), dtype=precision), (), bad)
    note = f"rows of {place.nbytes / 1e9:.1f} GB stand in a temporary file in {tempfile.gettempdir()} and are mapped"
    return GatheredRows(_mapped(place, start), tuple(taken), bad, (note,))


def _copy(file: BagFile, columns: tuple[str, ...] | None, out: NDArray[Any]) -> None:
    if file.columns == columns or columns is None or file.columns is None:
        file.copy(out)
        return
    other = np.empty_like(out)
    file.copy(other)
    position = {name: at for at, name in enumerate(file.columns)}
    out[...] = other[:, [position[name] for name in columns]]


def _place(shape: tuple[int, int], precision: np.dtype[Any]) -> NDArray[Any]:
    if shape[0] * shape[1] * precision.itemsize <= MOST_IN_MEMORY:
        return np.empty(shape, dtype=precision)
    folder = Path(tempfile.mkdtemp(prefix="bliss-rows-"))
    return np.memmap(folder / "rows", precision, "w+", shape=shape)


def _mapped(place: "np.memmap[Any, Any]", n_rows: int) -> NDArray[Any]:
    """Map the file for reading, and delete it when nobody uses it any more."""
    path = Path(str(place.filename))
    place.flush()
    rows = np.memmap(path, place.dtype, "r", shape=(n_rows, place.shape[1]))
    weakref.finalize(rows.base, shutil.rmtree, path.parent, ignore_errors=True)
    return rows
