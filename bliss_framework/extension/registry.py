"""The registry: every component that the plugins offer, by kind and name."""

import inspect
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import BlissError, PluginError, SettingsError, UnknownNameError
from bliss_framework.extension.contracts import KINDS, Component
from bliss_framework.extension.loading.reports import describe
from bliss_framework.extension.names import did_you_mean, plural, singular


@frozen
class Offer:
    """A component, and who offers it."""

    kind: str = field()
    component: Component = field()
    plugin: str = field()
    distribution: str = field()

    def origin(self) -> str:
        """Return who offers the component."""
        return f'plugin "{self.plugin}" from {self.distribution}'


@frozen
class Registry:
    """What is installed.

    >>> registry = Registry((Offer("strategy", Component("cucb", dict), "bandits", "bliss-framework"),))
    >>> registry.names("strategy")
    ('cucb',)
    >>> registry.create("strategy", {"name": "cucb", "exploration": 1.5})
    {'exploration': 1.5}

    Attributes:
        offers: all components; a name that two of them bear is ambiguous, and using it is an error.
    """

    offers: tuple[Offer, ...] = field(default=())

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names that can be used, in alphabetical order."""
        return tuple(sorted(self._usable(kind)))

    def components(self, kind: str) -> tuple[Component, ...]:
        """Return the components that can be used, in alphabetical order."""
        usable = self._usable(kind)
        return tuple(usable[name].component for name in sorted(usable))

    def get(self, kind: str, name: str) -> Component:
        """Return the component with this name.

        Raises:
            UnknownNameError: nothing is called so; the message offers what is.
            PluginError: two plugins offer it.
        """
        return self.offer(kind, name).component

    def offer(self, kind: str, name: str) -> Offer:
        """Return the component with this name and who offers it; raises as `get` does."""
        offers = [one for one in self._of(kind) if one.component.name == name]
        if not offers:
            raise UnknownNameError(self._unknown(kind, name))
        if len(offers) > 1:
            raise PluginError(_ambiguous(offers))
        return offers[0]

    def create(self, kind: str, spec: str | Mapping[str, Any]) -> Any:
        """Make a component.

        Args:
            kind: one of `KINDS`.
            spec: a name, or a mapping with "name" and the component's parameters.

        Raises:
            SettingsError: a parameter that the component does not have, or one that it needs and did not get.
            PluginError: the component's factory raised, or two plugins offer the name.
            UnknownNameError: nothing is called so.
        """
        name, parameters = _read_spec(kind, spec)
        offer = self.offer(kind, name)
        _check_parameters(offer, parameters)
        try:
            return offer.component.factory(**parameters)
        except BlissError:
            raise
        except Exception as error:
            raise PluginError(_failed(offer, parameters, error)) from error

    def _of(self, kind: str) -> list[Offer]:
        if kind not in KINDS:
            raise UnknownNameError(f'"{kind}" is no kind.{did_you_mean(kind, KINDS)} Kinds: {", ".join(KINDS)}.')
        return [one for one in self.offers if one.kind == kind]

    def _usable(self, kind: str) -> dict[str, Offer]:
        offers = self._of(kind)
        names = [one.component.name for one in offers]
        return {one.component.name: one for one in offers if names.count(one.component.name) == 1}

    def _unknown(self, kind: str, name: str) -> str:
        names = self.names(kind)
        missing = f'No {singular(kind)} "{name}" is installed.'
        if not names:
            return (
                f"{missing} There are no {plural(kind)} at all; `bliss plugins` says what is installed and what broke."
            )
        return f"{missing}{did_you_mean(str(name), names)} Installed {plural(kind)}: {', '.join(names)}."


def _ambiguous(offers: list[Offer]) -> str:
    first, *others = offers
    origins = " and by ".join(one.origin() for one in offers)
    switches = " or ".join(f"--block-plugin {one.plugin}" for one in offers)
    return (
        f'The {singular(first.kind)} "{first.component.name}" is offered by {origins}, so the name is ambiguous. '
        f"Remedy: {switches} (in Python, set BLISS_BLOCK_PLUGINS={others[-1].plugin}), or pip uninstall one of them."
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


def _check_parameters(offer: Offer, given: Mapping[str, Any]) -> None:
    try:
        parameters = inspect.signature(offer.component.factory).parameters
    except (TypeError, ValueError):
        return  # Some factories written in C do not tell; they complain themselves.
    allowed = [name for name, one in parameters.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    who = f'The {singular(offer.kind)} "{offer.component.name}"'
    listed = f"Its parameters: {', '.join(allowed)}." if allowed else "It takes none."
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in given:
        if name not in allowed and not takes_all:
            raise SettingsError(f'{who} has no parameter "{name}".{did_you_mean(str(name), allowed)} {listed}')
    for name in allowed:
        if parameters[name].default is inspect.Parameter.empty and name not in given:
            raise SettingsError(f'{who} needs the parameter "{name}". {listed}')


def _failed(offer: Offer, parameters: Mapping[str, Any], error: Exception) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "its defaults"
    return (
        f'The {singular(offer.kind)} "{offer.component.name}" of {offer.origin()} could not be made with {given}: '
        f"{describe(error)}. Check the values, or tell the authors of {offer.distribution}."
    )
