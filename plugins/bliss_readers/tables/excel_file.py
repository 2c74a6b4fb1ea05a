"""Sheets of Excel workbooks as tables; openpyxl reads them."""

import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from bliss_framework.plugin import DataError, SettingsError, check_size, did_you_mean, needed
from bliss_readers.tables.cell_table import TextTable, listed, similar_names, unique_header

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
_SHEETS = b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/"


def read_excel_table(path: Path, sheet: str | None = None) -> TextTable:
    """Read a sheet whose first row that is not empty names the columns; cells as Excel last calculated them.

    Args:
        path: of the workbook.
        sheet: its name; None takes the first one, and notes it where there are several.

    Raises:
        DataError: naming the file, and the row or the column.
        SettingsError: there is no such sheet.
        MissingExtraError: openpyxl is not installed.
    """
    openpyxl = needed("openpyxl", "files", "Excel workbooks need")
    try:
        _check_parts(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except DataError:
        raise
    except Exception as error:
        # What openpyxl raises of a damaged workbook is nearly anything.
        raise DataError(f"{path} is damaged or no Excel workbook ({error}); save it again as .xlsx or CSV.") from error
    try:
        chosen = _sheet(path, book, sheet)
        rows = [[_as_cell(cell) for cell in row] for row in chosen.iter_rows()]
    except (DataError, SettingsError):
        raise
    except Exception as error:
        raise DataError(f"{path} is damaged ({error}); save it again as .xlsx or CSV.") from error
    finally:
        book.close()
    notes = [] if sheet or len(book.sheetnames) == 1 else [_first_of(path, book.sheetnames)]
    return _table(path, rows, notes)


def _check_parts(path: Path) -> None:
    """Refuse a workbook whose parts would fill the memory when they are unpacked."""
    with zipfile.ZipFile(path) as parts:
        check_size(path, sum(part.file_size for part in parts.infolist()))


def _sheet(path: Path, book: Any, name: str | None) -> Any:
    sheets = {one.title: one for one in book.worksheets}
    if not sheets:
        raise DataError(f"{path} has no sheet of cells.")
    if name is None:
        return next(iter(sheets.values()))
    if name not in sheets:
        raise SettingsError(
            f'{path} has no sheet "{name}".{did_you_mean(name, sheets)} Its sheets: {listed(list(sheets))}.'
        )
    return sheets[name]


def _first_of(path: Path, names: Sequence[str]) -> str:
    return f'{path.name}: the first of {len(names)} sheets, "{names[0]}", was read; sheet names another one'


def _table(path: Path, rows: list[list[str]], notes: list[str]) -> TextTable:
    places = [(number, cells) for number, cells in enumerate(rows, start=1) if any(cells)]
    if not places:
        raise DataError(f"{path} has no cells; allowed is a row of column names, then a row for each instance.")
    (first, names), *body = places
    width = max(position + 1 for _, cells in places for position, cell in enumerate(cells) if cell)
    header = _padded(names, width)
    nameless = next((position for position, name in enumerate(header) if not name), None)
    if nameless is not None:
        raise DataError(f"{path}, row {first}: column {nameless + 1} of {width} has no name; every column needs one.")
    if not body:
        raise DataError(f"{path} has no rows below the column names.")
    header = unique_header(path, header)
    cells = [_padded(one, width) for _, one in body]
    said = (*notes, *similar_names(path, header))
    return TextTable(path, header, cells, [f"row {number}" for number, _ in body], notes=said)


def _padded(cells: list[str], width: int) -> list[str]:
    return (cells + [""] * width)[:width]


def _as_cell(cell: Any) -> str:
    """Return a cell as the same table in CSV would have it; a number that is shown with leading zeros keeps them."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        shown = str(getattr(cell, "number_format", ""))
        return str(value).zfill(len(shown)) if shown and not shown.strip("0") else str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value).strip()
