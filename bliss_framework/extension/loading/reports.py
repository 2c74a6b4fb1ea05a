"""What became of each plugin: one record, as a sentence for people and as JSON for programs, with a hint."""

import re
from typing import Any, Literal

from attrs import evolve, field, frozen

from bliss_framework.extension.contracts import Component
from bliss_framework.extension.loading.discovery import NAMELESS
from bliss_framework.extension.naming import OWN_DISTRIBUTION, is_own

State = Literal["ok", "blocked", "broken"]
Stage = Literal["metadata", "import", "register", "hooks", "call"]

SLOW = 5.0  # Seconds.
_MISSING_MODULE = re.compile(r"No module named '\w+")
_MISSING_NAME = re.compile(r"cannot import name '\w+' from '(bliss_framework)[.']|No module named 'bliss_framework[.']")
_FAILED = {
    "metadata": "its entry point cannot be used: ",
    "import": "its import failed: ",
    "register": "it cannot be registered: ",
    "hooks": "",
    "call": "",
}


@frozen
class PluginReport:
    """What became of one plugin.

    Attributes:
        name: of the plugin, or of its distribution where its entry points cannot be read.
        distribution: who ships it.
        version: of the distribution.
        state: "ok" also where a part of the plugin was refused; then there is a stage.
        stage: of loading at which the plugin, or a part of it, was stopped.
        reason: what happened there, without a full stop.
        hint: what the user can do about it.
        components: (kind, component) of all that it registers.
        module: that its entry point names; empty where it was not read.
        seconds: that its import took.
        links: (label, address) of pages that the metadata of its distribution name.
    """

    name: str = field()
    distribution: str = field()
    version: str = field()
    state: State = field()
    stage: Stage | None = field(default=None)
    reason: str | None = field(default=None)
    hint: str | None = field(default=None)
    components: tuple[tuple[str, Component], ...] = field(default=())
    module: str = field(default="")
    seconds: float = field(default=0.0, eq=False)
    links: tuple[tuple[str, str], ...] = field(default=(), eq=False)

    @property
    def origin(self) -> str:
        """The plugin, its distribution and version, as in the middle of a sentence."""
        return f'plugin "{self.name}" from {self.distribution} {self.version}'

    @property
    def is_whole(self) -> bool:
        """Whether all of the plugin was loaded."""
        return self.state == "ok" and self.stage is None

    @property
    def is_slow(self) -> bool:
        """Whether every command waits long for its import."""
        return self.seconds > SLOW

    def slowness(self) -> str:
        """Return how long every command waits for the plugin, as a whole sentence."""
        return f"P{self.origin[1:]} took {self.seconds:.1f} s to import, for which every command waits."

    def as_dict(self) -> dict[str, Any]:
        """Return what `bliss plugins --json` prints of this plugin; other programs rely on these keys."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "state": self.state,
            "door": self.stage,
            "reason": self.reason,
            "remedy": self.hint,
            "components": [{"kind": kind, "name": one.name, "summary": one.summary} for kind, one in self.components],
        }

    def sentence(self) -> str:
        """Return which plugin is not (wholly) loaded, why, and what to do, as a whole sentence.

        >>> PluginReport("a", "bliss-a", "0.3", "blocked").sentence()
        'Plugin "a" from bliss-a 0.3 is blocked; take it out of --block-plugin and BLISS_BLOCK_PLUGINS to use it.'
        """
        who = f"P{self.origin[1:]}"
        if self.state == "blocked":
            return f"{who} is blocked; take it out of --block-plugin and BLISS_BLOCK_PLUGINS to use it."
        if self.is_whole:
            return f"{who} is loaded."
        fate = "not loaded" if self.state == "broken" else "partly loaded"
        return f"{who} is {fate}: {self.problem()}. Hint: {self.hint}."

    def problem(self) -> str:
        """Return what stopped the plugin, or a part of it, in words and without a full stop."""
        return "" if self.stage is None else f"{_FAILED[self.stage]}{self.reason}"

    def with_problem(self, stage: Stage, reason: str, hint: str) -> "PluginReport":
        """Return the report with one more problem; the first one's stage stays."""
        if self.stage is None:
            return evolve(self, stage=stage, reason=reason, hint=hint)
        return evolve(self, reason=f"{self.reason}; {reason}", hint=f"{self.hint}; {hint}")


def hint_for(distribution: str, first: str | None = None) -> str:
    """Return what to do: the first hint, else an upgrade; a third-party distribution can be uninstalled as well.

    >>> hint_for("bliss-audio", "pip install librosa")
    'pip install librosa, or pip uninstall bliss-audio'
    """
    if is_own(distribution):
        return first or reinstall(distribution)
    return f"{first or f'pip install --upgrade {distribution}'}, or pip uninstall {distribution}"


def reinstall(distribution: str) -> str:
    """Return the command that puts back what a distribution should consist of."""
    return f"pip install --force-reinstall {distribution}"


def metadata_hint(distribution: str) -> str:
    """Return what to do about entry points that cannot be read."""
    if distribution == NAMELESS:
        return "delete what is left of that distribution and install it again"
    return hint_for(distribution, reinstall(distribution))


def import_hint(text: str, distribution: str) -> str | None:
    """Return the command for an import that failed because something is missing, else None.

    What a distribution needs comes with it, so it is installed again; a name that this host does not have is one of a
    newer host.

    Args:
        text: of the error.
        distribution: of the plugin.
    """
    if _MISSING_NAME.search(text):
        return f"pip install --upgrade {OWN_DISTRIBUTION}"
    return reinstall(distribution) if _MISSING_MODULE.search(text) else None
