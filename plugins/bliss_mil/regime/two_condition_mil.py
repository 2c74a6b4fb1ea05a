"""Bags that are positive where two conditions hold together: an instance of each of two concepts."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from bliss_framework.plugin import (
    BagReading,
    Bags,
    LabelSpace,
    Outcome,
    Part,
    Presets,
    Regime,
    SettingsError,
    WeakLabels,
    between,
    likelihood_presets,
)
from bliss_mil.regime.weak_labels import check_binary, check_known_binary

CERTAIN = 1e-6
UNLIKELY = -1e6  # A bound below all others.
CLEAR = 0.8  # The chance with which a first draw follows an anchor.
JOINS = 0.1  # Of the bags, so many more must a cluster tell apart.


def _numbers(_: Any, attribute: Any, value: Any) -> None:
    """Allow whole numbers of clusters, each 2 or more (an attrs validator)."""
    if not isinstance(value, tuple) or not value or not all(isinstance(one, int) and one >= 2 for one in value):
        raise SettingsError(f"{attribute.name} must be a list of whole numbers from 2 on; got {value!r}.")


@frozen
class TwoConditionMil(Regime):
    """A bag is positive where it holds a "first" and a "second" instance (Weidmann, Frank and Pfahringer, ECML 2003).

    Instances are "none", "first" or "second". With the chances s, a bag holds concept k with chance
    P_k = 1 - prod (1 - s_k) and is positive with chance P_1 P_2. Two names for one thing would be as good the other way
    round, and "first" for nearly everything would be good enough to begin with, so three things tell them apart: first
    draws follow clusters of rows that occur together in positive bags more than in negative ones, named by where they
    lie; a label assignment has both concepts in positive bags and never both in negative ones; and at most a share of a
    bag is of a concept.

    Args:
        positive_label: which of two weak labels means positive; see the regime "mil".
        most: the largest share of a bag that is of a concept, though two instances always may be, and one more where a
            concept would be missing.
        n_clusters: numbers of clusters of rows that are tried.
    """

    presets: ClassVar[Presets] = likelihood_presets(
        "two-level", "min-max-svm", n_inferences=1, n_folds=2, relabel_rounds=30
    )

    positive_label: Any = field(default=None)
    most: float = field(default=0.5, validator=between(0.0, 1.0))
    n_clusters: tuple[int, ...] = field(
        default=(3, 5, 10, 20),
        converter=lambda value: tuple(value) if isinstance(value, list) else value,
        validator=_numbers,
    )

    @property
    def reading(self) -> BagReading:
        """A bag is as positive as the weaker of its two conditions."""
        return TwoConditionReading()

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Refuse anything but two classes of bags, both of them there."""
        read = check_binary(weak, bags, self.positive_label)
        return evolve(read, classes=("none", "first", "second"), bag_classes=read.classes)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Take the words of training, or others of which everybody knows which is positive."""
        return check_known_binary(weak, bags, classes) or super().check_test(weak, bags, classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Let every instance be of either concept or of none."""
        return LabelSpace(np.ones((bags.n_rows, 3), dtype=bool), np.arange(3))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Say of negative bags that they hold nothing, and of positive ones that they hold both."""
        return np.where(bags.spread(weak.values)[:, None] == 1, [1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0])

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope (m, 3) of log P_1 P_2, or log(1 - P_1 P_2), in the chances (m, 3) of instances."""
        bags = part.bags
        others = np.clip(1 - chances[:, 1:], CERTAIN, 1.0)
        absent = np.exp(bags.sum(np.log(others)))
        present = np.maximum(1 - absent, CERTAIN)
        both = present.prod(axis=1, keepdims=True)
        of_positive, of_negative = 1 / present, -present[:, ::-1] / np.maximum(1 - both, CERTAIN)
        of_bag = np.where(part.weak.values[:, None] == 1, of_positive, of_negative) * absent
        return np.concatenate([np.zeros((len(chances), 1)), bags.spread(of_bag) / others], axis=1)

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw the concepts of the clusters that tell positive bags from negative ones best."""
        rows = np.asarray(part.X.toarray() if part.rows.is_sparse else part.X)
        most = len(np.unique(rows, axis=0))
        numbers = sorted({min(number, most) for number in self.n_clusters} - {1})
        if not numbers:
            return None
        found = [anchors(KMeans(number, n_init=3, random_state=0).fit(rows).labels_, part) for number in numbers]
        _, first, second = max(found, key=lambda one: one[0])
        first, second = in_one_order(first, second, rows)
        doubt = (1 - CLEAR) / 2
        prior = np.tile([1 - doubt, doubt / 2, doubt / 2], (len(rows), 1))
        prior[first] = [doubt, CLEAR, doubt]
        prior[second] = [doubt, doubt, CLEAR]
        return prior

    def constraint(self) -> Any:
        """Keep assignments in which positive bags hold both concepts and negative ones do not."""
        return self._keep

    def _keep(self, bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
        return keep_conditions(bounds, part, self.most)


def anchors(labels: NDArray[np.intp], part: Part) -> tuple[float, NDArray[np.bool_], NDArray[np.bool_]]:
    """Find two groups of clusters that stand together in positive bags more than in negative ones.

    The best pair of clusters comes first; then clusters join one of the two as long as that tells a tenth more of the
    bags apart.

    Args:
        labels: (n,) the cluster of each row.
        part: the rows, with their bags.

    Returns:
        In how many more of positive than of negative bags both stand, as a share, and the rows (n,), (n,) of each.
    """
    clusters = np.arange(labels.max() + 1)
    holds = part.bags.any(labels[:, None] == clusters)
    contrast = np.where(part.weak.values == 1, 1.0, -1.0)
    contrast /= np.where(contrast > 0, (contrast > 0).sum(), (contrast < 0).sum())
    together = np.triu((holds * contrast[:, None]).T @ holds, 1)
    members = [{int(one)} for one in np.unravel_index(together.argmax(), together.shape)]
    gain = float(together.max())
    while len(members[0] | members[1]) < len(clusters):
        has = [holds[:, sorted(one)].any(axis=1) for one in members]
        joined = np.stack([contrast @ ((has[k][:, None] | holds) & has[1 - k][:, None]) for k in (0, 1)])
        joined[:, sorted(members[0] | members[1])] = -np.inf
        group, cluster = np.unravel_index(joined.argmax(), joined.shape)
        if joined.max() < gain + JOINS:
            break
        members[group].add(int(cluster))
        gain = float(joined.max())
    first, second = (np.isin(labels, sorted(one)) for one in members)
    return gain, first, second


def in_one_order(
    first: NDArray[np.bool_], second: NDArray[np.bool_], rows: NDArray[np.floating]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Put that group first which lies higher in the column in which they differ most: the same one in every fold."""
    apart = rows[first].mean(axis=0) - rows[second].mean(axis=0)
    return (second, first) if apart[np.abs(apart).argmax()] < 0 else (first, second)


def keep_conditions(bounds: NDArray[np.float64], part: Part, most: float) -> NDArray[np.intp]:
    """Choose labels with large bounds so that positive bags hold both concepts and negative bags do not.

    In a positive bag without a concept the row that loses least gets it; from a negative bag with both the concept goes
    that gains less.

    Args:
        bounds: (n, 3) of "none", "first" and "second".
        part: the rows, with their bags.
        most: the largest share of a bag that is of a concept, though two rows always may be, and one more where a
            concept would be missing.
    """
    bags, values = part.bags, bounds.copy()
    lead = values[:, 1:].max(axis=1) - values[:, 0]
    values[bags.ranks(lead) >= np.maximum(2, most * bags.spread(bags.sizes)), 1:] = UNLIKELY
    labels = values.argmax(axis=1)
    chosen = np.zeros(len(labels), dtype=bool)
    positive = bags.spread(part.weak.values) == 1
    for concept in (1, 2):
        missing = positive & ~bags.spread(bags.any((labels == concept) & ~chosen))
        cost = np.where(chosen, np.inf, values.max(axis=1) - bounds[:, concept])
        nearest = bags.ranks(-cost) == 0
        labels[missing & nearest & ~chosen] = concept
        chosen |= positive & (labels == concept) & (bags.ranks(np.where(labels == concept, lead, -np.inf)) == 0)
    gains = [bags.sum(np.where(labels == concept, lead, 0.0)) for concept in (1, 2)]
    both = bags.any(labels == 1) & bags.any(labels == 2) & (part.weak.values == 0)
    less = np.where(gains[0] < gains[1], 1, 2)
    labels[bags.spread(both) & (labels == bags.spread(less))] = 0
    return labels


@frozen
class TwoConditionReading(BagReading):
    """A bag is as positive as the weaker of its two conditions, and a condition as its best instance."""

    from_instances: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Return min over concepts of max over instances of how far a concept leads what else it may be: (B,)."""
        none, first, second = scores.T
        leads = [first - np.maximum(none, second), second - np.maximum(none, first)]
        return np.asarray(bags.max(np.stack(leads, axis=1)).min(axis=1))

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict 1 where both conditions are met."""
        return np.asarray(self.bag_scores(scores, bags) > threshold, dtype=np.int8)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags that are predicted right."""
        bags, classes = outcome.fold.heldout.bags, outcome.heldout_classes
        predicted = bags.any(classes == 1) & bags.any(classes == 2)
        return {"accuracy": float((predicted == outcome.fold.heldout.weak.values).mean())}

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return the share of bags that are predicted right."""
        return {"bag_accuracy": float((predicted == weak.values).mean())}
