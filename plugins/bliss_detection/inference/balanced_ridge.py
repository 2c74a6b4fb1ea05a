"""Class-balanced least squares in as many unknowns as there are features, for bags with very many instances.

With rows x of mean m and covariance C, and an assignment that gives a share p of them the label,

    w = (C + ridge * 1)^-1 (mean of x over the label - mean of x over the rest) / 2,    f(x) = (x - m) w / |w|

so a fold needs one factorisation of a d x d matrix, however many instances there are, and a pull two products with X.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import (
    Classifier,
    Part,
    Predictions,
    PreparedClassifier,
    ProblemSize,
    Rows,
    between,
    positive,
)

ROUNDING = 1e-9
COVARIANCE = 20  # Bytes of a pair of columns: once in single precision, and twice in double.


@frozen
class BalancedRidge(Classifier):
    """Least squares on balanced classes, with a threshold that lets a share of the held-out positive bags be found.

    A threshold half way between the classes calls a quarter of all boxes positive. The highest one at which a share of
    the held-out positive bags still has a positive instance is a better pick. Where the weak labels are not 0 and 1,
    it is half way.

    Args:
        ridge: regularisation in units of the covariance of rows of length 1; above 0. A weak one memorises the training
            part, whose outputs then tell nothing about the held-out set.
        recall: that share, from 0 to 1; 0 for the threshold half way between the classes.
    """

    ridge: float = field(default=1.0, validator=positive)
    recall: float = field(default=0.95, validator=between(0.0, 1.0))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Factorise the covariance of the training part."""
        return _Prepared(self, train, heldout)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier; its threshold is half way."""
        return BalancedLeastSquares(ridge=self.ridge)

    def memory(self, size: ProblemSize) -> int:
        """Count rows in single precision, as they are and weighted, and the covariance of columns while it is made."""
        return 2 * size.rows + COVARIANCE * size.n_columns**2 + size.predictions


class _Prepared(PreparedClassifier):
    def __init__(self, settings: BalancedRidge, train: Part, heldout: Part) -> None:
        self._settings = settings
        self._X, self._H = _single(train.X), _single(heldout.X)
        self._weights = np.ones(train.n_rows) if train.weights is None else train.weights
        self._n_labels = train.space.n_labels
        self._heldout = heldout
        self._fitted = _Factor(self._X, self._weights, settings.ridge)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Train on P assignments; weights of a pull, unlike those of the part, cost a factorisation each."""
        if weights is None:
            outputs = self._outputs(self._fitted, assignments, self._weights)
        else:
            each = [
                self._outputs(_Factor(self._X, w, self._settings.ridge), assignments[p : p + 1], w)
                for p, w in enumerate(weights)
            ]
            train, heldout = (np.concatenate(parts) for parts in zip(*each, strict=True))
            outputs = train, heldout
        return Predictions.from_scores(*outputs)

    def _outputs(
        self, factor: "_Factor", assignments: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return outputs (P, n) and (P, m) for two labels, else (P, n, L) and (P, m, L)."""
        labels = [1] if self._n_labels == 2 else list(range(self._n_labels))
        targets = np.stack([assignments == label for label in labels], axis=2)
        P, n, L = targets.shape
        flat = np.moveaxis(targets, 1, 0).reshape(n, P * L)
        W = factor.directions(flat, weights)
        train, heldout = (_products(rows, W).reshape(P, L, -1) for rows in (self._X, self._H))
        for p in range(P):
            for place, label in enumerate(labels):
                self._shift(train[p, place], heldout[p, place], targets[p, :, place], label)
        if self._n_labels == 2:
            return train[:, 0], heldout[:, 0]
        return np.moveaxis(train, 1, 2), np.moveaxis(heldout, 1, 2)

    def _shift(
        self, train: NDArray[np.float64], heldout: NDArray[np.float64], own: NDArray[np.bool_], label: int
    ) -> None:
        """Put the threshold at 0, in place. A label that nobody or everybody has is predicted nowhere or everywhere."""
        if own.all() or not own.any():
            level = 1.0 if own.all() else -1.0 if self._n_labels == 2 else -1e3
            train[:], heldout[:] = level, level
            return
        threshold = self._found(heldout) if self._n_labels == 2 else None
        if threshold is None:
            threshold = (train[own].mean() + train[~own].mean()) / 2
        train -= threshold
        heldout -= threshold

    def _found(self, heldout: NDArray[np.float64]) -> float | None:
        """Return the highest threshold at which enough of the held-out positive bags have an instance above it."""
        weak = self._heldout.weak.values
        if self._settings.recall == 0 or weak.ndim != 1 or not np.isin(weak, (0, 1)).all() or not (weak == 1).any():
            return None
        best = np.sort(self._heldout.bags.max(heldout)[weak == 1])
        lost = int(np.floor((1 - self._settings.recall) * len(best) + ROUNDING))
        return float(best[lost] - 1e-6 * max(np.abs(best).max(), ROUNDING))


class _Factor:
    """The factorised covariance of weighted rows."""

    def __init__(self, X: Any, weights: NDArray[np.float64], ridge: float) -> None:
        self.X = X
        share = (weights / weights.sum()).astype(np.float32)
        self.mean = np.asarray(X.T @ share, dtype=np.float64)
        covariance = Rows(X).weighted_gram(share).astype(np.float64)
        covariance -= np.outer(self.mean, self.mean)
        covariance[np.diag_indices(len(covariance))] += ridge
        self.factor = cho_factor(covariance, overwrite_a=True)

    def directions(self, targets: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return unit vectors (d, T) for targets (n, T): whitened differences of the means of label and rest."""
        inside = np.where(targets, weights[:, None], 0.0)
        outside = weights[:, None] - inside
        contrast = inside / np.maximum(inside.sum(axis=0), 1e-12) - outside / np.maximum(outside.sum(axis=0), 1e-12)
        found = cho_solve(self.factor, _products(self.X.T, contrast.astype(np.float32)).T)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=0), 1e-12), dtype=np.float32)


class BalancedLeastSquares(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same least squares as a scikit-learn classifier of two classes or more.

    Args:
        ridge: regularisation.
    """

    def __init__(self, ridge: float = 1.0) -> None:
        self.ridge = ridge

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BalancedLeastSquares":
        """Train: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        self.classes_, positions = np.unique(y, return_inverse=True)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = np.stack([positions == c for c in columns], axis=1)
        rows = _single(X)
        self.coef_ = _Factor(rows, weights, self.ridge).directions(targets, weights)
        outputs = np.asarray(rows @ self.coef_)
        means = [
            [np.average(o[t == side], weights=weights[t == side]) for side in (True, False)]
            for o, t in zip(outputs.T, targets.T, strict=True)
        ]
        self.intercept_ = -np.mean(means, axis=1)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values: (n,) for two classes, else (n, C)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        outputs = np.asarray(_single(X) @ self.coef_, dtype=np.float64) + self.intercept_
        return np.asarray(outputs[:, 0] if outputs.shape[1] == 1 else outputs)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])


def _products(rows: Any, columns: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return (T, n) products of rows (n, d) with each column (d, T).

    One column at a time: a product with several has other last bits, and memory bounds both.
    """
    return np.stack([np.asarray(rows @ np.ascontiguousarray(column), dtype=np.float64) for column in columns.T])


def _single(X: Any) -> Any:
    """Return rows in single precision: products of many rows are bound by memory."""
    return Rows(X).as_type(np.float32).array
