"""Which plugins are installed: entry points of the group `bliss_framework`, read without importing any of them.

The standard library lists the distributions, because it knows their true names and versions. The text of each
distribution's entry points is then parsed alone, so that a malformed neighbour hides nobody.

This is the only module that imports `entrypoints`, and none of that package's types leave it. To do without the
package: parse with `configparser.ConfigParser(delimiters=("=",), interpolation=None)` and `optionxform = str` in
`_parse`; split a value with `importlib.metadata.EntryPoint` in `_entry`; import in `Entry.load` with
`importlib.import_module`; then delete the line in pyproject.toml.
"""

import configparser
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from typing import Any

import entrypoints
from attrs import evolve, field, frozen
from packaging.requirements import Requirement

from bliss_framework.extension.naming import OWN_DISTRIBUTION, is_own, normalise

GROUP = "bliss_framework"
_SECTION = re.compile(r"^\s*\[([^\]]+)\]", re.MULTILINE)
_ALIKE = re.compile(r"bliss-?frameworks?(-plugins?)?")  # Normalised; "bliss" alone may be somebody else's.
_ADDRESS = re.compile(r"https?://\S+$")
NAMELESS = "unknown"


@frozen
class Entry:
    """An entry point that names a plugin.

    Attributes:
        name: the plugin's name.
        distribution: who ships it, spelt as in its metadata.
        version: of the distribution.
        module: what to import.
        attribute: dotted path within the module; empty where the module itself is the plugin.
        needs: the versions of this host that the distribution asks for, such as ">=0.1,<0.2"; empty for any.
        links: (label, address) of pages that its metadata name, such as ("Documentation", "https://...").
    """

    name: str = field()
    distribution: str = field()
    version: str = field()
    module: str = field()
    attribute: str = field(default="")
    needs: str = field(default="")
    links: tuple[tuple[str, str], ...] = field(default=(), eq=False)

    def load(self) -> Any:
        """Import the plugin; whatever its code raises comes through."""
        return entrypoints.EntryPoint(self.name, self.module, self.attribute).load()


@frozen
class UnreadableEntry:
    """Entry points that mention our group and cannot be read.

    Attributes:
        distribution: whose entry points they are; `NAMELESS` where its metadata do not tell.
        version: of the distribution.
        reason: what is wrong with them.
        name: of the plugin, where one entry is at fault and not the whole file.
        hint: what to do, where it is something else than to install the distribution again.
        cause: the exception behind the reason.
    """

    distribution: str = field()
    version: str = field()
    reason: str = field()
    name: str = field(default="")
    cause: Exception | None = field(default=None, eq=False, repr=False)
    hint: str = field(default="")


AnyEntry = Entry | UnreadableEntry


def find_entries() -> tuple[AnyEntry, ...]:
    """Read the entry points of every distribution on `sys.path`; of two copies of one, the first counts."""
    return tuple(record for one in _first_copies(distributions()) for record in _records(one) or _remains(one))


def unreadable_files() -> tuple[str, ...]:
    """Name the entry points of any distribution that are no UTF-8 text: others than we read them too, and fail."""
    undecodable = [one for one in distributions() if _is_undecodable(one)]
    return tuple(f"{_identity(one)[0]} in {one.locate_file('')}" for one in undecodable)


def _is_undecodable(distribution: Distribution) -> bool:
    try:
        distribution.read_text("entry_points.txt")
    except UnicodeDecodeError:
        return True
    except OSError:
        return False
    return False


def _remains(distribution: Distribution) -> list[AnyEntry]:
    """Report metadata of this host that lie before its own and know no plugins: all built-in ones would be gone."""
    if not is_own(_header(distribution, "Name")) or _is_undecodable(distribution):
        return []
    if GROUP in (distribution.read_text("entry_points.txt") or ""):
        return []
    folder = distribution.locate_file("")
    reason = f"{folder} holds metadata of it without plugins, and comes before the installed one"
    return [evolve(_unreadable(distribution, reason, None), hint="delete these metadata")]


def _first_copies(installed: Iterable[Distribution]) -> Iterator[Distribution]:
    """Drop later copies, also where only the later one has entry points: it is not the one that gets imported."""
    seen = set()
    for distribution in installed:
        name = normalise(_header(distribution, "Name"))
        if name not in seen:
            yield distribution
        if name:
            seen.add(name)


def _header(distribution: Distribution, key: str) -> str:
    try:
        metadata = distribution.metadata
        # Newer Pythons warn about, and will refuse, a look-up of a header that is not there.
        return str(metadata[key]) if key in metadata else ""
    except Exception:
        return ""


def _records(distribution: Distribution) -> list[AnyEntry]:
    try:
        text = distribution.read_text("entry_points.txt") or ""
    except UnicodeDecodeError as error:
        is_ours = GROUP.encode() in error.object
        return [_unreadable(distribution, "its entry_points.txt is not UTF-8 text", error)] if is_ours else []
    except OSError:
        return []
    # Files that do not concern us may be as malformed as they like.
    return [*_misspelt(text, distribution), *(_parse(text, distribution) if GROUP in text else ())]


def _misspelt(text: str, distribution: Distribution) -> Iterator[AnyEntry]:
    """Notice a group that is ours but for its spelling."""
    for group in _SECTION.findall(text):
        if group != GROUP and _ALIKE.fullmatch(normalise(group)):
            reason = f'its entry points stand in the group "{group}", and the group of plugins is "{GROUP}"'
            yield evolve(_unreadable(distribution, reason, None), hint="correct the group in its pyproject.toml")


def _parse(text: str, distribution: Distribution) -> Iterator[AnyEntry]:
    parser = entrypoints.CaseSensitiveConfigParser(delimiters=("=",), interpolation=None)
    try:
        parser.read_string(text, source="entry_points.txt")
    except configparser.Error as error:
        yield _unreadable(distribution, f"its entry_points.txt is malformed: {' '.join(str(error).split())}", error)
        return
    if parser.has_section(GROUP):
        for name, value in parser.items(GROUP):
            yield _entry(name, value, distribution)


def _entry(name: str, value: str, distribution: Distribution) -> AnyEntry:
    if not _header(distribution, "Name"):
        folder = distribution.locate_file("")
        return _unreadable(distribution, f"a distribution in {folder} has no metadata with its name", None, name)
    try:
        entry = entrypoints.EntryPoint.from_string(value, name)
    except entrypoints.BadEntryPoint as error:
        reason = f'its entry point is {name} = "{value}"; allowed are "module" and "module:object"'
        return _unreadable(distribution, reason, error, name)
    return Entry(
        name,
        *_identity(distribution),
        entry.module_name,
        entry.object_name or "",
        _needed_host(distribution),
        _links(distribution),
    )


def _links(distribution: Distribution) -> tuple[tuple[str, str], ...]:
    try:
        named = [text.partition(",") for text in distribution.metadata.get_all("Project-URL") or ()]
        home = distribution.metadata.get_all("Home-page") or ()
    except Exception:
        return ()
    links = [*(("Homepage", text) for text in home), *((label, address) for label, _, address in named)]
    return tuple((label.strip(), address.strip()) for label, address in links if _ADDRESS.match(address.strip()))


def _needed_host(distribution: Distribution) -> str:
    try:
        requirements = [Requirement(text) for text in distribution.requires or ()]
        ours = [one for one in requirements if normalise(one.name) == OWN_DISTRIBUTION]
        applying = [one for one in ours if one.marker is None or one.marker.evaluate({"extra": ""})]
    except Exception:
        return ""  # What a stranger's metadata hold must not hurt others; pip has the last word on it.
    return ",".join(str(one.specifier) for one in applying if one.specifier)


def _unreadable(distribution: Distribution, reason: str, cause: Exception | None, name: str = "") -> UnreadableEntry:
    return UnreadableEntry(*_identity(distribution), reason, name, cause)


def _identity(distribution: Distribution) -> tuple[str, str]:
    return _header(distribution, "Name") or NAMELESS, _header(distribution, "Version") or "unknown"
