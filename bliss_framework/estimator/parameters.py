"""Checks of the parameters of `BlissClassifier` that no component checks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from sklearn.utils import check_random_state

from bliss_framework.compute.processes import check_n_jobs
from bliss_framework.errors import SettingsError
from bliss_framework.validators import at_least, between, one_of


@frozen
class _Named:
    """What a validator needs to know of a parameter."""

    name: str


_OF_SELECTION = (("settings", one_of("default", "as-given", "select")), ("n_members", at_least(1)))


def check_values(parameters: Mapping[str, Any]) -> None:
    """Refuse values that cannot be used.

    Raises:
        SettingsError: naming the parameter, its value and what is allowed.
    """
    check_final_values(parameters)
    check_n_jobs(parameters["n_jobs"])
    generator(parameters["random_state"])
    for name, allow in _OF_SELECTION:
        allow(None, _Named(name), parameters[name])
    if parameters["settings"] == "select" and parameters["self_training"]:
        raise SettingsError(
            f'self_training must be 0 where settings is "select", because candidates are scored without it; got '
            f"{parameters['self_training']!r}. Choose settings with `bliss tune` first, and add it to what is chosen."
        )


def check_final_values(parameters: Mapping[str, Any]) -> None:
    """Refuse values that cannot be used after inference; a grid may hold several of each.

    Raises:
        SettingsError: naming the parameter, its value and what is allowed.
    """
    _check_threshold("bag_threshold", parameters, ("out-of-fold",))
    _check_threshold("instance_threshold", parameters, ("auto", "out-of-fold"))
    weighted = parameters["confidence_weights"]
    if not isinstance(weighted, bool | np.bool_):
        raise SettingsError(f"confidence_weights must be True or False; got {weighted!r}.")
    between(0.0, 1.0)(None, _Named("inherited_share"), parameters["inherited_share"])
    at_least(0)(None, _Named("self_training"), parameters["self_training"])


def generator(random_state: Any) -> np.random.RandomState:
    """Return the generator that a random state means.

    Raises:
        SettingsError: if it means none.
    """
    try:
        return check_random_state(random_state)  # type: ignore[no-any-return]
    except ValueError:
        allowed = "None, an integer from 0 to 2**32 - 1, or a numpy.random.RandomState"
        raise SettingsError(f"random_state must be {allowed}; got {random_state!r}.") from None


def _check_threshold(name: str, parameters: Mapping[str, Any], words: tuple[str, ...]) -> None:
    threshold = parameters[name]
    if isinstance(threshold, str) and threshold in words:
        return
    number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if not number or not np.isfinite(threshold):
        allowed = " or ".join([*(f'"{word}"' for word in words), "a finite number"])
        raise SettingsError(f"{name} must be {allowed}; got {threshold!r}.")
