"""The shapes of files that are read back: every part is checked before anything uses it.

A shape is a function of a value and of the place where it stands; it raises `ShapeError` where the value is no such
thing. Shapes are put together like what they describe:

>>> measure = record({"mean": optional(number), "runs": list_of(optional(number))})
>>> measure({"mean": 0.5, "runs": [0.4, "x"]}, "bag_accuracy")
Traceback (most recent call last):
bliss_framework.runs.shapes.ShapeError: bag_accuracy.runs[1] is 'x', and a finite number is needed
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Shape = Callable[[Any, str], None]
DEEPEST = 64  # Tables and lists in one another; no file of ours comes near.
LONGEST_NUMBER = 20  # Digits of a whole number of 64 bits.
SHOWN = 60


class ShapeError(ValueError):
    """A file that is read back is not of the shape that it was written in."""


def read_json(path: Path) -> Any:
    """Read a JSON file that can be shown and written again: finite numbers, text that UTF-8 can hold, no deep nesting.

    Raises:
        ShapeError: saying what is wrong.
        OSError: the file cannot be read.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_int=_whole, parse_constant=_constant)
    except RecursionError:
        raise ShapeError(_TOO_DEEP) from None
    except ValueError as error:
        raise ShapeError(str(error)) from None
    check_plain(value)
    return value


def check_plain(value: Any, finite: bool = True) -> None:
    """Refuse a value of tables and lists that cannot be walked through, or whose text no file can hold.

    Args:
        value: as JSON or TOML gave it.
        finite: refuse NaN and infinity, too.

    Raises:
        ShapeError: saying what is wrong.
    """
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            raise ShapeError(_TOO_DEEP)
        for one in level:
            _check_leaf(one, finite)
        level = [part for one in level for part in _parts(one)]
        depth += 1


_TOO_DEEP = f"it has more than {DEEPEST} tables and lists in one another"


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _check_leaf(value: Any, finite: bool) -> None:
    if finite and isinstance(value, float) and not math.isfinite(value):
        raise ShapeError(f"it holds the number {value}")
    if not isinstance(value, str):
        return
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ShapeError("it holds text that is no Unicode") from None


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ShapeError(f"it holds a whole number of {len(digits)} digits")
    return int(digits)


def _constant(name: str) -> Any:
    raise ShapeError(f"it holds {name}, which is no JSON")


def text(value: Any, at: str) -> None:
    """Allow text."""
    if not isinstance(value, str):
        _refuse(value, at, "text")


def word_of(words: Iterable[str]) -> Shape:
    """Allow one of some words."""
    allowed = frozenset(words)

    def check(value: Any, at: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            _refuse(value, at, f"one of {', '.join(sorted(allowed))}")

    return check


def truth(value: Any, at: str) -> None:
    """Allow true and false."""
    if not isinstance(value, bool):
        _refuse(value, at, "true or false")


def number(value: Any, at: str) -> None:
    """Allow a finite number that a chart can be drawn of."""
    if not _is_number(value) or not -1e100 < value < 1e100:
        _refuse(value, at, "a finite number")


def any_number(value: Any, at: str) -> None:
    """Allow a number, NaN and infinity too."""
    if not _is_number(value):
        _refuse(value, at, "a number")


def whole(value: Any, at: str) -> None:
    """Allow a whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(value, at, "a whole number from 0 on")


def share(value: Any, at: str) -> None:
    """Allow a number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        _refuse(value, at, "a number from 0 to 1")


def scalar(value: Any, at: str) -> None:
    """Allow text, a finite number, true and false."""
    if not isinstance(value, str | bool):
        number(value, at)


def anything(value: Any, at: str) -> None:
    """Allow anything."""


def optional(shape: Shape) -> Shape:
    """Allow null beside what a shape allows."""

    def check(value: Any, at: str) -> None:
        if value is not None:
            shape(value, at)

    return check


def list_of(shape: Shape, at_least: int = 0) -> Shape:
    """Allow a list of parts that have one shape."""

    def check(value: Any, at: str) -> None:
        if not isinstance(value, list) or len(value) < at_least:
            _refuse(value, at, f"a list of {at_least} entries or more" if at_least else "a list")
        for place, part in enumerate(value):
            shape(part, f"{at}[{place}]")

    return check


def table_of(shape: Shape, at_least: int = 0) -> Shape:
    """Allow a table with any keys, whose values have one shape."""

    def check(value: Any, at: str) -> None:
        if not isinstance(value, Mapping) or len(value) < at_least:
            _refuse(value, at, f"a table of {at_least} entries or more" if at_least else "a table")
        for key, part in value.items():
            shape(part, _inside(at, key))

    return check


def record(needed: Mapping[str, Shape], others: Mapping[str, Shape] | None = None) -> Shape:
    """Allow a table that has certain keys.

    Args:
        needed: the shapes of keys that must be there.
        others: the shapes of keys that may be there; any further ones may be, too.
    """

    def check(value: Any, at: str) -> None:
        if not isinstance(value, Mapping):
            _refuse(value, at, "a table")
        for key, shape in needed.items():
            if key not in value:
                raise ShapeError(f"it lacks {_inside(at, key)}")
            shape(value[key], _inside(at, key))
        for key, shape in (others or {}).items():
            if key in value:
                shape(value[key], _inside(at, key))

    return check


def _inside(at: str, key: Any) -> str:
    return f"{at}.{key}" if at else str(key)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(value: Any, at: str, needed: str) -> None:
    shown = repr(value)
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    raise ShapeError(f"{at or 'it'} is {shown}, and {needed} is needed")
