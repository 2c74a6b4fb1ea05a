"""Classes out of what users write, and rows without a label."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError

COLLECTIONS = set | frozenset | list | tuple


def is_missing(value: Any) -> bool:
    """Say whether nothing is there: None, NaN or blank text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def classes_of(values: Iterable[Any], whole: str) -> tuple[Any, ...]:
    """Return the different values in order, numbers before text.

    Raises:
        DataError: if there are fewer than two; `whole` says of what.
    """
    found = sorted(set(values), key=lambda one: (isinstance(one, str), str(type(one)), one))
    if len(found) < 2:
        raise DataError(f"{whole} hold the one class {found}; there must be two at least.")
    return tuple(found)


def refuse_missing(weak: NDArray[Any], bags: Bags, wanted: str) -> None:
    """Refuse a row without a weak label, and say what is wanted."""
    for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
        if is_missing(value):
            raise DataError(f"Row {bag!r} has no weak label ({value!r}); {wanted}.")


def refuse_collections(weak: NDArray[Any], bags: Bags, wanted: str) -> None:
    """Refuse sets and tables of weak labels where one value is wanted."""
    if weak.ndim > 1:
        raise DataError(f"y has the shape {weak.shape}; {wanted}.")
    for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
        if isinstance(value, COLLECTIONS):
            raise DataError(f"Row {bag!r} has the weak label {value!r}; {wanted}.")
