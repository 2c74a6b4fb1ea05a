"""The weak label of a bag: the share of class 1, a vector of shares, or a vector of counts; and what it must tell."""

import warnings
from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError, positions_of
from bliss_llp.regime.counts import nearest_counts

TOLERANCE = 0.01  # Three shares with two digits each may sum to 0.99.
ROUNDING = 1e-9
ALLOWED = "give each bag a number in [0, 1], the share of class 1, or a vector with the shares of all classes"
OF_SETS = ' For the set of the classes that are in a bag use regime="multiclass-mil".'
OF_ROW_SETS = ' For sets of classes of which one is right use regime="partial-labels".'
OF_NUMBERS = ' For the number of positive rows of each bag use regime="count-intervals".'
OF_INTERVALS = ' For the smallest and the largest number of positive rows use regime="count-intervals".'
OF_MARKS = ' For 1 where a class is in the bag and 0 where it is not use regime="multiclass-mil".'


def shares_by_class(
    weak: NDArray[Any], bags: Bags, classes: Sequence[Any] | None
) -> tuple[NDArray[Any], tuple[Any, ...] | None]:
    """Put weak labels that are mappings from classes to shares or counts into columns; others stay as they are.

    Args:
        weak: (B,) or (B, C) as the user gave them.
        bags: named in error messages.
        classes: in the order of the columns; None takes the keys that occur, in ascending order.

    Returns:
        Weak labels without mappings, a class that a mapping lacks having none; and the classes, None where nothing
        says what they are called.

    Raises:
        DataError: only some of the weak labels are mappings, or a key is none of the classes.

    >>> weak = np.array([{"b": 0.3, "a": 0.7}, {"a": 1.0}], dtype=object)
    >>> shares_by_class(weak, Bags.from_ids([0, 1]), None)
    (array([[0.7, 0.3],
           [1. , 0. ]]), ('a', 'b'))
    """
    own = None if classes is None else tuple(classes)
    mappings = [isinstance(entry, Mapping) for entry in weak.tolist()] if weak.dtype == object else []
    if not any(mappings):
        return weak, own
    if not all(mappings):
        bag = mappings.index(False)
        raise DataError(
            f"{_bag_name(bags, bag)} has the weak label {weak.tolist()[bag]!r}, and others have mappings from classes "
            f"to shares; give all bags the one or the other."
        )
    keys = list(dict.fromkeys(key for entry in weak for key in entry))
    names = own if own is not None else _in_order(keys)
    places = positions_of(keys, names)
    if places is None:
        strange = [key for key in keys if positions_of([key], names) is None] or keys
        bag = next(number for number, entry in enumerate(weak) if strange[0] in entry)
        raise DataError(
            f"{_bag_name(bags, bag)} has a share of {strange[0]!r}, which is none of the classes {list(names)}; name "
            f"each class as the regime's parameter classes does."
        )
    amounts = np.zeros((len(weak), len(names)), dtype=object)
    for bag, entry in enumerate(weak):
        amounts[bag, [places[key] for key in entry]] = [_plain(value) for value in entry.values()]
    rows = np.empty(len(weak), dtype=object)
    rows[:] = amounts.tolist()
    return _unboxed(rows, bags), names


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _in_order(keys: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(sorted(keys, key=str))


def read_shares(weak: NDArray[Any], bags: Bags) -> NDArray[np.float64]:
    """Turn the weak labels of bags into shares of the classes.

    A single number is always a share: whether 1 were a count could not be told from one bag alone. Vectors of whole
    numbers that sum to the sizes of all bags are counts. Vectors of shares may sum to 1 within 0.01 and are then scaled
    to sum to 1; numbers that leave [0, 1] by 1e-9 or less are clipped.

    Args:
        weak: (B,) shares of class 1, or (B, C) shares or counts of all classes.
        bags: named in error messages.

    Returns:
        (B, C) shares, each row summing to 1; C = 2 where weak labels are single numbers.

    Raises:
        DataError: naming the bag, what was found and what is allowed.
    """
    values = _numbers(weak, bags)
    _refuse(~np.isfinite(values), values, bags, "shares are finite numbers in [0, 1]; fill in or drop this bag.")
    _refuse(values < -ROUNDING, values, bags, "a share is never negative; give a number in [0, 1].")
    values = np.maximum(values, 0.0)
    if values.ndim == 1:
        return _of_class_1(values, bags)
    return _of_counts(values, bags) if _are_counts(values, bags) else _of_vectors(values, bags)


def _numbers(weak: NDArray[Any], bags: Bags) -> NDArray[np.float64]:
    """Return (B,) or (B, C) numbers; text is no number here, although numpy could read it."""
    if weak.dtype == object and weak.ndim == 1:
        weak = _unboxed(weak, bags)
    if weak.ndim > 2 or (weak.ndim == 2 and weak.shape[1] < 2):
        raise DataError(
            f"The weak labels have shape {weak.shape}, so a bag has no vector of two shares or more, and a single "
            f"class cannot be learnt; {ALLOWED}."
        )
    if weak.dtype.kind not in "biuf":
        raise DataError(
            f"{_bag_name(bags, 0)} has the weak label {weak.ravel().tolist()[0]!r}, which is no number; {ALLOWED}."
        )
    return weak.astype(np.float64)


def _unboxed(weak: NDArray[Any], bags: Bags) -> NDArray[Any]:
    entries = weak.tolist()
    length = _length(next((entry for entry in entries if entry is not None), None))
    for bag, entry in enumerate(entries):
        if entry is None:
            raise DataError(f"{_bag_name(bags, bag)} has no weak label; {ALLOWED}.")
        if isinstance(entry, set | frozenset):
            hint = OF_ROW_SETS if bags.n_bags == bags.n_rows else OF_SETS
            raise DataError(f"{_bag_name(bags, bag)} has the weak label {set(entry)!r}, a set; {ALLOWED}.{hint}")
        if _length(entry) != length:
            raise DataError(
                f"{_bag_name(bags, bag)} has the weak label {entry!r}, and others have {_spelt(length)}; the shares of "
                f"a bag are as many as there are classes."
            )
        if not all(_is_number(one) for one in (entry if length else [entry])):
            raise DataError(f"{_bag_name(bags, bag)} has the weak label {entry!r}, which is no number; {ALLOWED}.")
    return np.array([list(entry) if length else entry for entry in entries], dtype=np.float64)


def _length(entry: Any) -> int:
    """Return how many shares a weak label has, 0 for a single number or text."""
    return len(entry) if isinstance(entry, Sized) and not isinstance(entry, str | bytes) else 0


def _spelt(length: int) -> str:
    return f"vectors of {length} shares" if length else "single numbers"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _of_class_1(values: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    hint = (
        "a share is a number from 0 to 1. Divide percentages by 100, so that they lie in [0, 1]; give counts as "
        "vectors, a whole number for each class, that sum to the size of the bag."
    )
    if (values == np.round(values)).all() and (values <= bags.sizes).all():
        hint += OF_NUMBERS
    _refuse(values > 1 + ROUNDING, values, bags, hint)
    ones = np.minimum(values, 1.0)
    return np.stack([1.0 - ones, ones], axis=1)


def _are_counts(values: NDArray[np.float64], bags: Bags) -> bool:
    return bool((values == np.round(values)).all() and (values.sum(axis=1) == bags.sizes).all())


def _of_counts(values: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    return np.asarray(values / bags.sizes[:, None])


def _of_vectors(values: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    hint = (
        "a share is a number from 0 to 1. Divide percentages by 100, so that they lie in [0, 1]; counts are whole "
        "numbers that sum to the size of every bag."
    )
    is_whole = (values == np.round(values)).all()
    if is_whole and values.shape[1] == 2 and (values[:, 0] <= values[:, 1]).all():
        hint += OF_INTERVALS
    _refuse(values > 1 + TOLERANCE + ROUNDING, values, bags, hint)
    sums = values.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > TOLERANCE + ROUNDING)
    if len(wrong):
        bag = int(wrong[0])
        raise DataError(
            f"The shares of bag {bags.ids.tolist()[bag]!r} sum to {sums[bag]:g}, and shares of all classes sum to 1 "
            f"(within {TOLERANCE:g}); check that no class is missing.{OF_MARKS if is_whole else ''}"
        )
    return np.asarray(values / sums[:, None])


def _refuse(wrong: NDArray[np.bool_], values: NDArray[np.float64], bags: Bags, hint: str) -> None:
    if wrong.any():
        bag = int(np.argwhere(wrong)[0][0])
        raise DataError(f"{_bag_name(bags, bag)} has the share {values[wrong][0]:g}; {hint}")


def _bag_name(bags: Bags, bag: int) -> str:
    return f"Bag {bags.ids.tolist()[bag]!r}"


FEW_BAGS = 6
ALIKE = 1e-6  # Shares that differ by less are alike.
HALF_SQUARED = 0.25


def check_training_shares(shares: NDArray[np.float64], bags: Bags, classes: Sequence[Any]) -> None:
    """Refuse shares (B, C) of one class only, and warn of those that teach little.

    Raises:
        DataError: if one class is left when shares are rounded to what the sizes of bags can reach.

    Warns:
        BlissWarning: if shares are all alike, a class has none, or there are fewer than six bags.
    """
    refuse_one_class(shares)
    warn_of_absent(shares, classes)
    refuse_one_class(nearest_counts(shares, bags.sizes), " when shares are rounded to counts")
    warn_if_alike(shares, bags)
    if bags.n_bags < FEW_BAGS:
        warnings.warn(
            f"There are {bags.n_bags} bags, and shares of fewer than {FEW_BAGS} often do not tell which class is "
            f"which; check predictions on known instances, or make smaller bags.",
            BlissWarning,
            stacklevel=4,
        )


def refuse_one_class(amounts: NDArray[np.floating] | NDArray[np.intp], when: str = "") -> None:
    """Refuse shares or counts (B, C) of one class only; `when` ends the first clause of the message.

    Raises:
        DataError: if there are no two classes that any bag holds.
    """
    present = np.flatnonzero(amounts.sum(axis=0))
    if len(present) < 2:
        raise DataError(
            f"Every bag holds class {int(present[0])} only{when}, so there is nothing to tell apart; pass bags that "
            f"hold two classes or more."
        )


def warn_of_absent(shares: NDArray[np.float64], classes: Sequence[Any]) -> None:
    """Warn of classes of which no bag has any share (B, C)."""
    absent = [name for name, there in zip(classes, shares.any(axis=0), strict=True) if not there]
    if absent:
        warnings.warn(
            f"No bag has any share of the class {', '.join(map(repr, absent))}; nothing can be learnt of it, and no "
            f"instance is given it.",
            BlissWarning,
            stacklevel=4,
        )


def _are_alike(shares: NDArray[np.float64], overall: NDArray[np.float64], bags: Bags) -> bool:
    sizes = bags.sizes[:, None]
    counts = shares * sizes
    if np.abs(counts - np.round(counts)).max() >= ALIKE:
        return bool(np.abs(shares - overall).max() < ALIKE)
    # Whole counts cannot meet the same shares in every bag: rounding alone moves them by half an instance. Counts of
    # random bags vary by size * share * (1 - share), which is less where bags are tiny.
    moved = np.square(counts - sizes * overall).mean(axis=0)
    at_random = (sizes * overall * (1 - overall)).mean(axis=0)
    return bool((moved <= np.minimum(HALF_SQUARED, at_random / 2) + ALIKE).all())


def warn_if_alike(shares: NDArray[np.float64], bags: Bags) -> None:
    """Warn where every bag has the shares of all, (B, C), as nearly as its size allows: nothing tells classes apart.

    Warns:
        BlissWarning: naming the shares.
    """
    overall = bags.sizes @ shares / bags.n_rows
    if _are_alike(shares, overall, bags):
        listed = ", ".join(f"{share:.3g}" for share in overall)
        warnings.warn(
            f"All bags have the same shares of the classes ({listed}), so nothing tells one class from another and "
            f"predictions mean little; make bags in which the shares differ.",
            BlissWarning,
            stacklevel=4,
        )
