"""Reading binary weak labels: 0/1, -1/1, booleans, numbers as text, words that everybody knows, or any two names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Bags,
    DataError,
    ParameterNeededError,
    WeakLabels,
    plain_value,
    positions_of,
    senses_of,
)

NUMERIC = {(0.0, 1.0): (0, 1), (-1.0, 1.0): (-1, 1)}


def check_binary(weak: NDArray[Any], bags: Bags, positive_label: Any) -> WeakLabels:
    """Turn two kinds of weak labels into 0 and 1.

    Args:
        weak: (B,) one weak label for each bag.
        bags: named in error messages.
        positive_label: the value that means positive, or None.

    Raises:
        DataError: for missing or fractional labels, more than two classes, or only one.
        ParameterNeededError: for two names of which nobody knows which is positive.
    """
    _refuse_missing(weak, bags)
    _refuse_collections(weak, bags)
    numbers = _as_numbers(weak)
    if numbers is None or positive_label is not None:
        return _two_classes(weak, bags, positive_label)
    _refuse_fractions(numbers, bags)
    values = tuple(np.unique(numbers).tolist())
    if len(values) == 1 and values[0] in (-1.0, 0.0, 1.0):
        raise DataError(_one_class(values[0], None, len(weak)))
    if values in NUMERIC:
        return WeakLabels((numbers == 1.0).astype(np.int8), NUMERIC[values])
    return _two_classes(weak, bags, positive_label)


def check_known_binary(weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels | None:
    """Read test labels (B,) in other words than those of training, -1/1 where it had 0/1 for instance.

    Args:
        weak: (B,) as the user gave them.
        bags: named in error messages.
        classes: the negative and the positive class of training.

    Returns:
        Codes and a note; None where the words are those of training, or it is not known what they mean.
    """
    _refuse_missing(weak, bags)
    _refuse_collections(weak, bags)
    values = list(dict.fromkeys(weak.tolist()))
    trained, senses = senses_of(classes), senses_of(values)
    if positions_of(values, classes) is not None or trained is None or senses is None or trained[classes[1]] != 1:
        return None
    read = ", ".join(f"{value!r} as {classes[senses[value]]!r}" for value in values)
    note = f"The bags are labelled in other words than those of training; {read} was read."
    return WeakLabels(np.array([senses[value] for value in weak.tolist()], dtype=np.int8), classes, notes=(note,))


def _as_numbers(weak: NDArray[Any]) -> NDArray[np.float64] | None:
    try:
        return weak.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _refuse_missing(weak: NDArray[Any], bags: Bags) -> None:
    if weak.ndim != 1:
        raise DataError(
            f"MIL takes one weak label for each bag; got an array of shape {weak.shape}.{_hint_of_columns(weak, bags)}"
        )
    hint = ' Where each row has a class or none, use regime="semi-supervised".' if _are_rows(bags) else ""
    for bag, value in zip(bags.ids.tolist(), weak, strict=True):
        if value is None or value != value or (isinstance(value, str) and not value.strip()):
            raise DataError(f"Bag {bag!r} has no weak label; MIL needs 0 or 1 for every bag.{hint}")


def _are_rows(bags: Bags) -> bool:
    """Say whether each row is a bag of its own, as where no bags are given."""
    return bags.n_bags == bags.n_rows


def _hint_of_columns(weak: NDArray[Any], bags: Bags) -> str:
    """Name the regime whose weak labels have columns such as these."""
    numbers = _as_numbers(weak)
    if weak.ndim != 2 or numbers is None or not np.isfinite(numbers).all():
        return (
            ' For a class from each of several annotators use regime="several-annotators".' if _are_rows(bags) else ""
        )
    if np.isin(numbers, (0, 1)).all():
        name = "partial-labels" if _are_rows(bags) else "multiclass-mil"
        return f' For a matrix of 0 and 1 with a column for each class use regime="{name}".'
    if (np.abs(numbers.sum(axis=1) - 1) < 0.01).all():
        return ' For shares of the classes use regime="llp".'
    is_interval = weak.shape[1] == 2 and (numbers == np.round(numbers)).all() and (numbers[:, 0] <= numbers[:, 1]).all()
    return ' For the smallest and the largest number of positives use regime="count-intervals".' if is_interval else ""


def _refuse_collections(weak: NDArray[Any], bags: Bags) -> None:
    for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True):
        if isinstance(value, set | frozenset | list | tuple | dict):
            if isinstance(value, dict):
                hint = 'For shares of the classes use regime="llp".'
            elif _are_rows(bags):
                hint = 'For sets of classes of which one is right use regime="partial-labels".'
            else:
                hint = 'For sets of labels use regime="multiclass-mil".'
            raise DataError(
                f"Bag {bag!r} has the weak label {value!r}, and MIL takes one of two classes such as 0 and 1. {hint}"
            )


def _refuse_fractions(numbers: NDArray[np.float64], bags: Bags) -> None:
    fractional = np.flatnonzero(~np.isfinite(numbers) | (numbers != np.round(numbers)))
    if len(fractional) == 0:
        return
    bag, value = bags.ids.tolist()[fractional[0]], numbers[fractional[0]]
    if not np.isfinite(value):
        raise DataError(f"Bag {bag!r} has the weak label {value:g}; MIL takes finite labels, such as 0 and 1.")
    hint = 'If these are proportions of positive instances, use regime="llp".'
    if _are_rows(bags):
        hint = 'If these are the chances that rows are positive, use regime="positive-confidences".'
    raise DataError(
        f"Bag {bag!r} has the weak label {value:g}, and MIL takes two classes such as 0 and 1 (unknown label type: "
        f"continuous). {hint}"
    )


def _two_classes(weak: NDArray[Any], bags: Bags, positive_label: Any) -> WeakLabels:
    values = sorted(set(weak.tolist()), key=lambda v: (str(type(v)), v))
    if len(values) > 2:
        hint = 'for label sets use regime="multiclass-mil".'
        if _are_rows(bags):
            hint = 'for a class of each row, which may be wrong, use regime="noisy-labels".'
        shown = ", ".join(repr(v) for v in values[:5]) + (f" and {len(values) - 5} more" if len(values) > 5 else "")
        raise DataError(
            f"MIL takes weak labels of two classes; found {len(values)}: {shown}. Only binary classification is "
            f"supported by this regime; {hint}"
        )
    if len(values) == 1:
        raise DataError(_one_class(values[0], positive_label, len(weak)))
    if positive_label is None:
        positive, notes = _default_positive(values, bags)
    else:
        positive, notes = _named_positive(positive_label, values), ()
    negative = values[0] if values[1] == positive else values[1]
    coded = np.array([value == positive for value in weak], dtype=np.int8)
    return WeakLabels(coded, (negative, positive), notes=notes)


def _named_positive(positive_label: Any, values: list[Any]) -> Any:
    """Find the user's positive label among the weak labels: a console types text, and files hold numbers as text."""
    same = [value for value in values if value == positive_label]
    same = same or [value for value in values if plain_value(value) == plain_value(positive_label)]
    if len(same) == 1:
        return same[0]
    raise DataError(f"positive_label is {positive_label!r}, but the weak labels are {values[0]!r} and {values[1]!r}.")


def _default_positive(values: list[Any], bags: Bags) -> tuple[Any, tuple[str, ...]]:
    # Without bags the two classes are symmetric: scikit-learn's order (the larger one is positive) does no harm.
    if bags.n_bags == bags.n_rows:
        return values[1], ()
    known = senses_of(values)
    if known is None:
        raise ParameterNeededError(
            f"The weak labels are {values[0]!r} and {values[1]!r}: which one is positive?",
            "regime",
            "mil",
            "positive_label",
            values[1],
        )
    positive, negative = sorted(values, key=lambda value: -known[value])
    return positive, (
        f"Of the weak labels {positive!r} is taken for positive and {negative!r} for negative; positive_label says "
        f"otherwise.",
    )


def _one_class(value: Any, positive_label: Any, n_bags: int) -> str:
    known = senses_of([value]) if positive_label is None else None
    shown = f"{value!r}, " if isinstance(value, str) else ""
    if known is None:
        sense, reason = repr(value), "so nothing tells positive from negative"
    elif known[value] == 1:
        sense, reason = f"{shown}positive", "so any instance may be positive, and no negative bag says what is not"
    else:
        sense, reason = f"{shown}negative", "so every instance is negative, and nothing is left to infer"
    return (
        f"All {n_bags} bags have the same class ({sense}), {reason}; MIL needs at least one positive and one negative "
        f"bag."
    )
