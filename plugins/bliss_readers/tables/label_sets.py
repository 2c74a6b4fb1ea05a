"""Cells that hold several labels: names with a separator between them, and lists as programs write them."""

import ast
import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain

from bliss_framework.plugin import DataError
from bliss_readers.tables.cell_table import CellTable, Entries, alike_name, is_number, listed

SEPARATORS = ("|", ";")
_BRACKETED = re.compile(r"\[.*\]|\{.*\}|(?:frozen)?set\(.*\)|\(.*,.*\)|array\(.*\)", re.DOTALL)
# Without a comma between them Python takes two quoted names for one.
_NO_COMMA = re.compile(r"""['"]\s+['"]""")
_UNKNOWN = frozenset({"None", "null", "nan", "NaN"})


def entries_of(table: CellTable, name: str, sets: bool | None, separator: str | None) -> Entries | None:
    """Find out whether the cells of a column hold several labels each, and split them.

    Lists do, as a Parquet file has them or as programs write them into text; and names with "|" between them. A ";"
    separates where some name stands in two different cells, or where `sets` says so. An empty cell decides nothing.

    Args:
        table: any.
        name: of the column.
        sets: what the user says, or None to find out.
        separator: what the user or the regime says stands between names, or None. It is used where it occurs.

    Returns:
        None where each cell holds one label.

    Raises:
        DataError: naming the candidates, where it cannot be told what separates names; or a list cannot be read.
    """
    if sets is False:
        return None
    typed_lists = table.lists(name)
    if typed_lists is not None:
        return typed_lists
    cells = table.column(name)
    if all(_BRACKETED.fullmatch(cell) for cell in cells if cell) and any(cells):
        return _parsed(table, name, cells)
    told = separator is not None and any(separator in cell for cell in cells)
    split = separator if told else _separator(table, name, cells, sets)
    parts = {cell: _parts(cell, split) for cell in dict.fromkeys(cells)}
    if not told:
        _refuse_hidden(table, name, cells, parts)
    return Entries([parts[cell] for cell in cells]) if split is not None or sets else None


def unsplit_note(table: CellTable, name: str, cells: Sequence[str]) -> list[str]:
    """Note labels that hold a comma and parts of other labels: they may be sets, and are taken for single labels."""
    whole = set(cells)
    doubtful = sorted(cell for cell in whole if len(_parts(cell, ",")) > 1)
    shared = [part for cell in doubtful for part in set(_parts(cell, ","))]
    if len(set(shared)) == len(shared):
        return []
    return [
        f'the labels {listed([repr(one) for one in doubtful], 3)} of the {table.noun} "{name}" are taken for single '
        f"labels; if they are label sets, {_advice(',')}"
    ]


def alike_note(table: CellTable, name: str, entries: Entries) -> list[str]:
    """Note labels that differ only in letter case, in blanks or in how accents are encoded."""
    first: dict[str, str] = {}
    for label in dict.fromkeys(chain(*entries.cells)):
        other = first.setdefault(alike_name(label), label)
        if other != label:
            return [f'the labels {other!a} and {label!a} of the {table.noun} "{name}" look alike and are two labels']
    return []


def _parts(cell: str, separator: str | None) -> list[str]:
    parts = [cell] if separator is None else cell.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _separator(table: CellTable, name: str, cells: Sequence[str], sets: bool | None) -> str | None:
    found = [one for one in SEPARATORS if any(one in cell for cell in cells)]
    if len(found) > 1:
        rows = [next(row for row, cell in enumerate(cells) if one in cell) for one in found]
        raise DataError(
            f'{table.at(rows[0], name)}: {cells[rows[0]]!r} holds "|", and {cells[rows[1]]!r} in '
            f'{table.place(rows[1])} holds ";". Which of them stands between the names of a set? If it is "|", '
            f'{_advice("|")}; if it is ";", say that.'
        )
    if found == [";"] and not sets and not _share_a_part(cells, ";"):
        return None
    return found[0] if found else None


def _share_a_part(cells: Iterable[str], separator: str) -> bool:
    parts = [part for cell in set(cells) for part in set(_parts(cell, separator))]
    return len(set(parts)) < len(parts)


def _refuse_hidden(table: CellTable, name: str, cells: Sequence[str], parts: dict[str, list[str]]) -> None:
    """Refuse a label such as "cat,dog" beside the labels "cat" and "dog": it may be a set. Numbers are no names."""
    if all(map(is_number, set(cells))):
        return
    labels = {label for own in parts.values() for label in own}
    for cell, own in parts.items():
        for label, separator in ((one, other) for one in own for other in _candidates(one)):
            pieces = _parts(label, separator)
            if len(set(pieces)) > 1 and labels.issuperset(pieces):
                shown = listed([repr(piece) for piece in pieces])
                raise DataError(
                    f"{table.at(list(cells).index(cell), name)}: the label {label!r} is made of {shown}, which are "
                    f"labels themselves. If {separator!r} stands between the labels of a set, {_advice(separator)}; "
                    f"else set label_sets = false, and each cell is one label."
                )


def _candidates(label: str) -> list[str]:
    """Return what may stand between names in a label: characters that are no letters and digits, and a word."""
    return [one for one in dict.fromkeys(label) if not one.isalnum()] + ([" and "] if " and " in label else [])


def _advice(separator: str) -> str:
    written = json.dumps(separator, ensure_ascii=False)
    return f"set separator = {written} in the table [data], or --set regime.separator={written}"


def _parsed(table: CellTable, name: str, cells: Sequence[str]) -> Entries:
    entries, numbers = [], True
    for row, cell in enumerate(cells):
        try:
            own = _literals(cell) if cell else []
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise DataError(
                f"{table.at(row, name)}: {cell!r} is no list of names that can be read; write names in quotes with "
                f'commas between them, or names with "|" between them.'
            ) from None
        numbers = numbers and all(counts for _, counts in own)
        entries.append([text for text, _ in own if text])
    return Entries(entries, numbers)


def _literals(cell: str) -> list[tuple[str, bool]]:
    """Return the entries of a list as JSON, Python or numpy write it, and whether each is a number."""
    if _NO_COMMA.search(cell):
        raise ValueError(cell)
    node = ast.parse(cell, mode="eval").body
    while isinstance(node, ast.Call):
        if not node.args:
            return []
        node = node.args[0]
    if isinstance(node, ast.Dict) and not node.keys:
        return []
    if not isinstance(node, ast.List | ast.Set | ast.Tuple):
        raise ValueError(cell)
    return [_literal(one) for one in node.elts]


def _literal(node: ast.expr) -> tuple[str, bool]:
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _literal(node.args[0])
    if isinstance(node, ast.Name) and node.id not in _UNKNOWN:
        truth = {"true": "1", "false": "0"}.get(node.id)
        return (node.id, False) if truth is None else (truth, True)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        text, counts = _literal(node.operand)
        return f"-{text}", counts
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip(), False
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return str(int(node.value) if isinstance(node.value, bool) else node.value), True
    raise ValueError(ast.dump(node))
