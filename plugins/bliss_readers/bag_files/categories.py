"""Columns of words in the tables of bags: which are categories, over all bags, and which stay beside the rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_readers.bag_files.bag_file import BagFile
from bliss_readers.tables.cell_table import CellTable
from bliss_readers.tables.column_kinds import kinds_of, rows_of
from bliss_readers.tables.index_columns import left_out
from bliss_readers.tables.wanted_columns import Wanted


@frozen(eq=False)
class WordsOfBags(CellTable):
    """The columns of words of all files, one file below the other."""

    files: Sequence[BagFile] = field(kw_only=True)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column as text."""
        return [str(cell) for one in self.files for cell in one.beside[name].tolist()]

    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d)."""
        return np.array([[self.form.number(cell) for cell in self.column(name)] for name in names]).T

    def place(self, row: int) -> str:
        """Return where a row is: its file, and which of its rows it is."""
        ends = np.cumsum([one.shape[0] for one in self.files])
        file = int(np.searchsorted(ends, row, side="right"))
        return f"{self.files[file].path.name}, row {row - int(ends[file]) + self.files[file].shape[0] + 1}"


def with_categories(
    path: Path, files: Sequence[BagFile], wanted: Wanted
) -> tuple[list[BagFile], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Make columns of those that are categories; the kinds of columns are those of any table.

    Args:
        path: of all files.
        files: of bags, all usable.
        wanted: what the user says of columns.

    Returns:
        The files, the rows of which have a column more for each category: the place of its word. The words of each
        category. Sentences for the user.

    Raises:
        DataError: a column of numbers has a cell that is none.
    """
    names = [name for name in files[0].text if all(name in one.text for one in files)]
    if not names:
        return list(files), {}, ()
    table = WordsOfBags(path, names, files=files)
    ids = np.repeat(np.arange(len(files)), [one.shape[0] for one in files])
    kinds = kinds_of(table, names, ids, wanted.among(names))
    dropped = {*kinds.features, *kinds.ignored, *kinds.index}
    codes = rows_of(table, kinds.features, kinds.categories) if kinds.features else np.empty((len(ids), 0))
    parts = np.split(codes, np.cumsum([one.shape[0] for one in files])[:-1])
    widened = [_widened(one, part, kinds.features, dropped) for one, part in zip(files, parts, strict=True)]
    return widened, dict(kinds.categories), (*kinds.notes, *left_out(kinds.index, path.name))


def _widened(file: BagFile, codes: NDArray[np.floating], features: Sequence[str], dropped: set[str]) -> BagFile:
    """Give a file its columns of categories, and take from beside its rows what is no longer there."""
    beside: Mapping[str, NDArray[Any]] = {name: cells for name, cells in file.beside.items() if name not in dropped}
    if not features:
        return evolve(file, beside=beside)
    n_rows, n_numbers = file.shape

    def copy(out: NDArray[Any]) -> None:
        file.copy(out[:, :n_numbers])
        out[:, n_numbers:] = codes

    columns = (*(file.columns or ()), *features)
    return evolve(file, shape=(n_rows, len(columns)), copy=copy, columns=columns, beside=beside)
