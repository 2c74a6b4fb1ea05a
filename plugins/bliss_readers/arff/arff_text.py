r"""The cells of a line of ARFF: commas between them, quotes around them, backslashes in them.

Weka writes a relational value by quoting the text of its instances, with the line ends as \n. So the text in the
quotes, once the backslashes are resolved, is lines of ARFF again.
"""

import re

_VALUE = r"""(?:'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|([^'",\s][^,]*?|))\s*(?:,|\Z)"""
_CELL = re.compile(rf"\s*{_VALUE}", re.DOTALL)
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+{_VALUE}", re.DOTALL)
_NAME = re.compile(r"""\s*(?:'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s{]+))\s*(.*)""", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def split_cells(line: str) -> list[str]:
    r"""Split a line at its commas.

    Raises:
        ValueError: a quote does not close, or something stands behind it.

    >>> split_cells(r"m1, 'it\'s',, \"1,2\n3,4\"".replace('\\"', '"'))
    ['m1', "it's", '', '1,2\n3,4']
    """
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, position = [], 0
    while True:
        found = _CELL.match(line, position)
        if found is None:
            raise ValueError(line[position:])
        cells.append(_value(*found.groups()))
        if not found[0].endswith(","):
            return cells
        position = found.end()


def split_sparse(line: str) -> list[tuple[int, str]]:
    """Split what stands between the braces of a sparse row into positions, from 0, and values.

    Raises:
        ValueError: an entry is no position and value.

    >>> split_sparse("0 m1, 3 'a, b'")
    [(0, 'm1'), (3, 'a, b')]
    """
    entries, position = [], 0
    while position < len(line.rstrip()):
        found = _SPARSE_CELL.match(line, position)
        if found is None:
            raise ValueError(line[position:])
        entries.append((int(found[1]), _value(*found.groups()[1:])))
        position = found.end()
    return entries


def split_name(text: str) -> tuple[str, str]:
    """Split a declaration into the name, which may be quoted, and what follows it.

    Raises:
        ValueError: there is no name.

    >>> split_name("'f 2' real"), split_name("class{0,1}")
    (('f 2', 'real'), ('class', '{0,1}'))
    """
    found = _NAME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return _value(*found.groups()[:3]), found[4].strip()


def _value(single: str | None, double: str | None, plain: str | None) -> str:
    quoted = double if single is None else single
    if quoted is None:
        return (plain or "").strip()
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), quoted, flags=re.DOTALL)
