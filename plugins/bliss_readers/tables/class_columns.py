"""A table of bags with a column for each class: shares, counts, or 0 and 1 for each label of a set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError
from bliss_readers.tables.cell_table import CellTable, listed
from bliss_readers.tables.indicator_columns import IndicatorColumns
from bliss_readers.tables.label_column import LabelColumn

SETS, SHARES, COUNTS = "multiclass-mil", "shares", "counts"
_TOLERANCE = 0.01  # Three shares with two digits each may sum to 0.99.


@frozen(eq=False)
class ClassColumns:
    """Weak labels in a column for each class.

    Attributes:
        table: with a line for each bag.
        bag: its column of bag ids.
        names: of the columns, which are those of the classes.
        kind: of what they hold.
        told: whether the user named them.
    """

    table: CellTable = field()
    bag: str = field()
    names: tuple[str, ...] = field()
    kind: str = field()
    told: bool = field(default=True)

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """The names of all labels of label sets, also of those that no bag has."""
        return self.names if self.kind == SETS else None

    @property
    def regime(self) -> str:
        """The regime that such labels are for."""
        return SETS if self.kind == SETS else "llp"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the columns were taken for."""
        said = {SETS: "0 and 1 for each label of a set", SHARES: "shares of classes", COUNTS: "counts of classes"}
        return (f"{self.table.path.name}: the columns {listed(self.names)} hold {said[self.kind]}",)

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag.

        Args:
            bags: with text ids.

        Returns:
            (B,) object array of frozensets of names, or of mappings from names to shares or counts.

        Raises:
            DataError: a bag has no value for a class, or two different ones.
        """
        if self.kind == SETS:
            return IndicatorColumns(self.table, self.bag, self.names).of_bags(bags)
        columns = [LabelColumn(self.table, self.bag, name, sets=False).of_bags(bags) for name in self.names]
        values = np.stack(columns, axis=1)
        if self.kind == COUNTS and (values.sum(axis=1) != bags.sizes).any():
            # Counts of something else than the rows, such as of all cells of which some were drawn, are shares.
            values = values / values.sum(axis=1, keepdims=True)
        weak = np.empty(bags.n_bags, dtype=object)
        weak[:] = [dict(zip(self.names, row, strict=True)) for row in values.tolist()]
        return weak


def class_columns(
    table: CellTable, bag: str, names: Sequence[str], regime: str | None, told: bool = True
) -> ClassColumns:
    """Find out what columns of classes hold.

    Args:
        table: with a line for each bag.
        bag: its column of bag ids.
        names: of the columns.
        regime: what the labels are for, which tells shares of 0 and 1 from label sets.
        told: whether the user named the columns.

    Raises:
        DataError: they hold something else than shares, counts, or 0 and 1.
    """
    advice = which_label(table)
    if len(names) < 2:
        raise DataError(advice)
    try:
        values = table.numbers(names)
    except DataError as error:
        # What is said of a feature is half of it wrong of a label.
        cell = f" ({str(error).split('. ')[0]}.)" if told else ""
        raise DataError(f"{advice}{cell}") from None
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(advice)
    return ClassColumns(table, bag, tuple(names), _kind(values, regime, advice), told)


def which_label(table: CellTable) -> str:
    """Ask which column of a table of bags holds the weak label."""
    return (
        f"{table.path}: which {table.noun} holds the weak label? Say so with label; or name with label, between "
        f"commas, the {table.noun}s of the classes, which hold shares, counts, or 0 and 1. "
        f"It has: {listed(table.header)}."
    )


def _kind(values: NDArray[np.floating], regime: str | None, advice: str) -> str:
    whole, sums = bool((values == np.round(values)).all()), values.sum(axis=1)
    if whole and values.max() <= 1 and regime != "llp":
        return SETS
    if whole and (sums > 0).all():
        return COUNTS
    if not whole and (np.abs(sums - 1) <= _TOLERANCE).all():
        return SHARES
    raise DataError(advice)
