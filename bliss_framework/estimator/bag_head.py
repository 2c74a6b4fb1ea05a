"""A regime's bag head in a fit: what it is shown of training bags, and the classifiers that it asks of others."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bliss_framework.errors import BlissWarning
from bliss_framework.estimator.ensemble import Ensemble, Member, instance_scores
from bliss_framework.estimator.selection import Trial, unit_of
from bliss_framework.extension.contracts import BagEvidence, BagHead, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.row_view import as_rows, numbered_blocks
from bliss_framework.kernel.rows import Rows


class ModelHead(BaseEstimator):  # type: ignore[misc]
    """A fitted bag head, with the final classifiers that it asks.

    Args:
        fitted: a `FittedBagHead`.
        views: lists of members, one for each kind of instance scores.
        means, units: of the instance scores of each kind over the training rows.
        own_unit: the deviation of the instance scores of the head itself over the training rows, if it has any.
    """

    def __init__(self, fitted: Any, views: Any, means: Any, units: Any, own_unit: Any = None) -> None:
        self.fitted = fitted
        self.views = views
        self.means = means
        self.units = units
        self.own_unit = own_unit

    def parts(self, X: Any, bags: Bags, ensemble: Ensemble) -> Mapping[str, NDArray[np.float64]]:
        """Return what each kind of evidence says of the bags, (B,) or (B, C), by name; their sum is the score of a bag.

        Args:
            X: (n, d) rows, not scaled.
            bags: their bags.
            ensemble: members and regimes by whose scores bags are read without a head.
        """
        # Rows of a bag beside each other, whatever the order in which they came.
        order = np.argsort(bags.index, kind="stable")
        X, bags = as_rows(X).take(order), Bags(bags.ids, bags.index[order])
        scored = _Scored(X)
        scores = tuple(
            (scored.instances(view) - mean) / unit
            for view, mean, unit in zip(self.views, self.means, self.units, strict=True)
        )
        return dict(self.fitted.parts(BagEvidence(Rows(X.array), bags, scores, scored.bags(ensemble, bags))))

    def instance_scores(self, X: Any) -> NDArray[np.float64]:
        """Score instances by the first kind of members, and by the head itself where it does; X as in `parts`."""
        rows = as_rows(X)
        scores = instance_scores(self.views[0], rows)
        if self.own_unit is None:
            return scores
        blocks = [self.fitted.instance_scores(Rows(block)) for _, block in numbered_blocks(rows)]
        return self.joined(scores, np.concatenate(blocks) if blocks else np.zeros(0))

    def joined(self, scores: NDArray[np.float64], own: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Average scores of instances by the first kind of members and by the head, each in its own units."""
        return scores if own is None else (scores / self.units[0] + own / self.own_unit) / 2

    def score(self, X: Any, bags: Bags, ensemble: Ensemble) -> NDArray[np.float64]:
        """Score bags, (B,) or (B, C); arguments as in `parts`."""
        return added(self.parts(X, bags, ensemble))


@frozen(eq=False)
class _Scored:
    """What members say of rows: each final classifier is asked once, however many members share it."""

    X: Any = field()
    of_final: dict[int, NDArray[np.float64]] = field(factory=dict)

    def instances(self, members: Sequence[Member]) -> NDArray[np.float64]:
        return np.asarray(np.mean([self._scores(one) / one.instance_unit for one in members], axis=0))

    def bags(self, ensemble: Ensemble, bags: Bags) -> NDArray[np.float64]:
        read = [regime.reading.bag_scores(self._scores(one), bags) / one.bag_unit for one, regime in ensemble]
        return np.asarray(np.mean(read, axis=0))

    def _scores(self, member: Member) -> NDArray[np.float64]:
        if id(member.final) not in self.of_final:
            self.of_final[id(member.final)] = member.scores(self.X)
        return self.of_final[id(member.final)]


@frozen(eq=False)
class HeadedBags:
    """A head that was fitted, and what it says of training bags out of fold.

    Attributes:
        head: to predict with.
        parts: what each kind of evidence says, by name: (B,) or (B, C) in canonical order.
        own_instances: what the head says of instances, in canonical order; None where it says nothing of them.
    """

    head: ModelHead = field()
    parts: Mapping[str, NDArray[np.float64]] = field()
    own_instances: NDArray[np.float64] | None = field()

    @property
    def bag_scores(self) -> NDArray[np.float64]:
        """The sum of all parts, (B,) or (B, C)."""
        return added(self.parts)


def head_in_use(regime: Regime, bags: Bags, weak: WeakLabels, folds: NDArray[np.intp]) -> BagHead | None:
    """Return the bag head of a regime where it can learn from these training bags; warn where it cannot.

    Args:
        regime: may have one.
        bags: B training bags.
        weak: their weak labels.
        folds: (B,) the fold of each bag.
    """
    head = regime.head
    if head is None:
        return None
    refusal = head.refusal(bags, weak, folds)
    if refusal is None:
        return head
    warn_of_head(refusal)
    return None


def warn_of_head(refusal: str) -> None:
    """Warn that bags are read without a head, and say why."""
    warnings.warn(
        f"The bag head stands back, because {refusal}; bags are read from the scores of their instances.",
        BlissWarning,
        stacklevel=7,
    )


@frozen(eq=False)
class View:
    """One kind of instance scores that a head is shown.

    Attributes:
        members: final classifiers, trained on all training bags, whose scores are averaged.
        scores: (n,) or (n, C) the same average of such that have not seen the bag, in canonical order.
    """

    members: Sequence[Member] = field()
    scores: NDArray[np.float64] = field()


def fitted_head(
    head: BagHead, views: Sequence[View], own: NDArray[np.float64], data: Part, folds: NDArray[np.intp]
) -> HeadedBags:
    """Fit a bag head on what final classifiers said of the bags that they had not seen.

    Args:
        head: of the regime.
        views: kinds of instance scores.
        own: (B,) or (B, C) out-of-fold bag scores, as bags are read without a head.
        data: the training data in canonical order, not scaled.
        folds: (B,) the fold of each bag.
    """
    means = [float(np.sort(one.scores, axis=None).mean()) for one in views]
    units = [unit_of(one.scores) for one in views]
    scores = tuple((one.scores - mean) / unit for one, mean, unit in zip(views, means, units, strict=True))
    evidence = BagEvidence(Rows(as_rows(data.X).array), data.bags, scores, own)
    found = head.fit(evidence, data.weak, folds)
    own_unit = None if found.instance_scores is None else unit_of(found.instance_scores)
    fitted = ModelHead(found.fitted, [list(one.members) for one in views], means, units, own_unit)
    return HeadedBags(fitted, dict(found.parts), found.instance_scores)


def added(parts: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the scores of bags: the sum of what each kind of evidence says."""
    return np.asarray(np.sum(list(parts.values()), axis=0), dtype=np.float64)


def views_of(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Put candidates together by how much of their targets is inherited; those that infer nothing stand back.

    Candidates that differ in how bags are read have the same instance scores, and count once.
    """
    inferring = [one for one in trials if one.config.has_bandit] or list(trials)
    groups: dict[float, dict[str, Trial]] = {}
    for one in inferring:
        own = groups.setdefault(float(one.config["inherited_share"]), {})
        own.setdefault(repr([one.config.order_key, one.config.inference_key, one.config.final_key]), one)
    # In the order of the grid, and not in that of their success, which does not matter here.
    return [sorted(groups[share].values(), key=lambda one: repr(one.config.chosen)) for share in sorted(groups)]
