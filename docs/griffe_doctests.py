"""Shows the doctests of docstrings as code: without a heading of their own griffe takes `>>>` for a quotation."""

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"(?m)^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*)*")


class Doctests(griffe.Extension):  # type: ignore[misc]
    """Puts a fence around each doctest of a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _BLOCK.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    indent = found["indent"]
    return f"{indent}```pycon\n{found[0]}\n{indent}```"
