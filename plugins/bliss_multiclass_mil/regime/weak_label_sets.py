"""Reading label sets: sets and lists, text with a separator, single labels, or a matrix of 0 and 1."""

from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, SettingsError, WeakLabels, positions_of
from bliss_multiclass_mil.regime.refusals import (
    listed,
    refuse_binary,
    refuse_negative,
    refuse_uninformative,
    warn_of_absent,
    warn_of_large,
)

MANY_LABELS = 1000
MOST_ARMS = 50_000_000  # 400 MB for every number that is kept of an arm.
COLLECTIONS = set | frozenset | list | tuple | np.ndarray


@frozen
class LabelSetForm:
    """How a user writes label sets.

    Labels are integers where all of them are, else text; the negative label is what the user calls it.

    Attributes:
        negative_label: the name of the class of instances without a label; no set may hold it.
        separator: between the labels of a set that is written as text.
        label_names: all labels in the order of their classes, or None for those that occur, in order.
    """

    negative_label: Any = field(default="negative")
    separator: str = field(default=";")
    label_names: tuple[Any, ...] | None = field(default=None)


def label_names_of(names: Any) -> tuple[Any, ...] | None:
    """Convert a list of label names from a settings file (an attrs converter)."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
        raise SettingsError(f"label_names must be a list of labels; got {names!r}.")
    if len(set(names)) != len(names):
        raise SettingsError(f"label_names must name each label once; got {list(names)!r}.")
    return tuple(names)


def is_text(_: Any, attribute: Any, value: Any) -> None:
    """Allow text that is not empty (an attrs validator)."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{attribute.name} must be text of one character or more; got {value!r}.")


def check_label_sets(weak: NDArray[Any], bags: Bags, form: LabelSetForm) -> WeakLabels:
    """Turn label sets into a matrix of 0 and 1, and find out the classes.

    Args:
        weak: (B,) sets, lists, text or single labels, or (B, C) of 0 and 1.
        bags: named in error messages.
        form: how sets are written.

    Returns:
        Values (B, C) int8, one column for each label, and C + 1 classes: the negative one, then the labels.

    Raises:
        DataError: for a missing set, one that holds the negative class, and where all bags have no label or all have
            every label.

    Warns of labels that no bag has, and of sets that are larger than their bag.
    """
    if weak.ndim > 1:
        names = form.label_names if form.label_names is not None else range(1, weak.shape[1] + 1)
        values, labels = _matrix(weak, bags, len(names), "label_names has"), list(names)
    else:
        sets = _sets(weak, bags, form.separator)
        given = list(chain(*sets)) if form.label_names is None else [*form.label_names, *chain(*sets)]
        integers = _all_integers(given)
        labels = _occurring(given, integers) if form.label_names is None else _label_values(form.label_names, integers)
        _refuse_names_of_everything(len(labels), bags)
        values = _indicators([_label_values(one, integers) for one in sets], labels, bags, "label_names has")
    integers = _all_integers(labels)
    classes = (_as_label(form.negative_label, integers), *_label_values(labels, integers))
    refuse_negative(classes, values, bags)
    refuse_uninformative(values, classes)
    warn_of_large(values, bags)
    warn_of_absent(values, classes)
    return WeakLabels(values, classes)


def check_known_label_sets(weak: NDArray[Any], bags: Bags, form: LabelSetForm, classes: tuple[Any, ...]) -> WeakLabels:
    """Turn label sets of test bags into a matrix with the columns of training; any of the labels may be missing.

    Args:
        weak: (B,) or (B, C) as in training.
        bags: named in error messages.
        form: how sets are written.
        classes: as `check_label_sets` returned them in training.

    Raises:
        DataError: for a label, or a number of columns, that was not there in training.
    """
    labels = classes[1:]
    if weak.ndim > 1:
        values = _matrix(weak, bags, len(labels), "training had")
    else:
        sets = [_as_known(one, labels) for one in _sets(weak, bags, form.separator)]
        values = _indicators(sets, labels, bags, "training had")
    return WeakLabels(values, classes)


def _refuse_names_of_everything(n_labels: int, bags: Bags) -> None:
    """Refuse labels so many that a few numbers for each of them and each instance would fill the memory."""
    if n_labels > MANY_LABELS and n_labels * bags.n_rows > MOST_ARMS:
        raise DataError(
            f"The label sets name {n_labels} labels, and each is an arm of each of {bags.n_rows} instances: that is "
            f"too much for the memory. Is the column of labels one of ids? Name another one, or use fewer labels."
        )


def _sets(weak: NDArray[Any], bags: Bags, separator: str) -> list[list[Any]]:
    refuse_binary(weak)
    return [_set(value, bag, separator) for bag, value in zip(bags.ids.tolist(), weak.tolist(), strict=True)]


def _set(value: Any, bag: Any, separator: str) -> list[Any]:
    """Return the labels of one bag; text without a separator is one label, never a set of letters."""
    if isinstance(value, str):
        return [label for label in (part.strip() for part in value.split(separator)) if label]
    labels = value if isinstance(value, COLLECTIONS) else [value]
    return list(dict.fromkeys(_label(label, bag) for label in labels))


def _label(label: Any, bag: Any) -> Any:
    if label is None or (isinstance(label, float) and label != label):
        raise DataError(f"Bag {bag!r} has no weak label; give it a set of labels, or the empty set.")
    if isinstance(label, str):
        return label.strip()
    if _is_integer(label) or (isinstance(label, float) and label.is_integer()):
        return int(label)
    raise DataError(
        f"Bag {bag!r} has {label!r} in its label set; a label is text or an integer, and a set is written as "
        f'{{"a", "b"}}, ["a", "b"] or "a;b".'
    )


def _occurring(labels: Iterable[Any], integers: bool) -> list[Any]:
    return sorted(set(_label_values(labels, integers)))


def _as_known(one: list[Any], labels: Sequence[Any]) -> list[Any]:
    """Spell the labels of a set as in training: a file holds integers as text."""
    found = [positions_of([label], labels) for label in one]
    return [label if place is None else labels[place[label]] for label, place in zip(one, found, strict=True)]


def _as_label(negative: Any, integers: bool) -> Any:
    """Leave an integer an integer beside integers; all else is text, which no label that is an integer equals."""
    return int(negative) if integers and _is_integer(negative) else str(negative)


def _label_values(labels: Iterable[Any], integers: bool) -> list[Any]:
    return [int(label) if integers else str(label) for label in labels]


def _all_integers(labels: Iterable[Any]) -> bool:
    return all(_is_integer(label) for label in labels)


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _matrix(weak: NDArray[Any], bags: Bags, n_labels: int, known: str) -> NDArray[np.int8]:
    if weak.ndim != 2 or weak.shape[1] != n_labels:
        raise DataError(
            f"The label sets are an array of shape {weak.shape}, but {known} {n_labels} labels; a matrix of labels has "
            f"a row for each bag and a column for each label."
        )
    try:
        numbers = weak.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(weak.shape, np.nan)
    wrong = ~np.isin(numbers, (0.0, 1.0))
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise DataError(
            f"Bag {bags.ids.tolist()[row]!r} has {weak.tolist()[row][column]!r} in column {column} of the matrix of "
            f"labels, which holds 0 and 1 only; for lists of label numbers pass sets, such as {{1, 2}}."
        )
    return numbers.astype(np.int8)


def _indicators(sets: list[list[Any]], labels: Sequence[Any], bags: Bags, known: str) -> NDArray[np.int8]:
    column = {label: position for position, label in enumerate(labels)}
    for bag, one in zip(bags.ids.tolist(), sets, strict=True):
        for label in one:
            if label not in column:
                raise DataError(f"Bag {bag!r} has the label {label!r}; {known} {listed(labels)}.")
    values = np.zeros((len(sets), len(labels)), dtype=np.int8)
    rows = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    values[rows, [column[label] for one in sets for label in one]] = 1
    return values
