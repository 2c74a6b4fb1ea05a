"""An order of training rows that is the data's own: random starts go by position, and solvers stop near a minimum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags

DIGITS = 9


def in_own_order(rows: Any, bags: Bags, shares: NDArray[np.float64]) -> tuple[Any, Bags, NDArray[np.float64]]:
    """Sort bags by their content, and the rows of a bag beside each other.

    Args:
        rows: (n, d) array or CSR matrix.
        bags: B bags of n rows.
        shares: (B, C) shares of the classes.

    Returns:
        Rows, bags (with an ascending index) and shares in the new order.
    """
    # Sparse rows cannot be sorted by columns, but a fixed direction tells them apart.
    place = rows @ np.random.default_rng(0).standard_normal(rows.shape[1])
    # Equal rows differ in last bits by where they stand in a matrix product.
    place = np.round(place / max(float(np.abs(place).max()), np.finfo(float).tiny), DIGITS)
    of_bag = (*shares.T, bags.mean(place).round(DIGITS), bags.min(place))
    order = np.lexsort((place, bags.index, *(bags.spread(key) for key in of_bag)))
    grouped, positions = bags.take(order)
    return rows[order], grouped, shares[positions]
