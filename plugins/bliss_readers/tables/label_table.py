"""Weak labels of several values: a column for each annotator, for both ends of an interval, or for each class."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError
from bliss_readers.tables.cell_table import MISSING_NAMES, CellTable
from bliss_readers.tables.label_column import LabelColumn, typed, with_none


def several_columns(table: CellTable, label: str | None) -> list[str]:
    """Return the columns that a list of names with commas means; none where it is one column, or not in the table."""
    if label is None or label in table.header or "," not in label:
        return []
    names = [name.strip() for name in label.split(",")]
    return [] if not set(names) & set(table.header) else [table.require(name, "label") for name in names]


@frozen(eq=False)
class LabelTable:
    """Where the weak labels are that have several columns in the table of the instances.

    Attributes:
        table: holds one line for each instance.
        bag: the name of its bag column.
        names: of the columns.
    """

    table: CellTable = field()
    bag: str = field()
    names: tuple[str, ...] = field()

    # No names of classes, no regime and no sentences: what the columns mean is the regime's.
    label_names: None = None
    regime: str = "mil"
    notes: tuple[str, ...] = ()

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag: (B, k) numbers or text, or objects with None for an empty cell.

        Raises:
            DataError: the rows of a bag have different weak labels.
        """
        columns = [self.table.column(name) for name in self.names]
        first = np.unique(bags.index, return_index=True)[1]
        for name, cells in zip(self.names, columns, strict=True):
            words = np.array(cells)
            differs = np.flatnonzero(words != words[first][bags.index])
            if len(differs):
                row = int(differs[0])
                raise DataError(
                    f"{self.table.at(row, name)}: bag {bags.ids.tolist()[bags.index[row]]!r} has {cells[row]!r}, but "
                    f"{cells[first[bags.index[row]]]!r} in {self.table.place(first[bags.index[row]])}. A weak label is "
                    f"the same over its bag."
                )
        of_bags = [[cells[row] for row in first] for cells in columns]
        if all(cell.casefold() not in MISSING_NAMES for cells in of_bags for cell in cells):
            flat = typed([cell for cells in of_bags for cell in cells])
            return flat.reshape(len(of_bags), -1).T
        return np.array([with_none(cells) for cells in of_bags], dtype=object).T


@frozen(eq=False)
class PartColumns:
    """Weak labels that have several columns in a table of bags, which are no classes.

    Attributes:
        table: holds one line for each bag.
        bag: the name of its bag column.
        names: of the columns.
        advice: what to do where a bag has two lines that differ.
    """

    table: CellTable = field()
    bag: str = field()
    names: tuple[str, ...] = field()
    advice: str = field()

    label_names: None = None
    regime: str = "mil"
    notes: tuple[str, ...] = ()

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag, as `LabelTable` does; raises as `LabelColumn` does."""
        columns = [
            LabelColumn(self.table, self.bag, name, sets=False, advice=self.advice, may_be_empty=True)
            for name in self.names
        ]
        return np.stack([column.of_bags(bags) for column in columns], axis=1)
