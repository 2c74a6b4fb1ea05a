"""A table: column names and cells, before any column has a meaning."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, check_size, did_you_mean
from bliss_readers.tables.number_format import POINT, TRUTH as TRUTH, NumberFormat, is_missing as is_missing

# What libraries and spreadsheets write for a missing value, and nobody calls a class or a bag.
MISSING_NAMES = frozenset({"", "?", "nan", "NaN", "NaT", "<NA>", "#N/A"})
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
LEADING_ZERO = re.compile(r"0\d+")


@frozen
class Entries:
    """What the cells of a column hold where each holds several things.

    Attributes:
        cells: the entries of each cell, without those that are empty.
        numbers: whether they are numbers rather than names.
    """

    cells: list[list[str]] = field()
    numbers: bool = field(default=False)

    def is_matrix(self) -> bool:
        """Say whether the cells are rows of a matrix: shares of classes, or 0 and 1 for each label."""
        return self.are_shares() or (self._is_even() and all(one in ("0", "1") for row in self.cells for one in row))

    def are_shares(self) -> bool:
        """Say whether the cells are the shares of classes: fractions that add up to 1."""
        if not self._is_even() or all(one.lstrip("-").isdecimal() for row in self.cells for one in row):
            return False
        values = [[float(one) for one in row] for row in self.cells]
        return all(min(row) >= 0 and abs(sum(row) - 1) < 1e-3 for row in values)

    def _is_even(self) -> bool:
        lengths = {len(row) for row in self.cells}
        return self.numbers and len(lengths) == 1 and min(lengths) > 1


@frozen(eq=False)
class CellTable(ABC):
    """Columns of cells with names.

    Attributes:
        path: for messages.
        header: the names of the columns.
        noun: what this kind of file calls a column.
        notes: sentences for the user about the file.
        form: how its cells write numbers.
    """

    path: Path = field()
    header: list[str] = field()
    noun: str = field(default="column", kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    form: NumberFormat = field(default=POINT, kw_only=True)

    @abstractmethod
    def column(self, name: str) -> list[str]:
        """Return the cells of a column as text, without blanks around them."""

    @abstractmethod
    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d), NaN where a cell is missing.

        Raises:
            DataError: a cell is no number.
        """

    @abstractmethod
    def place(self, row: int) -> str:
        """Return where a row is in the file."""

    def lists(self, name: str) -> Entries | None:
        """Return the entries of each cell where the cells of a column are lists, else None."""
        return None

    def require(self, name: str, option: str) -> str:
        """Return the name of a column, or raise DataError if there is none; `option` is how the user chooses it."""
        if name in self.header:
            return name
        alike = next((f' Did you mean "{one}"?' for one in self.header if alike_name(one) == alike_name(name)), None)
        raise DataError(
            f'{self.path} has no {self.noun} "{name}", which the option {option} names. '
            f"Its {self.noun}s: {listed(self.header)}{self.hint()}.{alike or did_you_mean(name, self.header)}"
        )

    def hint(self) -> str:
        """Return what else may be wrong where a column is not found."""
        return ""

    def at(self, row: int, column: str) -> str:
        """Return where a cell is, for messages."""
        return f'{self.path}, {self.place(row)}, {self.noun} "{column}"'

    def no_number(self, row: int, name: str, cell: str) -> DataError:
        """Return the error for a feature that is no number."""
        comma = ""
        if DECIMAL_COMMA.fullmatch(cell) and self.form.decimal == ".":
            comma = ' It has a decimal comma, and other cells have a point; decimal = "," says which it is.'
        return DataError(
            f"{self.at(row, name)}: {cell!r} is no number.{comma} Every {self.noun} of numbers that is no bag and no "
            f'label is a feature; correct the cell, or leave this one out with ignore = ["{name}"].'
        )

    def is_numeric(self, name: str) -> bool:
        """Say whether every cell of a column is a number or missing."""
        return all(map(self.form.is_number, set(self.column(name))))

    def is_of_dates(self, name: str) -> bool:
        """Say whether a column has a type of dates or times."""
        return False

    def has_leading_zeros(self, name: str) -> bool:
        """Say whether a column of numbers holds digits only, some with zeros before them: ids, such as "007"."""
        cells = {cell for cell in self.column(name) if not is_missing(cell)}
        return any(map(LEADING_ZERO.fullmatch, cells)) and all(map(str.isdecimal, cells))


@frozen(eq=False)
class TextTable(CellTable):
    """A table that was read as text.

    Attributes:
        rows: the cells of each row.
        places: where each row is in the file, such as "line 2".
        delimiter: between its columns where these may be split at another character.
    """

    rows: list[list[str]] = field()
    places: list[str] = field()
    delimiter: str | None = field(default=None, kw_only=True)
    _position: dict[str, int] = field(init=False)

    @_position.default
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.header)}

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        position = self._position[name]
        return of_bearable_length(self.path, [row[position] for row in self.rows])

    def numbers(self, names: Sequence[str]) -> NDArray[np.floating]:
        """Return columns as numbers (n, d)."""
        positions = [self._position[name] for name in names]
        numbers = np.empty((len(self.rows), len(names)))
        for row, cells in enumerate(self.rows):
            try:
                numbers[row] = [self.form.number(cells[position]) for position in positions]
            except ValueError:
                wrong = next(position for position in positions if not self.form.is_number(cells[position]))
                raise self.no_number(row, self.header[wrong], cells[wrong]) from None
        return numbers

    def place(self, row: int) -> str:
        """Return the line of a row."""
        return self.places[row]

    def hint(self) -> str:
        """Say what may be wrong with the delimiter or the first line."""
        return "" if self.delimiter is None else header_hint(self.header, self.delimiter)


def header_hint(header: Sequence[str], delimiter: str) -> str:
    """Ask for the delimiter where there is but one column, and for names where they seem to be cells of a row."""
    if len(header) == 1:
        return f" (columns are split at another character? Set delimiter; first line: {header[0]!r})"
    if sum(map(is_number, header)) * 2 > len(header):
        return " (these are cells of a row? The first line names the columns; write names above it)"
    return ""


def of_bearable_length(path: Path, cells: list[str]) -> list[str]:
    """Return the cells of a column, unless an array of text, in which all are as long as the longest, is too large.

    Raises:
        DataError: naming the file.
    """
    check_size(path, 4 * len(cells) * max(map(len, cells), default=0))
    return cells


def unique_header(path: Path, header: Sequence[str], noun: str = "column") -> list[str]:
    """Return the names of columns, or raise DataError if two are the same."""
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise DataError(f'{path}: two {noun}s are called "{name}"; rename or remove one.')
        seen.add(name)
    return list(header)


def similar_names(path: Path, header: Sequence[str]) -> list[str]:
    """Note names of columns that differ only in letter case, in blanks or in how accents are encoded."""
    groups: dict[str, list[str]] = {}
    for name in header:
        groups.setdefault(alike_name(name), []).append(name)
    shown = [" and ".join(f'"{name}"' for name in names) for names in groups.values() if len(names) > 1]
    return [
        f"{path.name} has the columns {names}, which differ only in letter case or blanks; each is one of its own"
        for names in shown
    ]


def alike_name(name: str) -> str:
    """Return a name without what eyes do not see: letter case, blanks, and how accents are encoded.

    >>> alike_name("Bag  ID") == alike_name("bag id")
    True
    """
    return unicodedata.normalize("NFKC", "".join(name.split())).casefold()


def as_number(cell: str) -> float:
    """Return the number that a cell holds, written with a point; see `NumberFormat.number`."""
    return POINT.number(cell)


def is_number(cell: str) -> bool:
    """Say whether a cell holds a number, written with a point, or is missing."""
    return POINT.is_number(cell)


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Join names for a message, and count those that are too many to show."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
