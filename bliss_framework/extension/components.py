"""From what the user names - a name, a table, an import path, an object - to a component."""

from collections.abc import Mapping
from typing import Any

from bliss_framework.errors import PluginError, SettingsError
from bliss_framework.extension.contracts import Classifier, Pipeline, Regime, Reward, Strategy
from bliss_framework.extension.loading.isolation import shown
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.extension.registry import Recorded, Registration, Registry

CONTRACTS: dict[str, type] = {
    "classifier": Classifier,
    "reward": Reward,
    "strategy": Strategy,
    "regime": Regime,
    "pipeline": Pipeline,
}


def resolve(kind: str, spec: Any, registry: Registry | None = None, recorded: Recorded | None = None) -> Any:
    """Return the component that `spec` means.

    Args:
        kind: "classifier", "reward", "strategy", "regime" or "pipeline".
        spec: a component name; a table {"name": ..., parameters}; an object of the kind; for classifiers also a
            scikit-learn classifier or its import path.
        registry: of the plugins to look in; by default that of the active ones. Whoever has a registry in hand passes
            it, so that nobody looks twice.
        recorded: where components came from when a model or a run was saved; see `Registry.record`.

    Raises:
        UnknownNameError: with the nearest names, and what is known of plugins that are not loaded.
        SettingsError: if `spec` is something else.
        PluginError: if the component's factory raised, or made something else than its kind promises.
    """
    if isinstance(spec, CONTRACTS[kind]):
        return spec
    if isinstance(spec, type):
        raise SettingsError(f"{kind} is the class {spec.__name__}; pass an object of it, such as {spec.__name__}().")
    if kind == "classifier":
        spec = _as_adapter(spec)
    if not isinstance(spec, str | Mapping):
        raise SettingsError(
            f"{kind} must be a name, a table with a name, or a {CONTRACTS[kind].__name__} object; got {spec!r}."
        )
    registry = _in_hand(registry)
    made = registry.create(kind, spec, recorded)
    if not isinstance(made, CONTRACTS[kind]):
        raise PluginError(_of_another_type(registry.registration(kind, component_name(spec)), made))
    return made


def _in_hand(registry: Registry | None) -> Registry:
    return active_plugins().registry if registry is None else registry


def _as_adapter(spec: Any) -> Any:
    if isinstance(spec, str) and "." in spec:
        return {"name": "sklearn", "estimator": spec}
    if isinstance(spec, Mapping) and "." in str(spec.get("name", "")):
        return {**spec, "name": "sklearn", "estimator": spec["name"]}
    if hasattr(spec, "fit") and hasattr(spec, "get_params"):
        return {"name": "sklearn", "estimator": spec}
    return spec


def _of_another_type(registration: Registration, made: object) -> str:
    contract = CONTRACTS[registration.kind].__name__
    return (
        f'The {registration.kind} "{registration.component.name}" of {registration.origin()} is no {contract}: its '
        f"factory returned {shown(made)}. Tell the authors of {registration.distribution} that the factory must return "
        f"an object of a subclass of {contract}."
    )


def as_table(spec: Any) -> dict[str, Any]:
    """Return what is said of a component as a table; a name is one with the name alone."""
    return dict(spec) if isinstance(spec, Mapping) else {"name": spec}


def component_name(spec: Any, registry: Registry | None = None) -> str:
    """Return how the user named a component, for messages.

    Args:
        spec: what the user gave; an object is called by the name under which the registry has its class, else by the
            name of its class.
        registry: to look in; without one an object is called by its class.
    """
    if isinstance(spec, str):
        return spec
    if isinstance(spec, Mapping) and "name" in spec:
        return str(spec["name"])
    registered = [] if registry is None else [one for one in registry.registrations if _made_by(one, spec)]
    return registered[0].component.name if len(registered) == 1 else type(spec).__name__


def _made_by(registration: Registration, made: object) -> bool:
    return registration.component.factory is type(made)


def described(kind: str, spec: Any, registry: Registry | None = None) -> str:
    """Return how the user named a component, and which plugin it comes from if one of them registered it.

    Args:
        kind: of the component.
        spec: what the user gave, or the object made of it.
        registry: to look in; by default that of the active plugins.
    """
    registry = _in_hand(registry)
    name = component_name(spec, registry)
    found = [one for one in registry.registrations if (one.kind, one.component.name) == (kind, name)]
    return f'"{name}" ({found[0].origin()})' if found else f'"{name}"'
