"""The instances that explain their bags, the strongest first."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bliss_framework.report.instances import Instances
from bliss_framework.report.parts import Cell, Part, Table
from bliss_framework.report.weak_bags import BINARY, LABEL_SETS, WeakBags

OF_EACH = 3
MOST_WITNESSES = 600


def witness_parts(weak: WeakBags, instances: Instances) -> list[Part]:
    """Lay out which instances make bags positive, or give them their labels."""
    if weak.kind not in (BINARY, LABEL_SETS) or not len(instances.rows) or weak.values is None:
        return []
    strength, what = strength_of(weak, instances)
    columns = ("bag", "label", "place", *instances.named, *((what,) if what else ()), "confidence")
    found: list[tuple[float, tuple[Cell, ...]]] = []
    for bag, label, rows in _explained(weak, instances):
        best = rows[np.argsort(-strength[rows], kind="stable")][:OF_EACH].tolist()
        named = (Cell(bag), Cell(label))
        if not best:
            nothing = tuple(Cell("-") for _ in range(len(columns) - 3))
            found.append((-np.inf, (*named, Cell("none"), *nothing)))
        for place, row in enumerate(best, start=1):
            figures = (*((Cell(f"{strength[row]:.3f}"),) if what else ()), instances.confidence_cell(row))
            found.append((float(strength[best[0]]), (*named, Cell(str(place)), *instances.cells(row), *figures)))
    if not found:
        return []
    found.sort(key=lambda one: -one[0])
    left = f" {len(found) - MOST_WITNESSES} more lines are left out." if len(found) > MOST_WITNESSES else ""
    note = f"Up to {OF_EACH} of each bag; bags with the strongest witness first, those without one last.{left}"
    subject = "each label" if weak.kind == LABEL_SETS else "each positive bag"
    return [Table(f"Witnesses of {subject}", columns, tuple(row for _, row in found[:MOST_WITNESSES]), note)]


def _explained(weak: WeakBags, instances: Instances) -> Iterator[tuple[str, str, NDArray[np.intp]]]:
    """Yield each bag with a label that it has, and the rows of it that were inferred to have that label."""
    order = np.argsort(instances.bags, kind="stable")
    ids = instances.bags[order]
    starts, ends = (np.searchsorted(ids, np.array(weak.ids), side) for side in ("left", "right"))
    values = np.asarray(weak.values).reshape(len(weak.ids), -1)
    words = weak.words[1:] if weak.kind == BINARY else weak.words
    for number, bag in enumerate(weak.ids):
        rows = order[starts[number] : ends[number]]
        for c in np.flatnonzero(values[number] == 1):
            yield bag, words[c], rows[instances.labels[rows] == words[c]]


def strength_of(weak: WeakBags, instances: Instances) -> tuple[NDArray[np.float64], str]:
    """Return by what instances are ranked (n,), and what that is called; "" where it is the confidence."""
    if weak.kind != BINARY:
        return instances.confidence, ""
    if instances.probability is not None:
        return np.nan_to_num(instances.probability, nan=-np.inf), "probability (out of fold)"
    if instances.score is not None:
        return np.nan_to_num(instances.score, nan=-np.inf), "score (out of fold)"
    if instances.rewards.shape[1] == 2:
        return np.nan_to_num(instances.lead, nan=-np.inf), "lead in mean reward"
    return instances.confidence, ""
