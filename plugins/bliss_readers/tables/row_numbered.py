"""A table without bags: each row is a bag of its own, and its number is the bag id."""

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_readers.tables.cell_table import CellTable, Entries


@frozen(eq=False)
class RowNumbered(CellTable):
    """A table with one more column, which numbers the rows from 0.

    Attributes:
        table: the table without it.
        bag: the name of the column.
    """

    table: CellTable = field(kw_only=True)
    bag: str = field(kw_only=True)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column as text; of the new one the numbers of rows."""
        if name != self.bag:
            return self.table.column(name)
        return [str(row) for row in range(len(self.table.column(self.table.header[0])))]

    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d)."""
        return self.table.numbers(names)

    def is_numeric(self, name: str) -> bool:
        """Say whether every cell of a column is a number or missing."""
        return name == self.bag or self.table.is_numeric(name)

    def is_of_dates(self, name: str) -> bool:
        """Say whether a column has a type of dates or times."""
        return name != self.bag and self.table.is_of_dates(name)

    def has_leading_zeros(self, name: str) -> bool:
        """Say whether a column of numbers holds digits only, some with zeros before them."""
        return name != self.bag and self.table.has_leading_zeros(name)

    def place(self, row: int) -> str:
        """Return where a row is in the file."""
        return self.table.place(row)

    def lists(self, name: str) -> Entries | None:
        """Return the entries of each cell where the cells of a column are lists, else None."""
        return None if name == self.bag else self.table.lists(name)


def numbered(table: CellTable, bag: str) -> CellTable:
    """Add a column of row numbers to a table, unless it has a column of that name."""
    if bag in table.header:
        return table
    header = [bag, *table.header]
    return RowNumbered(table.path, header, noun=table.noun, notes=table.notes, form=table.form, table=table, bag=bag)
