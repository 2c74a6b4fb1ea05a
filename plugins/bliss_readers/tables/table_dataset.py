"""Data sets in tables: one row for each instance, and perhaps a second table of weak labels."""

import os
from pathlib import Path

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, WeakDataset, near_miss
from bliss_readers.tables.cell_table import MISSING_NAMES, CellTable
from bliss_readers.tables.class_columns import SHARES, ClassColumns, class_columns, which_label
from bliss_readers.tables.column_kinds import kinds_of
from bliss_readers.tables.column_roles import (
    INSTANCE_LABEL_NAMES,
    LABEL_NAMES,
    Roles,
    bag_ids,
    choose,
    dataset_of,
    roles_of,
)
from bliss_readers.tables.csv_file import CSV_DELIMITERS, TextForm, read_csv_table
from bliss_readers.tables.excel_file import EXCEL_SUFFIXES, read_excel_table
from bliss_readers.tables.label_column import LabelColumn
from bliss_readers.tables.label_table import LabelTable, several_columns
from bliss_readers.tables.parquet_file import PARQUET_SUFFIXES, is_parquet, read_parquet_table
from bliss_readers.tables.row_labels import ROW_LABEL_NAMES, holds_row_labels, with_row_labels
from bliss_readers.tables.row_numbered import numbered
from bliss_readers.tables.wanted_columns import Wanted


@frozen
class TableOptions:
    """What the user says of a table; the readers explain each.

    Attributes:
        bag: the column of bag ids.
        label: the column of weak labels.
        instance_label: the column of true classes.
        labels: the file of a second table.
        label_sets: whether weak labels are sets of names.
        columns: what the user says of single columns.
        regime: what the weak labels are for.
        text: what the user says of text files.
        rows_are_bags: whether each row is a bag of its own where there is no column of bag ids.
        separator: between the names of a label set; None finds out.
        group: the column of what is above bags, such as patients, in either table.
        labelled: whether weak labels are wanted.
        empty_labels: whether an empty cell is a weak label of which nothing is known.
        columns_are_classes: whether several columns of a second table are one for each class.
    """

    bag: str = field(default="bag")
    label: str | None = field(default=None)
    instance_label: str | None = field(default=None)
    labels: str | Path | None = field(default=None)
    label_sets: bool | None = field(default=None)
    columns: Wanted = field(factory=Wanted)
    regime: str | None = field(default=None)
    text: TextForm = field(factory=TextForm)
    rows_are_bags: bool = field(default=False)
    separator: str | None = field(default=None)
    group: str | None = field(default=None)
    labelled: bool = field(default=True)
    empty_labels: bool = field(default=False)
    columns_are_classes: bool = field(default=True)

    @property
    def text_columns(self) -> list[str]:
        """Names that columns may have which are looked at as text, whatever is in them."""
        told = (self.bag, *(self.label or "").split(","), self.label, self.instance_label, self.group)
        return [*(one for one in told if isinstance(one, str)), *LABEL_NAMES, *INSTANCE_LABEL_NAMES]


def table_dataset(table: CellTable, options: TableOptions) -> WeakDataset:
    """Make a data set of a table of instances, and of the second one that the options name.

    Raises:
        DataError: naming the file, the place in it, what was found and what is allowed.
    """
    table = numbered(table, options.bag) if options.rows_are_bags else table
    if options.group is not None and options.labels is None:
        table.require(options.group, "group")
    own_group = [options.group] if options.group in table.header else []
    wanted = options.columns.in_table(table)
    several = several_columns(table, options.label) if options.labels is None else []
    told = options.label, options.instance_label, [*wanted.beside, *own_group, *several]
    no_labels = wanted.spoken_for if options.labelled else table.header
    roles = roles_of(table, options.bag, *told, spoken_for=no_labels)
    kinds = kinds_of(table, roles.features, bag_ids(table, roles.bag), wanted)
    second = None
    if options.labels is not None:
        second = _second_table(table.path, Path(options.labels).expanduser(), options)
        if holds_row_labels(second):
            own = dataset_of(table, roles, own_labels(table, roles, options), options.regime, kinds)
            return with_groups(with_row_labels(own, second), table, second, options)
    column = own_labels(table, roles, options) if second is None else _labels_of(second, table, roles, options)
    return with_groups(dataset_of(table, roles, column, options.regime, kinds), table, second, options)


def with_groups(dataset: WeakDataset, table: CellTable, second: CellTable | None, options: TableOptions) -> WeakDataset:
    """Add the group of each row, out of the table of the instances or that of the bags.

    Raises:
        DataError: neither table has the column, or a group is missing.
    """
    if options.group is None:
        return dataset
    if second is None or options.group in table.header:
        columns = [evolve(one, role="group") if one.name == options.group else one for one in dataset.table]
        return evolve(dataset, groups=_group_cells(table, options.group), table=tuple(columns))
    groups = _group_cells(second, second.require(options.group, "group"))
    bags = second.column(second.require(_bag_of(second, options.bag), "bag"))
    of_bag = dict(zip(bags, groups.tolist(), strict=True))
    missing = [bag for bag in dict.fromkeys(dataset.bags.tolist()) if bag not in of_bag]
    if missing:
        raise DataError(f"{second.path} has no {options.group} for bag {missing[0]!r}.{near_miss(missing[0], of_bag)}")
    return evolve(dataset, groups=np.array([of_bag[bag] for bag in dataset.bags.tolist()]))


def _group_cells(table: CellTable, name: str) -> NDArray[np.str_]:
    cells = table.column(name)
    missing = next((row for row, cell in enumerate(cells) if cell.casefold() in MISSING_NAMES), None)
    if missing is not None:
        raise DataError(f"{table.at(missing, name)}: no group; give every row one, or every bag one of its own.")
    return np.array(cells)


def own_labels(table: CellTable, roles: Roles, options: TableOptions) -> LabelColumn | LabelTable | None:
    """Return the weak labels of the table of instances itself, or None where it has none."""
    several = several_columns(table, options.label)
    if several:
        return LabelTable(table, roles.bag, tuple(several))
    name = roles.label if options.label is None else table.require(options.label, "label")
    if name is None:
        return None
    return LabelColumn(
        table, roles.bag, name, options.label_sets, separator=options.separator, may_be_empty=options.empty_labels
    )


def _labels_of(
    second: CellTable, table: CellTable, roles: Roles, options: TableOptions
) -> LabelColumn | ClassColumns | LabelTable:
    if roles.label is not None:
        raise DataError(
            f'{table.path} has a column "{roles.label}", and the option labels names a second file of weak labels. '
            f"Which of them holds? Name the column with ignore or instance_label, or drop labels, or say with label "
            f"which column of the second file it is."
        )
    column = labels_in(second, second.require(_bag_of(second, roles.bag), "bag"), options)
    # A table beside one of instances may say anything of bags; fractions that add up to 1 are shares all the same.
    if isinstance(column, ClassColumns) and not column.told and column.kind != SHARES:
        raise DataError(which_label(second))
    return column


def labels_in(table: CellTable, bag: str, options: TableOptions) -> LabelColumn | ClassColumns | LabelTable:
    """Return where the weak labels are in a table of bags.

    It is the column that is told, or has a usual name, or is the only one; or there is a column for each class, which
    are told with commas between them, or are all.

    Args:
        table: of bags.
        bag: its column of bag ids.
        options: what the user says.

    Raises:
        DataError: it is not clear which column holds the label.
    """
    taken = [bag, *([] if options.group is None else [options.group])]
    if options.label is not None and options.label not in table.header and "," in options.label:
        names = [table.require(name.strip(), "label") for name in options.label.split(",")]
        if not options.columns_are_classes:
            return LabelTable(table, bag, tuple(names), _TWO_LINES)
        return class_columns(table, bag, names, options.regime)
    rest = [name for name in table.header if name not in taken]
    label = choose(table, options.label, LABEL_NAMES, "label", taken) or (rest[0] if len(rest) == 1 else None)
    if label is None and not options.columns_are_classes:
        return LabelTable(table, bag, tuple(rest), _TWO_LINES)
    if label is None:
        return class_columns(table, bag, rest, options.regime, told=False)
    return LabelColumn(
        table,
        bag,
        label,
        options.label_sets,
        separator=options.separator,
        advice=_TWO_LINES,
        may_be_empty=options.empty_labels,
    )


_TWO_LINES = "leave one of the lines out"


def _bag_of(second: CellTable, bag: str) -> str:
    """Return the bag column of a second table; that of a run's bags.csv is always called "bag"."""
    is_of_a_run = {"bag", "n_instances", "weak_label"} <= set(second.header)
    return "bag" if is_of_a_run and bag not in second.header else bag


def _second_table(first: Path, labels: Path, options: TableOptions) -> CellTable:
    beside = first.parent / labels
    # os.path, unlike pathlib, takes a name that no file can have for a file that does not exist.
    path = beside if os.path.isfile(beside) or not os.path.isfile(labels) else labels
    return read_table(path, options, CSV_DELIMITERS.get(first.suffix.lower(), ","))


def read_table(path: Path, options: TableOptions, usual: str = ",") -> CellTable:
    """Read a Parquet file, the first sheet of a workbook, or a text table.

    Args:
        path: of the file.
        options: what the user says of it.
        usual: the delimiter of a text table whose name does not say it.

    Raises:
        DataError, SettingsError, MissingExtraError: as the reader of the format does.
    """
    if path.suffix.lower() in PARQUET_SUFFIXES or is_parquet(path):
        return read_parquet_table(path)
    if path.suffix.lower() in EXCEL_SUFFIXES:
        return read_excel_table(path)
    usual = CSV_DELIMITERS.get(path.suffix.lower(), usual)
    return read_csv_table(path, options.text, usual, [*options.text_columns, *ROW_LABEL_NAMES])
