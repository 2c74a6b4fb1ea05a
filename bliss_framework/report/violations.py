"""The bags whose weak label the inferred labels do not meet."""

from collections.abc import Callable

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.report.instances import Instances
from bliss_framework.report.parts import Cell, Part, Remark, Table, percent
from bliss_framework.report.weak_bags import BINARY, LABEL_SETS, SHARES, WeakBags

MOST_VIOLATIONS = 500
ONE_IN_200 = 0.005  # Shares in a file are rounded, often to two digits.


@frozen(eq=False)
class Violations:
    """How far the inferred labels of each bag are from its weak label.

    Attributes:
        amount: (B,) 0 where they meet it.
        said: of the number of a bag, what it lacks.
    """

    amount: NDArray[np.float64] = field()
    said: Callable[[int], str] = field()


def violation_parts(weak: WeakBags, instances: Instances) -> list[Part]:
    """Lay out the bags whose weak label the inferred labels do not meet, the worst first."""
    judge = {BINARY: _of_binary, LABEL_SETS: _of_sets, SHARES: _of_shares}.get(weak.kind)
    if weak.values is None or not len(instances.rows) or judge is None:
        return []
    title = "Bags whose weak label the inferred labels do not meet"
    counts = counts_of(weak, instances)
    found = judge(weak, weak.values, counts)
    bad = np.flatnonzero(found.amount > 0)
    if not len(bad):
        return [
            Remark(title, f"There is none: the inferred labels of all {len(weak.ids)} bags meet their weak labels.")
        ]
    worst = bad[np.argsort(-found.amount[bad], kind="stable")][:MOST_VIOLATIONS]
    rows = tuple(
        (Cell(weak.ids[b]), Cell(found.said(b)), *(Cell(str(int(n))) for n in counts[b])) for b in worst.tolist()
    )
    left = f" The first {MOST_VIOLATIONS} are shown." if len(bad) > MOST_VIOLATIONS else ""
    columns = ("bag", "what is not met", *(f"inferred {word}" for word in weak.words))
    return [Table(title, columns, rows, f"{len(bad)} of {len(weak.ids)} bags, the worst first.{left}")]


def counts_of(weak: WeakBags, instances: Instances) -> NDArray[np.intp]:
    """Count the inferred labels of each bag: (B, C), a column for each word."""
    places = {bag: number for number, bag in enumerate(weak.ids)}
    words = {word: number for number, word in enumerate(weak.words)}
    bags = np.array([places.get(bag, -1) for bag in instances.bags.tolist()], dtype=np.intp)
    labels = np.array([words.get(label, -1) for label in instances.labels.tolist()], dtype=np.intp)
    known = (bags >= 0) & (labels >= 0)
    counts = np.zeros((len(weak.ids), len(weak.words)), dtype=np.intp)
    np.add.at(counts, (bags[known], labels[known]), 1)
    return counts


def _of_binary(weak: WeakBags, values: NDArray[np.float64], counts: NDArray[np.intp]) -> Violations:
    """A positive bag needs a positive instance, and a negative bag has none."""
    positive, name = values == 1, weak.words[1]
    missing, surplus = positive & (counts[:, 1] == 0), np.where(positive, 0, counts[:, 1])

    def said(b: int) -> str:
        if missing[b]:
            return f"labelled {name}, and no instance is"
        return f"not labelled {name}, and {surplus[b]} instances are"

    return Violations((missing + surplus).astype(np.float64), said)


def _of_sets(weak: WeakBags, values: NDArray[np.float64], counts: NDArray[np.intp]) -> Violations:
    """Each label of a bag needs an instance, and no instance has another one."""
    lacking, extra = (values == 1) & (counts == 0), (values == 0) & (counts > 0)

    def names(where: NDArray[np.bool_]) -> str:
        return ", ".join(weak.words[c] for c in np.flatnonzero(where))

    def said(b: int) -> str:
        told = [(lacking[b], "no instance is"), (extra[b], "not labelled, but inferred:")]
        return "; ".join(f"{words} {names(where)}" for where, words in told if where.any())

    return Violations((lacking.sum(axis=1) + extra.sum(axis=1)).astype(np.float64), said)


def _of_shares(weak: WeakBags, values: NDArray[np.float64], counts: NDArray[np.intp]) -> Violations:
    """The shares of inferred labels are those that the bag is given, but for rounding."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    apart = np.abs(shares - values).sum(axis=1) / 2
    amount = np.where(apart > ONE_IN_200, apart, 0.0)
    return Violations(amount, lambda b: f"{percent(float(apart[b]))} of its instances would need another label")
