"""The rows of several files as one array, each of them written once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, empty_rows
from bliss_readers.bag_files.bag_file import BagFile


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
    place = empty_rows(sum(one.shape[0] for one in files), n_columns, precision)
    taken, bad, start = [], {}, 0
    for one in files:
        try:
            _copy(one, columns, place[start : start + one.shape[0]])
        except DataError as error:
            bad[one.id] = str(error)
            continue
        taken.append(one)
        start += one.shape[0]
    note = f"rows of {place.nbytes / 1e9:.1f} GB stand in a temporary file and are mapped"
    return GatheredRows(place[:start], tuple(taken), bad, (note,) if isinstance(place, np.memmap) else ())


def _copy(file: BagFile, columns: tuple[str, ...] | None, out: NDArray[Any]) -> None:
    if file.columns == columns or columns is None or file.columns is None:
        file.copy(out)
        return
    other = np.empty_like(out)
    file.copy(other)
    position = {name: at for at, name in enumerate(file.columns)}
    out[...] = other[:, [position[name] for name in columns]]
