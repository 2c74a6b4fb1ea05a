"""The registry: every component that the plugins register, by kind and name."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import BlissError, PluginError, SettingsError, UnknownNameError
from bliss_framework.extension.contracts import KINDS, Component
from bliss_framework.extension.loading.isolation import describe, written
from bliss_framework.extension.loading.reports import PluginReport
from bliss_framework.extension.naming import did_you_mean, is_own, plural, singular
from bliss_framework.faults import is_fault

Recorded = Mapping[str, Mapping[str, str]]
"""Where components came from when something was saved: "kind:name" -> plugin, distribution, version."""


@frozen
class Registration:
    """A component, and who registers it.

    >>> Registration("strategy", Component("cucb", dict), "bandits", "bliss-framework", "0.1.0").origin()
    'plugin "bandits" from bliss-framework 0.1.0'

    Attributes:
        kind: of the component, one of `KINDS`.
        component: itself.
        plugin: that registers it.
        distribution: that ships the plugin.
        version: of the distribution; empty where it is not known.
    """

    kind: str = field()
    component: Component = field()
    plugin: str = field()
    distribution: str = field()
    version: str = field(default="")

    def origin(self) -> str:
        """Return who registers the component."""
        return f'plugin "{self.plugin}" from {self.distribution} {self.version}'.rstrip()


@frozen
class Registry:
    """What is installed.

    >>> registry = Registry((Registration("strategy", Component("cucb", dict), "bandits", "bliss-framework"),))
    >>> registry.names("strategy")
    ('cucb',)
    >>> registry.create("strategy", {"name": "cucb", "exploration": 1.5})
    {'exploration': 1.5}

    Attributes:
        registrations: all components; a name that two of them bear is ambiguous, and using it is an error.
        absent: reports of the plugins that are blocked, broken, or loaded in part only. They may be why a name is
            missing.
    """

    registrations: tuple[Registration, ...] = field(default=())
    absent: tuple[PluginReport, ...] = field(default=())

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names that can be used, in alphabetical order."""
        return tuple(sorted(self._usable(kind)))

    def components(self, kind: str) -> tuple[Component, ...]:
        """Return the components that can be used, in alphabetical order."""
        usable = self._usable(kind)
        return tuple(usable[name].component for name in sorted(usable))

    def get(self, kind: str, name: str, recorded: Recorded | None = None) -> Component:
        """Return the component with this name; arguments and errors are those of `registration`."""
        return self.registration(kind, name, recorded).component

    def registration(self, kind: str, name: str, recorded: Recorded | None = None) -> Registration:
        """Return the component with this name and who registers it.

        Args:
            kind: one of `KINDS`.
            name: of the component.
            recorded: as `record` gave it when a model or a run was saved; where the component is missing now, the
                message names the distribution that it came from.

        Raises:
            UnknownNameError: nothing is called so; the message offers what is, and says which plugins are not loaded.
            PluginError: two plugins register it.
        """
        found = [one for one in self._of(kind) if one.component.name == name]
        if not found:
            raise UnknownNameError(self._unknown(kind, name, recorded or {}))
        if len(found) > 1:
            raise PluginError(_ambiguous(found))
        return found[0]

    def create(self, kind: str, spec: str | Mapping[str, Any], recorded: Recorded | None = None) -> Any:
        """Make a component.

        Args:
            kind: one of `KINDS`.
            spec: a name, or a mapping with "name" and the component's parameters.
            recorded: as for `registration`.

        Raises:
            SettingsError: a parameter that the component does not have, or one that it needs and did not get.
            PluginError: the component's factory raised, or two plugins register the name.
            UnknownNameError: nothing is called so.
        """
        name, parameters = _read_spec(kind, spec)
        registration = self.registration(kind, name, recorded)
        _check_parameters(registration, parameters)
        try:
            return registration.component.factory(**parameters)
        except (BlissError, KeyboardInterrupt):
            raise
        except BaseException as error:  # A factory that calls sys.exit must not end the run without a word.
            if is_fault(error):
                raise
            raise PluginError(_failed(registration, parameters, error)) from error

    def record(self, components: Iterable[tuple[str, str]]) -> dict[str, dict[str, str]]:
        """Return where components come from, to be saved with whatever needs them again.

        Args:
            components: (kind, name) of each; those that are not installed are left out.

        Returns:
            "kind:name" -> "plugin", "distribution" and "version"; for `recorded` later on.
        """
        wanted = set(components)
        return {
            f"{one.kind}:{one.component.name}": {
                "plugin": one.plugin,
                "distribution": one.distribution,
                "version": one.version,
            }
            for one in self.registrations
            if (one.kind, one.component.name) in wanted
        }

    def about_absent(self) -> str:
        """Return a sentence for each plugin that is blocked, broken or partly loaded; may be empty."""
        return " ".join(one.sentence() for one in self.absent)

    def _of(self, kind: str) -> list[Registration]:
        if kind not in KINDS:
            raise UnknownNameError(f'"{kind}" is no kind.{did_you_mean(kind, KINDS)} Kinds: {", ".join(KINDS)}.')
        return [one for one in self.registrations if one.kind == kind]

    def _usable(self, kind: str) -> dict[str, Registration]:
        found = self._of(kind)
        names = [one.component.name for one in found]
        return {one.component.name: one for one in found if names.count(one.component.name) == 1}

    def _unknown(self, kind: str, name: str, recorded: Recorded) -> str:
        names = self.names(kind)
        listed = f"Installed {plural(kind)}: {', '.join(names)}." if names else f"There are no {plural(kind)} at all."
        parts = [
            f'No {singular(kind)} "{name}" is installed.{did_you_mean(str(name), names)}',
            self._whence(kind, name, recorded),
            self.about_absent(),
            listed,
            "" if names else "`bliss plugins` says what is installed and what broke.",
        ]
        return " ".join(part for part in parts if part)

    def _whence(self, kind: str, name: str, recorded: Recorded) -> str:
        """Say which distribution the component came from when it was recorded, and what to do unless that is there."""
        origin = recorded.get(f"{kind}:{name}")
        if origin is None:
            return ""
        distribution, version = origin["distribution"], origin.get("version", "")
        came = f'It came from plugin "{origin["plugin"]}" of {distribution} {version}'.rstrip()
        if any(one.distribution == distribution for one in self.absent):
            return f"{came}."
        install = f'pip install "{distribution}=={version}"' if version else f"pip install {distribution}"
        verb = "has no such component now" if self._has(distribution) else "is not installed"
        return f"{came}, which {verb}; {install}."

    def _has(self, distribution: str) -> bool:
        return is_own(distribution) or any(one.distribution == distribution for one in self.registrations)


def _ambiguous(found: list[Registration]) -> str:
    first, *others = found
    owners = " and by ".join(one.origin() for one in found)
    switches = " or ".join(f"--block-plugin {one.plugin}" for one in found)
    return (
        f'The {singular(first.kind)} "{first.component.name}" is registered by {owners}, so the name is ambiguous. '
        f"Use {switches} (in Python, set BLISS_BLOCK_PLUGINS={others[-1].plugin}), or pip uninstall one of them."
    )


def _read_spec(kind: str, spec: object) -> tuple[str, dict[str, Any]]:
    if isinstance(spec, str):
        return spec, {}
    word = singular(kind)
    if not isinstance(spec, Mapping):
        allowed = f'a name, or a table with "name" and the parameters of the {word}'
        raise SettingsError(f"The {word} is given as {spec!r}; allowed is {allowed}.")
    if not isinstance(spec.get("name"), str):
        raise SettingsError(f'The {word} is given as {dict(spec)!r}, which lacks "name"; write {{name = "...", ...}}.')
    return spec["name"], {key: value for key, value in spec.items() if key != "name"}


def _check_parameters(registration: Registration, given: Mapping[str, Any]) -> None:
    parameters = registration.component.parameters
    if parameters is None:
        return  # The factory raises itself.
    allowed = [name for name, one in parameters.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    who = f'The {singular(registration.kind)} "{registration.component.name}"'
    listed = f"Its parameters: {', '.join(allowed)}." if allowed else "It takes none."
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in given:
        if name not in allowed and not takes_all:
            raise SettingsError(f'{who} has no parameter "{name}".{did_you_mean(str(name), allowed)} {listed}')
    for name in allowed:
        if parameters[name].default is inspect.Parameter.empty and name not in given:
            raise SettingsError(f'{who} needs the parameter "{name}". {listed}')


def _failed(registration: Registration, parameters: Mapping[str, Any], error: BaseException) -> str:
    given = ", ".join(f"{name}={written(value)}" for name, value in parameters.items()) or "its defaults"
    return (
        f'The {singular(registration.kind)} "{registration.component.name}" of {registration.origin()} could not be '
        f"made with {given}: {describe(error)}. Check the values, or tell the authors of {registration.distribution}."
    )
