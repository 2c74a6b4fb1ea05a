"""Diverse density of a target point: how near all positive bags, and how far from all negative instances, it lies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags

# Keeps the likelihood finite where the target lies on a negative instance.
NEAREST = 1e-8
# From here on the sum of probabilities equals their noisy-or to the last bit, and does not underflow.
FAR = 40.0
LOG_2 = np.log(2.0)


def weighted_distances(
    rows: NDArray[np.float64], target: NDArray[np.float64], scales: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean over columns (n,) of squared distances of rows (n, d) from a target (d,), weighted by squared scales."""
    return ((rows - target) ** 2) @ scales**2 / len(scales)


def noisy_or(distances: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> tuple[float, NDArray[np.float64]]:
    """Negative log diverse density of weighted distances, and its derivative by each distance.

    An instance at weighted distance D is positive with probability exp(-D), and a bag is positive unless all its
    instances are negative (Maron and Lozano-Perez 1998, noisy-or model).

    Args:
        distances: (n,) weighted squared distances from the target.
        bags: B bags of n rows.
        weak: (B,) 1 for positive and 0 for negative bags.
    """
    floored = np.maximum(distances, NEAREST)
    log_negative = _log_complement(floored)
    all_negative = bags.sum(log_negative)
    log_positive = _log_positive(floored, all_negative, bags)
    value = -float(np.where(weak == 1, log_positive, all_negative).sum())
    others_negative = bags.spread(all_negative) - log_negative
    attraction = np.exp(others_negative - floored - bags.spread(log_positive))
    repulsion = -np.exp(-floored - log_negative)
    slope = np.where(bags.spread(weak) == 1, attraction, repulsion)
    return value, np.where(distances > NEAREST, slope, 0.0)


def _log_complement(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(1 - exp(-D)), by the form that is exact where D is small or where it is large."""
    near = distances < LOG_2
    small = np.log(-np.expm1(-np.where(near, distances, LOG_2)))
    return np.where(near, small, np.log1p(-np.exp(-np.maximum(distances, LOG_2))))


def _log_positive(distances: NDArray[np.float64], all_negative: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    nearest = bags.min(distances)
    sums = np.log(bags.sum(np.exp(bags.spread(nearest) - distances))) - nearest
    near = nearest < FAR
    return np.where(near, _log_complement(-np.where(near, all_negative, -1.0)), sums)


def likeliest(distances: NDArray[np.float64], bags: Bags) -> NDArray[np.intp]:
    """Find the row (B,) of the likeliest positive instance of each bag: the one nearest the target."""
    order = np.lexsort((distances, bags.index))
    starts = np.concatenate([[0], np.cumsum(bags.sizes)[:-1]])
    return np.asarray(order[starts], dtype=np.intp)


def singletons(n_bags: int) -> Bags:
    """Bags of one row each."""
    return Bags(np.arange(n_bags), np.arange(n_bags))


def negative_log_density(
    point: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]
) -> tuple[float, NDArray[np.float64]]:
    """Negative log diverse density of a point (target and scales, 2 d numbers), and its gradient (2 d,)."""
    target, scales = np.split(point, 2)
    away = rows - target
    squares = away**2
    value, slope = noisy_or(squares @ scales**2 / len(scales), bags, weak)
    by_target = -(scales**2) * (slope @ away)
    by_scales = scales * (slope @ squares)
    return value, np.concatenate([by_target, by_scales]) * (2.0 / len(scales))


def most_likely_cause(
    point: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]
) -> tuple[float, NDArray[np.float64]]:
    """As `negative_log_density`, but a bag is as positive as its likeliest instance (most-likely-cause model)."""
    target, scales = np.split(point, 2)
    chosen = likeliest(weighted_distances(rows, target, scales), bags)
    return negative_log_density(point, rows[chosen], singletons(bags.n_bags), weak)
