"""Label sets that are written as one attribute of 0 and 1 for each label."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags
from bliss_readers.tables.cell_table import CellTable
from bliss_readers.tables.label_column import LabelColumn


@frozen(eq=False)
class IndicatorColumns:
    """Where the label sets are.

    Attributes:
        table: holds one line for each instance, or one for each bag.
        bag: the name of its bag column.
        labels: the names of the columns, which are the names of the labels.
    """

    table: CellTable = field()
    bag: str = field()
    labels: tuple[str, ...] = field()

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of all labels, also of those that no bag has."""
        return self.labels

    @property
    def notes(self) -> tuple[str, ...]:
        """No sentences for the user."""
        return ()

    @property
    def regime(self) -> str:
        """The regime of label sets."""
        return "multiclass-mil"

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the label set of each bag.

        Args:
            bags: of the instances, with text ids.

        Returns:
            (B,) object array of frozensets of names.

        Raises:
            DataError: a bag has no value for a label, or two different ones.
        """
        columns = [LabelColumn(self.table, self.bag, label, sets=False).of_bags(bags) for label in self.labels]
        sets = np.empty(bags.n_bags, dtype=object)
        for bag in range(bags.n_bags):
            sets[bag] = frozenset(label for label, column in zip(self.labels, columns, strict=True) if column[bag] == 1)
        return sets
