"""Names: of kinds, components and distributions, how they are spelt, and which one was probably meant."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

OWN_DISTRIBUTION = "bliss-framework"
OBSERVER = "observer"  # It has no name to be called by, and is told of every run.
# What `bliss new` makes: a component of each kind, and an observer.
SCAFFOLDS = ("reward", "regime", "strategy", "classifier", "reader", "baseline", "pipeline", "dataset", OBSERVER)

_ESCAPED_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")  # As Python writes one that it cannot decode (PEP 383).
MOST_DIGITS = 18  # Of a number that 64 bits hold.
LONGEST_NUMBER = 4000  # Characters; of more Python makes no whole number.
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
    " There is 7, a whole number, and '7' is text; write ids alike on both sides."
    >>> near_miss("b1", ["B1"])
    " There is 'B1', which differs in letter case; write ids alike on both sides."
    >>> near_miss("b1", ["b2"])
    ''
    """
    others = [one for one in present if one != missing]
    for what, look in _LOOKS:
        wanted = look(_as_text(missing))
        twin = next((one for one in others if look(_as_text(one)) == wanted), None)
        if twin is not None:
            return f" There is {_difference(missing, twin, what)}; write ids alike on both sides."
    return ""


def writable(text: str) -> str:
    r"""Write a text so that any file can hold it: bytes of a file name that are not UTF-8 as `\udcXX`.

    >>> writable("caf\udce9.csv")
    'caf\\udce9.csv'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def as_on_disk(text: str) -> str:
    r"""Return the file name of which `writable` made a text.

    >>> as_on_disk(writable("caf\udce9.csv")) == "caf\udce9.csv"
    True
    """
    return _ESCAPED_BYTE.sub(lambda found: chr(int(found[1], 16)), text)


def as_count(text: str) -> int | None:
    """Return the whole number from 0 on that a text is; None where it is none, or one beyond all counts.

    >>> as_count("12"), as_count("-1"), as_count("9" * 5000)
    (12, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def _as_text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _difference(missing: Any, twin: Any, what: str) -> str:
    if _kind_of(missing) != _kind_of(twin):
        return f"{twin!r}, {_kind_of(twin)}, and {missing!r} is {_kind_of(missing)}"
    alike = _visible(_as_text(twin)) == _visible(_as_text(missing))
    return f"{twin!a}, which differs {what}" if alike else f"{twin!r}, which differs {what}"


def _kind_of(name: Any) -> str:
    kinds = {bytes: "bytes", str: "text", bool: "true or false", int: "a whole number", float: "a decimal number"}
    return next((words for kind, words in kinds.items() if isinstance(name, kind)), type(name).__name__)


def _visible(text: str) -> str:
    """Return what of some text can be seen: one form of each letter, and no characters without width."""
    return unicodedata.normalize("NFC", text.translate(_INVISIBLE))


def _number(text: str) -> str:
    try:
        number = float(text) if "_" not in text and len(text) <= LONGEST_NUMBER else None
    except ValueError:
        return text
    # Large whole numbers that differ are one as floats.
    return text if number is None else str(int(text)) if text.strip().lstrip("+-").isdecimal() else repr(number)


def _whole(text: str) -> str:
    number = _number(text)
    return number.removesuffix(".0")


_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_MIDNIGHT = re.compile(r"[ T]00:00(:00(\.0+)?)?(Z|\+00:00)?\Z")
_BYTES = re.compile(r"""b(['"])(.*)\1""")
_ZEROS = re.compile(r"\A([+-]?)0+(?=\d)")
_LOOKS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("in type", str),
    ("in how characters are encoded (Unicode NFC against NFD, or invisible characters)", _visible),
    ("in blanks", lambda text: "".join(_visible(text).split())),
    ("in letter case", lambda text: _visible(text).casefold()),
    ("in leading zeros", lambda text: _ZEROS.sub(r"\1", text)),
    ("in how the number is written", _whole),
    ("in the time of day", lambda text: _MIDNIGHT.sub("", text)),
    ("in the b and the quotes with which Python writes bytes", lambda text: _BYTES.sub(r"\2", text)),
    (
        "in several ways at once",
        lambda text: _whole(
            _ZEROS.sub(r"\1", "".join(unicodedata.normalize("NFKC", _visible(text)).casefold().split()))
        ),
    ),
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
