"""What a plugin offers under a name."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

KINDS = ("classifier", "reward", "strategy", "regime", "reader", "dataset", "baseline", "pipeline")


@frozen
class Component:
    """Something that a plugin offers under a name.

    Attributes:
        name: lower case with hyphens; what users type.
        factory: a class or function whose keyword arguments are the component's parameters.
        summary: one line for `bliss plugins`.
        details: for data sets: "source", "size" and "licence", shown by `bliss datasets`.
    """

    name: str = field()
    factory: Callable[..., Any] = field()
    summary: str = field(default="")
    details: Mapping[str, str] = field(factory=dict)
