"""The settings of a label inference, checked when the record is made."""

from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

from bliss_framework.errors import SettingsError


def at_least(lowest: int) -> Any:
    """Make an attrs validator for an integer with a lowest allowed value."""

    def check(_: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise SettingsError(f"{attribute.name} must be an integer, at least {lowest}; got {value!r}.")
        if value < lowest:
            raise SettingsError(f"{attribute.name} must be at least {lowest}; got {value}.")

    return check


def between(lowest: float, highest: float) -> Any:
    """Make an attrs validator for a finite number in a closed range."""

    def check(_: Any, attribute: "Attribute[Any]", value: Any) -> None:
        real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not real or not np.isfinite(value) or not lowest <= value <= highest:
            raise SettingsError(f"{attribute.name} must be a number from {lowest:g} to {highest:g}; got {value!r}.")

    return check


def positive(_: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Check that a value is a finite number above 0 (an attrs validator)."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value <= 0:
        raise SettingsError(f"{attribute.name} must be a finite number above 0; got {value!r}.")


def one_of(*allowed: Any) -> Any:
    """Make an attrs validator for one of a few values."""

    def check(_: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if value not in allowed:
            listed = ", ".join(repr(a) for a in allowed)
            raise SettingsError(f"{attribute.name} must be one of {listed}; got {value!r}.")

    return check


def _optional_at_least(lowest: int) -> Any:
    check = at_least(lowest)

    def optional(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if value is not None:
            check(instance, attribute, value)

    return optional


@frozen
class InferenceSettings:
    """How labels are inferred, whatever the regime.

    Attributes:
        n_rounds: N of Algorithm 1, rounds after the initial sweep.
        n_folds: K, folds of whole bags.
        train_on: "one" trains on each fold in turn and holds out the others (the paper); "rest" holds out each fold in
            turn, and averages the K - 1 inferences of a bag.
        n_inferences: inferences of each fold with other random draws, whose means are averaged.
        n_passes: passes of the bootstrapping procedure; 1 means none.
        pass_share: the share of instances outside the fold, most confident first, that join a later pass.
        n_parallel: P, assignments that are chosen before any of them is pulled.
        n_neighbors: k of the neighbourhood N(x).
        n_first_draws: None for the paper's initial sweep; or that many draws from the regime's prior, after which
            arms that were never pulled come first.
        class_balance: b, instances are weighted by (n / count of their class)^b in every pull; 0 means no weights.
    """

    n_rounds: int = field(default=100, validator=at_least(1))
    n_folds: int = field(default=5, validator=at_least(2))
    train_on: str = field(default="one", validator=one_of("one", "rest"))
    n_inferences: int = field(default=1, validator=at_least(1))
    n_passes: int = field(default=1, validator=at_least(1))
    pass_share: float = field(default=0.2, validator=between(0.0, 1.0))
    n_parallel: int = field(default=1, validator=at_least(1))
    n_neighbors: int = field(default=10, validator=at_least(1))
    n_first_draws: int | None = field(default=None, validator=_optional_at_least(1))
    class_balance: float = field(default=0.0, validator=between(0.0, 10.0))
