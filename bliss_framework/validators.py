"""attrs validators for parameters: each refuses a wrong value with a sentence that names it and what is allowed.

>>> from attrs import field, frozen
>>> @frozen
... class Smooth:
...     width: float = field(default=1.0, validator=positive)
>>> Smooth(width=0)
Traceback (most recent call last):
bliss_framework.errors.SettingsError: width must be a finite number above 0; got 0.
"""

import math
import re
from collections.abc import Callable
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

from bliss_framework.errors import SettingsError

N_SEEDS = 2**32
LARGEST = 1e30
Validator = Callable[[Any, Any, Any], None]
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def at_least(lowest: int) -> Validator:
    """Allow an integer from `lowest` on."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < lowest:
            raise SettingsError(f"{attribute.name} must be an integer, at least {lowest}; got {value!r}.")

    return check


def between(lowest: float, highest: float, *words: str) -> Validator:
    """Allow a finite number in a closed range, or one of some words."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        if isinstance(value, str) and value in words:
            return
        if not _is_finite(value) or not lowest <= value <= highest:
            allowed = " or ".join([*(f'"{word}"' for word in words), f"a number from {lowest:g} to {highest:g}"])
            raise SettingsError(f"{attribute.name} must be {allowed}; got {value!r}.")

    return check


def positive(_: Any, attribute: Any, value: Any) -> None:
    """Allow a finite number above 0, of a size that can be computed with in single precision."""
    if not _is_finite(value) or value <= 0:
        raise SettingsError(f"{attribute.name} must be a finite number above 0; got {value!r}.")
    if not 1 / LARGEST <= value <= LARGEST:
        raise SettingsError(f"{attribute.name} must be a number from {1 / LARGEST:g} to {LARGEST:g}; got {value!r}.")


def one_of(*allowed: Any) -> Validator:
    """Allow one of a few values."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
            listed = ", ".join(repr(a) for a in allowed)
            raise SettingsError(f"{attribute.name} must be one of {listed}; got {value!r}.")

    check.allowed = allowed  # type: ignore[attr-defined]  # For whoever lists parameters.
    return check


def anything(_: Any, attribute: Any, value: Any) -> None:
    """Allow any value: what is allowed is checked where more is known."""


def true_or_false(_: Any, attribute: Any, value: Any) -> None:
    """Allow a truth value."""
    if not isinstance(value, bool) and type(value).__name__ != "bool":
        raise SettingsError(f"{attribute.name} must be True or False; got {value!r}.")


def number_or(*words: str) -> Validator:
    """Allow a finite number, or one of some words."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        if isinstance(value, str) and value in words:
            return
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            allowed = " or ".join([*(f'"{word}"' for word in words), "a finite number"])
            raise SettingsError(f"{attribute.name} must be {allowed}; got {value!r}.")

    return check


def processes(_: Any, attribute: Any, value: Any) -> None:
    """Allow what joblib takes for a number of processes."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value == 0:
        raise SettingsError(f"{attribute.name} must be None, a positive integer, or -1 for all cores; got {value!r}.")


def memory_size(_: Any, attribute: Any, value: Any) -> None:
    """Allow a number of bytes, or text such as "500MB" or "4GB"."""
    if isinstance(value, str) and size_or_none(value):
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SettingsError(f"{attribute.name} must be a size such as 500MB or 4GB; got {value!r}.")


def size_in_bytes(size: str | int) -> int:
    """Return the bytes that a size means, as `memory_size` allows it.

    >>> size_in_bytes("1.5 GB"), size_in_bytes("300"), size_in_bytes(300)
    (1500000000, 300, 300)
    """
    found = size_or_none(size) if isinstance(size, str) else int(size)
    if not found:
        raise SettingsError(f"A size is written as 500MB or 4GB; got {size!r}.")
    return found


def size_or_none(text: str) -> int | None:
    """Return the bytes that a text such as "4GB" means; None where it is no size."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]B)?", text.strip().upper())
    return None if found is None else int(float(found[1]) * UNITS[found[2] or ""])


def shown_size(n_bytes: int) -> str:
    """Write a number of bytes as people do.

    >>> shown_size(300), shown_size(3_200_000_000)
    ('300 bytes', '3.2 GB')
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if n_bytes >= UNITS[unit]:
            whole, rest = divmod(n_bytes, UNITS[unit])
            return f"{whole}{f'.{10 * rest // UNITS[unit]}' if whole < 10 else ''} {unit}"
    return f"{n_bytes} bytes"


def seed_or_generator(_: Any, attribute: Any, value: Any) -> None:
    """Allow a seed, or one of numpy's old generators as scikit-learn has it."""
    if type(value).__name__ in ("RandomState", "module"):
        return
    if not isinstance(value, Integral) or not 0 <= int(value) < N_SEEDS:
        raise SettingsError(
            f"{attribute.name} must be None, an integer from 0 to 2**32 - 1, or a numpy.random.RandomState; got "
            f"{value!r}."
        )


def optional(validator: Validator) -> Validator:
    """Allow None beside what another validator allows."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value is not None:
            validator(instance, attribute, value)

    return check


def check_settings(estimator: Any, **validators: Validator) -> None:
    """Check parameters of a scikit-learn style estimator when it is fitted: its constructor only stores them.

    Args:
        estimator: holds the parameters as attributes.
        validators: for each parameter by name, one of this module.

    Raises:
        SettingsError: naming the parameter, its value and what is allowed.

    >>> class Machine:
    ...     C = 0
    >>> check_settings(Machine(), C=positive)
    Traceback (most recent call last):
    bliss_framework.errors.SettingsError: C must be a finite number above 0; got 0.
    """
    for name, validator in validators.items():
        check_value(name, getattr(estimator, name), validator)


def check_value(name: str, value: Any, validator: Validator) -> None:
    """Refuse the value of an option of a function that a validator does not allow.

    >>> check_value("n_bags", 4, at_least(1))

    Raises:
        SettingsError: naming the option, its value and what is allowed.
    """
    validator(None, SimpleNamespace(name=name), value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
