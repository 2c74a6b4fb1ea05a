"""A text table: column names, cells and line numbers, before any column has a meaning."""

import csv
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from bliss_framework import DataError, SettingsError

MISSING = frozenset({"", "?", "na", "nan"})


@frozen(eq=False)
class Table:
    """The cells of a file.

    Attributes:
        path: for messages.
        header: the names of the columns.
        rows: the cells of each row, without blanks around them.
        lines: the number of each row's line in the file; the first line is 1.
    """

    path: Path = field()
    header: list[str] = field()
    rows: list[list[str]] = field()
    lines: list[int] = field()

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        position = self.header.index(name)
        return [row[position] for row in self.rows]

    def require(self, name: str, option: str) -> str:
        """Return the name of a column, or raise DataError if there is none; `option` is how the user chooses it."""
        if name in self.header:
            return name
        hint = f" (columns are split at another character? Set delimiter; first line: {self.header[0]!r})"
        raise DataError(
            f'{self.path} has no column "{name}", which the option {option} names. '
            f"Its columns: {listed(self.header)}{hint if len(self.header) == 1 else ''}."
        )

    def at(self, row: int, column: str) -> str:
        """Return where a cell is, for messages."""
        return f'{self.path}, line {self.lines[row]}, column "{column}"'


def read_table(path: Path, delimiter: str) -> Table:
    """Read a UTF-8 text file whose first line names the columns.

    Raises:
        DataError: naming the file and the line.
        SettingsError: the delimiter is not one character.
    """
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise SettingsError(f"delimiter is {delimiter!r}; allowed is one character, such as ',' or ';' or a tab.")
    records = _records(path, delimiter)
    if not records:
        raise DataError(f"{path} is empty; allowed is a line of column names, then one line for each row.")
    (first, header), *body = records
    _check_header(path, first, header)
    for line, cells in body:
        if len(cells) != len(header):
            raise DataError(f"{path}, line {line}: {len(cells)} cells, but line {first} names {len(header)} columns.")
    if not body:
        raise DataError(f"{path} has no rows below the column names.")
    return Table(path, header, [cells for _, cells in body], [line for line, _ in body])


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


def _records(path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    try:
        # The byte order mark that spreadsheets write would become a part of the first column's name.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
            try:
                return [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if not _blank(cells)]
            except csv.Error as error:
                raise DataError(f"{path}, line {reader.line_num}: {error}; check the quotes near this line.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _blank(cells: list[str]) -> bool:
    return len(cells) < 2 and not any(cell.strip() for cell in cells)


def _check_header(path: Path, line: int, header: list[str]) -> None:
    for position, name in enumerate(header):
        if not name:
            raise DataError(
                f"{path}, line {line}: column {position + 1} of {len(header)} has no name; every column needs one "
                f"(a row number that pandas wrote? Use to_csv(index=False))."
            )
        if name in header[:position]:
            raise DataError(f'{path}, line {line}: two columns are called "{name}"; rename or remove one.')
