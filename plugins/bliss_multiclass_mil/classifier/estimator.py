"""The cooperative softmax as a scikit-learn classifier, for the fit after inference or on its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bliss_framework import SettingsError
from bliss_multiclass_mil.classifier.descent import State, descend, first_step, start, with_precision
from bliss_multiclass_mil.classifier.objective import Groups, Objective, SoftObjective, outputs_of
from bliss_multiclass_mil.classifier.random_features import RandomFeatures

ACCEPTED = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class CooperativeSoftmaxClassifier(ClassifierMixin, BaseEstimator):
    """Softmax regression in which classes of one group do not compete with each other (paper, "Multi-Class MIL").

    Args:
        groups: lists of classes that do not compete, such as [["car", "bus"]]; a class in none of them is a group of
            its own. None is the ordinary softmax.
        l2: penalty of squared weights, beside the weighted mean of -log p; intercepts are free.
        n_features: random Fourier features; 0 keeps the rows.
        width: of their kernel, see `CooperativeSoftmax`.
        max_iter: most steps of L-BFGS.
        tol: largest gradient entry at which the fit ends.
        precision: "float32" or "float64", of rows and products.
        random_state: seed of the features and of the start.

    Attributes:
        classes_: (C,) sorted.
        coef_: (C, d) weights, of the features where there are any.
        intercept_: (C,).
        n_iter_: steps taken.

    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> model = CooperativeSoftmaxClassifier(groups=[["a", "b"]]).fit(X, ["a", "b", "b", "c", "c"])
    >>> model.predict([[10.0]]).tolist()
    ['c']
    """

    def __init__(
        self,
        groups: Any = None,
        l2: float = 1e-4,
        n_features: int = 0,
        width: float = 0.25,
        max_iter: int = 200,
        tol: float = 1e-5,
        precision: str = "float64",
        random_state: Any = None,
    ) -> None:
        self.groups = groups
        self.l2 = l2
        self.n_features = n_features
        self.width = width
        self.max_iter = max_iter
        self.tol = tol
        self.precision = precision
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CooperativeSoftmaxClassifier":
        """Descend to the best coefficients: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, y = validate_data(self, X, y, **ACCEPTED)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes or more; y has 1 class, {self.classes_[0]!r}.")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if not weights.sum() > 0:
            raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
        rows, first = self._prepared(X)
        groups = Groups.from_classes(self._group_of_class())
        normalised = (weights / weights.sum())[None].astype(rows.dtype)
        return self._descended(Objective(rows, labels[None].astype(np.intp), normalised, groups, self.l2), first)

    def fit_shares(self, X: Any, shares: Any, sample_weight: Any = None) -> "CooperativeSoftmaxClassifier":
        """Fit soft labels: shares (n, C) of the classes 0 .. C - 1, each row summing to 1."""
        X = validate_data(self, X, **ACCEPTED)
        self.classes_ = np.arange(shares.shape[1])
        weights = np.ones(len(shares)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weighted = shares.T * weights
        rows, first = self._prepared(X)
        groups = Groups.from_classes(self._group_of_class())
        return self._descended(
            SoftObjective(rows, (weighted / weighted.sum()).astype(rows.dtype), groups, self.l2), first
        )

    def _prepared(self, X: Any) -> tuple[Any, NDArray[np.float64]]:
        """Return what is multiplied with coefficients, and the coefficients (1, C, d + 1) to start from."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        rows = with_precision(X, self.precision)
        self.features_ = self._drawn(rows, rng)
        rows = rows if self.features_ is None else self._featured(rows)
        return rows, start((len(self.classes_), rows.shape[1] + 1), rng)[None]

    def _drawn(self, rows: Any, rng: np.random.Generator) -> Any:
        if not self.n_features:
            return None
        drawn = RandomFeatures.drawn(rows, self.n_features, self.width, rng)
        return drawn.directions, drawn.phases

    def _featured(self, rows: Any) -> NDArray[np.floating]:
        return RandomFeatures(*self.features_).of(rows)

    def _descended(
        self, objective: Objective | SoftObjective, first: NDArray[np.float64]
    ) -> "CooperativeSoftmaxClassifier":
        def function(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            values, gradients = objective(points.reshape(first.shape))
            return values, gradients.reshape(1, -1)

        step = first_step(objective.rows, self.l2)
        state, n_steps = descend(function, State.at(first.reshape(1, -1)), self.max_iter, step, self.tol)
        coefficients = state.point.reshape(first.shape)[0]
        self.coef_, self.intercept_ = coefficients[:, :-1], coefficients[:, -1]
        self.n_iter_ = max(n_steps, 1)
        return self

    def _group_of_class(self) -> list[int]:
        """Number the groups: (C,) the group of each class."""
        classes = self.classes_.tolist()
        number = {cls: position for position, cls in enumerate(classes)}
        seen: set[Any] = set()
        for group in self.groups if self.groups is not None else ():
            if isinstance(group, str) or seen & set(group) or not set(group) <= set(classes):
                raise SettingsError(
                    f"groups must be lists of classes, each class in one of them at most; got {self.groups!r} for the "
                    f"classes {classes}."
                )
            seen |= set(group)
            number.update(dict.fromkeys(group, number[min(group, key=classes.index)]))
        return [number[cls] for cls in classes]

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = with_precision(validate_data(self, X, reset=False, **ACCEPTED), self.precision)
        rows = rows if self.features_ is None else self._featured(rows)
        coefficients = np.concatenate([self.coef_, self.intercept_[:, None]], axis=1)
        return outputs_of(rows, coefficients[None])[0].T.astype(np.float64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, positive for the second, else (n, C)."""
        outputs = self._outputs(X)
        return outputs[:, 1] - outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest output for each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities (n, C) that sum to 1.

        Groups compete with the largest output in each, as in the objective; the classes of a group then share its
        probability in proportion to exp of their outputs.
        """
        outputs = self._outputs(X)
        groups = Groups.from_classes(self._group_of_class())
        of_group = softmax(groups.best(outputs.T).T, axis=1)
        probabilities = np.empty_like(outputs)
        for position, group in enumerate(groups.members):
            probabilities[:, group] = of_group[:, [position]] * softmax(outputs[:, group], axis=1)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
