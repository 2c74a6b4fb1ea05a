"""Text tables read by pyarrow, many times as fast as cell by cell; only those that it reads as the csv module does."""

import re
from collections.abc import Collection, Sequence
from functools import cached_property
from importlib import import_module
from itertools import islice, product
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_readers.tables.cell_table import (
    CellTable,
    header_hint,
    is_missing,
    of_bearable_length,
)
from bliss_readers.tables.number_format import MISSING, POINT, NumberFormat

# Characters that mean nothing else in a table: a blank, for instance, is skipped before a cell.
_DELIMITERS = ",;\t|"
_LONGEST_CELL = 131_072  # The csv module refuses longer ones.
_FIRST_ROWS = 16
_BLOCK = 1 << 22  # Bytes that one thread parses at a time, unless rows are long.
_ROWS_OF_A_BLOCK = 8
_LONGEST_END = 64  # Blank lines at the end; with more of them the csv module reads the file.
# pyarrow tells letter case apart.
_MISSING_WORDS = sorted(MISSING - {"", "?"})
_MISSING = ["", "?", *("".join(one) for word in _MISSING_WORDS for one in product(*((c, c.upper()) for c in word)))]


@frozen(eq=False)
class ArrowText(CellTable):
    """A table that pyarrow reads.

    Attributes:
        raw: the lines below the names of the columns, UTF-8.
        first: the number of the first of them, for messages; every line is a row.
        delimiter: between its columns.
        columns: an Arrow column for each of the header, of text or of float64.
    """

    raw: memoryview = field()
    first: int = field()
    delimiter: str = field(kw_only=True)
    columns: list[Any] = field(kw_only=True)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        return of_bearable_length(self.path, self._cells(name))

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns as numbers (n, d)."""
        numbers = np.empty((len(self.columns[0]), len(names)))
        wrong: list[tuple[int, int, str]] = []
        for position, name in enumerate(names):
            values = self._plain(name)
            if values is None:
                cells = self._cells(name)
                values, first = _numbers_of(cells, self.form)
                wrong += [] if first is None else [(first, position, cells[first])]
            numbers[:, position] = values
        if wrong:
            row, position, cell = min(wrong)
            raise self.no_number(row, names[position], cell)
        return numbers

    def place(self, row: int) -> str:
        """Return the line of a row."""
        return f"line {row + self.first}"

    def is_numeric(self, name: str) -> bool:
        """Say whether every cell of a column is a number or missing."""
        return self._plain(name) is not None or super().is_numeric(name)

    def has_leading_zeros(self, name: str) -> bool:
        """Say whether a column of numbers holds digits only, some with zeros before them."""
        return self._some_leading_zeros and super().has_leading_zeros(name)

    @cached_property
    def _some_leading_zeros(self) -> bool:
        """Whether there is such a cell anywhere: to look at each column again as text takes its time."""
        between = re.escape(self.delimiter).encode()
        return re.search(rb'(?:^|[%b"\n])[ ]*0[0-9]+(?=[ ]*[%b"\r\n]|\Z)' % (between, between), self.raw) is not None

    def _plain(self, name: str) -> NDArray[np.float64] | None:
        column = self.columns[self.header.index(name)]
        return _plain_numbers(column) if self.form == POINT or not _is_text(column) else None

    def hint(self) -> str:
        """Say what may be wrong with the delimiter or the first line."""
        return header_hint(self.header, self.delimiter)

    def _cells(self, name: str) -> list[str]:
        at = self.header.index(name)
        column = self.columns[at]
        if not _is_text(column):
            kinds = [True] * len(self.header)
            column = _parsed(self.raw, self.delimiter, kinds, self.form, only=at)[0]
        codes = column.dictionary_encode().combine_chunks()
        words = np.array([*(word.strip() for word in codes.dictionary.to_pylist()), ""], dtype=object)
        cells: list[str] = words[codes.indices.to_numpy()].tolist()
        return cells


def arrow_columns(
    raw: memoryview, delimiter: str, header: Sequence[str], text: Collection[str], form: NumberFormat
) -> list[Any] | None:
    """Parse the lines of a table, or return None where that fails.

    Args:
        raw: the lines below the names of the columns, which are plain, see `is_plain`.
        delimiter: between columns.
        header: the names of the columns, two or more.
        text: names, in any letter case, of columns that are read as text though they look like numbers.
        form: how cells write numbers.

    Returns:
        An Arrow column for each name.
    """
    arrow = _arrow()
    known = {name.casefold() for name in text}
    looks = _look_like_text(raw, delimiter, len(header), form)
    kinds = [one or name.casefold() in known for name, one in zip(header, looks, strict=True)]
    for attempt in (kinds, [True] * len(header)):
        try:
            return _parsed(raw, delimiter, attempt, form)
        except arrow.ArrowInvalid:
            # Some cell of a column is no number, or a line has other cells than there are names.
            continue
    return None


def is_plain(raw: bytes, delimiter: str) -> bool:
    """Say whether pyarrow is here and reads the lines of a text as the csv module does, each as a row.

    That is so where no line is blank, lines end alike, and a quote stands only at both ends of a cell.
    """
    if _arrow() is None or len(delimiter) != 1 or delimiter not in _DELIMITERS:
        return False
    n_returns = raw.count(b"\r") if b"\r" in raw else 0
    if n_returns and n_returns != raw.count(b"\r\n"):
        return False
    whole = len(raw) - len(raw[-_LONGEST_END:]) + len(raw[-_LONGEST_END:].rstrip(b"\r\n"))
    characters = np.frombuffer(raw, dtype=np.uint8)[:whole]
    shortest, longest = _line_lengths(characters == ord("\n"))
    if shortest <= (1 if n_returns else 0):
        return False
    # Within quotes a delimiter ends no cell.
    if longest > _LONGEST_CELL and (b'"' in raw or _line_lengths(characters == ord(delimiter))[1] > _LONGEST_CELL):
        return False
    return _are_quotes_plain(raw, delimiter)


def _arrow() -> Any:
    try:
        import_module("pyarrow.csv")
        import_module("pyarrow.compute")
        return import_module("pyarrow")
    except ImportError:
        return None


def _are_quotes_plain(raw: bytes, delimiter: str) -> bool:
    n_quotes = raw.count(b'"')
    if not n_quotes:
        return True
    between = re.escape(delimiter).encode() + rb"\r\n"
    cells = re.finditer(rb'(?<![^%b])"[^"\r\n]*"(?![^%b])' % (between, between), raw)
    return 2 * sum(1 for _ in cells) == n_quotes


def _line_lengths(ends: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the least and the largest number of places between two ends."""
    lengths = np.diff(np.flatnonzero(ends), prepend=-1, append=len(ends)) - 1
    return int(lengths.min()), int(lengths.max())


def _look_like_text(raw: memoryview, delimiter: str, n_columns: int, form: NumberFormat) -> list[bool]:
    """Say of each column whether some cell of the first rows is no number to pyarrow."""
    start = bytes(raw[: 1 << 16])
    lines = start.splitlines()[:_FIRST_ROWS]
    rows = [line.split(delimiter.encode()) for line in (lines if len(lines) < 2 else lines[:-1])]
    found = [False] * n_columns
    for row in rows:
        for at, cell in enumerate(islice(row, n_columns)):
            found[at] = found[at] or not _is_plain_number(cell.decode("utf-8", "replace").strip().strip('"'), form)
    return found


def _is_plain_number(cell: str, form: NumberFormat) -> bool:
    try:
        float(cell if form.decimal not in cell else cell.replace(form.decimal, "."))
    except ValueError:
        return is_missing(cell)
    return True


def _parsed(
    raw: memoryview, delimiter: str, text: Sequence[bool], form: NumberFormat, only: int | None = None
) -> list[Any]:
    """Read all columns, or one, each as text or as float64.

    Raises:
        pyarrow.ArrowInvalid: a cell is no number, or a line has other cells than there are columns.
    """
    arrow = _arrow()
    names = [str(at) for at in range(len(text))]
    kinds = {name: arrow.string() if one else arrow.float64() for name, one in zip(names, text, strict=True)}
    first_row = max(bytes(raw[:_BLOCK]).find(b"\n"), 0)
    table = arrow.csv.read_csv(
        arrow.BufferReader(arrow.py_buffer(raw)),
        read_options=arrow.csv.ReadOptions(column_names=names, block_size=max(_BLOCK, _ROWS_OF_A_BLOCK * first_row)),
        parse_options=arrow.csv.ParseOptions(delimiter=delimiter),
        convert_options=arrow.csv.ConvertOptions(
            column_types=kinds,
            decimal_point=form.decimal,
            null_values=_MISSING,
            strings_can_be_null=False,
            include_columns=None if only is None else [names[only]],
        ),
    )
    return list(table.columns)


def _is_text(column: Any) -> bool:
    return bool(_arrow().types.is_string(column.type))


def _plain_numbers(column: Any) -> NDArray[np.float64] | None:
    """Return a column as numbers, NaN where a cell is missing; None where pyarrow does not read all of its cells."""
    arrow = _arrow()
    if _is_text(column):
        words = arrow.array(_MISSING, type=arrow.string())
        known = arrow.compute.if_else(arrow.compute.is_in(column, value_set=words), None, column)
        try:
            column = known.cast("float64")
        except arrow.ArrowInvalid:
            return None
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    # pyarrow takes "nan(1)" for a number, which Python does not.
    return values if int(np.isnan(values).sum()) == column.null_count else None


def _numbers_of(cells: list[str], form: NumberFormat) -> tuple[NDArray[np.float64], int | None]:
    """Return cells as numbers, and the first row whose cell is none, if there is one."""
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            numbers[row] = form.number(cell)
        except ValueError:
            return numbers, row
    return numbers, None
