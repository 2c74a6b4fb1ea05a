"""A regime's bag head in a fit: what it is shown of training bags, and the classifiers that it asks of others."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bliss_framework.errors import BlissWarning
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.label_inference import OrderedData
from bliss_framework.estimator.selection import Trial, unit_of
from bliss_framework.extension.components import component_name
from bliss_framework.extension.contracts import BagEvidence, BagHead, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.row_view import as_rows
from bliss_framework.kernel.rows import Rows

MemberOf = Callable[[Trial], Member]
RegimeOf = Callable[[Member], Regime]


class ModelHead(BaseEstimator):  # type: ignore[misc]
    """A fitted bag head, with the final classifiers that it asks.

    Args:
        scaling: of the rows that the head sees.
        fitted: a `FittedBagHead`.
        views: lists of members, one for each kind of instance scores.
        means, units: of the instance scores of each kind over the training rows.
        columns: lists of members, one for each kind of bag scores.
    """

    def __init__(self, scaling: Any, fitted: Any, views: Any, means: Any, units: Any, columns: Any) -> None:
        self.scaling = scaling
        self.fitted = fitted
        self.views = views
        self.means = means
        self.units = units
        self.columns = columns

    def parts(self, X: Any, bags: Bags, regime_of: RegimeOf) -> Mapping[str, NDArray[np.float64]]:
        """Return what each kind of evidence says of the bags (B,), by name; the score of a bag is their sum.

        Args:
            X: (n, d) rows, not scaled.
            bags: their bags.
            regime_of: returns the regime of a member.
        """
        # Rows of a bag beside each other, whatever the order in which they came.
        order = np.argsort(bags.index, kind="stable")
        X, bags = as_rows(X).take(order), Bags(bags.ids, bags.index[order])
        scored = _Scored(X)
        scores = tuple(
            (scored.instances(view) - mean) / unit
            for view, mean, unit in zip(self.views, self.means, self.units, strict=True)
        )
        own = np.stack([scored.bags(column, bags, regime_of) for column in self.columns], axis=1)
        rows = Rows(self.scaling.transform(X.array))
        return dict(self.fitted.parts(BagEvidence(rows, bags, scores, own)))

    def score(self, X: Any, bags: Bags, regime_of: RegimeOf) -> NDArray[np.float64]:
        """Score bags (B,); arguments as in `parts`."""
        return added(self.parts(X, bags, regime_of))


@frozen(eq=False)
class _Scored:
    """What members say of rows: each final classifier is asked once, however many members share it."""

    X: Any = field()
    of_final: dict[int, NDArray[np.float64]] = field(factory=dict)

    def instances(self, members: Sequence[Member]) -> NDArray[np.float64]:
        return np.asarray(np.mean([self._scores(one) / one.instance_unit for one in members], axis=0))

    def bags(self, members: Sequence[Member], bags: Bags, regime_of: RegimeOf) -> NDArray[np.float64]:
        read = [regime_of(one).reading.bag_scores(self._scores(one), bags) / one.bag_unit for one in members]
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
        parts: what each kind of evidence says, by name: (B,) in canonical order.
    """

    head: ModelHead = field()
    parts: Mapping[str, NDArray[np.float64]] = field()

    @property
    def bag_scores(self) -> NDArray[np.float64]:
        """(B,) the sum of all parts."""
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
    warnings.warn(
        f"The bag head stands back, because {refusal}; bags are read from the scores of their instances.",
        BlissWarning,
        stacklevel=6,
    )
    return None


def fitted_head(
    head: BagHead,
    trials: Sequence[Trial],
    n_members: int,
    ready: OrderedData,
    positions: NDArray[np.intp],
    folds: NDArray[np.intp],
    member_of: MemberOf,
) -> HeadedBags:
    """Fit a bag head on what candidates said of the bags that they had not seen.

    Args:
        head: of the regime.
        trials: all candidates, best first.
        n_members: how many of the best candidates are averaged.
        ready: the training data in canonical order, in the scaling that the head sees.
        positions: (B,) the caller's position of each bag.
        folds: (B,) the fold of each bag, in canonical order.
        member_of: trains the final classifier of a candidate on all training bags.
    """
    groups, columns = views_of(trials), columns_of(trials, n_members)
    raw = [np.mean([one.scores / unit_of(one.scores) for one in group], axis=0)[ready.order] for group in groups]
    means, units = [float(np.sort(one).mean()) for one in raw], [unit_of(one) for one in raw]
    scores = tuple((one - mean) / unit for one, mean, unit in zip(raw, means, units, strict=True))
    own = np.stack([joint_bag_scores(column)[positions] for column in columns], axis=1)
    data = ready.data
    evidence = BagEvidence(Rows(as_rows(data.X).array), data.bags, scores, own)
    fitted, parts = head.fit(evidence, data.weak, folds)
    views, asked = ([[member_of(one) for one in group] for group in some] for some in (groups, columns))
    return HeadedBags(ModelHead(ready.scaling, fitted, views, means, units, asked), dict(parts))


def added(parts: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the score (B,) of bags: the sum of what each kind of evidence says."""
    return np.asarray(np.sum(list(parts.values()), axis=0), dtype=np.float64)


def joint_bag_scores(trials: Sequence[Trial]) -> NDArray[np.float64]:
    """Average the out-of-fold bag scores (B, ...) of candidates, each in its own units, in the caller's order."""
    return np.asarray(np.mean([one.bag_scores / unit_of(one.bag_scores) for one in trials], axis=0))


def columns_of(trials: Sequence[Trial], n_members: int) -> list[list[Trial]]:
    """Return the best candidates of each kind of final classifier, in the order of their names."""
    kinds: dict[str, list[Trial]] = {}
    for one in trials:
        kinds.setdefault(component_name(one.config.final_spec), []).append(one)
    return [kinds[name][:n_members] for name in sorted(kinds)]


def views_of(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Put candidates together by how much of their targets is inherited; those that infer nothing stand back.

    Candidates that differ in how bags are read have the same instance scores, and count once.
    """
    inferring = [one for one in trials if one.config.has_bandit] or list(trials)
    groups: dict[float, dict[str, Trial]] = {}
    for one in inferring:
        own = groups.setdefault(float(one.config["inherited_share"]), {})
        own.setdefault(repr([one.config.order_key, one.config.inference_key, one.config.final_key]), one)
    # In the order of the grid, and not in that of their success, which has no say here.
    return [sorted(groups[share].values(), key=lambda one: repr(one.config.chosen)) for share in sorted(groups)]
