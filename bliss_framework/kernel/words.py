"""The user's words for classes: when two spellings are one word, and which of two words means positive."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# (positive, negative). Beside these "x" and "non-x", "not x" or "no x" are a pair, whatever x is.
PAIRS = (
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("on", "off"),
    ("+", "-"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("active", "inactive"),
    ("present", "absent"),
    ("abnormal", "normal"),
    ("malignant", "benign"),
    ("case", "control"),
    *((ill, well) for ill in ("tumor", "tumour", "cancer") for well in ("normal", "benign", "healthy")),
    *((ill, well) for ill in ("diseased", "disease", "sick", "ill") for well in ("healthy", "normal", "well")),
    ("infected", "uninfected"),
    ("affected", "unaffected"),
    ("relevant", "irrelevant"),
)
NUMERIC_PAIRS = ((1, 0), (1, -1))
NEGATION = r"(?:non|not|no) ?"


def plain_value(value: Any) -> Any:
    """Return what equal spellings of one value have in common.

    Numbers and text that spells them are the number, booleans and text that spells them are 1 and 0, and other text
    has no blanks around it.

    >>> [plain_value(value) for value in (1, 1.0, "1", " 1.0 ", True, "True", "cat ", 0.5)]
    [1, 1, 1, 1, 1, 1, 'cat', 0.5]
    """
    if isinstance(value, str | np.str_):
        text = str(value).strip()
        return {"true": 1, "false": 0}.get(text.casefold(), _number(text))
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    return value.item() if isinstance(value, np.generic) else value


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    if "_" in text or not np.isfinite(number):
        return text
    return int(number) if number.is_integer() else number


def _folded(value: Any) -> Any:
    plain = plain_value(value)
    return plain.casefold() if isinstance(plain, str) else plain


def _exact(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def positions_of(values: Iterable[Any], classes: Sequence[Any]) -> dict[Any, int] | None:
    """Find each value among the classes: as it is, else in another spelling, else in upper or lower case.

    Args:
        values: different ones.
        classes: any values that can be keys.

    Returns:
        The position of each value, or None where one of them is no class, or two classes would be the same.

    >>> positions_of(["1", 0.0], (0, 1)), positions_of(["Dog"], ("cat", "dog")), positions_of([2], (0, 1))
    ({'1': 1, 0.0: 0}, {'Dog': 1}, None)
    """
    values = list(values)
    forms: tuple[Callable[[Any], Any], ...] = (_exact, plain_value, _folded)
    for form in forms:
        table = {form(one): position for position, one in enumerate(classes)}
        own = [form(value) for value in values]
        if len(table) == len(classes) and all(one in table for one in own):
            return {value: table[one] for value, one in zip(values, own, strict=True)}
    return None


def senses_of(values: Iterable[Any]) -> dict[Any, int] | None:
    """Say which values mean positive (1) and which negative (0), where everybody knows: 0/1, -1/1, yes/no and so on.

    Args:
        values: one, or two different ones.

    Returns:
        1 or 0 for each value, or None where that is not known.

    >>> senses_of(["normal", "abnormal"]), senses_of(["musk", "non-musk"]), senses_of(["cat", "dog"])
    ({'abnormal': 1, 'normal': 0}, {'musk': 1, 'non-musk': 0}, None)
    >>> senses_of([-1]), senses_of(["benign"])
    ({-1: 0}, {'benign': 0})
    """
    values = list(values)
    numbers, words = [plain_value(value) for value in values], [_word(value) for value in values]
    if len(values) == 1:
        return _sense_of_one(values[0], numbers[0], words[0])
    if len(values) != 2:
        return None
    for first, second in ((0, 1), (1, 0)):
        numeric = (numbers[first], numbers[second]) in NUMERIC_PAIRS
        if numeric or (words[first], words[second]) in PAIRS or _is_negation(words[second], words[first]):
            return {values[first]: 1, values[second]: 0}
    return None


def _sense_of_one(value: Any, number: Any, word: Any) -> dict[Any, int] | None:
    """A word that is positive in one pair and negative in another says nothing alone."""
    senses = {sense for pair in NUMERIC_PAIRS for sense, one in zip((1, 0), pair, strict=True) if one == number}
    senses |= {sense for pair in PAIRS for sense, one in zip((1, 0), pair, strict=True) if one == word}
    return {value: senses.pop()} if len(senses) == 1 else None


def _word(value: Any) -> str:
    """Return text in lower case, with one blank for blanks, hyphens and underscores."""
    word = str(value).strip().casefold()
    return word if word in ("+", "-") else re.sub(r"[\s_-]+", " ", word).strip()


def _is_negation(word: str, other: str) -> bool:
    return other != "" and re.fullmatch(NEGATION + re.escape(other), word) is not None


def class_array(classes: Sequence[Any]) -> NDArray[Any]:
    """Make an array of classes that leaves each of them what it is; numpy itself would turn (0, "a") into text.

    >>> class_array((0, "a")).tolist(), class_array((0, 1)).dtype.kind
    ([0, 'a'], 'i')
    """
    array = np.asarray(classes)
    kinds = {isinstance(one, str | np.str_) for one in classes}
    if len(kinds) < 2 and array.ndim == 1:
        return array
    boxed = np.empty(len(classes), dtype=object)
    boxed[:] = list(classes)
    return boxed


def listed_words(values: Iterable[Any], most: int = 8) -> str:
    """Write values one after the other, and count those that are too many to show.

    >>> listed_words([0, "a", 2], 1), listed_words([np.int64(0), "a"])
    ('0 and 2 more', "0, 'a'")
    """
    return listed([repr(_exact(value)) for value in values], most)


def listed(parts: Sequence[str], most: int = 8) -> str:
    """Join parts of a sentence, and count those that are too many to show.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b, c', 'a and 2 more')
    """
    return ", ".join(parts[:most]) + (f" and {len(parts) - most} more" if len(parts) > most else "")
