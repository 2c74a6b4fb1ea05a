"""Label sets that cannot be used, or only in part, and what to do: one sentence each."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError

BINARY = ([0, 1], [-1, 1])
N_LISTED = 8


def refuse_binary(weak: NDArray[Any]) -> None:
    """Refuse weak labels (B,) that only say whether something is there."""
    if weak.dtype.kind == "b" or (weak.dtype.kind in "iuf" and np.unique(weak).tolist() in BINARY):
        raise DataError(
            "The weak labels are two numbers, and multi-class MIL takes a set of labels for each bag, such as "
            '{"cat", "dog"} or set(); for one class that is there or not use regime="mil".'
        )


def refuse_negative(classes: tuple[Any, ...], values: NDArray[np.int8], bags: Bags) -> None:
    """Refuse a label that has the name of the negative class, `classes[0]`."""
    if classes[0] not in classes[1:]:
        return
    holders = np.flatnonzero(values[:, classes.index(classes[0], 1) - 1])
    where = f"Bag {bags.ids.tolist()[holders[0]]!r} has" if len(holders) else "label_names has"
    raise DataError(
        f"{where} the label {classes[0]!r}, which is the name of the negative class; every bag may hold negatives, so "
        f"leave it out of the sets, or give the regime another negative_label."
    )


def refuse_uninformative(values: NDArray[np.int8], classes: tuple[Any, ...]) -> None:
    """Refuse label sets (B, C) that are all empty, or all the same full set."""
    if not values.any():
        raise DataError(f"All {len(values)} bags have the empty label set; there is no label to learn.")
    if values.all():
        raise DataError(
            f"All {len(values)} bags have the same label set ({listed(classes[1:])}); some bag must lack a label, "
            f"otherwise any labels would do."
        )


def warn_of_large(values: NDArray[np.int8], bags: Bags) -> None:
    """Warn of bags with more labels than instances: real data have a few whose instances were not all found."""
    n_labels = values.sum(axis=1, dtype=np.intp)
    large = np.flatnonzero(n_labels > bags.sizes)
    if len(large):
        bag = int(large[0])
        warnings.warn(
            f"Bag {bags.ids.tolist()[bag]!r} has {n_labels[bag]} labels but {bags.sizes[bag]} instances "
            f"({len(large)} such bags of {len(values)}); a label without an instance of its own counts as missed, so "
            f"see whether bag ids and label sets belong together.",
            BlissWarning,
            stacklevel=4,
        )


def warn_of_absent(values: NDArray[np.int8], classes: tuple[Any, ...]) -> None:
    """Warn of labels that no bag has: a rare label may be missing from the training bags of a fold."""
    absent = [label for label, occurs in zip(classes[1:], values.any(axis=0), strict=True) if not occurs]
    if absent:
        warnings.warn(
            f"No bag has the label {listed(absent)}; nothing can be learnt of it, and no instance is given it.",
            BlissWarning,
            stacklevel=4,
        )


def listed(labels: Iterable[Any]) -> str:
    """Write labels one after the other, the first few of them."""
    labels = list(labels)
    return ", ".join(repr(label) for label in labels[:N_LISTED]) + (", ..." if len(labels) > N_LISTED else "")
