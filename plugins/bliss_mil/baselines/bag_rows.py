"""One row for each bag: its mean, or its smallest and largest values; sparse rows stay sparse."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.plugin import Bags


def bag_means(rows: Any, bags: Bags) -> Any:
    """Average each bag: (n, d) -> (B, d), array or CSR matrix."""
    if not sp.issparse(rows):
        return bags.mean(rows)
    shape = (bags.n_bags, bags.n_rows)
    averaging = sp.csr_matrix((1.0 / bags.sizes[bags.index], (bags.index, np.arange(bags.n_rows))), shape=shape)
    return averaging @ rows


def bag_extremes(rows: Any, bags: Bags) -> Any:
    """Put the smallest and the largest value of each column side by side: (n, d) -> (B, 2 d), array or CSR matrix."""
    if not sp.issparse(rows):
        return np.hstack([bags.min(rows), bags.max(rows)])
    return sp.hstack([-_sparse_maxima(-rows, bags), _sparse_maxima(rows, bags)], format="csr")


def _sparse_maxima(rows: Any, bags: Bags) -> Any:
    entries = rows.tocoo()
    keys = bags.index[entries.row] * np.int64(rows.shape[1]) + entries.col
    order = np.argsort(keys, kind="stable")
    cells, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    bag, column = np.divmod(cells, rows.shape[1])
    largest = _largest(entries.data[order], starts)
    # A cell that some row of the bag does not store holds a 0 there.
    largest = np.where(counts < bags.sizes[bag], np.maximum(largest, 0.0), largest)
    found = sp.csr_matrix((largest, (bag, column)), shape=(bags.n_bags, rows.shape[1]))
    found.eliminate_zeros()
    return found


def _largest(values: NDArray[np.float64], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.maximum.reduceat(values, starts) if len(starts) else values
