"""What the signature and the docstring of a component say of its parameters."""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

from bliss_framework.extension.loading.isolation import written

NAMED = re.compile(r"^\s*(\w+):\s+(.*)$")


def parameters_shown(factory: Any, advised: Mapping[str, str]) -> list[str]:
    """List the parameters of a component as an experiment file spells them, and what its docstring says of each.

    Args:
        factory: of the component.
        advised: what a fit takes instead of the component's own default, in words, by parameter.
    """
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return []
    texts = parameter_texts(factory)
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [_signed(p, advised) + (f": {texts[p.name]}" if p.name in texts else "") for p in named]


def _signed(parameter: inspect.Parameter, advised: Mapping[str, str]) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    in_a_fit = f" (in a fit {advised[parameter.name]})" if parameter.name in advised else ""
    return f"{parameter.name} = {_default(parameter.default)}{in_a_fit}"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value) if isinstance(value, str) else written(value)


def parameter_texts(factory: Any) -> dict[str, str]:
    """Read the `Args:` section of a docstring: parameter -> its text, on one line.

    >>> def smooth(width):
    ...     '''Smooth.
    ...
    ...     Args:
    ...         width: of the window,
    ...             above 0.
    ...     '''
    >>> parameter_texts(smooth)
    {'width': 'of the window, above 0.'}
    """
    lines = (inspect.getdoc(factory) or "").splitlines()
    if "Args:" not in lines:
        return {}
    texts: dict[str, str] = {}
    name = None
    for line in lines[lines.index("Args:") + 1 :]:
        if line and not line.startswith(" "):
            break
        found = NAMED.match(line) if _indent(line) == 4 else None
        if found:
            name = found[1]
            texts[name] = found[2]
        elif name and line.strip():
            texts[name] += f" {line.strip()}"
    return texts


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
