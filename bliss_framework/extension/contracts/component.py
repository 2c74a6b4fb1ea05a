"""What a plugin registers under a name."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

KINDS = ("classifier", "reward", "strategy", "regime", "reader", "dataset", "baseline", "pipeline")


@frozen
class Component:
    """Something that a plugin registers under a name.

    Attributes:
        name: lower case with hyphens; what users type.
        factory: a class or function whose keyword arguments are the component's parameters.
        summary: one line for `bliss plugins`.
        details: for data sets: "source", "size" and "licence", shown by `bliss datasets`.
        saved_types: full names, such as "my_package.model.MyEstimator", of types that a saved model may hold because of
            this component, that of its final estimator for instance. The factory itself, where it is a class, is
            implied. `load_model` trusts what installed components declare, and nothing else.
        most_rows: of a baseline whose memory or time grows with the square of the rows, or worse: the number of rows
            above which it is left out of evaluations, and refused where it is asked for by name. None for no limit.
    """

    name: str = field()
    factory: Callable[..., Any] = field()
    summary: str = field(default="")
    details: Mapping[str, str] = field(factory=dict)
    saved_types: tuple[str, ...] = field(default=())
    most_rows: int | None = field(default=None)
