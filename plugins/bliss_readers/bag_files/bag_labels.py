"""The table of bags: which line is which file, and the weak label of each."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError
from bliss_readers.bag_files.bag_paths import MAGIC
from bliss_readers.tables.cell_table import MISSING_NAMES, CellTable, Entries, listed
from bliss_readers.tables.class_columns import ClassColumns
from bliss_readers.tables.id_text import check_ids, id_notes
from bliss_readers.tables.label_column import LabelColumn
from bliss_readers.tables.label_table import LabelTable
from bliss_readers.tables.table_dataset import TableOptions, labels_in, read_table
from bliss_readers.tables.wanted_columns import Wanted


@frozen(eq=False)
class ChosenLines(CellTable):
    """Some lines of a table of bags, in which the column of bag ids holds the stems of files.

    Attributes:
        table: the whole table.
        lines: which of its lines.
        bag: the column of bag ids.
        ids: of these lines.
    """

    table: CellTable = field(kw_only=True)
    lines: Sequence[int] = field(kw_only=True)
    bag: str = field(kw_only=True)
    ids: Sequence[str] = field(kw_only=True)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column as text."""
        if name == self.bag:
            return list(self.ids)
        cells = self.table.column(name)
        return [cells[line] for line in self.lines]

    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d)."""
        return self.table.numbers(names)[list(self.lines)]

    def place(self, row: int) -> str:
        """Return where a row is in the file."""
        return self.table.place(self.lines[row])

    def lists(self, name: str) -> Entries | None:
        """Return the entries of each cell where the cells of a column are lists, else None."""
        entries = self.table.lists(name)
        return entries and Entries([entries.cells[line] for line in self.lines], entries.numbers)


@frozen(eq=False)
class BagLabels:
    """A table with a line for each bag.

    Attributes:
        table: as it was read.
        bag: its column of bag ids.
        options: which of its columns is what.
        cut: whether its ids have the suffix of a file, as in "slide_1.svs", which bag ids lack.
    """

    table: CellTable = field()
    bag: str = field()
    options: TableOptions = field()
    cut: bool = field(default=False)

    @cached_property
    def ids(self) -> list[str]:
        """The bag id of each line."""
        cells = self.table.column(self.bag)
        return [Path(cell).stem for cell in cells] if self.cut else cells

    @property
    def notes(self) -> list[str]:
        """Sentences for the user about the ids."""
        said = [] if not self.cut else [f"{self.table.path.name}: bag ids were taken without the suffix of a file"]
        return [*self.table.notes, *said, *id_notes(self.table, self.bag, self.table.column(self.bag))]

    def weak(self, bags: Bags) -> "tuple[NDArray[Any], LabelColumn | ClassColumns | LabelTable]":
        """Return the weak label of each bag, and where it stands.

        Raises:
            DataError: a bag has no label or two, or it is not clear which column holds the label.
        """
        wanted = set(bags.ids.tolist())
        lines = [line for line, one in enumerate(self.ids) if one in wanted]
        ids = [self.ids[line] for line in lines]
        table = ChosenLines(
            self.table.path,
            self.table.header,
            noun=self.table.noun,
            table=self.table,
            lines=lines,
            bag=self.bag,
            ids=ids,
        )
        column = labels_in(table, self.bag, self.options)
        return column.of_bags(bags), column

    def groups(self, ids: NDArray[np.str_]) -> NDArray[np.str_] | None:
        """Return the group (n,) of each row, by its bag id; None where the options name no column of groups.

        Raises:
            DataError: the column is missing, or a group is.
        """
        if self.options.group is None:
            return None
        cells = self.table.column(self.table.require(self.options.group, "group"))
        missing = next((row for row, cell in enumerate(cells) if cell.casefold() in MISSING_NAMES), None)
        if missing is not None:
            raise DataError(
                f"{self.table.at(missing, self.options.group)}: no group; give every bag one, or one of its own."
            )
        of_bag = dict(zip(self.ids, cells, strict=True))
        return np.array([of_bag[one] for one in ids.tolist()])


def read_labels(path: Path, labels: str | Path, stems: Sequence[str], options: TableOptions) -> BagLabels:
    """Read the table of bags, and find the column that holds the stems of the files.

    Args:
        path: of the folder, pattern or list of files.
        labels: of the table.
        stems: of the files.
        options: which column is what; that of bags is `bag`, else the first one.

    Raises:
        DataError: naming the table, the line, what was found and what is allowed.
    """
    found = labels_path(path, labels)
    table = read_table(found, options)
    told = options.bag != "bag" or "bag" in table.header
    bag = table.require(options.bag, "bag") if told else table.header[0]
    if not told:
        # Ids such as 007 stay text: the first column is read again as such.
        table = read_table(found, _with_bag(options, bag))
    cells = table.column(bag)
    check_ids(table, bag, cells)
    cut = not set(cells) & set(stems) and bool({Path(cell).stem for cell in cells} & set(stems))
    known = BagLabels(table, bag, _with_bag(options, bag), cut)
    if not set(known.ids) & set(stems):
        raise DataError(
            f"{found} has no line for any of the {len(stems)} files of {path}: these are called {listed(stems, 3)}, "
            f'and its column "{bag}" holds {listed(cells, 3)}. Say with bag which column holds the names of the files '
            f"without their suffix."
        )
    return known


def labels_path(path: Path, labels: str | Path) -> Path:
    """Return where the table of bags is: in the folder of the files, beside it, or in the current folder."""
    told = Path(labels).expanduser()
    fixed = path
    while MAGIC.intersection(fixed.name):
        fixed = fixed.parent
    places = (fixed / told, fixed.parent / told)
    # os.path, unlike pathlib, takes a name that no file can have for a file that does not exist.
    return next((place for place in places if os.path.isfile(place)), told)


def _with_bag(options: TableOptions, bag: str) -> TableOptions:
    """Return what is said of the table of bags itself, with the name of its column of bag ids."""
    return evolve(options, bag=bag, instance_label=None, labels=None, columns=Wanted())
