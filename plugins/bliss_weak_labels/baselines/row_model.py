"""What all of these baselines are: softmax regression on features of an RBF kernel, for rows that a regime has read."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import (
    Bags,
    Landmarks,
    Part,
    Regime,
    Rows,
    Scaling,
    Validator,
    WeakLabels,
    at_least,
    check_bags,
    check_settings,
    check_training,
    class_array,
    positive,
    refuse_lost_bags,
)

# A loss of outputs (n, C): its value, and its slope in each output (n, C).
Loss = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


class RowModel(ClassifierMixin, BaseEstimator):
    """Outputs that are linear in features of an RBF kernel; a subclass says what is lost.

    Args:
        width: of the kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_features: rows that features compare with, drawn at random.
        ridge: regularisation, beside a loss in which each row counts 1 / n.
        max_iter: steps of the solver.
        scaling: see `Scaling`.
        random_state: seed of the draw.
    """

    allowed: ClassVar[Mapping[str, Validator]] = {}

    def __init__(
        self,
        width: float = 0.5,
        n_features: int = 300,
        ridge: float = 1e-3,
        max_iter: int = 200,
        scaling: str = "standard",
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.n_features = n_features
        self.ridge = ridge
        self.max_iter = max_iter
        self.scaling = scaling
        self.random_state = random_state

    @abstractmethod
    def regime_of_labels(self) -> Regime:
        """Return the regime that reads weak labels."""

    @abstractmethod
    def learn(self, features: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return weights (D + 1, C) for features (n, D + 1), the last of which is 1."""

    def fit(self, X: Any, y: Any, bags: Any = None) -> Any:
        """Learn from weak labels, as `BlissClassifier` takes them.

        Raises:
            DataError: for weak labels that the regime does not read.
            SettingsError: for a parameter that is not allowed.
        """
        numbers = {"width": positive, "n_features": at_least(1), "ridge": positive, "max_iter": at_least(1)}
        check_settings(self, **numbers, **self.allowed)
        given = check_training(X, y, bags)
        validate_data(self, given.X if isinstance(X, list | tuple) else X, skip_check_array=True, reset=True)
        regime = self.regime_of_labels()
        weak = regime.check(given.weak, given.bags)
        self.classes_ = class_array(weak.classes)
        self.has_bags_ = given.bags.n_bags < given.bags.n_rows
        self.reading_ = regime.reading
        self.bag_classes_ = class_array(weak.bag_words)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        rows, bags_in_order, weak_in_order = _ordered(self.scaling_.transform(given.X), given.bags, weak)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.landmarks_ = Landmarks.drawn(Rows(rows), self.n_features, Rows(rows).gamma_by_distance(self.width), rng)
        space = regime.label_space(weak_in_order, bags_in_order)
        self.weights_ = self.learn(self._features(rows), Part(rows, bags_in_order, weak_in_order, space))
        return self

    def _features(self, rows: Any) -> NDArray[np.float64]:
        features = self.landmarks_.of(rows).astype(np.float64)
        return np.concatenate([features, np.ones((len(features), 1))], axis=1)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for two classes, positive for class 1, else (n, C)."""
        check_is_fitted(self)
        rows, _ = check_bags(X)
        validate_data(self, rows if isinstance(X, list | tuple) else X, skip_check_array=True, reset=False)
        outputs = self._features(self.scaling_.transform(rows)) @ self.weights_
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag as the regime reads it: (ids, scores)."""
        refuse_lost_bags(self, X, bags)
        _, grouped = check_bags(X, bags)
        return grouped.ids, self.reading_.bag_scores(self.decision_function(X), grouped)

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag as the regime reads it: (ids, labels)."""
        refuse_lost_bags(self, X, bags)
        _, grouped = check_bags(X, bags)
        labels = self.reading_.bag_labels(self.decision_function(X), grouped, 0.0)
        return grouped.ids, self.bag_classes_[labels.astype(np.intp)] if labels.ndim == 1 else labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _ordered(rows: Any, bags: Bags, weak: WeakLabels) -> tuple[Any, Bags, WeakLabels]:
    """Sort rows, so that what is drawn and summed does not depend on their order."""
    place = rows @ np.random.default_rng(0).standard_normal(rows.shape[1])
    order = np.lexsort((place, bags.index, bags.spread(bags.mean(place))))
    grouped, positions = bags.take(order)
    return rows[order], grouped, weak.take(positions, order)


def minimised(
    loss: Loss, features: NDArray[np.float64], start: NDArray[np.float64], ridge: float, max_iter: int
) -> NDArray[np.float64]:
    """Minimise loss + ridge |weights|^2 by L-BFGS; the weights (1, C) of the last feature are free.

    Args:
        loss: of outputs (n, C).
        features: (n, D + 1), the last of which is 1.
        start: (D + 1, C).
        ridge: above 0.
        max_iter: steps of the solver.
    """

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(start.shape)
        value, slope = loss(features @ weights)
        gradient = features.T @ slope
        gradient[:-1] += 2 * ridge * weights[:-1]
        return value + ridge * float((weights[:-1] ** 2).sum()), gradient.ravel()

    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    return np.asarray(found.x.reshape(start.shape))


def soft_label_loss(targets: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Loss:
    """Return the mean cross-entropy of soft labels (n, C), each row counting `weights` (n,)."""
    own = (np.ones(len(targets)) if weights is None else weights)[:, None] / len(targets)

    def loss(outputs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value = (own[:, 0] * (logsumexp(outputs, axis=1) - (targets * outputs).sum(axis=1))).sum()
        return float(value), own * (softmax(outputs, axis=1) - targets)

    return loss
