"""The kit on everything that is installed, as far as components can be made without being told anything."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import evolve, field, frozen

from bliss_framework.errors import BlissError, BlissWarning, MissingExtraError, SettingsError
from bliss_framework.extension.loading.isolation import describe
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.testing.baselines import baseline_checks
from bliss_framework.testing.checks import Check, Example, verify
from bliss_framework.testing.classifiers import classifier_checks
from bliss_framework.testing.examples import mil_example, part_of
from bliss_framework.testing.regimes import regime_checks
from bliss_framework.testing.rewards import reward_checks
from bliss_framework.testing.strategies import strategy_checks


@frozen
class Verdict:
    """What the kit says of one component.

    Attributes:
        kind: of the component.
        name: of the component.
        plugin: that registers it.
        state: "passed", "failed" or "skipped".
        reason: what failed, or why it was skipped.
    """

    kind: str = field()
    name: str = field()
    plugin: str = field()
    state: str = field()
    reason: str = field(default="")


class _NotChecked(Exception):
    """A component that the kit cannot check by itself; the message says why."""


def check_installed(registry: Registry, plugin: str | None = None) -> Iterable[Verdict]:
    """Run the kit on each installed component that can be made without parameters.

    Readers and data sets are skipped: only their authors know a file to read. A regime is checked on MIL bags if it
    takes them; other regimes, and their rewards, need an example of their own.

    Args:
        registry: all that is installed.
        plugin: whose components are checked; None for those of every plugin.
    """
    for registration in registry.registrations:
        if plugin in (None, registration.plugin):
            yield _verdict(registration, registry)


def _verdict(registration: Registration, registry: Registry) -> Verdict:
    who = registration.kind, registration.component.name, registration.plugin
    try:
        component, checks = _checks(registration, registry)
        verify(component, checks)
    except (_NotChecked, MissingExtraError) as unchecked:
        return Verdict(*who, "skipped", str(unchecked))
    except KeyboardInterrupt:
        raise
    except AssertionError as error:
        return Verdict(*who, "failed", str(error))
    except BaseException as error:
        return Verdict(*who, "failed", str(error) if isinstance(error, BlissError) else describe(error))
    return Verdict(*who, "passed", f"{len(checks)} checks")


def _checks(registration: Registration, registry: Registry) -> tuple[Any, list[Check]]:
    lists: dict[str, Callable[[Any], list[Check]]] = {
        "strategy": strategy_checks,
        "classifier": classifier_checks,
        "baseline": lambda baseline: baseline_checks(baseline, _weak_example_for(registration, registry)),
        "reward": lambda reward: reward_checks(reward, _example_for(registration, registry)),
        "regime": lambda regime: regime_checks(_mil_example_of(regime)),
    }
    if registration.kind not in lists:
        raise _NotChecked(f"a {registration.kind} is checked by its author, on data of its own")
    try:
        component = registry.create(registration.kind, registration.component.name)
    except SettingsError as error:
        raise _NotChecked(f"it cannot be made without parameters: {error}") from None
    return component, lists[registration.kind](component)


def _example_for(registration: Registration, registry: Registry) -> Example:
    """Find data for a reward: those of a regime that uses it by default or comes with it, else MIL bags."""
    beside = list(_regimes(registry, lambda one: one.plugin == registration.plugin))
    # A neighbour whose regime cannot be made is checked on its own, and does not matter here.
    named = [
        regime
        for regime in (*beside, *_regimes(registry, lambda one: one.plugin != registration.plugin, quietly=True))
        if regime.presets.defaults["reward"] == registration.component.name
    ]
    return _mil_example_of([*named, *beside][0]) if named or beside else mil_example()


def _regimes(registry: Registry, wanted: Callable[[Registration], bool], quietly: bool = False) -> Iterator[Any]:
    """Make regimes; `quietly` leaves out those that raise when they are made or asked what they advise."""
    for one in registry.registrations:
        if one.kind != "regime" or not wanted(one):
            continue
        try:
            regime = registry.create("regime", one.component.name)
            _ = regime.presets.defaults["reward"]
        except KeyboardInterrupt:
            raise
        except BaseException:
            if quietly:
                continue
            raise
        yield regime


def _weak_example_for(registration: Registration, registry: Registry) -> Example:
    """Find data for a baseline: weak labels of MIL, where no regime that comes with it refuses those."""
    for one in registry.registrations:
        if one.kind == "regime" and one.plugin == registration.plugin:
            _accepting(registry.create("regime", one.component.name))
    return mil_example()


def _mil_example_of(regime: Any) -> Example:
    example = _accepting(regime)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlissWarning)
        free = part_of(example)[0].space.free.any()
    if not free:
        raise _NotChecked("MIL bags leave its regime nothing to infer, so it needs an example of its own")
    return example


def _accepting(regime: Any) -> Example:
    example = evolve(mil_example(), regime=regime)
    try:
        with warnings.catch_warnings():
            # What MIL bags lack for this regime is no fault of it.
            warnings.simplefilter("ignore", BlissWarning)
            part_of(example)
    except BlissError:
        raise _NotChecked("its regime takes no MIL bags, so it needs an example of its own") from None
    return example
