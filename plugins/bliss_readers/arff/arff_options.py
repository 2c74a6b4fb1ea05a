"""What the user says of an ARFF file, and the weak labels in it."""

from attrs import field, frozen

from bliss_framework import DataError
from bliss_readers.arff.arff_file import Attribute
from bliss_readers.tables.cell_table import CellTable, listed
from bliss_readers.tables.indicator_columns import IndicatorColumns
from bliss_readers.tables.label_column import LabelColumn

UNKNOWN = "?"


@frozen
class ArffOptions:
    """The options of `ArffReader.read`, which explains them, with lists where one name may stand for a list."""

    bag: str | None = field()
    label: list[str] | None = field()
    instance_label: str | None = field()
    ignore: list[str] = field()
    regime: str | None = field()
    label_sets: bool | None = field(default=None)
    separator: str | None = field(default=None)


def weak_labels(
    table: CellTable, bag: str, labels: list[str], attributes: tuple[Attribute, ...], options: ArffOptions
) -> LabelColumn | IndicatorColumns | None:
    """Say where the weak labels are.

    Args:
        table: has a row for each instance or for each bag.
        bag: the attribute of bag ids.
        labels: the attributes of weak labels.
        attributes: all that the table has.
        options: say how label sets are written.

    Returns:
        None where there are none, or all are unknown, as in files that are to be predicted.

    Raises:
        DataError: some are unknown, or several attributes are no indicators of labels.
    """
    # Each label is looked at, so that one that is unknown in some rows is refused.
    unknown = [label for label in labels if _is_unknown(table, bag, label)]
    if unknown == labels:
        return None
    if len(labels) == 1:
        return LabelColumn(table, bag, labels[0], options.label_sets, separator=options.separator)
    binary = {attribute.name for attribute in attributes if attribute.is_binary}
    others = [label for label in labels if label not in binary]
    if others:
        raise DataError(
            f"{table.path} has the labels {listed(labels)}, but {listed(others)} is not declared as {{0,1}}. Several "
            f"labels make label sets, and each says with 0 or 1 whether a bag has it; say with label which one is "
            f"meant, or leave others out with ignore."
        )
    return IndicatorColumns(table, bag, tuple(labels))


def _is_unknown(table: CellTable, bag: str, label: str) -> bool:
    """Say whether a label is unknown everywhere, or raise DataError if it is in some rows."""
    cells = table.column(label)
    if UNKNOWN not in cells:
        return False
    if set(cells) == {UNKNOWN}:
        return True
    row = cells.index(UNKNOWN)
    raise DataError(
        f"{table.at(row, label)}: bag {table.column(bag)[row]!r} has no weak label (?); every bag needs one, or "
        f"none of them."
    )
