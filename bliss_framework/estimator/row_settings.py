"""What the parameters allow that say what is done to rows before anything learns from them."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from bliss_framework.errors import SettingsError
from bliss_framework.extension.naming import did_you_mean

ScalingMode = Literal["auto", "clipped", "standard", "standard-unit", "unit", "none"]
SCALINGS = get_args(ScalingMode)
AUTO, NONE = "auto", "none"
FILLINGS = {"median": "median", "mean": "mean", "most_frequent": "most frequent value"}
PREPARE_KEYS = ("missing", "indicators")


def scaling_mode(_: Any, attribute: Any, value: Any) -> None:
    """Allow a mode of `Scaling`."""
    if not isinstance(value, str) or value not in SCALINGS:
        raise SettingsError(f"{attribute.name} must be one of {', '.join(SCALINGS)}; got {value!r}.")


def preparation(_: Any, attribute: Any, value: Any) -> None:
    """Allow what `BlissClassifier` takes as `prepare`."""
    if isinstance(value, Mapping):
        _check_table(attribute.name, value)
    elif value not in (None, AUTO, NONE) if isinstance(value, str | None) else not is_transformer(value):
        raise SettingsError(
            f'{attribute.name} must be "{AUTO}", "{NONE}", a table with {" and ".join(PREPARE_KEYS)}, or an unfitted '
            f"transformer of scikit-learn; got {value!r}."
        )


def is_transformer(value: Any) -> bool:
    """Say whether a value is an object that makes rows of rows as scikit-learn does."""
    return not isinstance(value, type) and all(callable(getattr(value, one, None)) for one in ("fit", "transform"))


def _check_table(name: str, table: Mapping[Any, Any]) -> None:
    for key in table:
        if key not in PREPARE_KEYS:
            known = " and ".join(PREPARE_KEYS)
            raise SettingsError(f'{name} has no key "{key}".{did_you_mean(str(key), PREPARE_KEYS)} It has {known}.')
    missing, indicators = table.get("missing", "median"), table.get("indicators", False)
    if missing not in FILLINGS:
        raise SettingsError(f"{name}.missing must be one of {', '.join(FILLINGS)}; got {missing!r}.")
    if not isinstance(indicators, bool):
        raise SettingsError(f"{name}.indicators must be true or false; got {indicators!r}.")
