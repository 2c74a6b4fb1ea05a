"""Names: of kinds, components and distributions, how they are spelt, and which one was probably meant."""

import difflib
import re
from collections.abc import Iterable

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
