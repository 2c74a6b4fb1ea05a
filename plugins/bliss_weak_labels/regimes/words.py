"""Classes out of what users write, and rows without a label."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError

COLLECTIONS = set | frozenset | list | tuple
OF_SETS = ' Where one class of each set is right, use regime="partial-labels".'
OF_COLUMNS = (
    ' Where columns are annotators, use regime="several-annotators"; where they are classes and 1 marks those that are '
    'possible, regime="partial-labels".'
)


def is_missing(value: Any) -> bool:
    """Say whether nothing is there: None, NaN or blank text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def objects(values: list[Any]) -> NDArray[Any]:
    """Return an array (n,) of objects, which leaves lists and sets what they are."""
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return boxed


def classes_of(values: Iterable[Any], whole: str) -> tuple[Any, ...]:
    """Return the different values in order, numbers before text.

    Raises:
        DataError: if there are fewer than two; `whole` says of what.
    """
    found = sorted(set(values), key=lambda one: (isinstance(one, str), str(type(one)), one))
    if len(found) < 2:
        raise DataError(f"{whole} hold the one class {found}; there must be two at least.")
    return tuple(found)


def are_fractions(values: Iterable[Any]) -> bool:
    """Say whether these are numbers from 0 to 1 of which some lie between, so that they are no classes.

    >>> are_fractions([0.2, 1.0]), are_fractions([0, 1]), are_fractions(["a", 0.5]), are_fractions([0.5, 2.5])
    (True, False, False, False)
    """
    numbers = [one if isinstance(one, int | float) else -1.0 for one in values]
    return all(0 <= one <= 1 for one in numbers) and any(one != round(one) for one in numbers)


def refuse_missing(weak: NDArray[Any], bags: Bags, wanted: str, hint: str = "") -> None:
    """Refuse a row without a weak label, and say what is wanted, and what else the user may be looking for."""
    for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
        if is_missing(value):
            raise DataError(f"Row {bag!r} has no weak label ({value!r}); {wanted}.{hint}")


def refuse_several(weak: NDArray[Any], bags: Bags, wanted: str, hint: str = "") -> None:
    """Refuse rows that have no weak label, or several."""
    refuse_collections(weak, bags, wanted)
    refuse_missing(weak, bags, wanted, hint)


def refuse_collections(weak: NDArray[Any], bags: Bags, wanted: str) -> None:
    """Refuse sets and tables of weak labels where one value is wanted."""
    if weak.ndim > 1:
        raise DataError(f"y has the shape {weak.shape}; {wanted}.{OF_COLUMNS}")
    for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
        if isinstance(value, COLLECTIONS):
            raise DataError(f"Row {bag!r} has the weak label {value!r}; {wanted}.{OF_SETS}")
