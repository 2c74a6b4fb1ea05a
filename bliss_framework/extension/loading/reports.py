"""What became of each plugin: one record, as a sentence for people and as JSON for programs."""

from typing import Any, Literal

from attrs import evolve, field, frozen

from bliss_framework.extension.contracts import Component

State = Literal["ok", "blocked", "broken"]
Door = Literal["metadata", "import", "register", "hooks", "call"]


class Refusal(Exception):
    """A plugin cannot pass a door.

    Attributes:
        door: where it was stopped.
        reason: what happened, without a full stop.
        remedy: what to do; None where a newer version or none of the plugin is all that helps.
    """

    def __init__(self, door: Door, reason: str, remedy: str | None = None) -> None:
        """Keep why the plugin cannot pass."""
        super().__init__(reason)
        self.door = door
        self.reason = reason
        self.remedy = remedy


@frozen
class PluginReport:
    """What became of one plugin.

    Attributes:
        name: of the plugin, or of its distribution where its entry points cannot be read.
        distribution: who ships it.
        version: of the distribution.
        state: "ok" also where a part of the plugin was refused; then there is a door.
        door: where the plugin, or a part of it, was stopped.
        reason: what happened there.
        remedy: what the user can do about it.
        components: (kind, component) of all that it offers.
    """

    name: str = field()
    distribution: str = field()
    version: str = field()
    state: State = field()
    door: Door | None = field(default=None)
    reason: str | None = field(default=None)
    remedy: str | None = field(default=None)
    components: tuple[tuple[str, Component], ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Return what `bliss plugins --json` prints of this plugin."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "state": self.state,
            "door": self.door,
            "reason": self.reason,
            "remedy": self.remedy,
            "components": [{"kind": kind, "name": one.name, "summary": one.summary} for kind, one in self.components],
        }

    def sentence(self) -> str:
        """Return who was stopped, where, why, and the remedy."""
        fate = "was skipped" if self.state == "broken" else "works only in part: it was stopped"
        who = f'plugin "{self.name}" from {self.distribution} {self.version}'
        return f'{who} {fate} at door "{self.door}": {self.reason}. Remedy: {self.remedy}.'

    def complain(self, door: Door, reason: str, remedy: str) -> "PluginReport":
        """Return the report with one more complaint; the first one's door stays."""
        if self.door is None:
            return evolve(self, door=door, reason=reason, remedy=remedy)
        return evolve(self, reason=f"{self.reason}; {reason}", remedy=f"{self.remedy}; {remedy}")


def describe(error: BaseException) -> str:
    """Return the type and text of an exception in one line without a full stop.

    >>> describe(ValueError("too long."))
    'ValueError: too long'
    """
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
