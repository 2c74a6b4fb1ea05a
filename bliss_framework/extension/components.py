"""From what the user names - a name, a table, an import path, an object - to a component."""

from collections.abc import Mapping
from typing import Any

from bliss_framework.errors import SettingsError
from bliss_framework.extension.contracts import Classifier, Pipeline, Regime, Reward, Strategy
from bliss_framework.extension.loading.manager import default_plugins
from bliss_framework.extension.registry import Registry

CONTRACTS: dict[str, type] = {
    "classifier": Classifier,
    "reward": Reward,
    "strategy": Strategy,
    "regime": Regime,
    "pipeline": Pipeline,
}


def resolve(kind: str, spec: Any, registry: Registry | None = None) -> Any:
    """Return the component that `spec` means.

    Args:
        kind: "classifier", "reward", "strategy", "regime" or "pipeline".
        spec: a component name; a table {"name": ..., parameters}; an object of the kind; for classifiers also a
            scikit-learn classifier or its import path.
        registry: of the plugins to look in; by default those that are installed.

    Raises:
        UnknownNameError: with the nearest names.
        SettingsError: if `spec` is something else.
    """
    if isinstance(spec, CONTRACTS[kind]):
        return spec
    if isinstance(spec, type):
        raise SettingsError(f"{kind} is the class {spec.__name__}; pass an object of it, such as {spec.__name__}().")
    registry = registry if registry is not None else default_plugins().registry
    if kind == "classifier":
        spec = _as_adapter(spec)
    if isinstance(spec, str | Mapping):
        return registry.create(kind, spec)
    raise SettingsError(
        f"{kind} must be a name, a table with a name, or a {CONTRACTS[kind].__name__} object; got {spec!r}."
    )


def _as_adapter(spec: Any) -> Any:
    if isinstance(spec, str) and "." in spec:
        return {"name": "sklearn", "estimator": spec}
    if isinstance(spec, Mapping) and "." in str(spec.get("name", "")):
        return {**spec, "name": "sklearn", "estimator": spec["name"]}
    if hasattr(spec, "fit") and hasattr(spec, "get_params"):
        return {"name": "sklearn", "estimator": spec}
    return spec


def as_table(spec: Any) -> dict[str, Any]:
    """Return what is said of a component as a table; a name is one with the name alone."""
    return dict(spec) if isinstance(spec, Mapping) else {"name": spec}


def component_name(spec: Any) -> str:
    """Say how the user named a component, for messages."""
    if isinstance(spec, str):
        return spec
    return str(spec["name"]) if isinstance(spec, Mapping) and "name" in spec else type(spec).__name__


def described(kind: str, spec: Any) -> str:
    """Say how the user named a component, and which plugin it comes from if it was named."""
    name = component_name(spec)
    if not isinstance(spec, str | Mapping):
        return f'"{name}"'
    offers = [one for one in default_plugins().registry.offers if (one.kind, one.component.name) == (kind, name)]
    return f'"{name}" ({offers[0].origin()})' if offers else f'"{name}"'
