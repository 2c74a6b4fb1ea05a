"""ARFF files: a header that declares attributes, then lines of cells."""

from pathlib import Path

from attrs import field, frozen

from bliss_framework.plugin import DataError, check_size
from bliss_readers.arff.arff_text import split_cells, split_name, split_sparse
from bliss_readers.tables.cell_table import TextTable, listed, unique_header
from bliss_readers.text.numbered_lines import numbered_lines

_KINDS = {"numeric": "numeric", "real": "numeric", "integer": "numeric", "string": "text", "date": "text"}
BYTES_OF_A_CELL = 16  # In a list, and as a number; a sparse line is short, but its row is not.
Lines = list[tuple[int, str]]


@frozen
class Attribute:
    """What the header says of a column.

    Attributes:
        name: of the column.
        kind: "numeric", "nominal", "text" or "relational".
        values: that a nominal attribute allows.
        inner: the attributes of the instances of a relational one.
    """

    name: str = field()
    kind: str = field()
    values: tuple[str, ...] = field(default=())
    inner: "tuple[Attribute, ...]" = field(default=())

    @property
    def default(self) -> str:
        """What a sparse row means by leaving it out."""
        return {"numeric": "0", "nominal": self.values[0] if self.values else ""}.get(self.kind, "")

    @property
    def is_binary(self) -> bool:
        """Whether it is declared as {0,1}, or as {true,false} in any case."""
        return {value.casefold() for value in self.values} in ({"0", "1"}, {"true", "false"})


@frozen(eq=False)
class ArffFile:
    """A file that was read.

    Attributes:
        attributes: in the order of the columns.
        table: the cells; one of a relational attribute is text with a line for each instance.
    """

    attributes: tuple[Attribute, ...] = field()
    table: TextTable = field()


def read_arff(path: Path) -> ArffFile:
    """Read an ARFF file.

    Raises:
        DataError: naming the file and the line.
    """
    lines = [(number, text) for number, text in numbered_lines(path) if text and not text.startswith("%")]
    attributes, body = _header(path, lines)
    if not body:
        raise DataError(f"{path} has no rows below @data.")
    if any(text.startswith("{") for _, text in body):
        check_size(path, BYTES_OF_A_CELL * len(body) * len(attributes))
    rows = [cells_of(text, attributes, f"{path}, line {number}") for number, text in body]
    return ArffFile(attributes, arff_table(path, attributes, rows, [f"line {number}" for number, _ in body]))


def arff_table(path: Path, attributes: tuple[Attribute, ...], rows: list[list[str]], places: list[str]) -> TextTable:
    """Make a table of rows.

    Raises:
        DataError: two attributes have one name, or a cell is none of the values that its attribute allows.
    """
    header = unique_header(path, [attribute.name for attribute in attributes], "attribute")
    table = TextTable(path, header, rows, places, noun="attribute")
    for attribute in attributes:
        if attribute.kind == "nominal":
            _refuse_undeclared(table, attribute)
    return table


def cells_of(line: str, attributes: tuple[Attribute, ...], place: str) -> list[str]:
    """Return the cell of each attribute in a line, which may be sparse.

    Args:
        line: such as "1,a" or "{0 1,1 a}".
        attributes: the columns.
        place: for messages.

    Raises:
        DataError: the line has another number of cells, or cannot be split.
    """
    sparse = line.startswith("{") and line.endswith("}")
    try:
        entries, cells = (split_sparse(line[1:-1]), []) if sparse else ([], split_cells(line))
    except ValueError as error:
        raise DataError(f"{place}: {_short(str(error))} cannot be read; check the quotes and commas.") from None
    if sparse:
        return _dense(entries, attributes, place)
    if len(cells) != len(attributes):
        raise DataError(f"{place}: {len(cells)} cells, but the header declares {len(attributes)} attributes.")
    return cells


def _dense(entries: list[tuple[int, str]], attributes: tuple[Attribute, ...], place: str) -> list[str]:
    cells = [attribute.default for attribute in attributes]
    seen: set[int] = set()
    for position, value in entries:
        if position >= len(cells):
            raise DataError(
                f"{place}: position {position}, but positions end with {len(cells) - 1}; they begin with 0."
            )
        if position in seen:
            raise DataError(f"{place}: the position {position} is there twice; leave one of them out.")
        seen.add(position)
        cells[position] = value
    return cells


def _refuse_undeclared(table: TextTable, attribute: Attribute) -> None:
    cells, allowed = table.column(attribute.name), {*attribute.values, "?"}
    for row, cell in enumerate(cells):
        if cell not in allowed:
            raise DataError(
                f"{table.at(row, attribute.name)}: {cell!r} is none of the declared values; allowed are "
                f"{listed(attribute.values)}. Correct it, or declare the value in the header."
            )


def _header(path: Path, lines: Lines) -> tuple[tuple[Attribute, ...], Lines]:
    attributes: list[Attribute] = []
    relation: tuple[str, list[Attribute]] | None = None
    for position, (number, text) in enumerate(lines):
        place = f"{path}, line {number}"
        word, rest = (*text.split(None, 1), "")[:2]
        word = word.lower()
        if word == "@data":
            _refuse_open(path, relation, attributes)
            return tuple(attributes), lines[position + 1 :]
        if word == "@attribute":
            attribute = _attribute(rest, place)
            if attribute.kind == "relational":
                relation = _opened(attribute.name, relation, place)
            else:
                (attributes if relation is None else relation[1]).append(attribute)
        elif word == "@end" and relation is not None:
            attributes.append(Attribute(relation[0], "relational", inner=tuple(relation[1])))
            relation = None
        elif word != "@relation":
            raise DataError(f"{place}: {_short(text)}; a header holds @relation, @attribute, @end and @data.")
    raise DataError(f"{path} has no line @data, so it is no ARFF file or was cut off.")


def _attribute(text: str, place: str) -> Attribute:
    try:
        name, declared = split_name(text)
        if declared.startswith("{") and declared.endswith("}"):
            return Attribute(name, "nominal", tuple(split_cells(declared[1:-1])))
    except ValueError as error:
        raise DataError(f"{place}: {_short(str(error))} cannot be read; an attribute is a name and a type.") from None
    kind = declared.split(None, 1)[0].lower() if declared else ""
    if kind == "relational":
        return Attribute(name, kind)
    if kind not in _KINDS:
        raise DataError(
            f'{place}: the attribute "{name}" has the type {declared!r}; allowed are numeric, real, integer, string, '
            f"date, relational, and values in braces."
        )
    return Attribute(name, _KINDS[kind])


def _opened(name: str, relation: tuple[str, list[Attribute]] | None, place: str) -> tuple[str, list[Attribute]]:
    if relation is not None:
        raise DataError(f'{place}: the relation "{name}" is within "{relation[0]}"; one level is what bags need.')
    return name, []


def _refuse_open(path: Path, relation: tuple[str, list[Attribute]] | None, attributes: list[Attribute]) -> None:
    if relation is not None:
        raise DataError(f'{path}: the relation "{relation[0]}" does not end; write "@end {relation[0]}" before @data.')
    if not attributes:
        raise DataError(f"{path} declares no attributes before @data.")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
