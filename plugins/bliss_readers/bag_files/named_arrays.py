"""Arrays by name in a file of one bag: which of them holds the rows, and which stand beside them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.bag_files.bag_file import BagFile
from bliss_readers.tables.cell_table import listed

# As CLAM, TRIDENT, torchmil and people call them, in any letter case; the first that is there is taken.
ROWS = ("features", "feats", "feat", "embeddings", "embedding", "x", "data")
TRUTH = ("instance_label", "instance_labels", "inst_y", "inst_labels", "patch_labels", "y_inst")
COORDINATES = ("coords", "coord", "coordinates")
MOST_BESIDE = 8  # Columns of an array that stands beside the rows; a wider one holds other features.
_AXES = ("x", "y", "z")


@frozen
class About:
    """What an array says of itself.

    Attributes:
        shape: of the array.
        dtype: of its values.
    """

    shape: tuple[int, ...] = field()
    dtype: np.dtype[Any] = field()


class NamedArrays(Protocol):
    """The arrays of a file, of which none was read."""

    @property
    def path(self) -> Path:
        """Of the file."""

    @property
    def about(self) -> Mapping[str, About]:
        """What each array says of itself."""

    def read(self, name: str) -> NDArray[Any]:
        """Return an array, or raise DataError."""

    def copy(self, name: str, out: NDArray[Any]) -> None:
        """Write the values of an array (n, d), or (1, n, d), into another one (n, d), or raise DataError."""


def bag_of_arrays(arrays: NamedArrays, named: str | None) -> BagFile:
    """Find the rows of a bag among the arrays of its file, and what stands beside them.

    Args:
        arrays: of the file.
        named: the array of the rows, as the user says; None finds it.

    Raises:
        DataError: there are no rows, or several arrays could be these.
    """
    about = arrays.about
    name = rows_name(arrays.path, about, named)
    n, d = _shape_of_rows(about[name].shape)
    lengths = {one: _length(of.shape, n) for one, of in about.items() if one != name}
    beside = {one for one, width in lengths.items() if 0 < width <= MOST_BESIDE and about[one].dtype.kind in "biufUS"}
    truth = next((one for one in beside if _last(one) in TRUTH and lengths[one] == 1), None)
    columns: dict[str, NDArray[Any]] = {}
    for one in sorted(beside - {truth}):
        columns |= _columns(_last(one, fold=False), _plain(arrays.read(one)).reshape(n, lengths[one]))
    return BagFile(
        path=arrays.path,
        shape=(n, d),
        stored=about[name].dtype,
        copy=lambda out: arrays.copy(name, out),
        beside=columns,
        instance_labels=None if truth is None else _plain(arrays.read(truth)).reshape(n),
    )


def rows_name(path: Path, about: Mapping[str, About], named: str | None) -> str:
    """Return the name of the array that holds the rows.

    Raises:
        DataError: there is none, several could be it, or it is none of rows.
    """
    if named is not None:
        if named not in about:
            raise DataError(f'{path} has no array "{named}", which the option array names. It has {_names(about)}.')
        return _checked(path, named, about[named])
    usual = [one for want in ROWS for one in about if _last(one) == want]
    if usual:
        return _checked(path, usual[0], about[usual[0]])
    able = [one for one, of in about.items() if of.dtype.kind in "biuf" and _is_rows(of.shape)]
    wide = [one for one in able if _last(one) not in COORDINATES]
    if len(wide) == 1:
        return _checked(path, wide[0], about[wide[0]])
    if not able and len(about) == 1:
        return _checked(path, *next(iter(about.items())))
    raise DataError(
        f"{path}: which of its arrays holds the rows of the bag? Usual names are {', '.join(ROWS)}, and it has "
        f"{_names(about)}. Say with the option array which one it is."
    )


def _checked(path: Path, name: str, about: About) -> str:
    if not _is_rows(about.shape) or about.dtype.kind not in "biuf":
        said = f'"{name}"' if name else "its array"
        raise DataError(
            f"{path}: {said} has the shape {about.shape} and the type {about.dtype}; allowed are numbers (n, d), a row "
            f"for each instance of the bag."
        )
    return name


def _is_rows(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 or (len(shape) == 3 and shape[0] == 1)


def _shape_of_rows(shape: tuple[int, ...]) -> tuple[int, int]:
    n, d = shape[-2:]
    return n, d


def _length(shape: tuple[int, ...], n: int) -> int:
    """Return how many columns an array has that stands beside n rows; 0 where it is none."""
    if len(shape) == 3 and shape[0] == 1:
        shape = shape[1:]
    if not shape or len(shape) > 2 or shape[0] != n:
        return 0
    return shape[1] if len(shape) == 2 else 1


def _columns(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return an array (n, k) as columns: coords becomes coords_x and coords_y."""
    if values.shape[1] == 1:
        return {name: values[:, 0]}
    is_place = name.casefold() in COORDINATES and values.shape[1] <= len(_AXES)
    return {f"{name}_{_AXES[at] if is_place else at}": values[:, at] for at in range(values.shape[1])}


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return text as such, and truth values as 0 and 1."""
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "replace")
    return values.astype(np.int64) if values.dtype.kind == "b" else values


def _last(name: str, fold: bool = True) -> str:
    last = name.rpartition("/")[2]
    return last.casefold() if fold else last


def _names(about: Mapping[str, About]) -> str:
    return listed([f"{name} {of.shape}" for name, of in about.items()]) or "none"
