"""The five stages that an entry passes to become a plugin: metadata, import, register, hooks, call.

Each stage is a function; it raises a `StageError` where the plugin, and only this plugin, is lost.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from attrs import field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from bliss_framework.extension import hookspecs
from bliss_framework.extension.contracts import KINDS, Component
from bliss_framework.extension.loading.discovery import AnyEntry, Entry, UnreadableEntry
from bliss_framework.extension.loading.isolation import StageError, attributing_errors, shown
from bliss_framework.extension.loading.reports import import_hint
from bliss_framework.extension.markers import PROJECT
from bliss_framework.extension.naming import OWN_DISTRIBUTION, is_component_name, is_own, nearest, plural
from bliss_framework.version import __version__

HOST = f"{OWN_DISTRIBUTION} {__version__}"
AT_LEAST = (">=", ">", "~=", "==")  # What asks for a version that may be newer than this one.
_FULL_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")

Options = Mapping[str, Any]
ReadMarker = Callable[[Any, str], Options | None]


@frozen
class Implemented:
    """The hooks of a plugin, by name.

    Attributes:
        known: hooks of this host.
        unknown: marked functions that are no hook of this host.
        unmarked: functions that have the name of a hook but not its marker.
    """

    known: tuple[str, ...] = field()
    unknown: tuple[str, ...] = field()
    unmarked: tuple[str, ...] = field()

    def problems(self) -> list[tuple[str, str]]:
        """Return (reason, hint) for the functions of a plugin that will never be called."""
        problems = []
        if self.unknown:
            problems.append(_unknown_hooks(self.unknown))
        if self.unmarked:
            names = ", ".join(self.unmarked)
            reason = f"not marked with @hookimpl, so never called: {names}"
            problems.append((reason, f"write @hookimpl above {names} (from {PROJECT} import hookimpl)"))
        if not (self.known or problems):
            reason = f"no function is marked with @hookimpl; the hooks are {', '.join(sorted(host_hooks()))}"
            problems.append((reason, f"write @hookimpl above every hook (from {PROJECT} import hookimpl)"))
        return problems


# Stage "metadata"


def check_metadata(entry: AnyEntry, entries: Collection[AnyEntry]) -> Entry:
    """Return the entry where it is readable and its name its own among the entries.

    Raises:
        StageError: at "metadata".
    """
    if isinstance(entry, UnreadableEntry):
        raise StageError("metadata", entry.reason, entry.hint or None) from entry.cause
    _check_host(entry)
    others = [one for one in entries if isinstance(one, Entry) and one.name == entry.name and one != entry]
    if not others or is_own(entry.distribution):
        return entry
    owners = " and by ".join(f"{one.distribution} {one.version}" for one in others)
    built_in = any(is_own(one.distribution) for one in others)
    fate = "a built-in plugin is never replaced" if built_in else "none of them is loaded"
    reason = f'the name "{entry.name}" is taken by {entry.distribution} {entry.version} and by {owners}, and {fate}'
    raise StageError("metadata", reason, f"--block-plugin {entry.distribution}")


def _check_host(entry: Entry) -> None:
    """Hold the versions of the host that a distribution asks for against this one, as pip does."""
    needed = SpecifierSet(entry.needs)
    if is_own(entry.distribution) or needed.contains(__version__, prereleases=True):
        return
    newer = [one for one in needed if one.operator in AT_LEAST and _lowest(one.version) > Version(__version__)]
    reason = f"it needs {OWN_DISTRIBUTION}{entry.needs}, and this is {__version__}"
    raise StageError("metadata", reason, f"pip install --upgrade {OWN_DISTRIBUTION}" if newer else None)


def _lowest(version: str) -> Version:
    """Return the lowest version that a clause such as "0.2.*" means."""
    return Version(version.removesuffix(".*"))


# Stage "import"


def import_plugin(entry: Entry) -> Any:
    """Import a plugin, whatever its code does.

    Raises:
        StageError: at "import", or at "register" for a class.
    """
    with attributing_errors("import", hint=lambda text: import_hint(text, entry.distribution)):
        plugin = entry.load()
    if inspect.isclass(plugin):
        reason = f"its entry point names the class {plugin.__name__}; allowed are a module or an instance"
        instance = f'plugin = {plugin.__name__}() and {entry.name} = "{entry.module}:plugin"'
        raise StageError("register", reason, f"write {instance}")
    return plugin


# Stages "register" and "hooks"


def host_hooks() -> dict[str, tuple[str, ...]]:
    """Return the arguments of each hook of this host."""
    specs = {name: one for name, one in vars(hookspecs).items() if hasattr(one, f"{PROJECT}_spec")}
    return {name: tuple(inspect.signature(one).parameters) for name, one in specs.items()}


def examine(plugin: Any, read_marker: ReadMarker) -> Implemented:
    """Look at a plugin's functions before it is registered.

    Args:
        plugin: a module or an instance.
        read_marker: returns the options of `@hookimpl` of the attribute with this name, or None.

    Raises:
        StageError: at "register", where an implementation cannot be called as the host would call it; at "hooks" where
            nothing would ever be called.
    """
    hooks = host_hooks()
    marked = _marked(plugin, read_marker)
    known = [hook for hook in marked if hook in hooks]
    for hook in known:
        _check_call(hook, *marked[hook], hooks[hook])
    # A plugin for several hosts marks newer hooks as optional; that is worth a word only where nothing else is left.
    unknown = [hook for hook in marked if hook not in hooks and not (known and marked[hook][1].get("optionalhook"))]
    found = Implemented(tuple(known), tuple(unknown), _unmarked(plugin, read_marker, hooks))
    if not known:
        reasons, hints = zip(*found.problems(), strict=True)
        raise StageError("hooks", "; ".join(reasons), "; ".join(hints))
    return found


def accepted(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given arguments that an implementation asks for; `**kwargs` asks for all."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return dict(given)
    return {name: value for name, value in given.items() if name in parameters}


def _marked(plugin: Any, read_marker: ReadMarker) -> dict[str, tuple[Callable[..., Any], Options]]:
    marked = {}
    for name in dir(plugin):
        options = read_marker(plugin, name)
        if options is not None:
            marked[options.get("specname") or name] = (getattr(plugin, name), options)
    return marked


def _unmarked(plugin: Any, read_marker: ReadMarker, hooks: Mapping[str, Any]) -> tuple[str, ...]:
    names = [name for name in dir(plugin) if name in hooks and read_marker(plugin, name) is None]
    # A plugin may import a specification, for its documentation; that is no implementation.
    return tuple(name for name in names if not hasattr(getattr(plugin, name), f"{PROJECT}_spec"))


def _check_call(hook: str, function: Callable[..., Any], options: Options, passed: tuple[str, ...]) -> None:
    if options.get("wrapper") or options.get("hookwrapper"):
        raise StageError("register", f"{hook} is a hook wrapper; hooks are called one plugin at a time and cannot wrap")
    said = f"{HOST} passes to {hook}: {', '.join(passed) or 'nothing'}"
    for name, one in inspect.signature(function).parameters.items():
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_ONLY):
            kind = one.kind.description
            raise StageError(
                "register", f'the argument "{name}" of {hook} is {kind}; allowed are ordinary ones. {said}'
            )
        # An author who gives a default has said what to do on a host that lacks the argument.
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty and name not in passed:
            raise StageError(
                "register", f'{hook} asks for the argument "{name}", which this host does not have. {said}'
            )


def _unknown_hooks(names: tuple[str, ...]) -> tuple[str, str]:
    listed = ", ".join(_with_nearest(name) for name in names)
    verb = "is no hook" if len(names) == 1 else "are no hooks"
    reason = f"{listed} {verb} of {HOST}: written for a newer host, or misspelt"
    return reason, f"pip install --upgrade {OWN_DISTRIBUTION} or correct the name in the plugin"


def _with_nearest(name: str) -> str:
    near = nearest(name, host_hooks())
    return f"{name} (did you mean {near}?)" if near else name


# Stage "call"


def registration_hooks() -> dict[str, str]:
    """Return the name of each hook that registers components, with the kind that it registers.

    >>> registration_hooks()["bliss_strategies"]
    'strategy'
    """
    return {f"bliss_{plural(kind).replace(' ', '')}": kind for kind in KINDS}


def check_components(hook: str, answers: Iterable[Any], seen: set[str]) -> None:
    """Check the answers of a registration hook; `seen` collects the names that the plugin registers under this hook.

    Raises:
        StageError: at "call", naming the hook and the first answer that is no component with a proper name of its own.
    """
    for one in answers:
        if not isinstance(one, Component):
            said = f"hook {hook} returned {shown(one)} in its list"
            raise StageError("call", f"{said}; allowed are Component(name, factory, summary) only")
        if not is_component_name(one.name):
            raise StageError("call", f"hook {hook} returned the name {one.name!r}; allowed are {_proper(one.name)}")
        if not callable(one.factory):
            raise StageError("call", f'the factory of "{one.name}" in {hook} is {shown(one.factory)}, not a function')
        if one.name in seen:
            raise StageError("call", f'hook {hook} returned the name "{one.name}" twice')
        _check_saved_types(hook, one)
        _check_most_rows(hook, one)
        seen.add(one.name)


def _check_saved_types(hook: str, component: Component) -> None:
    """Whole names only: a pattern or a module would trust functions that the module merely imports."""
    named = component.saved_types
    if isinstance(named, tuple | list) and all(isinstance(one, str) and _FULL_NAME.fullmatch(one) for one in named):
        return
    said = f'saved_types of "{component.name}" in {hook} is {shown(named)}'
    raise StageError("call", f'{said}; allowed is a tuple of full names, such as ("package.module.Class",)')


def _check_most_rows(hook: str, component: Component) -> None:
    most = component.most_rows
    if most is None or (isinstance(most, int) and not isinstance(most, bool) and most > 0):
        return
    said = f'most_rows of "{component.name}" in {hook} is {shown(most)}'
    raise StageError("call", f"{said}; allowed are None and a positive integer")


def _proper(name: object) -> str:
    rule = "lower case words with single hyphens between them"
    words = re.findall(r"[a-z0-9]+", str(name).lower())
    return f'{rule}, such as "{"-".join(words)}"' if words else rule
