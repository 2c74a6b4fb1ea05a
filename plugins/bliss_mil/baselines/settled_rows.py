"""Rows that are the same to the last bit, whatever order the caller gave them in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Rows, in_own_order

# Column means, and so scaled rows, differ in their last bits by the order in which rows were added up. Rows are rounded
# to this part of the power of two above the largest value of a column.
FINEST = 2.0**-32


def settled(rows: Any, bags: Bags, weak: NDArray[Any]) -> tuple[Any, Bags, NDArray[Any]]:
    """Round scaled rows, and put them in an order of their own; for solvers that make much of a little.

    Args:
        rows: (n, d) array or CSR matrix.
        bags: B bags of n rows.
        weak: (B,) the weak label of each bag.

    Returns:
        Rows, bags (with an ascending index) and weak labels.
    """
    ordered, grouped, labels, _ = in_own_order(rounded(rows), bags, weak)
    return ordered, grouped, labels


def rounded(rows: Any) -> Any:
    """Round the values of each column of (n, d) to a multiple of a small part of the largest one.

    >>> rounded(np.array([[0.1 + 0.2, 3.0], [0.3, 1.0]])).tolist()
    [[0.30000000004656613, 3.0], [0.30000000004656613, 1.0]]
    """
    exponents = np.frexp(Rows(rows).column_magnitudes() * FINEST)[1]
    whole = np.rint(Rows(rows).times_powers_of_two(-exponents).array)
    return Rows(whole).times_powers_of_two(exponents).array
