"""A canonical order of rows, so that results depend neither on the order of rows and bags nor on bag names.

Random draws go to rows by position. Sorting rows by their content first ties each draw to a row's content instead.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.row_view import as_rows
from bliss_framework.kernel.rows import mixed
from bliss_framework.kernel.signatures import row_signatures

# Equal rows differ in last bits by where they stand in a matrix product.
DIGITS = 10


def canonical_order(X: Any, bags: Bags, strata: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the permutation (n,) that sorts rows by stratum of the bag, content of the bag, content of the row.

    Content is first which values are larger than which, so that other units, another order of columns, and columns that
    are constant or repeated lead to the same order; then the values themselves. Bags or rows with equal content keep
    their order; nothing can tell them apart but their names.

    Args:
        X: (n, d) float64 or float32 array, or CSR matrix, or a view of rows.
        bags: the bags of its rows.
        strata: (B,) the stratum of each bag.
    """
    rows = as_rows(X)
    signatures = row_signatures(rows)
    row_keys = [rows.hashes()] if signatures is None else [rows.hashes(), signatures]
    bag_keys = [bags.sum(mixed(keys)) for keys in row_keys]
    by_bag = np.lexsort([*bag_keys, strata])
    rank = np.empty(bags.n_bags, dtype=np.intp)
    rank[by_bag] = np.arange(bags.n_bags)
    return np.lexsort([*row_keys, bags.spread(rank)])


def in_own_order(rows: Any, bags: Bags, weak: NDArray[Any]) -> tuple[Any, Bags, NDArray[Any], NDArray[np.intp]]:
    """Sort bags by what rows they hold, and the rows of a bag beside each other, dense and sparse rows alike.

    Solvers stop within a tolerance, at a point that depends on the order of rows, and random starts go by position.
    Unlike `canonical_order`, it does not tell rows apart that differ by rounding only.

    Args:
        rows: (n, d) array or CSR matrix.
        bags: B bags of n rows.
        weak: (B,) or (B, C) numbers, the weak label of each bag.

    Returns:
        Rows, bags (with an ascending index) and weak labels in the new order, and the position (n,) of each new row
        among the old ones.

    >>> rows, bags, weak, order = in_own_order(
    ...     np.array([[3.0], [1.0], [2.0]]), Bags.from_ids(["a", "b", "a"]), np.array([1, 0])
    ... )
    >>> rows.ravel().tolist(), bags.ids.tolist(), weak.tolist(), order.tolist()
    ([1.0, 2.0, 3.0], ['b', 'a'], [0, 1], [1, 2, 0])
    """
    # A fixed direction tells rows apart without looking at every column; sparse rows cannot be sorted by columns.
    place = rows @ np.random.default_rng(0).standard_normal(rows.shape[1])
    place = np.round(place / max(float(np.abs(place).max()), np.finfo(float).tiny), DIGITS)
    of_bag = (bags.mean(place).round(DIGITS - 1), *weak.reshape(bags.n_bags, -1).T, bags.min(place))
    order = np.lexsort((place, bags.index, *(bags.spread(key) for key in of_bag)))
    grouped, positions = bags.take(order)
    return rows[order], grouped, weak[positions], order
