"""A validator that several classifiers share."""

from typing import Any

from bliss_framework import SettingsError
from bliss_framework.plugin import positive


def width_or_scale(instance: Any, attribute: Any, value: Any) -> None:
    """Allow "scale" or a finite number above 0 (an attrs validator)."""
    if isinstance(value, str):
        if value != "scale":
            raise SettingsError(f'{attribute.name} must be "scale" or a number above 0; got {value!r}.')
        return
    positive(instance, attribute, value)
