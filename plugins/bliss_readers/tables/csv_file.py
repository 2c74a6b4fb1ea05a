"""CSV files: UTF-8 text whose first line names the columns."""

import csv
from pathlib import Path

from bliss_framework import DataError, SettingsError
from bliss_readers.tables.cell_table import TextTable

CSV_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_csv_table(path: Path, delimiter: str) -> TextTable:
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
    return TextTable(path, header, [cells for _, cells in body], [f"line {line}" for line, _ in body])


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
    seen: set[str] = set()
    for position, name in enumerate(header):
        if not name:
            raise DataError(
                f"{path}, line {line}: column {position + 1} of {len(header)} has no name; every column needs one "
                f"(a row number that pandas wrote? Use to_csv(index=False))."
            )
        if name in seen:
            raise DataError(f'{path}, line {line}: two columns are called "{name}"; rename or remove one.')
        seen.add(name)
