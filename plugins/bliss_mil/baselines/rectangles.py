"""Axis-parallel rectangles: positive instances lie in a box that no negative instance enters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.bag_classifier import BagClassifier
from bliss_mil.baselines.working_columns import in_canonical_order, learn_columns, on_columns

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


ROUNDS = 10
# Half a side, in standard deviations of a column in which all chosen instances agree: nothing was learnt about it.
NARROWEST = 0.05
Rectangle = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]
SHARE = validators.between(1e-6, 1 - 1e-6)


class AxisParallelRectangle(BagClassifier):
    """A rectangle around one instance of each positive bag, in the columns that keep negative instances out.

    Growing a tight rectangle and choosing its columns alternate until the columns stay the same; then a kernel density
    estimate moves the bounds out. Inside, an instance scores its distance from the nearest bound; outside, minus its
    Euclidean distance from the rectangle; both with half a side as the unit. A bag scores as its best instance.
    One positive bag with a wrong label, or without a typical instance, stretches the rectangle: with many positive
    bags and noise it may hold everything.

    Source: Dietterich, Lathrop and Lozano-Perez, Solving the multiple instance problem with axis-parallel rectangles,
    Artificial Intelligence 89, 1997, algorithm "iterated discrim".

    Args:
        tau: share of a Gaussian in the middle of the tight rectangle that lies inside it; larger is a narrower kernel.
        epsilon: share of the estimated density of positive instances that may lie outside; smaller is a larger
            rectangle.
        margin: how far outside a column must put a negative instance to rule it out, in standard deviations of the
            column (the paper's 1 Angstrom is about that on MUSK).
        n_components: singular components that wide sparse rows are reduced to; see `learn_columns`.
        scaling: see `Scaling`; none by default, because the scale of columns does not matter here, and values limited
            to 3 deviations would hide what lies far outside.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        features_: the columns of the rectangle, among those worked on: the columns `kept_` that vary in training, or
            singular components.
        lower_, upper_: bounds in these columns, after scaling.
    """

    def __init__(
        self,
        tau: float = 0.995,
        epsilon: float = 0.01,
        margin: float = 1.0,
        n_components: int = 50,
        scaling: str = "none",
        positive_label: Any = None,
    ) -> None:
        self.tau = tau
        self.epsilon = epsilon
        self.margin = margin
        self.n_components = n_components
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "AxisParallelRectangle":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, tau=SHARE, epsilon=SHARE, margin=validators.positive)
        check_settings(self, n_components=validators.at_least(1))
        scaled, grouped, weak = self.learn(X, y, bags)
        self.kept_, self.projection_ = learn_columns(scaled, self.n_components)
        dense = on_columns(scaled, self.kept_, self.projection_)
        rows, grouped, weak = in_canonical_order(dense, grouped, weak)
        mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        deviation[deviation == 0] = 1.0
        self.features_, lower, upper = self._rectangle((rows - mean) / deviation, grouped, weak)
        mean, deviation = mean[self.features_], deviation[self.features_]
        self.lower_, self.upper_ = mean + deviation * lower, mean + deviation * upper
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive inside the rectangle."""
        rows, _ = self.rows(X, None)
        return self._margins(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self.rows_in_bags(X, bags)
        return grouped.ids, grouped.max(self._margins(rows))

    def _rectangle(self, rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> Rectangle:
        positive = bags.rows_of(np.flatnonzero(weak == 1))
        positives, negatives = rows[positive], rows[bags.rows_of(np.flatnonzero(weak == 0))]
        positive_bags, _ = bags.take(positive)
        features = np.arange(rows.shape[1])
        for _ in range(ROUNDS):
            chosen = positives[grow(positives[:, features], positive_bags)][:, features]
            tight = chosen.min(axis=0), chosen.max(axis=0)
            kept = discriminating(negatives[:, features], tight, self.margin)
            if len(kept) in (0, len(features)):
                break
            features, chosen = features[kept], chosen[:, kept]
        return features, *expand(chosen, self.tau, self.epsilon, NARROWEST)

    def _margins(self, rows: Any) -> NDArray[np.float64]:
        values = on_columns(rows, self.kept_, self.projection_)[:, self.features_]
        half = (self.upper_ - self.lower_) / 2
        inwards = np.minimum(values - self.lower_, self.upper_ - values) / half
        outside = np.linalg.norm(np.minimum(inwards, 0.0), axis=1)
        return np.asarray(np.where(outside > 0, -outside, inwards.min(axis=1)))
