"""Weak labels of several values: a column for each annotator, for both ends of an interval, or for each class."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags
from bliss_readers.tables.cell_table import CellTable
from bliss_readers.tables.label_column import LabelColumn


def several_columns(table: CellTable, label: str | None) -> list[str]:
    """Return the columns that a list of names with commas means; none where it is one column, or not in the table."""
    if label is None or label in table.header or "," not in label:
        return []
    names = [name.strip() for name in label.split(",")]
    return [] if not set(names) & set(table.header) else [table.require(name, "label") for name in names]


@frozen(eq=False)
class LabelTable:
    """Where the weak labels are that have several columns, which are no classes.

    Attributes:
        table: holds one line for each instance, or one for each bag.
        bag: the name of its bag column.
        names: of the columns.
        advice: what to do where the lines of a bag differ.
    """

    table: CellTable = field()
    bag: str = field()
    names: tuple[str, ...] = field()
    advice: str = field(default="leave out what is no weak label")

    # No names of classes, no regime and no sentences: what the columns mean is the regime's.
    label_names: None = None
    regime: str = "mil"
    notes: tuple[str, ...] = ()

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag: (B, k) numbers or text, or objects with None for an empty cell.

        Raises:
            DataError: as `LabelColumn.of_bags` does.
        """
        columns = [
            LabelColumn(self.table, self.bag, name, sets=False, advice=self.advice, may_be_empty=True)
            for name in self.names
        ]
        return np.stack([column.of_bags(bags) for column in columns], axis=1)
