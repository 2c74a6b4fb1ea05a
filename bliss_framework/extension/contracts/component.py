"""What a plugin registers under a name."""

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from attrs import field, frozen

from bliss_framework.extension.contracts.presets import Case, Profile

KINDS = ("classifier", "reward", "strategy", "regime", "reader", "dataset", "baseline", "pipeline")


@frozen
class Component:
    """Something that a plugin registers under a name.

    Attributes:
        name: lower case with hyphens; what users type.
        factory: a class or function whose keyword arguments are the component's parameters.
        summary: one line for `bliss plugins`.
        details: for data sets: "source", "size" and "licence", shown by `bliss datasets`. For regimes, shown by `bliss
            regimes`: "called" (names in the literature, with commas between them), "weak label" (what it is, in words),
            "example" (one as a literal, such as `{"cat", "dog"}`), "data sets" (names of those that are made for it)
            and "results" (a sentence with measured figures).
        saved_types: full names, such as "my_package.model.MyEstimator", of types that a saved model may hold because of
            this component, that of its final estimator for instance. The factory itself, where it is a class, is
            implied. `load_model` trusts what installed components declare, and nothing else.
        cases: values that parameters have for data of some kind where nobody says otherwise, such as a form of a
            classifier that many rows need. Where several hold, the last one wins.
        most_rows: of a baseline whose memory or time grows with the square of the rows, or worse: the number of rows
            above which it is left out of evaluations, and refused where it is asked for by name. None for no limit.
    """

    name: str = field()
    factory: Callable[..., Any] = field()
    summary: str = field(default="")
    details: Mapping[str, str] = field(factory=dict)
    saved_types: tuple[str, ...] = field(default=())
    cases: tuple[Case, ...] = field(default=())
    most_rows: int | None = field(default=None)

    def defaults_for(self, profile: Profile) -> dict[str, Any]:
        """Return the values of parameters that hold for some data because of what they are.

        >>> from bliss_framework.plugin import Case, Profile, When
        >>> large = Case(When(rows_above=100), defaults={"n_landmarks": 50})
        >>> Component("near", dict, cases=(large,)).defaults_for(Profile(n_rows=101, n_bags=10))
        {'n_landmarks': 50}
        """
        holding = [dict(case.defaults) for case in self.cases if case.when.holds(profile)]
        return {name: value for one in holding for name, value in one.items()}

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter] | None:
        """The parameters of the factory by name; None where it does not tell them, as some written in C do not."""
        try:
            return inspect.signature(self.factory).parameters
        except (TypeError, ValueError):
            return None
