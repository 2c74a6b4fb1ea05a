"""An order of training rows that is the data's own: solvers stop within a tolerance, at a point that depends on it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags


def contiguous(rows: Any, bags: Bags) -> tuple[Any, NDArray[np.intp]]:
    """Return rows (n, d) with those of a bag together, in order of bags, and the bag (n,) of each."""
    order = np.argsort(bags.index, kind="stable")
    return rows[order], bags.index[order]


def first_rows(index: NDArray[np.intp]) -> NDArray[np.intp]:
    """Find where each bag starts in an ascending bag index (n,)."""
    return np.flatnonzero(np.diff(index, prepend=-1))
