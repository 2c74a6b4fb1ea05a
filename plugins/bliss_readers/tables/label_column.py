"""Weak labels and true classes out of the cells of a table."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError
from bliss_readers.tables.cell_table import CellTable, as_number, is_missing, is_number

SET_DELIMITER = "|"


@frozen(eq=False)
class LabelColumn:
    """Where the weak labels are: in the table of the instances, or in a second one.

    Attributes:
        table: holds one line for each instance, or one for each bag.
        bag: the name of its bag column.
        label: the name of its weak label column.
        sets: whether a cell holds a set of names, or None to find out from the cells.
        advice: what to do where the cells of a bag differ.
    """

    table: CellTable = field()
    bag: str = field()
    label: str = field()
    sets: bool | None = field(default=None)
    advice: str = field(default="a label of single instances is named by the option instance_label")

    @property
    def label_names(self) -> None:
        """No names but those that occur."""
        return None

    def holds_sets(self) -> bool:
        """Say whether the cells are label sets.

        A "|" makes them sets. So does an empty cell among names, but not among numbers: there a label is missing.
        """
        if self.sets is not None:
            return self.sets
        if self.table.holds_lists(self.label):
            return True
        cells = self.table.column(self.label)
        return any(SET_DELIMITER in cell for cell in cells) or ("" in cells and not all(map(is_number, cells)))

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag.

        Args:
            bags: of the instances, with text ids.

        Returns:
            (B,) int64, float64 or text, or an object array of frozensets of names.

        Raises:
            DataError: a bag has no weak label, or two different ones, or there is no instance of a labelled bag.
        """
        cells = self.table.column(self.label)
        values = _label_sets(cells) if self.holds_sets() else self._scalars(cells)
        labelled = Bags.from_ids(np.array(self.table.column(self.bag)))
        first = np.unique(labelled.index, return_index=True)[1]
        self._refuse_conflicts(cells, values != values[first][labelled.index], labelled, first)
        self._refuse_unmatched_bags(labelled.ids.tolist(), bags.ids.tolist())
        position = dict(zip(labelled.ids.tolist(), first, strict=True))
        return values[[position[bag] for bag in bags.ids.tolist()]]

    def _scalars(self, cells: list[str]) -> NDArray[Any]:
        missing = first_missing(cells)
        if missing is None:
            return typed(cells)
        hint = " Where empty means the empty label set, set label_sets = true." if self.sets is None else ""
        raise DataError(
            f"{self.table.at(missing, self.label)}: bag {self.table.column(self.bag)[missing]!r} has no weak label "
            f"({cells[missing]!r}); every bag needs one.{hint}"
        )

    def _refuse_conflicts(
        self, cells: list[str], differs: NDArray[np.bool_], labelled: Bags, first: NDArray[np.intp]
    ) -> None:
        if not differs.any():
            return
        row = int(np.flatnonzero(differs)[0])
        bag = labelled.index[row]
        raise DataError(
            f"{self.table.at(row, self.label)}: bag {str(labelled.ids[bag])!r} has the weak label {cells[row]!r}, but "
            f"{cells[first[bag]]!r} in {self.table.place(first[bag])}. A weak label is the same over its bag; "
            f"{self.advice}."
        )

    def _refuse_unmatched_bags(self, labelled: list[str], present: list[str]) -> None:
        for bag in _without(present, labelled):
            raise DataError(f"{self.table.path} has no weak label for bag {bag!r}; every bag needs one.")
        for bag in _without(labelled, present):
            raise DataError(f"{self.table.path} has a weak label for bag {bag!r}, of which there is no instance.")


def typed(cells: Sequence[str]) -> NDArray[Any]:
    """Turn cells into integers if all are, else into numbers if all are, else leave them text.

    >>> typed(["1", "-1"]).tolist(), typed(["1", "0.5"]).tolist(), typed(["1", "b"]).tolist()
    ([1, -1], [1.0, 0.5], ['1', 'b'])
    """
    if not all(map(is_number, cells)):
        return np.array(cells)
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([as_number(cell) for cell in cells])


def first_missing(cells: Sequence[str]) -> int | None:
    """Return the first row without a value, or None. Among names, "NA" and "?" are names too."""
    numeric = all(map(is_number, cells))
    rows = (row for row, cell in enumerate(cells) if cell == "" or (numeric and is_missing(cell)))
    return next(rows, None)


def _label_sets(cells: Sequence[str]) -> NDArray[Any]:
    sets = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        names = (name.strip() for name in cell.split(SET_DELIMITER))
        sets[row] = frozenset(name for name in names if name)
    return sets


def _without(bags: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [bag for bag in bags if bag not in known]
