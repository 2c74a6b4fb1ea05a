"""Which features the score of a bag hangs on: linear weights where there are some, else permutation importance."""

from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance

from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.preparation import Preparation
from bliss_framework.kernel.bags import Bags

MOST_LINEAR = 2000  # Columns of which all weights are asked for.
MOST_PERMUTED = 100  # Columns that are permuted, REPEATS times each; every time a bag is scored.
MOST_ROWS = 50  # Instances of the bag that are scored.
N_OTHERS = 200  # Rows of other bags, whose values are put in place of those of the bag.
REPEATS = 3
SHOWN = 10


@frozen
class FeatureReport:
    """A feature and how much it matters: its weight, or by how much the score of the bag falls without it."""

    name: str = field()
    value: float = field()


@frozen(eq=False)
class FeaturesReport:
    """What the score of a bag hangs on.

    Attributes:
        kind: "weights", "permutation", or "none" where nothing can be said.
        said: a sentence on how they were found, or why not.
        features: those that matter most, first the one that does most.
    """

    kind: str = field()
    said: str = field()
    features: tuple[FeatureReport, ...] = field(default=())


def linear_features(model: Any, class_: int) -> FeaturesReport | None:
    """Return the weights of a linear final classifier; None where it is not one.

    Args:
        model: a fitted `BlissClassifier`.
        class_: position of the class whose score is looked at.
    """
    names, final = _final_columns(model), model.members_[0].final
    n_columns = len(names)
    if len(model.members_) > 1 or not 0 < n_columns <= MOST_LINEAR or not _is_linear(final, n_columns, class_):
        return None
    rows = np.vstack([np.zeros((1, n_columns)), np.eye(n_columns)])
    zero, *ones = _column(final.decision(rows), class_).tolist()
    weights = np.array(ones) - zero
    said = "Weights of the linear final classifier, in its scaled columns; above 0 they raise the score."
    return FeaturesReport("weights", said, _largest(names, weights))


def _final_columns(model: Any) -> list[str]:
    """Return the columns that final classifiers see, of categories one for each word; none where that is not known."""
    preparation = getattr(model, "preparation_", None)
    if preparation is None or getattr(preparation, "as_it_is_", False):
        return _names(model, model.n_features_in_)
    return [] if not isinstance(preparation, Preparation) else list(preparation.names_ or ())


def _is_linear(final: Any, n_columns: int, class_: int) -> bool:
    """Try whether scores of sums are sums of scores, on a few rows."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 5, n_columns))
    zero = _column(final.decision(np.zeros((1, n_columns))), class_)
    first, second, both = (_column(final.decision(rows), class_) - zero for rows in (one, other, one + other))
    return bool(np.ptp(both) > 0 and np.allclose(first + second, both, rtol=1e-3, atol=1e-6 * np.abs(both).max()))


def permuted_features(model: Any, data: CheckedData, bag: int, class_: int) -> FeaturesReport:
    """Measure by how much the score of a bag falls when a column has values of other bags (Breiman, 2001).

    Args:
        model: a fitted `BlissClassifier`.
        data: the training data.
        bag: position of the bag.
        class_: position of the class whose score is looked at.
    """
    if data.rows.is_sparse:
        return FeaturesReport("none", "Columns of sparse rows are not permuted; a linear final_classifier has weights.")
    rows, others = _strongest_rows(model, data.bags, bag, class_), _other_rows(data.bags, bag)
    X = np.asarray(data.rows.take(np.concatenate([rows, others])).array, dtype=np.float64)
    own, background = X[: len(rows)], X[len(rows) :]
    chosen = _unusual_columns(own, background)

    def score(estimator: Any, columns: NDArray[np.float64], y: Any) -> float:
        changed = own.copy()
        changed[:, chosen] = columns[: len(own)]
        one = Bags(np.zeros(1, dtype=np.intp), np.zeros(len(own), dtype=np.intp))
        part = evolve(data, X=changed, bags=one, weak=None, carried={}, read=None, weights=None)
        return float(np.ravel(_column(estimator.score_bags(part)[1], class_, model))[0])

    found = permutation_importance(model, X[:, chosen], None, scoring=score, n_repeats=REPEATS, random_state=0)
    names = [_names(model, X.shape[1])[place] for place in chosen]
    few = "" if len(chosen) == X.shape[1] else f" Of {X.shape[1]:,} columns the {len(chosen)} oddest were tried."
    most = "" if len(own) == data.bags.sizes[bag] else f" Of the bag its {len(own)} strongest instances were taken."
    said = f"By how much the score of the bag falls with values of other bags, mean of {REPEATS} draws.{few}{most}"
    return FeaturesReport("permutation", said, _largest(names, found.importances_mean))


def _strongest_rows(model: Any, bags: Bags, bag: int, class_: int) -> NDArray[np.intp]:
    rows = np.flatnonzero(bags.index == bag)
    scores = _column(model.training_scores_[rows], class_)
    return rows[np.sort(np.argsort(-scores, kind="stable")[:MOST_ROWS])]


def _other_rows(bags: Bags, bag: int) -> NDArray[np.intp]:
    others = np.flatnonzero(bags.index != bag)
    return np.sort(np.random.default_rng(0).permutation(others)[:N_OTHERS])


def _unusual_columns(own: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the columns in which the bag is farthest from other rows, in their standard deviations."""
    if own.shape[1] <= MOST_PERMUTED:
        return np.arange(own.shape[1])
    spread = np.nanstd(others, axis=0)
    distance = np.nanmax(np.abs(own - np.nanmean(others, axis=0)), axis=0) / np.where(spread > 0, spread, np.inf)
    return np.sort(np.argsort(-distance, kind="stable")[:MOST_PERMUTED])


def _column(scores: NDArray[np.float64], class_: int, model: Any = None) -> NDArray[np.float64]:
    """Return the scores of one class; bag scores leave out the negative class, where there is one."""
    if scores.ndim == 1:
        return scores
    missing = 0 if model is None else len(model.classes_) - scores.shape[1]
    return np.asarray(scores[:, max(class_ - missing, 0)])


def _names(model: Any, n_columns: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [f"column {place}" for place in range(n_columns)] if names is None else [str(name) for name in names]


def _largest(names: list[str], values: NDArray[np.float64]) -> tuple[FeatureReport, ...]:
    order = np.argsort(-np.abs(values), kind="stable")[:SHOWN]
    return tuple(FeatureReport(names[place], float(values[place])) for place in order if values[place] != 0)
