"""One pull: what a classifier is trained on, what it says, and all that a reward may look at."""

from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import LabelSpace, WeakLabels
from bliss_framework.kernel.read_only import read_only
from bliss_framework.kernel.row_view import RowView, as_rows
from bliss_framework.kernel.rows import Rows


def _read_only_rows(rows: Any) -> Rows | RowView:
    rows = as_rows(rows)
    return Rows(read_only(rows.array)) if isinstance(rows, Rows) else rows


@frozen(eq=False)
class Part:
    """Some whole bags of a data set: their rows and what is weakly known of them.

    Attributes:
        rows: (n, d) rows, made of an array or CSR matrix; or a view of rows, which can be read in blocks. The argument
            is called X.
        bags: the bags of its n rows.
        weak: the weak label of each bag.
        space: the candidate labels of each row.
        weights: (n,) positive instance weights, or None where all rows count alike.
    """

    rows: Rows | RowView = field(alias="X", converter=_read_only_rows)
    bags: Bags = field()
    weak: WeakLabels = field()
    space: LabelSpace = field()
    weights: NDArray[np.float64] | None = field(default=None, converter=read_only)

    @property
    def X(self) -> Any:
        """(n, d) float array or CSR matrix, all of it in memory."""
        return self.rows.array

    @property
    def n_rows(self) -> int:
        """The number of instances n."""
        return self.bags.n_rows

    def take(self, rows: NDArray[np.intp]) -> "Part":
        """Keep some rows, and the bags that they are in."""
        bags, positions = self.bags.take(rows)
        weights = None if self.weights is None else self.weights[rows]
        return Part(self.rows.take(rows), bags, self.weak.take(positions, rows), self.space.take(rows), weights)

    def with_known(self, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> "Part":
        """Fix the label of some rows: each of them keeps one candidate, so it is no bandit problem any more."""
        candidates = self.space.candidates.copy()
        candidates[rows] = False
        candidates[rows, labels] = True
        return evolve(self, space=LabelSpace(candidates, self.space.class_of_label))


@frozen(eq=False)
class Fold:
    """One training part and one held-out set; bags are never split between them.

    Attributes:
        train: the part whose arms are pulled. Rows with one candidate are trained on but have no arms.
        heldout: the weakly labelled part that judges the classifier, whole bags of it. In later passes some of its
            instances are trained on as well, with labels that earlier passes were confident about.
        n_neighbors: k of the neighbourhood N(x), at most the number of held-out rows.
        regime: what the weak labels mean, with its parameters; None where a fold was made without one.
    """

    train: Part = field()
    heldout: Part = field()
    n_neighbors: int = field()
    regime: Any = field(default=None)


@frozen(eq=False)
class Predictions:
    """What P classifiers say, one trained on each of P label assignments.

    Attributes:
        train_labels: (P, n) intp, the predicted label of each training instance.
        train_scores: (P, n, S), S = 1 (a decision value, positive for label 1) or S = L (one column for each label).
        heldout_labels: (P, m) intp.
        heldout_scores: (P, m, S).
    """

    train_labels: NDArray[np.intp] = field()
    train_scores: NDArray[np.floating] = field()
    heldout_labels: NDArray[np.intp] = field()
    heldout_scores: NDArray[np.floating] = field()

    @classmethod
    def from_scores(cls, train: NDArray[np.floating], heldout: NDArray[np.floating]) -> "Predictions":
        """Predict from classifier outputs.

        Args:
            train: (P, n) decision values of a two-label problem, or (P, n, L) with one output for each label.
            heldout: (P, m) or (P, m, L).

        >>> Predictions.from_scores(np.array([[0.5, -1.0]]), np.array([[2.0]])).train_labels.tolist()
        [[1, 0]]
        """
        if train.ndim == 2:
            train, heldout = train[:, :, None], heldout[:, :, None]
        return cls(_decide(train), train, _decide(heldout), heldout)


def _decide(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    if scores.shape[2] == 1:
        return (scores[:, :, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=2), dtype=np.intp)


@frozen(eq=False)
class Outcome:
    """All that a reward may look at: one label assignment and what came of it.

    Attributes:
        fold: the training part, the held-out set, k and the regime.
        assignment: (n,) intp, pi(x), the label that was given to each training instance.
        labels: (n,) intp, f(x), the label that the classifier predicts for it.
        scores: (n, S) classifier output, S = 1 or L.
        heldout_labels: (m,) intp.
        heldout_scores: (m, S).
    """

    fold: Fold = field()
    assignment: NDArray[np.intp] = field(converter=read_only)
    labels: NDArray[np.intp] = field(converter=read_only)
    scores: NDArray[np.floating] = field(converter=read_only)
    heldout_labels: NDArray[np.intp] = field(converter=read_only)
    heldout_scores: NDArray[np.floating] = field(converter=read_only)

    @property
    def classes(self) -> NDArray[np.intp]:
        """(n,) the class that each predicted label means."""
        return self.fold.train.space.class_of_label[self.labels]

    @property
    def heldout_classes(self) -> NDArray[np.intp]:
        """(m,) the class that each predicted held-out label means."""
        return self.fold.train.space.class_of_label[self.heldout_labels]

    def output(self, label: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return the classifier output that belongs to a label: (n,) training values and (m,) held-out values."""
        column = label if self.scores.shape[1] > 1 else 0
        return self.scores[:, column], self.heldout_scores[:, column]


def outcome_of(fold: Fold, assignment: NDArray[np.intp], predictions: Predictions, p: int) -> Outcome:
    """Pick pull `p` out of a batch of predictions."""
    return Outcome(
        fold,
        assignment,
        predictions.train_labels[p],
        predictions.train_scores[p],
        predictions.heldout_labels[p],
        predictions.heldout_scores[p],
    )


def balance_weights(
    assignments: NDArray[np.intp], space: LabelSpace, exponent: float, weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Weight each instance by (n / count of its class)^b, all labels of one class counted together.

    Args:
        assignments: (P, n) labels.
        space: says which class each label means.
        exponent: b >= 0; 0 means no balancing.
        weights: (n,) instance weights that count inside `count` and multiply the result, or None.

    Returns:
        (P, n) weights whose mean is 1 in each row, or None where b = 0 (the weights then do not depend on labels, and
        a classifier takes them from its training part).

    >>> space = LabelSpace(np.ones((4, 2), dtype=bool), np.array([0, 1]))
    >>> balance_weights(np.array([[0, 0, 0, 1]]), space, 1.0, None).round(3).tolist()
    [[0.667, 0.667, 0.667, 2.0]]
    """
    if exponent == 0:
        return None
    base = np.ones(assignments.shape[1]) if weights is None else weights
    classes = space.class_of_label[assignments]
    counts = np.stack([((classes == c) * base).sum(axis=1) for c in range(space.n_classes)], axis=1)
    balanced = base * np.take_along_axis(base.sum() / np.maximum(counts, 1e-12), classes, axis=1) ** exponent
    return np.asarray(balanced / balanced.mean(axis=1, keepdims=True))
