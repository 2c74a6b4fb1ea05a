"""Discovery: entry points are read one distribution at a time, and nothing is imported."""

import ast
import sys
from pathlib import Path

import pytest

import bliss_framework
from bliss_framework.extension.loading.discovery import NAMELESS, AnyEntry, Entry, UnreadableEntry, find_entries


def found(distribution: str) -> list[AnyEntry]:
    return [one for one in find_entries() if one.distribution == distribution]


def test_entry_point_becomes_a_record(site):
    """A record says who ships the plugin, in which version, and what to import; nothing is imported yet."""
    site.dist("bliss-audio", "audio = bliss_audio.hooks:make.plugin", version="0.3")
    assert found("bliss-audio") == [Entry("audio", "bliss-audio", "0.3", "bliss_audio.hooks", "make.plugin")]
    assert "bliss_audio" not in sys.modules


def test_load_follows_the_attribute(site):
    """Loading returns the module, or the object within it where the entry point names one."""
    site.dist("bliss-two", "whole = two_hooks\npart = two_hooks:Place.plugin", {"two_hooks": "class Place: plugin = 7"})
    whole, part = found("bliss-two")
    assert whole.load() is sys.modules["two_hooks"]
    assert part.load() == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = bliss_framework [all]\n", "no section headers"),
        ("[bliss_framework]\nthis line has no equals sign\n", "parsing errors"),
        ("[bliss_framework]\nx = a\nx = b\n", "already exists"),
        ("[bliss_framework]\nx = a\n[bliss_framework]\ny = b\n", "already exists"),
        (b"[bliss_framework]\nx = caf\xe9\n", "UTF-8"),
    ],
)
def test_malformed_file_is_reported_and_hides_nobody(site, text, said):
    """A malformed neighbour does not hide a healthy plugin, and is reported with its version and what is wrong."""
    site.registering("bliss-good", "good", "bliss_rewards", "good")
    site.dist("bliss-bad", text, version="2.1")
    site.registering("bliss-fine", "fine", "bliss_rewards", "fine")
    (bad,) = found("bliss-bad")
    assert isinstance(bad, UnreadableEntry)
    assert (bad.version, bad.name) == ("2.1", "")
    assert said in bad.reason
    assert isinstance(bad.cause, Exception)
    assert [one.name for one in found("bliss-good") + found("bliss-fine")] == ["good", "fine"]


@pytest.mark.parametrize("text", ["no header = here\n", "[other]\nno equals sign\n", b"[other]\nx = \xe9\n"])
def test_malformed_file_that_does_not_mention_us_is_none_of_our_business(site, text):
    """A malformed file without our group in it is passed over in silence."""
    site.dist("neighbour", text if isinstance(text, bytes) else f"# [a comment]\n{text}")
    assert found("neighbour") == []


def test_signs_that_other_parsers_trip_on(site):
    """Percent signs, semicolon comments, colons in names and capital letters are read as they stand."""
    text = "[other]\nrate = %d% \n[bliss_framework]\n; a comment\n# another\nMy:Plug = some_module\n"
    site.dist("bliss-signs", text)
    assert found("bliss-signs") == [Entry("My:Plug", "bliss-signs", "1.0", "some_module")]


@pytest.mark.parametrize("value", ["some-module", "module : object", "module:object  # note", "100%", ""])
def test_bad_value_costs_one_entry_only(site, value):
    """A value that names nothing importable is reported by name; the other entries of the file stay."""
    site.dist("bliss-half", f"bad = {value}\ngood = some_module")
    bad, good = found("bliss-half")
    assert isinstance(bad, UnreadableEntry)
    assert bad.name == "bad"
    assert f'bad = "{value}"' in bad.reason
    assert good.name == "good"


def test_first_copy_on_the_path_wins(site):
    """Of one distribution in two folders the first counts, however its name is spelt."""
    site.dist("bliss-audio", "audio = old_hooks", version="0.1")
    site.dist("Bliss_Audio", "audio = new_hooks", version="0.2")
    assert found("bliss-audio") == []
    assert found("Bliss_Audio") == [Entry("audio", "Bliss_Audio", "0.2", "new_hooks")]


def test_later_copy_does_not_fill_in_for_the_first(site):
    """A stale copy further down the path is ignored also where the first copy has no plugins any more."""
    site.dist("bliss-audio", "audio = old_hooks", version="0.1")
    site.dist("bliss-audio", "[console_scripts]\nx = y\n", version="0.2")
    assert found("bliss-audio") == []


@pytest.mark.parametrize("metadata", ["", "Metadata-Version: 2.1\n"])
def test_nameless_distribution_is_reported(site, metadata):
    """Entry points that nobody can be named for are reported with the folder where they lie."""
    root = site.dist("bliss-torn", "torn = torn_hooks", metadata=metadata)
    (torn,) = found(NAMELESS)
    assert isinstance(torn, UnreadableEntry)
    assert torn.name == "torn"
    assert str(root) in torn.reason


def test_two_nameless_distributions_are_two(site):
    """Distributions without a name are not taken for copies of one another."""
    site.dist("bliss-torn", "torn = torn_hooks", metadata="")
    site.dist("bliss-rent", "rent = rent_hooks", metadata="")
    assert [one.name for one in found(NAMELESS)] == ["rent", "torn"]


@pytest.mark.parametrize(
    ("package", "importers"),
    [
        ("entrypoints", {"extension/loading/discovery.py"}),
        ("pluggy", {"extension/markers.py", "extension/loading/plugins.py"}),
    ],
)
def test_packages_that_stay_in_their_room(package, importers):
    """Only discovery knows `entrypoints`; only the markers and the plugin manager know `pluggy`."""
    root = Path(bliss_framework.__file__).parent
    using = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if package in imports(path)}
    assert using == importers


def imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
