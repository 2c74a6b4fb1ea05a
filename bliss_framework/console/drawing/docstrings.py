"""What the signature and the docstring of a component say of its parameters."""

import inspect
import json
import re
from typing import Any

from attrs import field, fields, frozen, has

from bliss_framework.extension.loading.isolation import written

NAMED = re.compile(r"^\s*(\w+):\s+(.*)$")


@frozen
class ShownParameter:
    """A parameter of a component, as a person reads it.

    Attributes:
        name: as settings spell it.
        type: as the signature says it; empty where it says nothing.
        default: as settings spell it; None where a value is needed.
        choices: the values that are allowed, where these are a few.
        text: what the docstring says of it.
    """

    name: str = field()
    type: str = field()
    default: str | None = field()
    choices: tuple[str, ...] = field()
    text: str = field()

    def line(self, advised: str | None = None) -> str:
        """Write it as an experiment file would, with what a fit takes instead of the default."""
        in_a_fit = f" (in a fit {advised})" if advised is not None else ""
        value = "" if self.default is None else f" = {self.default}{in_a_fit}"
        choices = f" [{', '.join(self.choices)}]" if self.choices else ""
        return f"{self.name}{value}{choices}{f': {self.text}' if self.text else ''}"


def parameters_of(kind: str, factory: Any) -> list[ShownParameter]:
    """List the parameters of a component; those of a reader are the options of its method `read`.

    Args:
        kind: of the component.
        factory: of the component.
    """
    told = getattr(factory, "read", factory) if kind == "reader" else factory
    try:
        signature = inspect.signature(told)
    except (TypeError, ValueError):
        return []
    texts, choices = parameter_texts(told), _choices(factory)
    skipped = ("self", "path") if kind == "reader" else ()
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [
        ShownParameter(
            one.name,
            "" if one.annotation is one.empty else inspect.formatannotation(one.annotation),
            None if one.default is one.empty else _default(one.default),
            choices.get(one.name, ()),
            texts.get(one.name, ""),
        )
        for one in named
        if one.name not in skipped
    ]


def _choices(factory: Any) -> dict[str, tuple[str, ...]]:
    """Return the values that fields of an attrs class allow, where they are a few."""
    if not (isinstance(factory, type) and has(factory)):
        return {}
    allowed = {one.alias or one.name: getattr(one.validator, "allowed", ()) for one in fields(factory)}
    return {name: tuple(map(_default, values)) for name, values in allowed.items() if values}


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
