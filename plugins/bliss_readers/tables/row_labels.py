"""labels.csv of a run: a label for each row, which as a second table gives true classes and no weak labels."""

from attrs import evolve

from bliss_framework.plugin import DataError, WeakDataset
from bliss_readers.tables.cell_table import CellTable
from bliss_readers.tables.label_column import first_missing, typed

ROW_LABEL_NAMES = ROW, BAG, LABEL = "row", "bag", "label"


def holds_row_labels(table: CellTable) -> bool:
    """Say whether a table is the labels.csv of a run: its rows are numbered from 0, each with its bag and a label."""
    if not {ROW, BAG, LABEL} <= set(table.header):
        return False
    return table.column(ROW) == [str(row) for row in range(len(table.column(ROW)))]


def with_row_labels(dataset: WeakDataset, table: CellTable) -> WeakDataset:
    """Give a data set the labels of a table as true classes.

    Args:
        dataset: without true classes.
        table: see `holds_row_labels`.

    Raises:
        DataError: the rows are of other bags, or a label is missing, or there are true classes already.
    """
    if dataset.instance_labels is not None:
        raise DataError(f"{table.path} holds a label for each row, and the table of rows has true classes; drop one.")
    bags, own = table.column(BAG), [str(bag) for bag in dataset.bags.tolist()]
    if len(bags) != len(own):
        raise DataError(f"{table.path} holds labels of {len(bags)} rows, and there are {len(own)}.")
    wrong = next((row for row, (bag, other) in enumerate(zip(bags, own, strict=True)) if bag != other), None)
    if wrong is not None:
        raise DataError(
            f"{table.at(wrong, BAG)}: row {wrong} is of bag {bags[wrong]!r}, and among the rows of bag {own[wrong]!r}; "
            f"the labels are of other rows, or in another order."
        )
    cells = table.column(LABEL)
    missing = first_missing(cells)
    if missing is not None:
        raise DataError(f"{table.at(missing, LABEL)}: no label.")
    note = f"{table.path.name} holds a label for each row, so these are true classes, which are used to evaluate only"
    return evolve(dataset, instance_labels=typed(cells), notes=(*dataset.notes, *table.notes, note))
