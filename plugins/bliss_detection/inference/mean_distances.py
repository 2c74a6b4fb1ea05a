"""Mean distance to the nearest outputs of each bag, for all values at once: a sum of piecewise linear functions.

In a bag with outputs h_1 <= ... <= h_s, the mean distance of v to its k nearest outputs has slope -1 far on the left.
Its slope grows by 2/k where v passes an output, and falls by 2/k where v passes the middle between h_i and h_(i+k),
because there h_(i+k) takes the place of h_i. So the sum over bags is known exactly from sorted breakpoints, in
O(m log m) for m outputs, and no value is compared with every bag.
"""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags


class MeanDistances:
    """The weighted sum over bags of the mean distance to the k nearest outputs of the bag.

    >>> bags = Bags.from_ids([0, 0, 1])
    >>> far = MeanDistances(np.array([0.0, 4.0, 1.0]), bags, np.array([1.0, 1.0]), k=1)
    >>> far(np.array([0.0, 3.0])).tolist()      # 0 + 1 and 1 + 2
    [1.0, 3.0]
    """

    def __init__(self, outputs: NDArray[np.floating], bags: Bags, weights: NDArray[np.float64], k: int) -> None:
        """Find the breakpoints.

        Args:
            outputs: (m,) one number for each instance.
            bags: of the m instances.
            weights: (B,) of any sign; those of bags that do not count are 0.
            k: neighbours in each bag; a bag with fewer has all of them counted.
        """
        order = np.lexsort([outputs, bags.index])
        ordered, bag = outputs[order].astype(np.float64), bags.index[order]
        k_of_bag = np.minimum(k, bags.sizes)
        step = 2.0 * weights / k_of_bag
        start = np.concatenate([[0], np.cumsum(bags.sizes)[:-1]])
        rank = np.arange(len(ordered)) - start[bag]
        near = k_of_bag[bag]
        leaves = np.flatnonzero(rank + near < bags.sizes[bag])
        middles = (ordered[leaves] + ordered[leaves + near[leaves]]) / 2
        places = np.concatenate([ordered, middles])
        bends = np.concatenate([step[bag], -step[bag[leaves]]])
        by_place = np.argsort(places, kind="stable")
        self._places = places[by_place]
        # Slope to the right of each breakpoint.
        self._slopes = np.cumsum(bends[by_place]) - weights.sum()
        # On the far left all k nearest are the first k of each bag.
        first = np.bincount(bag, weights=np.where(rank < near, ordered, 0.0), minlength=bags.n_bags) / k_of_bag
        self._left = float(weights @ first)
        self._total = float(weights.sum())
        at_first = self._left - self._total * self._places[0]
        self._values = at_first + np.concatenate([[0.0], np.cumsum(self._slopes[:-1] * np.diff(self._places))])

    def __call__(self, queries: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the sum for each query (q,)."""
        place = np.searchsorted(self._places, queries, side="right") - 1
        inside = np.maximum(place, 0)
        beyond = self._values[inside] + self._slopes[inside] * (queries - self._places[inside])
        return np.where(place < 0, self._left - self._total * queries, beyond)
