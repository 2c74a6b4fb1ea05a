"""Axis-parallel rectangles: positive instances lie in a box that no negative instance enters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, validators
from bliss_mil.bag_classifier import BagClassifier
from bliss_mil.rectangle_growth import discriminating, expand, grow
from bliss_mil.settings_checks import check_settings
from bliss_mil.working_columns import in_canonical_order, learn_columns, on_columns

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
        rows, grouped = self.rows(X, bags)
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
