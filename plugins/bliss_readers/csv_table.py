"""Tables as text: one line for each instance, the bag and the weak label in columns."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework import Bags, DataError, Reader, WeakDataset
from bliss_readers.labels import LabelColumn, first_missing, typed
from bliss_readers.table import Table, as_number, is_number, listed, read_table

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LABEL_NAMES = ("label", "labels", "y")
_INSTANCE_LABEL_NAMES = ("instance_label", "inst_y")


class CsvReader(Reader):
    """Reads UTF-8 tables whose first line names the columns.

    One column is the bag, one may be the weak label and one the true class; every other one is a feature. Bag ids stay
    text, so that "007" and "7" are two bags. Rows of a bag need not be contiguous.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .csv or .tsv and starts like text."""
        if path.suffix.lower() not in _DELIMITERS:
            return False
        try:
            with path.open("rb") as file:
                return b"\0" not in file.read(1024)
        except (OSError, ValueError):
            return False

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        bag: str = "bag",
        label: str | None = None,
        instance_label: str | None = None,
        labels: str | Path | None = None,
        label_sets: bool | None = None,
        ignore: Sequence[str] = (),
        regime: str | None = None,
        delimiter: str | None = None,
    ) -> WeakDataset:
        """Read a table, and a second one with the weak labels where there is one.

        Args:
            path: the table of the instances.
            bag: the column of bag ids.
            label: the column of weak labels; by default the one that is called "label", "labels" or "y". A weak label
                is the same over its bag: a number, a name, or names with "|" between them.
            instance_label: the column of true classes; by default the one that is called "instance_label" or "inst_y".
            labels: a second table with the bag and label columns, one line for each bag; looked for beside the first,
                then in the current folder.
            label_sets: whether weak labels are sets of names. By default they are if some cell holds a "|", or is empty
                among names.
            ignore: columns to leave out.
            regime: what the weak labels are for; by default "multiclass-mil" for label sets, else "mil".
            delimiter: between columns; by default a comma, in .tsv files a tab.

        Returns:
            The data set, its rows as float64 with NaN for empty cells, "?", "NA" and "nan"; `weak` has one entry for
            each bag in order of first appearance, frozensets where they are label sets, and is None where the table has
            no weak labels.

        Raises:
            DataError: naming the file, the line or the bag, what was found and what is allowed.
        """
        path = Path(path)
        split_at = delimiter or _DELIMITERS.get(path.suffix.lower(), ",")
        table = read_table(path, split_at)
        roles = _roles(table, bag, label, instance_label, [ignore] if isinstance(ignore, str) else list(ignore))
        column = _label_column(table, roles, label, labels, label_sets, split_at)
        ids = _bag_ids(table, bag)
        return WeakDataset(
            name=path.stem,
            X=_features(table, roles.features),
            bags=ids,
            weak=None if column is None else column.of_bags(Bags.from_ids(ids)),
            regime=regime or ("multiclass-mil" if column is not None and column.holds_sets() else "mil"),
            instance_labels=None if roles.instance_label is None else _classes(table, roles.instance_label),
            feature_names=tuple(roles.features),
        )


@frozen
class _Roles:
    bag: str = field()
    label: str | None = field()
    instance_label: str | None = field()
    features: list[str] = field()


def _roles(table: Table, bag: str, label: str | None, instance_label: str | None, ignore: list[str]) -> _Roles:
    taken = [table.require(bag, "bag"), *(table.require(name, "ignore") for name in ignore)]
    true_class = _choose(table, instance_label, _INSTANCE_LABEL_NAMES, "instance_label", [*taken, label])
    # A label that is named but not here is in the second table.
    defaults = _LABEL_NAMES if label is None else ()
    weak = _choose(table, label if label in table.header else None, defaults, "label", [*taken, true_class])
    features = [name for name in table.header if name not in (*taken, true_class, weak)]
    if not features:
        raise DataError(f"{table.path} has no features: every column is the bag, a label or ignored.")
    return _Roles(bag, weak, true_class, features)


def _choose(
    table: Table, named: str | None, defaults: Sequence[str], option: str, taken: Sequence[str | None]
) -> str | None:
    if named is not None:
        return table.require(named, option)
    present = [name for name in defaults if name in table.header and name not in taken]
    # The one that is not chosen would become a feature, and might give the answer away.
    if len(present) > 1:
        raise DataError(
            f"{table.path} has the columns {listed(present)}; say with {option} which one it is. The others will be "
            f"features, unless they are named by ignore."
        )
    return present[0] if present else None


def _label_column(
    table: Table, roles: _Roles, label: str | None, labels: str | Path | None, sets: bool | None, delimiter: str
) -> LabelColumn | None:
    if labels is None:
        name = roles.label if label is None else table.require(label, "label")
        return None if name is None else LabelColumn(table, roles.bag, name, sets)
    if roles.label is not None:
        raise DataError(
            f'{table.path} has a column "{roles.label}", and the option labels names a second file of weak labels. '
            f"Which of them holds? Name the column with ignore or instance_label, or drop labels, or say with label "
            f"which column of the second file it is."
        )
    second = read_table(_beside(table.path, Path(labels).expanduser()), delimiter)
    name = _choose(second, label, _LABEL_NAMES, "label", ())
    if name is None:
        raise DataError(
            f"{second.path} has no column called {' or '.join(_LABEL_NAMES)}; say with label which of its columns is "
            f"the weak label: {listed(second.header)}."
        )
    return LabelColumn(second, second.require(roles.bag, "bag"), name, sets)


def _beside(table: Path, labels: Path) -> Path:
    beside = table.parent / labels
    return beside if beside.is_file() or not labels.is_file() else labels


def _bag_ids(table: Table, bag: str) -> NDArray[np.str_]:
    cells = table.column(bag)
    if "" in cells:
        raise DataError(f"{table.at(cells.index(''), bag)}: no bag id; every row needs one.")
    return np.array(cells)


def _classes(table: Table, name: str) -> NDArray[np.generic]:
    cells = table.column(name)
    missing = first_missing(cells)
    if missing is not None:
        raise DataError(f"{table.at(missing, name)}: no true class; give one for every row, or ignore the column.")
    return typed(cells)


def _features(table: Table, names: Sequence[str]) -> NDArray[np.float64]:
    positions = [table.header.index(name) for name in names]
    rows = np.empty((len(table.rows), len(names)))
    for row, cells in enumerate(table.rows):
        try:
            rows[row] = [as_number(cells[position]) for position in positions]
        except ValueError:
            raise _no_number(table, row, names) from None
    return rows


def _no_number(table: Table, row: int, names: Sequence[str]) -> DataError:
    cells = dict(zip(table.header, table.rows[row], strict=True))
    name = next(name for name in names if not is_number(cells[name]))
    return DataError(
        f"{table.at(row, name)}: {cells[name]!r} is no number. Every column that is no bag and no label is a feature; "
        f'leave this one out with ignore = ["{name}"].'
    )
