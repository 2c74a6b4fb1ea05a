"""CSV files: text whose first line names the columns."""

import csv
import io
import re
from collections.abc import Collection
from pathlib import Path

from attrs import evolve, field, frozen

from bliss_framework import DataError, SettingsError
from bliss_readers.tables.arrow_text import ArrowText, arrow_columns, is_plain
from bliss_readers.tables.cell_table import CellTable, TextTable, is_number, similar_names
from bliss_readers.tables.dialect import NAMES, found_delimiter
from bliss_readers.tables.number_format import NumberFormat, check_decimal, found_format
from bliss_readers.text.encoding import decoded_by

_WRITTEN = {"tab": "\t", "\\t": "\t"}  # How a delimiter is typed that is hard to type.
CSV_DELIMITERS = {".csv": ",", ".tsv": "\t"}
# Spreadsheets write the delimiter in a line before the column names.
_TOLD = re.compile(r"""\A"?sep=([^"\r\n])"?[ \t]*(?:\r\n|\n|\r)""", re.IGNORECASE)


@frozen
class TextForm:
    """What the user says of a text table; None is found out.

    Attributes:
        delimiter: between columns.
        decimal: the sign in numbers, "." or ",".
        encoding: of the text.
    """

    delimiter: str | None = field(default=None)
    decimal: str | None = field(default=None)
    encoding: str | None = field(default=None)


def read_csv_table(path: Path, told: TextForm, usual: str = ",", text_columns: Collection[str] = ()) -> CellTable:
    """Read a text file whose first line names the columns.

    Leading columns without a name are called as pandas calls them, "Unnamed: 0"; they hold row numbers, as a rule.

    Args:
        path: of the file.
        told: what the user says of it. A first line "sep=;" says the delimiter, too.
        usual: the delimiter of files of this name.
        text_columns: names of columns that are looked at as text, whatever is in them.

    Returns:
        The table; where pyarrow is installed and the text is plain, one that it reads, with the same content.

    Raises:
        DataError: naming the file and the line.
        SettingsError: the delimiter is not one character, or the decimal sign or the encoding is none.
    """
    delimiter = _WRITTEN.get(told.delimiter or "", told.delimiter)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise SettingsError(f"delimiter is {delimiter!r}; allowed is one character, such as ',' or ';' or a tab.")
    check_decimal(told.decimal)
    text, notes = decoded_by(path, told.encoding)
    line = _TOLD.match(text)
    skipped = 0 if line is None else 1
    body = text if line is None else text[line.end() :]
    between = delimiter or (found_delimiter(body, usual) if line is None else line[1])
    form = found_format(body.partition("\n")[2], between, told.decimal)
    found = (
        [f"columns are split at {NAMES[between]}"] if delimiter is None and line is None and between != usual else []
    )
    found += [form.words] if form.words and told.decimal is None else []
    notes += [f"{path.name}: {', and '.join(found)}"] if found else []
    table = _read_by_arrow(path, body, between, skipped, text_columns, form)
    table = table or _read_by_csv(path, body, between, skipped, form)
    return evolve(table, notes=(*notes, *table.notes))


def _read_by_arrow(
    path: Path, text: str, delimiter: str, skipped: int, text_columns: Collection[str], form: NumberFormat
) -> CellTable | None:
    """Read what pyarrow reads as the csv module does; None for any other text, also where something is wrong with it.

    The csv module then says what it is.
    """
    raw = text.encode()
    if not is_plain(raw, delimiter) or b"\n" not in raw:
        return None
    end = raw.find(b"\n")
    line, rows = raw[:end], memoryview(raw)[end + 1 :]
    try:
        ((number, cells),) = _records(path, line.decode(), delimiter, skipped)
        header = _named(path, number, cells)
    except (DataError, ValueError):
        return None
    # pyarrow would skip a mark of UTF-8 before the first row, too.
    if len(header) < 2 or not rows or bytes(rows[:3]) == b"\xef\xbb\xbf":
        return None
    columns = arrow_columns(rows, delimiter, header, text_columns, form)
    if columns is None:
        return None
    notes = (*similar_names(path, header), *_header_of_numbers(path, number, header))
    return ArrowText(path, header, rows, number + 1, notes=notes, form=form, delimiter=delimiter, columns=columns)


def _read_by_csv(path: Path, text: str, between: str, skipped: int, form: NumberFormat) -> CellTable:
    records = _records(path, text, between, skipped)
    if not records:
        raise DataError(f"{path} is empty; allowed is a line of column names, then one line for each row.")
    (first, header), *body = records
    header = _named(path, first, header)
    for line, cells in body:
        if len(cells) != len(header):
            hint = _split_elsewhere(header, cells, between)
            raise DataError(
                f"{path}, line {line}: {len(cells)} cells, but line {first} names {len(header)} columns.{hint}"
            )
    if not body:
        raise DataError(f"{path} has no rows below the column names.")
    rows, places = [cells for _, cells in body], [f"line {line}" for line, _ in body]
    notes = [*similar_names(path, header), *_header_of_numbers(path, first, header)]
    return TextTable(path, header, rows, places, notes=tuple(notes), form=form, delimiter=between)


def _records(path: Path, text: str, delimiter: str, skipped: int) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        records = [(reader.line_num + skipped, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num + skipped}: {error}; check the quotes near this line."
        ) from error
    return [record for record in records if not _blank(record[1])]


def _blank(cells: list[str]) -> bool:
    return len(cells) < 2 and not any(cells)


def other_delimiter(header: list[str], delimiter: str) -> str:
    """Say at which character the column names seem to be split instead; empty where there is none.

    >>> other_delimiter(["bag;f1;f2"], ",")
    ' The columns seem to be split at a semicolon: set delimiter = ";".'
    """
    counts = {other: max(name.count(other) for name in header) for other in NAMES if other != delimiter}
    best = max(counts, key=lambda other: counts[other])
    if counts[best] < len(header):
        return ""
    written = "\\t" if best == "\t" else best
    return f' The columns seem to be split at {NAMES[best]}: set delimiter = "{written}".'


def _split_elsewhere(header: list[str], cells: list[str], delimiter: str) -> str:
    hint = other_delimiter(header, delimiter)
    if hint and delimiter == "," and len(cells) > len(header):
        return f"{hint} The commas in the rows seem to be decimal commas."
    if hint or len(cells) != len(header) + 1:
        return hint
    return " One cell more than names: does the first line lack the name of a first column, such as row names?"


def _named(path: Path, line: int, header: list[str]) -> list[str]:
    """Give leading columns without a name one, and refuse other ones, and names that are there twice."""
    leading = next((position for position, name in enumerate(header) if name), len(header))
    names = [f"Unnamed: {position}" for position in range(leading)] + header[leading:]
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise DataError(
                f"{path}, line {line}: column {position + 1} of {len(names)} has no name; every column needs one."
            )
        if name in seen:
            raise DataError(f'{path}, line {line}: two columns are called "{name}"; rename or remove one.')
        seen.add(name)
    return names


def _header_of_numbers(path: Path, line: int, header: list[str]) -> list[str]:
    """Note names that are all numbers, unless these count the columns as a data frame without names does."""
    counted = {str(number) for number in range(len(header) + 1)}
    if set(header) <= counted or not all(map(is_number, header)):
        return []
    return [
        f"line {line} of {path.name} was taken for the names of columns, and all of them are numbers ({header[0]}, ...)"
        f"; if it is a row, write names above it"
    ]
