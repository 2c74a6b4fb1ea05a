"""What the docstring of a component says of its parameters."""

import inspect
import re
from typing import Any

NAMED = re.compile(r"^\s*(\w+):\s+(.*)$")


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
