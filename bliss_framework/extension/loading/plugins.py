"""The plugins of an installation: each entry is led through the stages of admission, and reported on.

This is the only module, beside the markers, that imports `pluggy`. A plugin can be stopped at "metadata", "import",
"register", "hooks" or "call"; at each stage only that plugin is lost.
"""

import os
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import perf_counter
from typing import Any

import pluggy
from attrs import evolve, field, frozen

from bliss_framework.errors import PluginError
from bliss_framework.extension import hookspecs
from bliss_framework.extension.contracts import Observer
from bliss_framework.extension.loading.admission import (
    accepted,
    check_components,
    check_metadata,
    examine,
    import_plugin,
    registration_hooks,
)
from bliss_framework.extension.loading.conflicts import Conflict, settle
from bliss_framework.extension.loading.discovery import AnyEntry, Entry, UnreadableEntry, find_entries
from bliss_framework.extension.loading.isolation import StageError, attributing_errors, call_hook, shown
from bliss_framework.extension.loading.reports import PluginReport, hint_for, metadata_hint
from bliss_framework.extension.markers import PROJECT
from bliss_framework.extension.naming import is_own, normalise
from bliss_framework.extension.registry import Registration, Registry

BLOCK_VARIABLE = "BLISS_BLOCK_PLUGINS"

Admitted = tuple[PluginReport, list[Registration]]
Implementation = tuple[str, Any]

_active: ContextVar["Plugins"] = ContextVar("active_plugins")


@frozen(eq=False)
class Plugins:
    """The plugins of this installation.

    Plugins can be pickled, without the functions that make observers: a run is observed where it was started.

    Attributes:
        reports: what became of each, built-in ones first.
        registry: the components that they register.
    """

    reports: tuple[PluginReport, ...] = field()
    registry: Registry = field()
    _observing: tuple[Implementation, ...] = field(default=(), repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what belongs to this process."""
        return Plugins, (self.reports, self.registry)

    @contextmanager
    def active(self) -> Iterator["Plugins"]:
        """Make these the plugins in which names are looked up for the length of a with block.

        >>> with load_plugins(block=["bandits"]).active() as plugins:
        ...     active_plugins() is plugins
        True
        """
        token = _active.set(self)
        try:
            yield self
        finally:
            _active.reset(token)

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each plugin that was stopped, wholly or in part, or is slow; a blocked one is none."""
        stopped = [one.sentence() for one in self.reports if one.stage is not None]
        return (*stopped, *(one.slowness() for one in self.reports if one.is_slow))

    def observers(self, run: Any) -> list[Observer]:
        """Ask each plugin for its observers of a run.

        Args:
            run: the settings of the run.

        Returns:
            the observers of all plugins. A plugin that cannot give its own is left out, with a RuntimeWarning.
        """
        observers: list[Observer] = []
        for name, function in self._observing:
            try:
                observers += _observers_of(function, run)
            except StageError as error:
                self._warn(name, error)
        return observers

    def _warn(self, name: str, error: StageError) -> None:
        report = next(one for one in self.reports if one.name == name and one.state == "ok")
        text = f'the observers of plugin "{name}" from {report.distribution} {report.version} are left out'
        warnings.warn(f"{text}: {error.reason}. Hint: {hint_for(report.distribution)}.", RuntimeWarning, stacklevel=3)


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
    blocked = _blocked_names(block)
    entries = sorted(find_entries(), key=_built_in_first)
    wanted = [one for one in entries if not _is_blocked(one, blocked)]
    reports: list[PluginReport] = []
    registrations: list[Registration] = []
    for entry in entries:
        report, registered = _judge(manager, entry, wanted, strict)
        reports.append(report)
        registrations += registered
    kept, conflicts = settle(registrations)
    complete = tuple(_complete(one, kept, conflicts) for one in reports)
    registry = Registry(kept, tuple(one for one in complete if not one.is_whole))
    return Plugins(complete, registry, tuple(_implementations(manager, "bliss_observers")))


def active_plugins() -> Plugins:
    """Return the plugins of the surrounding `with plugins.active():`, else those that are installed.

    This is asked at the outermost borders only, once; inside, a registry or objects are passed on.
    """
    return _active.get(None) or default_plugins()


def default_plugins() -> Plugins:
    """Return the installed plugins, loaded once for each search path and each value of BLISS_BLOCK_PLUGINS.

    An estimator looks up names in every fit, and must not import and call all plugins every time. What is kept is a
    function of its key and cannot be changed, so tests have nothing to reset: a test that puts a plugin on `sys.path`
    or blocks one has another key. Only a distribution that is installed while the process runs goes unseen; call
    `load_plugins` for a fresh look.
    """
    return _plugins_at(tuple(str(one) for one in sys.path), os.environ.get(BLOCK_VARIABLE, ""))


@lru_cache(maxsize=8)
def _plugins_at(path: tuple[str, ...], block: str) -> Plugins:
    # The arguments are the key alone: loading reads both from the process.
    return load_plugins()


def _blocked_names(block: Collection[str]) -> frozenset[str]:
    """Return the given names and those of BLISS_BLOCK_PLUGINS, normalised."""
    given = [block] if isinstance(block, str) else block
    names = [*given, *os.environ.get(BLOCK_VARIABLE, "").split(",")]
    return frozenset(normalise(one.strip()) for one in names if one.strip())


def _is_blocked(entry: AnyEntry, blocked: frozenset[str]) -> bool:
    return not blocked.isdisjoint({normalise(entry.name), normalise(entry.distribution)})


def _built_in_first(entry: AnyEntry) -> tuple[bool, str, str]:
    """Return a sorting key: built-in plugins, then third-party ones by name."""
    return not is_own(entry.distribution), _name_of(entry), entry.distribution


def _name_of(entry: AnyEntry) -> str:
    """Return the plugin's name; where a whole file is malformed, its distribution's, which can be blocked as well."""
    return entry.name or entry.distribution


def _judge(manager: pluggy.PluginManager, entry: AnyEntry, wanted: Collection[AnyEntry], strict: bool) -> Admitted:
    """Report what becomes of an entry, and what it registers; `wanted` holds the entries that are not blocked."""
    if entry not in wanted:
        return PluginReport(_name_of(entry), entry.distribution, entry.version, "blocked"), []
    try:
        return _admit(manager, entry, wanted)
    except StageError as error:
        report = _broken(entry, error)
        if strict:
            raise PluginError(report.sentence()) from error.__cause__
        return report, []


def _broken(entry: AnyEntry, error: StageError) -> PluginReport:
    unreadable = isinstance(entry, UnreadableEntry)
    unhinted = unreadable and error.hint is None
    hint = metadata_hint(entry.distribution) if unhinted else hint_for(entry.distribution, error.hint)
    who = (_name_of(entry), entry.distribution, entry.version)
    return PluginReport(*who, "broken", error.stage, error.reason, hint)


def _complete(report: PluginReport, kept: tuple[Registration, ...], conflicts: tuple[Conflict, ...]) -> PluginReport:
    """Add what became of the names of a plugin's components."""
    if report.state != "ok":
        return report
    own = tuple((one.kind, one.component) for one in kept if one.plugin == report.name)
    report = evolve(report, components=own)
    for one in conflicts:
        if one.registration.plugin == report.name:
            report = report.with_problem("call", one.reason, one.hint)
    return report


def _admit(manager: pluggy.PluginManager, entry: AnyEntry, wanted: Collection[AnyEntry]) -> Admitted:
    """Lead an entry through the five stages.

    Raises:
        StageError: at the stage where it was stopped; nothing of it stays in the manager.
    """
    readable = check_metadata(entry, wanted)
    began = perf_counter()
    plugin = import_plugin(readable)
    seconds = perf_counter() - began
    problems = _register(manager, plugin, readable)
    try:
        registrations = _registrations(manager, readable)
    except StageError:
        manager.unregister(name=readable.name)
        raise
    who = (readable.name, readable.distribution, readable.version)
    report = PluginReport(*who, "ok", module=readable.module, seconds=seconds, links=readable.links)
    for reason, hint in problems:
        report = report.with_problem("hooks", reason, hint)
    return report, registrations


def _register(manager: pluggy.PluginManager, plugin: Any, entry: Entry) -> list[tuple[str, str]]:
    """Register a plugin that has at least one hook, and return (reason, hint) for its functions that are no hooks."""
    with attributing_errors("register"):
        implemented = examine(plugin, manager.parse_hookimpl_opts)
        if (twin := manager.get_name(plugin)) is not None:
            raise StageError("register", f'plugin "{twin}" is the same object', "name it in one entry point only")
        manager.register(plugin, name=entry.name)
    return implemented.problems()


def _registrations(manager: pluggy.PluginManager, entry: Entry) -> list[Registration]:
    registrations: list[Registration] = []
    for hook, kind in registration_hooks().items():
        seen: set[str] = set()
        for name, function in _implementations(manager, hook):
            if name == entry.name:
                components = call_hook(hook, function, **accepted(function, {}))
                check_components(hook, components, seen)
                registrations += [
                    Registration(kind, one, entry.name, entry.distribution, entry.version) for one in components
                ]
    return registrations


def _implementations(manager: pluggy.PluginManager, hook: str) -> Iterator[Implementation]:
    """Return (plugin, function) for a hook; calling them one by one, a plugin that raises costs only itself."""
    for one in getattr(manager.hook, hook).get_hookimpls():
        yield one.plugin_name, one.function


def _observers_of(function: Any, run: Any) -> list[Any]:
    observers = call_hook("bliss_observers", function, **accepted(function, {"run": run}))
    for one in observers:
        if not callable(getattr(one, "notify", None)):
            raise StageError("call", f"hook bliss_observers returned {shown(one)}, which has no method notify(event)")
    return observers
