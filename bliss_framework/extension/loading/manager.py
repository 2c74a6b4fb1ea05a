"""The plugin manager: loads every installed plugin through five doors, and reports what became of it.

A plugin can be stopped at "metadata", "import", "register", "hooks" or "call". At each door only that plugin is lost.
"""

import os
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import pluggy
from attrs import evolve, field, frozen

from bliss_framework.errors import PluginError
from bliss_framework.extension import hookspecs
from bliss_framework.extension.contracts import Observer
from bliss_framework.extension.loading.claims import (
    BLOCK_VARIABLE,
    Claim,
    blocked_names,
    built_in_first,
    check_metadata,
    import_plugin,
    is_blocked,
    name_of,
)
from bliss_framework.extension.loading.discovery import Found, Unreadable, find_plugins
from bliss_framework.extension.loading.implementations import accepted, examine, hook_complaints
from bliss_framework.extension.loading.offers import Complaint, call_hook, check_components, registration_hooks, settle
from bliss_framework.extension.loading.remedies import metadata_remedy, remedy
from bliss_framework.extension.loading.reports import PluginReport, Refusal, describe
from bliss_framework.extension.markers import PROJECT
from bliss_framework.extension.registry import Offer, Registry

Admitted = tuple[PluginReport, list[Offer]]


@frozen(eq=False)
class Plugins:
    """The plugins of this installation.

    Attributes:
        reports: what became of each, built-in ones first.
        registry: the components that they offer.
    """

    reports: tuple[PluginReport, ...] = field()
    registry: Registry = field()
    _manager: pluggy.PluginManager = field(repr=False)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let estimators in a `with` block find these plugins."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each plugin that was stopped, wholly or in part; a blocked one is no problem."""
        return tuple(one.sentence() for one in self.reports if one.door is not None)

    def observers(self, run: Any) -> list[Observer]:
        """Ask each plugin for its observers of a run.

        Args:
            run: the settings of the run.

        Returns:
            the observers of all plugins. A plugin that cannot give its own is left out, with a RuntimeWarning.
        """
        observers: list[Observer] = []
        for name, function in _implementations(self._manager, "bliss_observers"):
            try:
                observers += _listen(function, run)
            except Refusal as refusal:
                self._warn(name, refusal)
        return observers

    def _warn(self, name: str, refusal: Refusal) -> None:
        report = next(one for one in self.reports if one.name == name and one.state == "ok")
        text = f'the observers of plugin "{name}" from {report.distribution} {report.version} are left out'
        advice = remedy(report.distribution)
        warnings.warn(f"{text}: {refusal.reason}. Remedy: {advice}.", RuntimeWarning, stacklevel=3)


def load_plugins(*, block: Collection[str] = (), strict: bool = False) -> Plugins:
    """Load the plugins that are installed.

    Args:
        block: names of plugins or of distributions that are not even imported; the environment variable
            BLISS_BLOCK_PLUGINS holds more, separated by commas.
        strict: stop at the first broken plugin.

    Raises:
        PluginError: in strict mode only, with the plugin's own exception as its cause.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    blocked = blocked_names(block)
    claims = sorted(find_plugins(), key=built_in_first)
    active = [one for one in claims if not is_blocked(one, blocked)]
    reports: list[PluginReport] = []
    offers: list[Offer] = []
    for claim in claims:
        report, offered = _judge(manager, claim, active, strict)
        reports.append(report)
        offers += offered
    kept, complaints = settle(offers)
    return Plugins(tuple(_complete(one, kept, complaints) for one in reports), Registry(kept), manager)


_ACTIVE: ContextVar[Plugins | None] = ContextVar("bliss_plugins", default=None)


def active_plugins() -> Plugins:
    """Return the plugins of the surrounding `with plugins.active():`, else those that are installed."""
    return _ACTIVE.get() or default_plugins()


def default_plugins() -> Plugins:
    """Return the installed plugins, loaded once for each search path and each value of BLISS_BLOCK_PLUGINS.

    An estimator resolves names in every fit, and must not import and call all plugins every time. What is kept is a
    function of its key and cannot be changed, so tests have nothing to reset: a test that puts a plugin on `sys.path`
    or blocks one has another key. Only a distribution that is installed while the process runs goes unseen; call
    `load_plugins` for a fresh look.
    """
    return _plugins_at(tuple(str(one) for one in sys.path), os.environ.get(BLOCK_VARIABLE, ""))


@lru_cache(maxsize=8)
def _plugins_at(path: tuple[str, ...], block: str) -> Plugins:
    # The arguments are the key alone: loading reads both from the process.
    return load_plugins()


def _judge(manager: pluggy.PluginManager, claim: Claim, active: Collection[Claim], strict: bool) -> Admitted:
    """Report what becomes of a claim, and what it offers; `active` holds the claims that are not blocked."""
    if claim not in active:
        return PluginReport(name_of(claim), claim.distribution, claim.version, "blocked"), []
    try:
        return _admit(manager, claim, active)
    except Refusal as refusal:
        report = _broken(claim, refusal)
        if strict:
            raise PluginError(report.sentence()) from refusal.__cause__
        return report, []


def _broken(claim: Claim, refusal: Refusal) -> PluginReport:
    unreadable = isinstance(claim, Unreadable)
    advice = metadata_remedy(claim.distribution) if unreadable else remedy(claim.distribution, refusal.remedy)
    who = (name_of(claim), claim.distribution, claim.version)
    return PluginReport(*who, "broken", refusal.door, refusal.reason, advice)


def _complete(report: PluginReport, kept: tuple[Offer, ...], complaints: tuple[Complaint, ...]) -> PluginReport:
    """Add what became of the names of a plugin's components."""
    if report.state != "ok":
        return report
    mine = tuple((one.kind, one.component) for one in kept if one.plugin == report.name)
    report = evolve(report, components=mine)
    for one in complaints:
        if one.offer.plugin == report.name:
            report = report.complain("call", one.reason, one.remedy)
    return report


def _admit(manager: pluggy.PluginManager, claim: Claim, active: Collection[Claim]) -> Admitted:
    """Lead a plugin through the five doors.

    Raises:
        Refusal: at the door where it was stopped; nothing of it stays in the manager.
    """
    found = check_metadata(claim, active)
    plugin = import_plugin(found)
    complaints = _register(manager, plugin, found)
    try:
        offers = _offers(manager, found)
    except Refusal:
        manager.unregister(name=found.name)
        raise
    report = PluginReport(found.name, found.distribution, found.version, "ok")
    for reason, advice in complaints:
        report = report.complain("hooks", reason, advice)
    return report, offers


def _register(manager: pluggy.PluginManager, plugin: Any, found: Found) -> list[tuple[str, str]]:
    """Register a plugin that has at least one hook, and return complaints about its other hooks."""
    try:
        implemented = examine(plugin, manager.parse_hookimpl_opts)
        complaints = hook_complaints(implemented)
        if not implemented.known:
            raise Refusal("hooks", "; ".join(one for one, _ in complaints), "; ".join(one for _, one in complaints))
        if (twin := manager.get_name(plugin)) is not None:
            raise Refusal("register", f'plugin "{twin}" is the same object', "name it in one entry point only")
        manager.register(plugin, name=found.name)
    except Refusal:
        raise
    except Exception as error:
        raise Refusal("register", describe(error)) from error
    return complaints


def _offers(manager: pluggy.PluginManager, found: Found) -> list[Offer]:
    offers: list[Offer] = []
    for hook, kind in registration_hooks().items():
        seen: set[str] = set()
        for name, function in _implementations(manager, hook):
            if name == found.name:
                components = call_hook(hook, function, **accepted(function, {}))
                check_components(hook, components, seen)
                offers += [Offer(kind, one, found.name, found.distribution) for one in components]
    return offers


def _implementations(manager: pluggy.PluginManager, hook: str) -> Iterator[tuple[str, Any]]:
    """Return (plugin, function) for a hook; calling them one by one, a plugin that raises costs only itself."""
    for one in getattr(manager.hook, hook).get_hookimpls():
        yield one.plugin_name, one.function


def _listen(function: Any, run: Any) -> list[Any]:
    observers = call_hook("bliss_observers", function, **accepted(function, {"run": run}))
    for one in observers:
        if not callable(getattr(one, "notify", None)):
            raise Refusal("call", f"bliss_observers offers {one!r}, which has no method notify(event)")
    return observers
