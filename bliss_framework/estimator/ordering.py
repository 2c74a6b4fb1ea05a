"""A canonical order of rows, so that results depend neither on the order of rows and bags nor on bag names.

Random draws go to rows by position. Sorting rows by their content first ties each draw to a row's content instead.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.bags import Bags

_MIX = np.uint64(0x9E3779B97F4A7C15)
BLOCK = 4096  # Rows at a time: the bits of all of them would take several times the memory of the rows.


def canonical_order(X: Any, bags: Bags, strata: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the permutation (n,) that sorts rows by stratum of the bag, content of the bag, content of the row.

    Bags or rows with equal content keep their order; nothing can tell them apart but their names.

    Args:
        X: (n, d) float64 or float32 array, or CSR matrix.
        bags: the bags of its rows.
        strata: (B,) the stratum of each bag.
    """
    row_keys = _row_keys(X)
    bag_keys = bags.sum(_mixed(row_keys))
    by_bag = np.lexsort([bag_keys, strata])
    rank = np.empty(bags.n_bags, dtype=np.intp)
    rank[by_bag] = np.arange(bags.n_bags)
    return np.lexsort([row_keys, bags.spread(rank)])


def _row_keys(X: Any) -> NDArray[np.uint64]:
    """Hash each row: a sum of its values' bits times a random odd number for each column, modulo 2^64."""
    multipliers = np.random.default_rng(20140901).integers(1, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    if isinstance(X, np.ndarray):
        blocks = [_mixed(_bits(X[start : start + BLOCK])) @ multipliers for start in range(0, len(X), BLOCK)]
        return np.concatenate(blocks)
    products = _mixed(_bits(X.data)) * multipliers[X.indices]
    prefix = np.zeros(len(products) + 1, dtype=np.uint64)
    np.cumsum(products, out=prefix[1:])
    return np.asarray(prefix[X.indptr[1:]] - prefix[X.indptr[:-1]])


def _bits(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    # Adding 0.0 makes -0.0 and 0.0 the same bits.
    return np.ascontiguousarray(values.astype(np.float64) + 0.0).view(np.uint64)


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (keys ^ (keys >> np.uint64(29))) * _MIX
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))
