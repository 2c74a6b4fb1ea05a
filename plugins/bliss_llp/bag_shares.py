"""Reading the shares of the classes in each bag: numbers, vectors or counts."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework import Bags, BlissWarning, DataError

TOLERANCE = 0.01
ROUNDING = 1e-6


def read_shares(weak: NDArray[Any], bags: Bags) -> NDArray[np.float64]:
    """Turn what the user says of each bag into shares of the classes.

    Whole numbers that add up to the size of every bag are counts; so are single whole numbers, some of them above 1,
    that no bag is too small for.

    Args:
        weak: (B,) the share or count of class 1, or (B, C) those of all classes.
        bags: named in error messages.

    Returns:
        (B, C) shares, each row summing to 1.

    Raises:
        DataError: for anything but finite numbers from 0 to 1 that sum to 1, and where only one class has a share.
    """
    values = _numbers(weak)
    _refuse(~np.isfinite(values), values, bags, "shares are finite numbers from 0 to 1; fill in or drop this bag.")
    _refuse(values < 0, values, bags, "a share is never negative; give a number from 0 to 1.")
    shares = _in_columns(_divided(values, bags), bags)
    _refuse_one_class(shares)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def warn_if_alike(shares: NDArray[np.float64], bags: Bags) -> None:
    """Warn where every bag has the shares of all, (B, C), as nearly as its size allows: nothing tells classes apart.

    Warns:
        BlissWarning: naming the shares.
    """
    overall = bags.sizes @ shares / bags.n_rows
    counts = shares * bags.sizes[:, None]
    whole = np.abs(counts - np.round(counts)).max() < ROUNDING
    # Whole counts in bags of several sizes cannot have the same shares, but differ by less than half an instance.
    margins = 0.5 / bags.sizes if whole else np.full(bags.n_bags, ROUNDING)
    if (np.abs(shares - overall).max(axis=1) < margins).all():
        listed = ", ".join(f"{share:.3g}" for share in overall)
        warnings.warn(
            f"All bags have the same shares of the classes ({listed}), so nothing tells one class from another and "
            f"predictions mean little; make bags in which the shares differ.",
            BlissWarning,
            stacklevel=4,
        )


def _numbers(weak: NDArray[Any]) -> NDArray[np.float64]:
    if weak.ndim > 2:
        raise DataError(f"y must hold one share, or one vector of shares, for each bag; got shape {weak.shape}.")
    try:
        return weak.astype(np.float64)
    except (TypeError, ValueError):
        found = next(value for value in weak.ravel().tolist() if not isinstance(value, int | float))
        raise DataError(
            f"y holds {found!r}, which is no share; give each bag a number from 0 to 1 (the share of class 1), or a "
            f"vector of as many shares as there are classes."
        ) from None


def _divided(values: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Turn counts into shares; anything else stays."""
    sizes = bags.sizes if values.ndim == 1 else bags.sizes[:, None]
    whole = (values == np.round(values)).all()
    if values.ndim == 1:
        counts = whole and (values <= sizes).all() and values.max() > 1
    else:
        counts = whole and (values.sum(axis=1) == bags.sizes).all()
    return values / sizes if counts else values


def _in_columns(values: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    above = (
        "a share is a number from 0 to 1. Divide percentages by 100; counts must be whole numbers and no larger than "
        "their bags."
    )
    _refuse(values > 1 + TOLERANCE, values, bags, above)
    if values.ndim == 1:
        ones = np.minimum(values, 1.0)
        return np.stack([1 - ones, ones], axis=1)
    sums = values.sum(axis=1)
    if values.shape[1] < 2:
        raise DataError(
            "y has vectors of 1 share, and a single class cannot be learnt; give the shares of all classes."
        )
    wrong = np.flatnonzero(np.abs(sums - 1) > TOLERANCE + ROUNDING)
    if len(wrong):
        bag = int(wrong[0])
        raise DataError(
            f"The shares of bag {bags.ids.tolist()[bag]!r} sum to {sums[bag]:g}, and shares of all classes sum to 1 "
            f"(within {TOLERANCE}); check that no class is missing."
        )
    return values


def _refuse(wrong: NDArray[np.bool_], values: NDArray[np.float64], bags: Bags, remedy: str) -> None:
    if wrong.any():
        bag = int(np.argwhere(wrong)[0][0])
        raise DataError(f"Bag {bags.ids.tolist()[bag]!r} has the share {values[wrong][0]:g}; {remedy}")


def _refuse_one_class(shares: NDArray[np.float64]) -> None:
    present = np.flatnonzero(shares.sum(axis=0) > 0)
    if len(present) < 2:
        raise DataError(
            f"Every bag holds class {int(present[0])} only, so there is nothing to tell apart; pass bags with shares "
            f"of two classes or more."
        )
