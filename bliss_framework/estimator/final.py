"""After inference: any classifier, trained on the inferred labels, and what is learnt on its out-of-fold scores."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from bliss_framework.compute.processes import Spread
from bliss_framework.errors import BlissWarning, PluginError
from bliss_framework.estimator.any_classifier import fit_labels, label_scores, takes_weights
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.extension.contracts import SumsEstimator
from bliss_framework.kernel.guards import attributing_errors
from bliss_framework.kernel.labels import LabelSpace
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels
from bliss_framework.kernel.row_view import as_rows, numbered_blocks
from bliss_framework.kernel.words import listed_words

FINAL = "final classifier"  # So it is called in errors.


@frozen(eq=False)
class Targets:
    """What the final classifier learns from: labels with weights, or shares of the classes where it can take those.

    Attributes:
        classes: (n,) the class of each instance.
        weights: (n,) how much it counts, or None where all count alike.
        shares: (n, C) the same as shares of the classes, each row summing to 1.
        decided: (n,) bool, instances that say anything; the others are left out where shares are not taken.
    """

    classes: NDArray[np.intp] = field()
    weights: NDArray[np.float64] | None = field()
    shares: NDArray[np.float64] = field()
    decided: NDArray[np.bool_] = field()


def targets_of(
    config: FitConfig, inferred: InferredLabels | None, data: Part, inherited: NDArray[np.float64]
) -> Targets:
    """Return what the final classifier of a configuration learns; arguments are those of `final_targets`."""
    share, weighted = config.learnt_share, bool(config["confidence_weights"])
    return final_targets(inferred if share < 1 else None, data, inherited, share, weighted)


def final_targets(
    inferred: InferredLabels | None,
    data: Part,
    inherited: NDArray[np.float64],
    inherited_share: float,
    confidence_weights: bool,
) -> Targets:
    """Mix what was inferred of each instance with what it inherits from its bag.

    Args:
        inferred: labels and confidence; None where nothing was inferred, and everything is inherited.
        data: the candidates, and the regime's instance weights.
        inherited: (n, C) shares of the classes, from the bag alone.
        inherited_share: from 0 (the paper: what was inferred) to 1 (the control without a bandit).
        confidence_weights: whether confidence scores count.
    """
    if inferred is None:
        classes, lead = leading(inherited)
        return Targets(classes, _times(lead, data.weights), inherited, lead > 0)
    certain = np.eye(data.space.n_classes)[inferred.classes]
    certain[inferred.undecided] = data.space.class_shares()[inferred.undecided]
    own = inferred_shares(inferred, data.space) if confidence_weights else certain
    shares = (1 - inherited_share) * own + inherited_share * inherited
    if inherited_share > 0:
        return mixed_targets(shares, data.weights, confidence_weights)
    weights = _times(inferred.confidence if confidence_weights else None, data.weights)
    return Targets(inferred.classes, weights, shares, ~inferred.undecided)


def mixed_targets(
    shares: NDArray[np.float64], weights: NDArray[np.float64] | None, confidence_weights: bool
) -> Targets:
    """Return what the final classifier learns of soft labels.

    Args:
        shares: (n, C) of the classes.
        weights: (n,) of the instances, or None where all count alike.
        confidence_weights: whether the lead of the largest share counts where shares are not taken.
    """
    classes, lead = leading(shares)
    return Targets(classes, _times(lead if confidence_weights else None, weights), shares, lead > 0)


def _times(lead: NDArray[np.float64] | None, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    if lead is None or weights is None:
        return lead if weights is None else weights
    return lead * weights


class FinalClassifier(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier on inferred classes, which may all be one class.

    Args:
        estimator: unfitted; never changed.
        n_classes: C, classes are 0 .. C - 1.
    """

    def __init__(self, estimator: Any, n_classes: int) -> None:
        self.estimator = estimator
        self.n_classes = n_classes

    def fit(self, X: Any, classes: NDArray[np.intp], weights: NDArray[np.float64] | None) -> "FinalClassifier":
        """Train on rows (n, d), classes (n,) and weights (n,), passed on where the classifier takes them."""
        self.weighted_ = weights is not None and takes_weights(self.estimator)
        with attributing_errors(FINAL, FINAL):
            fitted, self.present_ = fit_labels(self.estimator, X, classes, weights)
        if fitted is not None:
            self.fitted_ = fitted
        return self

    def fit_shares(self, X: Any, shares: NDArray[np.float64], weights: NDArray[np.float64] | None) -> "FinalClassifier":
        """Train on rows (n, d), shares (n, C) of the classes and weights (n,)."""
        self.present_ = np.arange(self.n_classes)
        self.weighted_ = weights is not None
        with attributing_errors(FINAL, FINAL):
            self.fitted_ = clone(self.estimator).fit_shares(X, shares, weights)
        return self

    def fit_leaving_out(
        self,
        X: Any,
        shares: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        folds: NDArray[np.intp],
    ) -> NDArray[np.float64] | None:
        """Train as `fit_shares` does, and score each row without its fold; None where it is trained fold by fold.

        Args:
            X: (n, d) rows, of which the classifier is a `LeaveOutEstimator`.
            shares: (n, C) of the classes.
            weights: (n,) or None.
            folds: (n,) of each row.

        Returns:
            As `decision` does.
        """
        self.present_, self.weighted_ = np.arange(self.n_classes), weights is not None
        with attributing_errors(FINAL, FINAL):
            self.fitted_ = clone(self.estimator)
            scores = self.fitted_.fit_leaving_out(X, shares, weights, folds)
            return None if scores is None else _checked_scores(scores, self.n_classes, len(shares))

    def fit_sums(self, begun: SumsEstimator, sums: NDArray[np.float64]) -> "FinalClassifier":
        """Train on sums over rows and shares, as `SumsEstimator.sums` returns them."""
        self.present_ = np.arange(self.n_classes)
        self.weighted_ = True
        self.fitted_ = begun.solved(sums, self.n_classes)
        return self

    def decision(self, X: Any) -> NDArray[np.float64]:
        """Return scores of rows, which are read a block at a time: (n,) for two classes, else (n, C).

        Args:
            X: (n, d) array or CSR matrix, or a view of rows. The scores of two classes are positive for class 1.
        """
        rows = as_rows(X)
        parts = [self._all_scores(block) for _, block in numbered_blocks(rows)] or [self._all_scores(rows.array)]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return scores[:, 1] if self.n_classes == 2 else scores

    def _all_scores(self, X: Any) -> NDArray[np.float64]:
        if len(self.present_) == 1:
            scores = np.full((X.shape[0], self.n_classes), -1.0)
            scores[:, self.present_[0]] = 1.0
            return scores
        with attributing_errors(FINAL, FINAL):
            present = label_scores(self.fitted_, X, self.present_)
        if present.ndim == 1:
            present = np.stack([-present, present], axis=1)
        scores = np.full((X.shape[0], self.n_classes), present.min() - 1.0)
        scores[:, self.present_] = present
        return scores


@frozen(eq=False)
class FinalLearner:
    """Trains the final classifier on any rows of one data set.

    Attributes:
        estimator: unfitted scikit-learn classifier; one with `fit_shares(X, shares, sample_weight)` learns from shares,
            and a `SumsEstimator` from sums over rows.
        data: rows, bags, weak labels.
        targets: what it learns of each row.
    """

    estimator: Any = field()
    data: Part = field()
    targets: Targets = field()

    def fit_on(self, rows: NDArray[np.intp]) -> FinalClassifier:
        """Train on some rows: on shares where the classifier takes them, else on decided instances with weights."""
        if self._begun is not None:
            return self._new().fit_sums(self._begun, self._sums_of([rows], Spread())[0])
        targets, regime_weights = self.targets, self.data.weights
        if hasattr(self.estimator, "fit_shares"):
            return self._new().fit_shares(self._rows(rows), targets.shares[rows], _of(regime_weights, rows))
        decided = rows[targets.decided[rows]]
        chosen, weights = (decided, targets.weights) if len(decided) else (rows, regime_weights)
        return self._new().fit(self._rows(chosen), targets.classes[chosen], _of(weights, chosen))

    def _new(self) -> FinalClassifier:
        return FinalClassifier(self.estimator, self.data.space.n_classes)

    @cached_property
    def _begun(self) -> SumsEstimator | None:
        """What the classifier learns of all rows without labels, where sums over rows are all that it needs of them."""
        begun = getattr(self.estimator, "begun", None)
        return None if begun is None else begun(self.data.rows, self.data.weights)

    def _rows(self, rows: NDArray[np.intp]) -> Any:
        # All of the data need no copy, which may be hundreds of megabytes.
        everything = len(rows) == self.data.n_rows and (rows[1:] > rows[:-1]).all()
        return self.data.X if everything else self.data.rows.take(rows).array

    def out_of_fold(self, folds: NDArray[np.intp], spread: Spread) -> NDArray[np.float64]:
        """Score every row with a classifier that was not trained on its bag: (n,) or (n, C).

        Args:
            folds: (B,) the fold of each bag.
            spread: makes the calls, one for each fold.
        """
        at_once = self._fitted_at_once(folds)
        if at_once is not None:
            return at_once[1]
        held = self._rows_of_folds(folds)
        if self._begun is None:
            return _in_order(held, spread.calls(_scores_without, [(self, rows) for rows in held]))
        return _in_order(held, self._scores_by_sums(held, self._sums_of(held, spread)))

    def with_out_of_fold(
        self, folds: NDArray[np.intp], spread: Spread
    ) -> tuple[FinalClassifier, Callable[[], NDArray[np.float64]]]:
        """Train on all rows, and score every row out of fold.

        Returns:
            The classifier, and a function that waits for the scores, (n,) or (n, C), which other processes may make.
        """
        at_once = self._fitted_at_once(folds)
        if at_once is not None:
            return at_once[0], lambda: at_once[1]
        held = self._rows_of_folds(folds)
        if self._begun is None:
            scores = spread.calls(_scores_without, [(self, rows) for rows in held])
            return self.fit_on(np.arange(self.data.n_rows)), lambda: _in_order(held, scores)
        parts = self._sums_of(held, spread)
        final = self._new().fit_sums(self._begun, np.sum(parts, axis=0))
        return final, lambda: _in_order(held, self._scores_by_sums(held, parts))

    def _fitted_at_once(self, folds: NDArray[np.intp]) -> tuple[FinalClassifier, NDArray[np.float64]] | None:
        """Train on all rows and score them out of fold in one fit, where the classifier can."""
        if self._begun is not None or not hasattr(self.estimator, "fit_leaving_out"):
            return None
        final, fold_of_row = self._new(), self.data.bags.spread(folds)
        scores = final.fit_leaving_out(self.data.X, self.targets.shares, self.data.weights, fold_of_row)
        return None if scores is None else (final, scores)

    def _rows_of_folds(self, folds: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        fold_of_row = self.data.bags.spread(folds)
        return [np.flatnonzero(fold_of_row == fold) for fold in np.unique(folds)]

    def _sums_of(self, parts: list[NDArray[np.intp]], spread: Spread) -> list[NDArray[np.float64]]:
        """Sum over each of some parts of the rows."""
        assert self._begun is not None
        weights, shares = self.data.weights, self.targets.shares
        arguments = [(self.data.rows.take(rows), shares[rows], _of(weights, rows)) for rows in parts]
        return list(spread.sums(self._begun.sums, arguments))

    def _scores_by_sums(
        self, held: list[NDArray[np.intp]], parts: list[NDArray[np.float64]]
    ) -> Iterator[NDArray[np.float64]]:
        """Score each part of the rows by the sums of the other parts."""
        assert self._begun is not None
        for left_out, rows in enumerate(held):
            others = np.sum([sums for place, sums in enumerate(parts) if place != left_out], axis=0)
            yield self._new().fit_sums(self._begun, others).decision(self.data.rows.take(rows))


def _checked_scores(scores: Any, n_classes: int, n: int) -> NDArray[np.float64]:
    values, shape = np.asarray(scores, dtype=np.float64), (n,) if n_classes == 2 else (n, n_classes)
    if values.shape != shape or np.isnan(values).any():
        raise ValueError(f"fit_leaving_out must return numbers of shape {shape}, not {values.shape} or NaN")
    return values


def _in_order(held: list[NDArray[np.intp]], scores: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Put the scores of parts of the rows into the order of the rows."""
    return np.concatenate(list(scores))[np.argsort(np.concatenate(held))]


def _scores_without(learner: FinalLearner, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Train without some rows, and score those; the model, which may be as large as the rows, is not kept."""
    model = learner.fit_on(np.delete(np.arange(learner.data.n_rows), rows))
    return model.decision(learner.data.rows.take(rows))


def warn_of_final(final: FinalClassifier, learner: FinalLearner, config: FitConfig) -> None:
    """Warn where the final classifier could not use what it was to learn from: weights, or a class that is too rare."""
    asked = bool(config.given.get("confidence_weights")) or learner.data.weights is not None
    if hasattr(learner.estimator, "fit_shares"):
        return
    name, targets = type(learner.estimator).__name__, learner.targets
    weights = targets.weights
    if asked and weights is not None and not final.weighted_ and weights.min() < weights.max():
        warnings.warn(
            f"The final classifier {name} takes no sample_weight, so all instances count alike in it: neither "
            f"confidence_weights nor weights of the regime have an effect. Take another final_classifier, or "
            f"confidence_weights=False.",
            BlissWarning,
            stacklevel=5,
        )
    learnt = np.unique(targets.classes[targets.decided]) if targets.decided.any() else np.unique(targets.classes)
    left_out = np.setdiff1d(learnt, final.present_)
    if len(left_out):
        classes = listed_words(learner.data.weak.classes[one] for one in left_out)
        warnings.warn(
            f"The final classifier {name} cannot learn from so few instances as were inferred to be of class "
            f"{classes}, so it never predicts it. Take another final_classifier, or more bags.",
            BlissWarning,
            stacklevel=5,
        )


def _of(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]


def inferred_shares(inferred: InferredLabels, space: LabelSpace) -> NDArray[np.float64]:
    """Return shares (n, C) of the classes: all for the inferred class where its confidence is high.

    A confidence of twice the mean of the free instances, or more, counts in full; below that, the rest is divided among
    all candidate classes. Rewards differ in scale, so confidence scores mean something only beside each other.
    """
    free = ~inferred.known
    mean = inferred.confidence[free].mean() if free.any() else 0.0
    certainty = np.where(free, np.clip(inferred.confidence / max(2 * mean, 1e-12), 0.0, 1.0), 1.0)[:, None]
    return certainty * np.eye(space.n_classes)[inferred.classes] + (1 - certainty) * space.class_shares()


def leading(shares: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the class with the largest share (n,) and its lead over the runner-up (n,).

    >>> [part.round(2).tolist() for part in leading(np.array([[0.75, 0.25], [0.5, 0.5]]))]
    [[0, 0], [0.5, 0.0]]
    """
    ordered = np.sort(shares, axis=1)
    lead = ordered[:, -1] - ordered[:, -2] if shares.shape[1] > 1 else np.ones(len(shares))
    return shares.argmax(axis=1), lead


@contextmanager
def naming_final(config: FitConfig) -> Iterator[None]:
    """Say in an error of the final classifier what it is called, and who ships it."""
    try:
        yield
    except PluginError as error:
        if error.kind != FINAL:
            raise
        name = config.name_of("classifier" if config["final_classifier"] == "same" else "final_classifier")
        raise PluginError(
            f"Training stopped by final classifier {name}: {error}. Take another final_classifier."
        ) from error
