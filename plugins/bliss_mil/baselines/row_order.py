"""An order of training rows that is the data's own: solvers stop within a tolerance, at a point that depends on it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags


def in_own_order(rows: Any, bags: Bags, weak: NDArray[Any]) -> tuple[Any, Bags, NDArray[Any], NDArray[np.intp]]:
    """Sort bags by their content and keep the rows of each together, dense or sparse.

    Args:
        rows: (n, d) array or CSR matrix.
        bags: B bags of n rows.
        weak: (B,) weak labels.

    Returns:
        Rows, bags and weak labels in the new order, and the position (n,) of each new row among the old ones.
    """
    order = _order(rows, bags, weak)
    grouped, positions = bags.take(order)
    return rows[order], grouped, weak[positions], order


def contiguous(rows: Any, bags: Bags) -> tuple[Any, NDArray[np.intp]]:
    """Return rows (n, d) with those of a bag together, in order of bags, and the bag (n,) of each."""
    order = np.argsort(bags.index, kind="stable")
    return rows[order], bags.index[order]


def first_rows(index: NDArray[np.intp]) -> NDArray[np.intp]:
    """Find where each bag starts in an ascending bag index (n,)."""
    return np.flatnonzero(np.diff(index, prepend=-1))


def _order(rows: Any, bags: Bags, weak: NDArray[Any]) -> NDArray[np.intp]:
    # A fixed direction tells rows apart without looking at every column; sparse rows cannot be sorted by columns.
    place = rows @ np.random.default_rng(0).standard_normal(rows.shape[1])
    # Equal rows differ in last bits by where they stand in a matrix product.
    place = np.round(place / max(np.abs(place).max(), np.finfo(float).tiny), 10)
    by_bag = (bags.mean(place).round(9), weak, bags.min(place))
    return np.lexsort((place, bags.index, *(bags.spread(key) for key in by_bag)))
