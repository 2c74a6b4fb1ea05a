"""Tables of components: what a user says of one, laid over what is advised, filled with its own defaults."""

import inspect
from collections.abc import Mapping
from typing import Any

from bliss_framework.errors import BlissError, SettingsError
from bliss_framework.estimator.parameters import SAME
from bliss_framework.extension.components import as_table, resolve
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.extension.registry import Registry


def fill_defaults(kind: str, spec: Any, registry: Registry, profile: Profile | None = None) -> Any:
    """Add the defaults of a component to its table; what is no name and no table is returned as it is.

    Args:
        kind: of component.
        spec: a name or a table with a name; or an object or an import path.
        registry: knows the component.
        profile: of the data, for defaults that depend on them; None leaves those out.
    """
    table = as_table(spec) if isinstance(spec, str | Mapping) else {}
    name = table.get("name")
    if not isinstance(name, str) or name not in registry.names(kind):
        return spec
    arguments = arguments_of(kind, name, registry).values()
    defaults = {one.name: one.default for one in arguments if isinstance(one.default, bool | int | float | str)}
    whole = {"name": name, **defaults, **defaults_by_data(kind, spec, registry, profile), **table}
    return whole if len(whole) > 1 else name


def defaults_by_data(kind: str, spec: Any, registry: Registry, profile: Profile | None) -> dict[str, Any]:
    """Return the values of parameters that a component has because of what the data are, and nobody said otherwise."""
    table = as_table(spec) if isinstance(spec, str | Mapping) else {}
    name = table.get("name")
    if profile is None or not isinstance(name, str) or name not in registry.names(kind):
        return {}
    found = registry.get(kind, name).defaults_for(profile)
    return {parameter: value for parameter, value in found.items() if parameter not in table}


def with_shared_parameters(
    spec: Mapping[str, Any], regime: Any, registry: Registry, facts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Hand a baseline the parameters of the regime that it has, too, or the regime itself, unless the user set them.

    What means positive, what classes are called, or how a set is written are facts of the data: a baseline that took
    them otherwise would be judged by other labels.

    Args:
        spec: a table with the name of the baseline.
        regime: of BLISS on the same data, a table or an object.
        registry: knows the baseline.
        facts: as in `configure`.
    """
    own = arguments_of("baseline", str(spec["name"]), registry)
    whole = {"regime": regime} if "regime" in own else {}
    shared = {name: value for name, value in (facts or {}).items() if value is not None}
    if isinstance(regime, str | Mapping):
        shared |= {name: value for name, value in as_table(regime).items() if name != "name"}
    else:
        shared |= {name: getattr(regime, name) for name in own if hasattr(regime, name)}
    if shared.get("classes") is not None and "label_names" in own and "classes" not in own:
        shared["label_names"] = shared["classes"]  # Regimes call the names of labels either way.
    return {**{name: value for name, value in shared.items() if name in own}, **whole, **spec}


def arguments_of(kind: str, name: Any, registry: Registry) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a component; none where its factory does not tell them, or there is none."""
    if not isinstance(name, str) or name not in registry.names(kind):
        return {}
    return registry.get(kind, name).parameters or {}


def merge_tables(given: Any, advised: Any, component: str) -> Any:
    """Lay what the user says of a component over what is advised, where both speak of the same one."""
    if given is None:
        return advised
    if not isinstance(given, str | Mapping):
        return given
    table = as_table(given)
    base = as_table(advised) if isinstance(advised, str | Mapping) else {}
    if "name" not in table:
        if not base:
            raise SettingsError(
                f"The {component.replace('_', ' ')} in use has no name, so its parameters cannot be set one by "
                f"one; name one as {component}.name."
            )
        return {**base, **table}
    return {**base, **table} if table["name"] == base.get("name") else given


def lay_over(values: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Lay values by parameter, or by "component.parameter", over parameters.

    >>> lay_over({"n_rounds": 100, "classifier": "ridge"}, {"classifier.ridge": 0.5, "n_rounds": 60})
    {'n_rounds': 60, 'classifier': {'name': 'ridge', 'ridge': 0.5}}
    """
    laid = {**values, **{name: value for name, value in chosen.items() if "." not in name}}
    for name, value in chosen.items():
        component, dot, parameter = name.partition(".")
        if dot:
            # Parameters of the final classifier that is the same one are its own from here on.
            base = laid["classifier"] if laid[component] == SAME else laid[component]
            laid[component] = {**as_table(base), parameter: value}
    return laid


def is_binary(regime: Any) -> bool:
    """Say whether a regime knows two classes only; one that cannot be found is refused in `fit`, not here."""
    try:
        return bool(resolve("regime", regime, active_plugins().registry).binary)
    except BlissError:
        return False
