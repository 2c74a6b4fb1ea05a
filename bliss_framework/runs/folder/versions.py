"""The versions that a run was begun with, against those that are there now: only equal ones promise equal bits."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from bliss_framework.extension.naming import is_own
from bliss_framework.runs.shapes import list_of, record, table_of, text

HOST = "bliss_framework"
NUMERICAL = ("numpy", "scipy", "scikit-learn")
ACCEPT_VERSIONS, ACCEPT_PLUGINS = "--accept-versions", "--accept-plugin-versions"

RECORD = record(
    {"versions": table_of(text)},
    {
        "components": table_of(record({"plugin": text, "distribution": text, "version": text})),
        "resumed_from": list_of(record({"versions": table_of(text)})),
    },
)


@frozen
class VersionChange:
    """A package of which a run was begun with another version.

    Attributes:
        package: its name.
        before: the version of the run; "" where the run did not note it down.
        now: the version that is installed; "" where there is none.
    """

    package: str = field()
    before: str = field()
    now: str = field()

    def words(self) -> str:
        """Say it."""
        before, now = (f"{self.package} {one}" if one else f"no {self.package}" for one in (self.before, self.now))
        return f"{before} (now {now})"


def host_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[VersionChange]:
    """List what changed of bliss_framework and of the numerical packages between two records of a run."""
    pairs = [(name, before["versions"].get(name, ""), now["versions"].get(name, "")) for name in (HOST, *NUMERICAL)]
    return [VersionChange(*pair) for pair in pairs if pair[1] != pair[2]]


def plugin_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[VersionChange]:
    """List what changed of the distributions that ship the components of a run; those that it does not use are free."""
    old, new = _shipping(before), _shipping(now)
    return [
        VersionChange(name, old.get(name, ""), new.get(name, ""))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def refusal(changes: Sequence[VersionChange], option: str) -> str:
    """Say why a run does not go on with other versions, and what to do."""
    old = " and ".join(f"{one.package}=={one.before}" for one in changes if one.before)
    install = f"Install {old}, start" if old else "Start"
    return (
        f"it was begun with {', '.join(one.words() for one in changes)}, and the same bits are promised for the same "
        f"versions only. {install} anew with another --output, or go on with {option}, which is noted down in run.toml "
        f"and result.json"
    )


def _shipping(about: Mapping[str, Any]) -> dict[str, str]:
    origins = about.get("components", {}).values()
    return {one["distribution"]: one["version"] for one in origins if not is_own(one["distribution"])}
