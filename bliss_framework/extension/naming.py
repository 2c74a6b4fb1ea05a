"""Names: of kinds, components and distributions, how they are spelt, and which one was probably meant."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

OWN_DISTRIBUTION = "bliss-framework"

_COMPONENT_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question, with a space before it, that offers the nearest known name; empty where none is near.

    >>> did_you_mean("mill", ["llp", "mil"])
    ' Did you mean "mil"?'
    >>> did_you_mean("spectrogram", ["llp", "mil"])
    ''
    """
    near = nearest(name, known)
    return f' Did you mean "{near}"?' if near else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelt most alike, whatever its case, or None."""
    spelt = {one.lower(): one for one in known}
    matches = difflib.get_close_matches(name.lower(), spelt, n=1)
    return spelt[matches[0]] if matches else None


def near_miss(missing: Any, present: Iterable[Any]) -> str:
    """Return a sentence, with a space before it, about an id that looks like a missing one but is another; else "".

    Ids are matched as they are: 7, "7" and "007" are three. This says in what two that look alike differ.

    Args:
        missing: an id that was not found.
        present: the ids among which it was looked for.

    >>> near_miss("7", [6, 7, 8])
    ' There is 7: 7 is a whole number, and \'7\' is text.'
    >>> near_miss("b1", ["B1"])
    " There is 'B1': they differ in upper and lower case."
    >>> near_miss("b1", ["b2"])
    ''
    """
    plain = _plain_id(missing)
    like = next((one for one in present if _plain_id(one) == plain and one != missing), None)
    if like is None:
        return ""
    return f" There is {like!r}: {_difference(missing, like)}."


def _plain_id(name: Any) -> Any:
    """Return what is left of an id without type, case, blanks, Unicode form and leading zeros."""
    text = unicodedata.normalize("NFKC", _as_text(name)).strip().casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    # Large whole numbers that differ are one as floats.
    return int(text) if text.lstrip("+-").isdecimal() else int(number) if number.is_integer() else number


def _as_text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _difference(missing: Any, like: Any) -> str:
    if _kind_of(missing) != _kind_of(like):
        return f"{like!r} is {_kind_of(like)}, and {missing!r} is {_kind_of(missing)}"
    one, other = _as_text(missing), _as_text(like)
    for steps, words in _DIFFERENCES:
        for step in steps:
            one, other = step(one), step(other)
        if one == other:
            return f"they differ in {words}"
    return "they differ in the way numbers are written, such as leading zeros or a decimal point"


def _kind_of(name: Any) -> str:
    kinds = {bytes: "bytes", str: "text", bool: "true or false", int: "a whole number", float: "a decimal number"}
    return next((words for kind, words in kinds.items() if isinstance(name, kind)), type(name).__name__)


_DIFFERENCES: tuple[tuple[tuple[Callable[[str], str], ...], str], ...] = (
    ((str.strip,), "blanks around them"),
    ((lambda text: unicodedata.normalize("NFC", text),), "the Unicode form of their letters (NFC and NFD)"),
    ((lambda text: unicodedata.normalize("NFKC", text),), "the Unicode form of their letters"),
    ((str.casefold,), "upper and lower case"),
)


def is_component_name(name: object) -> bool:
    """Say whether a component may be called this: lower case words with single hyphens between them.

    >>> is_component_name("kernel-ridge"), is_component_name("Kernel_Ridge")
    (True, False)
    """
    return isinstance(name, str) and _COMPONENT_NAME.fullmatch(name) is not None


def singular(kind: str) -> str:
    """Return the words for one component of a kind.

    >>> singular("dataset")
    'data set'
    """
    return "data set" if kind == "dataset" else kind


def plural(kind: str) -> str:
    """Return the words for several components of a kind.

    >>> plural("strategy"), plural("dataset")
    ('strategies', 'data sets')
    """
    word = singular(kind)
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def normalise(distribution: str) -> str:
    """Return the name of a distribution in the one spelling of PEP 503.

    >>> normalise("Bliss_Audio.Tools")
    'bliss-audio-tools'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def is_own(distribution: str) -> bool:
    """Say whether this is the distribution that carries the built-in plugins."""
    return normalise(distribution) == OWN_DISTRIBUTION
