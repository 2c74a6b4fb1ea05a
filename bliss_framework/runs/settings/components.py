"""What a run writes down of its components, and what the data tell them."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from bliss_framework.extension.registry import Registry


def told_names(kind: str, spec: Any, names: Sequence[str] | None, registry: Registry) -> Any:
    """Tell a component with a parameter `label_names` what the data call their labels, unless the user named them.

    Args:
        kind: "regime" or "baseline".
        spec: a name or a table with a name; anything else is returned as it is.
        names: of the data, or None.
        registry: knows the component.
    """
    name = spec.get("name") if isinstance(spec, Mapping) else spec
    if names is None or not isinstance(name, str) or name not in registry.names(kind):
        return spec
    if "label_names" not in _parameters(kind, name, registry):
        return spec
    return {"name": name, "label_names": list(names), **(spec if isinstance(spec, Mapping) else {})}


def resolved(kind: str, spec: Any, registry: Registry) -> Any:
    """Add the defaults of a component to what the user says of it, so that a run means the same in another version.

    Args:
        kind: of component; "final_classifier" is a classifier.
        spec: a name or a table with a name; anything else, such as an object or an import path, is returned as it is.
        registry: knows the component.
    """
    name = spec.get("name") if isinstance(spec, Mapping) else spec
    kind = "classifier" if kind == "final_classifier" else kind
    if not isinstance(name, str) or name not in registry.names(kind):
        return spec
    parameters = _parameters(kind, name, registry).values()
    defaults = {one.name: one.default for one in parameters if isinstance(one.default, bool | int | float | str)}
    given = spec if isinstance(spec, Mapping) else {}
    return {"name": name, **defaults, **given} if defaults or given else name


def _parameters(kind: str, name: str, registry: Registry) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a component; none where its factory does not tell them."""
    try:
        return inspect.signature(registry.get(kind, name).factory).parameters
    except (TypeError, ValueError):
        return {}
