"""Assignments that keep the share of class 1 in groups of rows, which are larger than bags."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Part


@frozen(eq=False)
class KeepShares:
    """Chooses the assignment with the largest sum of bounds among those that give each group its share of class 1.

    Attributes:
        shares: (G,) of class 1 in each group, rounded to the nearest count.
    """

    shares: NDArray[np.float64] = field()

    def __call__(self, bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
        """Return labels (n,) for bounds (n, 2) of rows whose bags have the number of their group as weak label."""
        n_groups = len(self.shares)
        groups = Bags(np.arange(n_groups), part.bags.spread(part.weak.values).astype(np.intp))
        with np.errstate(invalid="ignore"):
            gains = bounds[:, 1] - bounds[:, 0]
        chosen = groups.ranks(gains) < groups.spread(np.rint(self.shares * groups.sizes))
        return np.where(part.space.free, chosen, part.space.known)
