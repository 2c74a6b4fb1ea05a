"""Checking the parameters of a baseline when it is fitted: scikit-learn's constructors only store."""

from types import SimpleNamespace
from typing import Any

from bliss_framework.plugin import Validator


def check_settings(estimator: Any, **validators: Validator) -> None:
    """Refuse a parameter that its validator does not allow.

    Args:
        estimator: holds the parameters as attributes.
        validators: for each parameter by name, one of `bliss_framework.validators`.

    Raises:
        SettingsError: naming the parameter, its value and what is allowed.
    """
    for name, validator in validators.items():
        validator(estimator, SimpleNamespace(name=name), getattr(estimator, name))
