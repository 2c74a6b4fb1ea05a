"""The parts of iterated discrimination: grow a tight rectangle, choose its columns, expand its bounds."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from bliss_framework.plugin import Bags

BISECTIONS = 60

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


def grow(rows: NDArray[np.float64], bags: Bags) -> NDArray[np.intp]:
    """Choose one instance (B,) of each positive bag so that the rectangle around them is small.

    Each instance of the smallest bag is tried as the first, because one of them must be positive; the smallest
    rectangle is kept. From there on, take the instance that enlarges the sum of sides least, and after each reconsider
    the earlier choices in turn (Dietterich et al. 1997, "iterated discrim").

    Args:
        rows: (n, d) instances of positive bags, in the columns at hand.
        bags: their B bags.
    """
    seeds = np.flatnonzero(bags.index == bags.sizes.argmin())
    grown = [_grow_from(int(seed), rows, bags) for seed in seeds]
    return min(grown, key=lambda chosen: float(np.ptp(rows[chosen], axis=0).sum()))


def _grow_from(seed: int, rows: NDArray[np.float64], bags: Bags) -> NDArray[np.intp]:
    members = [np.flatnonzero(bags.index == bag) for bag in range(bags.n_bags)]
    chosen = {int(bags.index[seed]): seed}
    while len(chosen) < bags.n_bags:
        waiting = np.flatnonzero(~np.isin(bags.index, list(chosen)))
        added = _least_growth(rows, waiting, _around(rows, list(chosen.values())))
        chosen[int(bags.index[added])] = added
        _backfit(rows, members, chosen)
    return np.array([chosen[bag] for bag in range(bags.n_bags)], dtype=np.intp)


def _backfit(rows: NDArray[np.float64], members: list[NDArray[np.intp]], chosen: dict[int, int]) -> None:
    for bag in list(chosen)[:-1]:
        if len(members[bag]) == 1:
            continue
        rest = [row for other, row in chosen.items() if other != bag]
        chosen[bag] = _least_growth(rows, members[bag], _around(rows, rest))


def _around(rows: NDArray[np.float64], chosen: list[int]) -> Bounds:
    return rows[chosen].min(axis=0), rows[chosen].max(axis=0)


def _least_growth(rows: NDArray[np.float64], waiting: NDArray[np.intp], bounds: Bounds) -> int:
    return int(waiting[_outside(rows[waiting], bounds).sum(axis=1).argmin()])


def _outside(rows: NDArray[np.float64], bounds: Bounds) -> NDArray[np.float64]:
    """How far outside the bounds (n, d) each value lies; 0 inside."""
    return np.asarray(np.maximum(np.maximum(bounds[0] - rows, rows - bounds[1]), 0.0))


def discriminating(negatives: NDArray[np.float64], bounds: Bounds, margin: float) -> NDArray[np.intp]:
    """Choose columns, the most useful first, until every negative instance outside is discriminated.

    A column discriminates an instance that it puts more than `margin` outside, or further outside than any other
    column does (Dietterich et al. 1997, "iterated discrim").

    Args:
        negatives: (m, d) instances of negative bags.
        bounds: lower and upper (d,).
        margin: in the units of the rows.
    """
    outside = _outside(negatives, bounds)
    furthest = (outside == outside.max(axis=1, keepdims=True)) & (outside > 0)
    useful = (outside > margin) | furthest
    chosen: list[int] = []
    left = useful.any(axis=1)
    while left.any():
        chosen.append(int(useful[left].sum(axis=0).argmax()))
        left &= ~useful[:, chosen[-1]]
    return np.array(sorted(chosen), dtype=np.intp)


def expand(chosen: NDArray[np.float64], tau: float, epsilon: float, narrowest: float) -> Bounds:
    """Move bounds out until a share `epsilon` of the estimated density of positive instances lies outside.

    The density in each column is a mean of Gaussians at the chosen instances, so wide that `tau` of one in the middle
    of the tight rectangle lies inside it (Dietterich et al. 1997, "iterated discrim").

    Args:
        chosen: (B, d) the chosen instance of each positive bag.
        tau, epsilon: shares between 0 and 1.
        narrowest: least half side, in the units of the rows, where the instances agree.
    """
    low, high = chosen.min(axis=0), chosen.max(axis=0)
    half = np.maximum((high - low) / 2, narrowest)
    width = half / norm.ppf((1 + tau) / 2)
    lower, upper = (_quantile(chosen, width, share) for share in (epsilon / 2, 1 - epsilon / 2))
    middle = (low + high) / 2
    return np.minimum(lower, middle - half), np.maximum(upper, middle + half)


def _quantile(centres: NDArray[np.float64], width: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    reach = width * (abs(norm.ppf(share)) + 1.0)
    low, high = centres.min(axis=0) - reach, centres.max(axis=0) + reach
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = norm.cdf((middle - centres) / width).mean(axis=0) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
