"""C4.5 files, in which the UCI repository published MUSK: a .data file of rows, a .names file of attributes."""

import re
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from bliss_framework.plugin import DataError, Reader, WeakDataset
from bliss_readers.tables.cell_table import TextTable, unique_header
from bliss_readers.tables.column_roles import dataset_of, instance_names, roles_of
from bliss_readers.tables.id_text import lone_notes
from bliss_readers.tables.label_column import LabelColumn
from bliss_readers.text.first_look import first_line, first_lines
from bliss_readers.text.numbered_lines import numbered_lines

_COMMENT = "|"
_CLASS = "class"
FEWEST_FIELDS = 4  # Bag, instance, a feature and the class.


class C45Reader(Reader):
    """Reads `BAG,INSTANCE,f1,...,CLASS.` with the names of its fields in the .names file beside it.

    The class is last, and is the weak label of the bag on each of its instances. Text that is another one in each row
    names the instances and is left out. Without a .names file fields are called by their numbers, from 1.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .data and is of C4.5.

        It has a .names file beside it, or a full stop at a line's end, or else its first field comes back and its last
        one is the same wherever it does, as bags and classes do.
        """
        return path.suffix.lower() == ".data" and (is_c45(path) or _has_bags_first(path))

    def read(  # type: ignore[override]
        self, path: Path, *, bag: str | None = None, ignore: str | Sequence[str] = (), regime: str | None = None
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the .data file.
            bag: the attribute of bag ids, by default the first.
            ignore: attributes to leave out, beside those that the .names file says to ignore.
            regime: what the weak labels are for; by default "mil".

        Returns:
            The data set, its rows as float64 with NaN for "?"; `weak` has one entry for each bag in order of first
            appearance.

        Raises:
            DataError: naming the file and the line, what was found and what is allowed.
        """
        path = Path(path)
        table, told = _table(path)
        bag = table.header[0] if bag is None else table.require(bag, "bag")
        left_out = {*told.ignored, *([ignore] if isinstance(ignore, str) else ignore)} - {bag}
        names = instance_names(table, [bag, told.label, *left_out])
        roles = roles_of(table, bag, told.label, None, [*sorted(left_out), *names])
        column = LabelColumn(table, bag, told.label, sets=False, advice="correct the one that is wrong")
        dataset = dataset_of(table, roles, column, regime)
        return evolve(dataset, notes=(*dataset.notes, *lone_notes(path, dataset.bags)))


def _has_bags_first(path: Path) -> bool:
    """Say whether the first rows have bags in the first field and classes in the last; never raises."""
    rows = [[cell.strip() for cell in line.split(",")] for line in first_lines(path, _COMMENT)]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < FEWEST_FIELDS:
        return False
    return bags_come_first([row[0] for row in rows], [row[-1] for row in rows])


def bags_come_first(first: Sequence[str], last: Sequence[str]) -> bool:
    """Say whether a first field comes back, and a last one is the same wherever it does, as bags and classes do.

    >>> bags_come_first(["b1", "b1", "b2"], ["1", "1", "0"]), bags_come_first(["i1", "i2", "i3"], ["1", "1", "0"])
    (True, False)
    """
    pairs = set(zip(first, last, strict=True))
    bags, classes = {bag for bag, _ in pairs}, {value for _, value in pairs}
    return len(pairs) == len(bags) < len(first) and len(classes) > 1


def is_c45(path: Path) -> bool:
    """Say whether a .data file is one of C4.5 rather than of another program; never raises."""
    try:
        if path.with_suffix(".names").is_file():
            return True
    except (OSError, ValueError):
        return False
    return first_line(path, _COMMENT).partition(_COMMENT)[0].rstrip().endswith(".")


@frozen
class _Names:
    header: list[str] = field()
    label: str = field()
    ignored: list[str] = field()


def _table(path: Path) -> tuple[TextTable, _Names]:
    rows, places = [], []
    for number, text in numbered_lines(path):
        said = text.partition(_COMMENT)[0].rstrip()
        if said:
            rows.append([cell.strip() for cell in said.removesuffix(".").split(",")])
            places.append(f"line {number}")
    if not rows:
        raise DataError(f"{path} has no rows; a row is the bag, the features and the class, with commas between them.")
    beside = path.with_suffix(".names")
    told = _names(beside) if beside.is_file() else _numbered(len(rows[0]))
    header = unique_header(beside, told.header, "attribute")
    for place, row in zip(places, rows, strict=True):
        if len(row) != len(header):
            told_by = beside.name if beside.is_file() else places[0]
            raise DataError(
                f"{path}, {place}: {len(row)} fields, but {told_by} has {len(header)}; the last one is the class."
            )
    return TextTable(path, header, rows, places, noun="attribute"), told


def _numbered(n_fields: int) -> _Names:
    return _Names([*(str(number) for number in range(1, n_fields)), _CLASS], _CLASS, [])


def _names(path: Path) -> _Names:
    text = "\n".join(line.partition(_COMMENT)[0] for _, line in numbered_lines(path))
    # An entry ends with a full stop, which in "scale=0.001." is the last one only.
    classes, *entries = [entry for entry in re.split(r"\.(?=\s|\Z)", text) if entry.strip()] or [""]
    names, ignored = [], []
    for entry in entries:
        name, colon, values = (" ".join(part.split()) for part in entry.partition(":"))
        if not colon or not name:
            raise DataError(
                f"{path}: {' '.join(entry.split())[:40]!r} is no attribute; allowed are the classes first, then "
                f'of each attribute a name, a colon, "continuous" or "ignore" or its values, and a full stop.'
            )
        names.append(name)
        ignored += [name] if values.casefold() == "ignore" else []
    if not names:
        raise DataError(f"{path} names no attributes.")
    label = classes.strip()
    # C5.0 writes the name of an attribute where C4.5 writes the classes.
    return _Names(names, label, ignored) if label in names else _Names([*names, _CLASS], _CLASS, ignored)
