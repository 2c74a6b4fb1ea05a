"""What the columns of a table are: the bag, a label, or features."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, TableColumn, WeakDataset, did_you_mean
from bliss_readers.tables.cell_table import CellTable, is_missing, is_number, listed
from bliss_readers.tables.column_kinds import Kinds, carried_values, rows_of
from bliss_readers.tables.id_text import check_ids, id_notes
from bliss_readers.tables.index_columns import index_columns, left_out, unnamed_notes
from bliss_readers.tables.indicator_columns import IndicatorColumns
from bliss_readers.tables.label_column import LabelColumn, first_missing, typed

LABEL_NAMES = ("label", "labels", "y", "weak_label")
INSTANCE_LABEL_NAMES = ("instance_label", "inst_y")


@frozen
class Roles:
    """What the columns of the table of instances are.

    Attributes:
        bag: the name of the column of bag ids.
        label: that of the weak labels, or None where they are elsewhere or nowhere.
        instance_label: that of the true classes, or None.
        features: those of all features.
    """

    bag: str = field()
    label: str | None = field()
    instance_label: str | None = field()
    features: list[str] = field()


def roles_of(
    table: CellTable,
    bag: str,
    label: str | None,
    instance_label: str | None,
    ignore: str | Sequence[str],
    label_names: Sequence[str] = LABEL_NAMES,
    spoken_for: Sequence[str] = (),
) -> Roles:
    """Find out what each column is.

    Args:
        table: of the instances.
        bag: the name of the bag column.
        label: the name of the weak label column, which may be in a second table; None takes the usual names.
        instance_label: the name of the column of true classes; None takes the usual names.
        ignore: names of columns to leave out.
        label_names: the usual names of the weak label column.
        spoken_for: columns that are no label, whatever they are called.

    Raises:
        DataError: a column is missing, or two could be the one, or no feature is left.
    """
    ignored = [table.require(name, "ignore") for name in ([ignore] if isinstance(ignore, str) else ignore)]
    roles = named_roles(table, bag, label, instance_label, ignored, label_names, spoken_for)
    if not roles.features:
        raise DataError(f"{table.path} has no features: every {table.noun} is the bag, a label or ignored.")
    return roles


def named_roles(
    table: CellTable,
    bag: str,
    label: str | None,
    instance_label: str | None,
    ignored: Sequence[str],
    label_names: Sequence[str] = LABEL_NAMES,
    spoken_for: Sequence[str] = (),
) -> Roles:
    """Find out what each column is, where all of them may have a role; arguments as those of `roles_of`.

    Raises:
        DataError: a column is missing, or two could be the one.
    """
    taken = [_bag_column(table, bag), *ignored]
    unusual = [*taken, *spoken_for]
    true_class = choose(table, instance_label, INSTANCE_LABEL_NAMES, "instance_label", [*unusual, label])
    # A label that is named but not here is in the second table.
    defaults = label_names if label is None else ()
    weak = choose(table, label if label in table.header else None, defaults, "label", [*unusual, true_class])
    roles = {*taken, true_class, weak}
    return Roles(bag, weak, true_class, [name for name in table.header if name not in roles])


def _bag_column(table: CellTable, bag: str) -> str:
    if bag in table.header or bag != "bag":
        return table.require(bag, "bag")
    raise DataError(
        f'{table.path} has no {table.noun} "bag"{table.hint()}. Say with bag, on the command line --bag COLUMN, which '
        f"{table.noun} says to which bag a row belongs. Its {table.noun}s: {listed(table.header)}."
        f"{did_you_mean(bag, table.header)}"
    )


def choose(
    table: CellTable, named: str | None, defaults: Sequence[str], option: str, taken: Sequence[str | None]
) -> str | None:
    """Return the column that the user names, else the one that has a usual name, else None.

    Args:
        table: any.
        named: what the user says, or None.
        defaults: the usual names.
        option: how the user says it.
        taken: columns that are something else.

    Raises:
        DataError: the named column is missing, or several have a usual name.
    """
    if named is not None:
        return table.require(named, option)
    found = (name for usual in defaults for name in table.header if _is_usual(name, usual) and name not in taken)
    present = list(dict.fromkeys(found))
    # The one that is not chosen would become a feature, and might give the answer away.
    if len(present) > 1:
        raise DataError(
            f"{table.path} has the {table.noun}s {listed(present)}; say with {option} which one it is. The others will "
            f"be features, unless they are named by ignore."
        )
    return present[0] if present else None


def _is_usual(name: str, usual: str) -> bool:
    """Say whether a name is a usual one, in any case; but "Y" beside "X" is a place and no label."""
    return name == usual or (len(name) > 1 and name.casefold() == usual)


def dataset_of(
    table: CellTable,
    roles: Roles,
    column: LabelColumn | IndicatorColumns | None,
    regime: str | None,
    kinds: Kinds | None = None,
) -> WeakDataset:
    """Make a data set of a table.

    Args:
        table: of the instances.
        roles: of its columns.
        column: where the weak labels are, or None where there are none.
        regime: what the weak labels are for; None takes "multiclass-mil" for label sets, else "mil".
        kinds: what the columns hold that have no role; None where all of them are features of numbers.

    Raises:
        DataError: naming the place of a cell that is not as it should be.
    """
    ids = bag_ids(table, roles.bag)
    held = Kinds(roles.features, index=index_columns(table, roles.features)) if kinds is None else kinds
    index = held.index
    features = [name for name in held.features if name not in index]
    if not features:
        raise DataError(_no_features(table, held, index))
    left = (*left_out(index, table.path.name), *unnamed_notes(features, table.path.name), *held.notes)
    rows = rows_of(table, features, held.categories)
    dataset = dataset_of_rows(table, roles, ids, column, regime, rows, tuple(features), left)
    if kinds is None:
        return dataset
    carried = {name: carried_values(table, name) for name in held.carried}
    columns = table_columns(table, roles, held, index, rows)
    return evolve(dataset, carried=carried, categories=held.categories, table=columns)


def _no_features(table: CellTable, kinds: Kinds, index: Sequence[str]) -> str:
    if index and not kinds.why:
        return f"{table.path} has no features: beside roles there is only the row index {listed(index)}."
    held = ", ".join(f'"{name}" ({why})' for name, why in list(kinds.why.items())[:5])
    return (
        f"{table.path} has no features: of the {table.noun}s without a role none holds numbers or categories. There is "
        f"{held or listed(index)}. Say categorical of one that is a category."
    )


def table_columns(
    table: CellTable, roles: Roles, kinds: Kinds, index: Collection[str], rows: NDArray[np.floating]
) -> tuple[TableColumn, ...]:
    """Say of each column of a table what it was taken for, and how many of its cells are empty."""
    features = [name for name in kinds.features if name not in index]
    empty = dict(zip(features, np.isnan(rows).sum(axis=0).tolist(), strict=True))
    named = {roles.bag: "bag", roles.label: "label", roles.instance_label: "instance label"}
    found = []
    for name in table.header:
        role, why = named.get(name, "ignored"), kinds.why.get(name, "")
        if name in features:
            role = "category" if name in kinds.categories else "feature"
        elif name in kinds.carried:
            role = "carried"
        elif name in index:
            why = "the row index of a data-frame library"
        if name not in empty:
            empty[name] = sum(map(is_missing, table.column(name)))
        found.append(TableColumn(name, role, why, empty[name]))
    return tuple(found)


def dataset_of_rows(
    table: CellTable,
    roles: Roles,
    ids: NDArray[np.str_],
    column: LabelColumn | IndicatorColumns | None,
    regime: str | None,
    rows: Any,
    features: tuple[str, ...] | None = None,
    notes: tuple[str, ...] = (),
) -> WeakDataset:
    """Make a data set of rows (n, d), which may stand elsewhere, and of what a table of n lines says of them.

    Args:
        table: with a line for each row.
        roles: of its columns.
        ids: (n,) the bag of each row, see `bag_ids`.
        column: where the weak labels are, or None where there are none.
        regime: what the weak labels are for.
        rows: of numbers.
        features: the names of their columns, or None.
        notes: sentences for the user about them.

    Raises:
        DataError: naming the place of a cell that is not as it should be.
    """
    about_labels = () if column is None else (*(column.table.notes if column.table is not table else ()), *column.notes)
    return WeakDataset(
        name=table.path.stem,
        X=rows,
        bags=ids,
        weak=None if column is None else column.of_bags(Bags.from_ids(ids)),
        regime=regime or ("mil" if column is None else column.regime),
        instance_labels=None if roles.instance_label is None else _classes(table, roles.instance_label),
        feature_names=features,
        label_names=None if column is None else column.label_names,
        notes=(*table.notes, *notes, *id_notes(table, roles.bag, ids.tolist()), *about_labels),
    )


def instance_names(table: CellTable, taken: Collection[str]) -> list[str]:
    """Return the columns of text that has another value in each row: they name the instances, and are no features.

    Args:
        table: of the instances.
        taken: columns that are something else.
    """
    columns = ((name, table.column(name)) for name in table.header if name not in taken)
    return [name for name, cells in columns if not any(map(is_number, cells)) and len(set(cells)) == len(cells)]


def bag_ids(table: CellTable, bag: str) -> NDArray[np.str_]:
    """Return the bag id of each row as text.

    Raises:
        DataError: a row has none.
    """
    cells = table.column(bag)
    check_ids(table, bag, cells)
    return np.array(cells)


def _classes(table: CellTable, name: str) -> NDArray[np.generic]:
    """Return the true classes (n,), None where a cell is missing: what is known of some rows serves to evaluate."""
    cells = table.column(name)
    if first_missing(cells) is None:
        return typed(cells)
    numeric = all(map(is_number, cells))
    known = [row for row, cell in enumerate(cells) if cell and not (numeric and is_missing(cell))]
    classes = np.full(len(cells), None, dtype=object)
    classes[known] = typed([cells[row] for row in known]).tolist()
    return classes
