"""What a plugin object implements: hooks of this host, hooks that it does not know, forgotten markers, arguments."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.extension import hookspecs
from bliss_framework.extension.loading.reports import Refusal
from bliss_framework.extension.markers import PROJECT
from bliss_framework.extension.names import OWN_DISTRIBUTION, nearest
from bliss_framework.version import __version__

HOST = f"{OWN_DISTRIBUTION} {__version__}"

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
        Refusal: at "register", where an implementation cannot be called as the host would call it.
    """
    hooks = host_hooks()
    marked = _marked(plugin, read_marker)
    known = [hook for hook in marked if hook in hooks]
    for hook in known:
        _check_call(hook, *marked[hook], hooks[hook])
    # A plugin for several hosts marks newer hooks as optional; that is worth a word only where nothing else is left.
    unknown = [hook for hook in marked if hook not in hooks and not (known and marked[hook][1].get("optionalhook"))]
    return Implemented(tuple(known), tuple(unknown), _unmarked(plugin, read_marker, hooks))


def accepted(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given arguments that an implementation asks for; `**kwargs` asks for all."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return dict(given)
    return {name: value for name, value in given.items() if name in parameters}


def hook_complaints(found: Implemented) -> list[tuple[str, str]]:
    """Return (reason, remedy) for the functions of a plugin that will never be called."""
    complaints = []
    if found.unknown:
        complaints.append(_unknown_hooks(found.unknown))
    if found.unmarked:
        names = ", ".join(found.unmarked)
        reason = f"not marked with @hookimpl, so never called: {names}"
        complaints.append((reason, f"write @hookimpl above {names} (from {PROJECT} import hookimpl)"))
    if not (found.known or complaints):
        reason = f"no function is marked with @hookimpl; the hooks are {', '.join(sorted(host_hooks()))}"
        complaints.append((reason, f"write @hookimpl above every hook (from {PROJECT} import hookimpl)"))
    return complaints


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


def _check_call(hook: str, function: Callable[..., Any], options: Options, offered: tuple[str, ...]) -> None:
    if options.get("wrapper") or options.get("hookwrapper"):
        raise Refusal("register", f"{hook} is a hook wrapper; hooks are called one plugin at a time and cannot wrap")
    offer = f"{HOST} passes to {hook}: {', '.join(offered) or 'nothing'}"
    for name, one in inspect.signature(function).parameters.items():
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_ONLY):
            kind = one.kind.description
            raise Refusal("register", f'the argument "{name}" of {hook} is {kind}; allowed are ordinary ones. {offer}')
        # An author who gives a default has said what to do on a host that lacks the argument.
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty and name not in offered:
            raise Refusal("register", f'{hook} asks for the argument "{name}", which this host does not have. {offer}')


def _unknown_hooks(names: tuple[str, ...]) -> tuple[str, str]:
    listed = ", ".join(_with_nearest(name) for name in names)
    verb = "is no hook" if len(names) == 1 else "are no hooks"
    reason = f"{listed} {verb} of {HOST}: written for a newer host, or misspelt"
    return reason, f"pip install --upgrade {OWN_DISTRIBUTION} or correct the name in the plugin"


def _with_nearest(name: str) -> str:
    near = nearest(name, host_hooks())
    return f"{name} (did you mean {near}?)" if near else name
