"""A decision tree on weighted instances, which splits as C4.5 does, kept as arrays."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import xlogy

from bliss_framework.plugin import Bags

# A branch must hold a twentieth of its node's weight, but no more than this asks of it (C4.5).
LARGEST_DEMAND = 25.0
# Gains that differ by less from the average are not below it (C4.5).
SLACK = 1e-3
# Gains of the same split by another column differ in last bits.
LEAST_GAIN = 1e-9


@frozen(eq=False)
class Tree:
    """Nodes in an order in which parents come first; the root is node 0.

    Attributes:
        columns: (N,) the column that a node splits by; 0 for leaves.
        cuts: (N,) the value up to which instances go left.
        children: (2, N) the left and right child, -1 for leaves.
    """

    columns: NDArray[np.intp] = field()
    cuts: NDArray[np.float64] = field()
    children: NDArray[np.intp] = field()

    def counts(self, rows: NDArray[np.float64], bags: Bags, wanted: NDArray[np.intp]) -> NDArray[np.float64]:
        """Count the instances (n, d) of each bag that reach some nodes: (B, W) for wanted nodes (W,)."""
        place = np.full(len(self.columns), -1)
        place[wanted] = np.arange(len(wanted))
        counts = np.zeros(bags.n_bags * len(wanted))
        alive, at = np.arange(len(rows)), np.zeros(len(rows), dtype=np.intp)
        while len(alive):
            seen = place[at] >= 0
            cells = bags.index[alive[seen]] * len(wanted) + place[at[seen]]
            counts += np.bincount(cells, minlength=len(counts))
            inner = self.children[0, at] >= 0
            alive, at = alive[inner], at[inner]
            right = rows[alive, self.columns[at]] > self.cuts[at]
            at = self.children[right.astype(np.intp), at]
        return counts.reshape(bags.n_bags, len(wanted))


def grow(rows: NDArray[np.float64], positive: NDArray[Any], weights: NDArray[np.float64], min_leaf: float) -> Tree:
    """Split instances by the column with the best gain ratio, as far as it is worth it; there is no pruning.

    Source: Quinlan, C4.5: programs for machine learning, Morgan Kaufmann 1993, and Improved use of continuous
    attributes in C4.5, JAIR 4 (1996).

    Args:
        rows: (n, d).
        positive: (n,) whether an instance is of class 1.
        weights: (n,) of the instances.
        min_leaf: least weight of a leaf.
    """
    search = SplitSearch(np.ascontiguousarray(rows.T), weights, weights * positive, min_leaf)
    nodes: list[tuple[int, float]] = []
    children: list[list[int]] = []
    waiting = [(np.argsort(search.columns, axis=1, kind="stable"), -1, 0)]
    while waiting:
        order, parent, side = waiting.pop()
        if parent >= 0:
            children[parent][side] = len(nodes)
        split = search.best(order)
        if split is not None:
            left = search.columns[split[0]] <= split[1]
            goes_left = left[order]
            for branch, kept in ((0, goes_left), (1, ~goes_left)):
                # Every column holds the same rows, so that as many are kept of each.
                waiting.append((order[kept].reshape(len(order), -1), len(nodes), branch))
        nodes.append(split or (0, 0.0))
        children.append([-1, -1])
    columns, cuts = zip(*nodes, strict=True)
    return Tree(np.array(columns, dtype=np.intp), np.array(cuts), np.array(children, dtype=np.intp).T)


@frozen(eq=False)
class SplitSearch:
    """Looks for the best split of a node.

    Attributes:
        columns: (d, n) values of instances.
        weights: (n,) of instances.
        positives: (n,) the same, and 0 for instances of class 0.
        min_leaf: least weight of a leaf.
    """

    columns: NDArray[np.float64] = field()
    weights: NDArray[np.float64] = field()
    positives: NDArray[np.float64] = field()
    min_leaf: float = field()

    def best(self, order: NDArray[np.intp]) -> tuple[int, float] | None:
        """Find the column and the value up to which instances go left; None where no split is worth it.

        Args:
            order: (d, m) the instances of the node, in ascending order of each column.
        """
        total, positive = self.weights[order[0]].sum(), self.positives[order[0]].sum()
        least = max(self.min_leaf, min(total / 20.0, LARGEST_DEMAND))
        if total < 2.0 * least or min(positive, total - positive) <= LEAST_GAIN * total:
            return None
        values = np.take_along_axis(self.columns, order, axis=1)
        left = np.cumsum(self.weights[order], axis=1)[:, :-1]
        left_positive = np.cumsum(self.positives[order], axis=1)[:, :-1]
        slack = LEAST_GAIN * total
        possible = (values[:, 1:] > values[:, :-1]) & (left >= least - slack) & (total - left >= least - slack)
        within = information(left, left_positive) + information(total - left, positive - left_positive)
        gains = np.where(possible, (information(total, positive) - within) / total, -np.inf)
        cuts = np.argmax(gains, axis=1)
        every = np.arange(len(order))
        # What it costs to say which cut was chosen.
        worth = gains[every, cuts] - np.log2(np.maximum(possible.sum(axis=1), 1)) / total
        column = best_ratio(worth, information(total, left[every, cuts]) / total)
        return None if column is None else (column, halfway(*values[column, cuts[column] : cuts[column] + 2]))


def halfway(low: float, high: float) -> float:
    """Return the middle of two numbers, or the lower one where no number lies between them."""
    middle = low / 2.0 + high / 2.0
    return float(middle if low < middle < high else low)


def information(weight: Any, positive: Any) -> Any:
    """Return weight times the entropy, in bits, of two classes of which one has a part of the weight."""
    positive = np.clip(positive, 0.0, weight)
    negative = weight - positive
    return (xlogy(weight, weight) - xlogy(positive, positive) - xlogy(negative, negative)) / np.log(2.0)


def best_ratio(gains: NDArray[np.float64], split: NDArray[np.float64]) -> int | None:
    """Find the column with the best gain ratio among those with a gain of at least the average; None without a gain.

    Args:
        gains: (d,) of the best cut of each column.
        split: (d,) entropy of that cut.
    """
    useful = gains > LEAST_GAIN
    if not useful.any():
        return None
    useful &= gains >= gains[useful].mean() - SLACK
    ratios = np.where(useful, gains / np.where(useful, split, 1.0), -np.inf)
    return int(np.argmax(ratios >= ratios.max() * (1.0 - LEAST_GAIN)))
