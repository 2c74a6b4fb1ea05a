"""Weak labels that say which labels the rows of a small bag can have together."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags
from bliss_weak_labels.likelihood.regime import SMALLEST

LETTERS = "abc"


def rows_by_bag(bags: Bags, roles: NDArray[np.intp], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows of bags of one size, in the order of their roles.

    Args:
        bags: of n rows.
        roles: (n,) 0, 1, ... the place of each row in its bag.
        chosen: (b,) positions of bags, all of r rows.

    Returns:
        (b, r) positions of rows.

    >>> rows_by_bag(Bags.from_ids([7, 7, 8, 8]), np.array([1, 0, 0, 1]), np.array([0, 1])).tolist()
    [[1, 0], [2, 3]]
    """
    order = np.lexsort((roles, bags.index))
    starts = np.cumsum(bags.sizes) - bags.sizes
    size = int(bags.sizes[chosen[0]]) if len(chosen) else 1
    return np.asarray(order[starts[chosen][:, None] + np.arange(size)])


def places_in(bags: Bags) -> NDArray[np.intp]:
    """Return the place (n,) of each row among those of its bag, 0 for the first."""
    return bags.ranks(-np.arange(bags.n_rows))


def pattern_slopes(
    chances: NDArray[np.float64], rows: NDArray[np.intp], allowed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the slope of log P in the chances of rows, with P the chance that a bag has one of the allowed patterns.

        P = sum over patterns (c_1 .. c_r) of allowed[c_1 .. c_r] * s_1(c_1) * .. * s_r(c_r)

    Args:
        chances: (n, C).
        rows: (b, r) of each bag.
        allowed: (C, .. C) with r axes: 1 for patterns that are allowed, or how likely the weak label is under each.

    Returns:
        (b, r, C).

    >>> pattern_slopes(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([[0, 1]]), np.eye(2)).round(2).tolist()
    [[[0.4, 1.6], [1.0, 1.0]]]
    """
    own = LETTERS[: rows.shape[1]]
    slopes = np.empty((*rows.shape, chances.shape[1]))
    for role in range(rows.shape[1]):
        others = [place for place in range(rows.shape[1]) if place != role]
        terms = ",".join([own, *(f"z{own[place]}" for place in others)])
        form = f"{terms}->{'z' if others else ''}{own[role]}"
        slopes[:, role] = np.einsum(form, allowed, *(chances[rows[:, place]] for place in others))
    seen = (slopes[:, 0] * chances[rows[:, 0]]).sum(axis=1)
    return np.asarray(slopes / np.maximum(seen, SMALLEST)[:, None, None])


def best_patterns(
    bounds: NDArray[np.float64], rows: NDArray[np.intp], allowed: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Choose for each bag the allowed pattern with the largest sum of bounds.

    Args:
        bounds: (n, C), -inf where a label is no candidate.
        rows: (b, r) of each bag.
        allowed: (C, .. C) with r axes, above 0 where a pattern is allowed.

    Returns:
        (b, r) labels.
    """
    n_roles = rows.shape[1]
    patterns = np.argwhere(allowed > 0)
    sums = sum(bounds[rows[:, role]][:, patterns[:, role]] for role in range(n_roles))
    return np.asarray(patterns[np.argmax(sums, axis=1)].reshape(len(rows), n_roles))
