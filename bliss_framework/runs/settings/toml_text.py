"""TOML text to tables, whoever wrote it: whatever is wrong with it is a ValueError whose text can be shown."""

import re
import tomllib
from typing import Any

from bliss_framework.runs.shapes import check_plain

LARGEST_TEXT = 10_000_000  # Characters; the experiments of the paper need ten thousand.
MOST_PARTS = 64  # Of a dotted key; the time that Python needs for one grows with their square.
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**63), 2**63 - 1  # What TOML promises.
_NO_KEY = re.compile(r"""[^\w\-. \t"']+""")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        ValueError: the text is no TOML, or holds what no setting can be: a number of more than 64 bits, NUL, hundreds
            of tables in one another.

    >>> parse_toml("[bliss]\\nn_rounds = 5")
    {'bliss': {'n_rounds': 5}}
    """
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"it has {len(text)} characters, and {LARGEST_TEXT} are allowed")
    _check_keys(text)
    try:
        tables = tomllib.loads(text)
        _check_values(tables)
    except RecursionError:
        raise ValueError("it has too many tables and lists in one another") from None
    return tables


def _check_keys(text: str) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") <= MOST_PARTS:
            continue
        # A number of many dots stands in a key, or nowhere.
        parts = max(part.count(".") for part in _NO_KEY.split(line.partition("#")[0])) + 1
        if parts > MOST_PARTS:
            raise ValueError(f"line {number} has a key of {parts} parts, and {MOST_PARTS} are allowed")


def _check_values(tables: dict[str, Any]) -> None:
    check_plain(tables, finite=False)
    waiting: list[Any] = [tables]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and "\0" in one:
            raise ValueError(f"{one[:40]!r} holds a NUL character")
        elif isinstance(one, int) and not SMALLEST_NUMBER <= one <= LARGEST_NUMBER:
            raise ValueError("it holds a whole number of more than 64 bits")
