"""A table: column names and cells, before any column has a meaning."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework import DataError

MISSING = frozenset({"", "?", "na", "nan"})


@frozen(eq=False)
class CellTable(ABC):
    """Columns of cells with names.

    Attributes:
        path: for messages.
        header: the names of the columns.
        noun: what this kind of file calls a column.
    """

    path: Path = field()
    header: list[str] = field()
    noun: str = field(default="column", kw_only=True)

    @abstractmethod
    def column(self, name: str) -> list[str]:
        """Return the cells of a column as text, without blanks around them."""

    @abstractmethod
    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns as numbers (n, d), NaN where a cell is missing.

        Raises:
            DataError: a cell is no number.
        """

    @abstractmethod
    def place(self, row: int) -> str:
        """Return where a row is in the file."""

    def holds_lists(self, name: str) -> bool:
        """Say whether each cell of a column is a list; then `column` puts "|" between its entries."""
        return False

    def require(self, name: str, option: str) -> str:
        """Return the name of a column, or raise DataError if there is none; `option` is how the user chooses it."""
        if name in self.header:
            return name
        raise DataError(
            f'{self.path} has no {self.noun} "{name}", which the option {option} names. '
            f"Its {self.noun}s: {listed(self.header)}{self.hint()}."
        )

    def hint(self) -> str:
        """Return what else may be wrong where a column is not found."""
        return ""

    def at(self, row: int, column: str) -> str:
        """Return where a cell is, for messages."""
        return f'{self.path}, {self.place(row)}, {self.noun} "{column}"'

    def no_number(self, row: int, name: str, cell: str) -> DataError:
        """Return the error for a feature that is no number."""
        return DataError(
            f"{self.at(row, name)}: {cell!r} is no number. Every {self.noun} that is no bag and no label is a feature; "
            f'leave this one out with ignore = ["{name}"].'
        )


@frozen(eq=False)
class TextTable(CellTable):
    """A table that was read as text.

    Attributes:
        rows: the cells of each row.
        places: where each row is in the file, such as "line 2".
    """

    rows: list[list[str]] = field()
    places: list[str] = field()
    _position: dict[str, int] = field(init=False)

    @_position.default
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.header)}

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        position = self._position[name]
        return [row[position] for row in self.rows]

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns as numbers (n, d)."""
        positions = [self._position[name] for name in names]
        numbers = np.empty((len(self.rows), len(names)))
        for row, cells in enumerate(self.rows):
            try:
                numbers[row] = [as_number(cells[position]) for position in positions]
            except ValueError:
                wrong = next(position for position in positions if not is_number(cells[position]))
                raise self.no_number(row, self.header[wrong], cells[wrong]) from None
        return numbers

    def place(self, row: int) -> str:
        """Return the line of a row."""
        return self.places[row]

    def hint(self) -> str:
        """Ask for the delimiter where there is but one column."""
        if len(self.header) > 1 or self.noun != "column":
            return ""
        return f" (columns are split at another character? Set delimiter; first line: {self.header[0]!r})"


def unique_header(path: Path, header: Sequence[str], noun: str = "column") -> list[str]:
    """Return the names of columns, or raise DataError if two are the same."""
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise DataError(f'{path}: two {noun}s are called "{name}"; rename or remove one.')
        seen.add(name)
    return list(header)


def is_missing(cell: str) -> bool:
    """Say whether a cell stands for an unknown value: empty, "?", "NA" or "nan"."""
    return cell.casefold() in MISSING


def as_number(cell: str) -> float:
    """Return the number that a cell holds, NaN where it is missing.

    Raises:
        ValueError: the cell is no number.
    """
    if is_missing(cell):
        return float("nan")
    # Python alone reads "1_000" as a number.
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Say whether a cell holds a number, or is missing."""
    try:
        as_number(cell)
    except ValueError:
        return False
    return True


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Join names for a message, and count those that are too many to show."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
