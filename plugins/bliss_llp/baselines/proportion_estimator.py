"""What every LLP baseline is: a scikit-learn style estimator that reads shares of bags and scores instances."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import (
    Bags,
    DataError,
    Scaling,
    SettingsError,
    Validator,
    check_bags,
    check_settings,
    check_training,
    class_array,
    in_own_order,
    refuse_lost_bags,
)
from bliss_llp.regime.weak_shares import read_shares, refuse_one_class, shares_by_class, warn_if_alike


class ProportionEstimator(ClassifierMixin, BaseEstimator):
    """What the baselines share: they read rows, bags and shares alike, and score instances.

    Attributes:
        allowed: what a parameter may be, by name.
        binary: whether the method tells two classes apart and no more.
    """

    allowed: ClassVar[Mapping[str, Validator]] = {}
    binary: ClassVar[bool] = False

    def fit(self, X: Any, y: Any, bags: Any = None) -> Any:
        """Learn from shares.

        Args:
            X: (n, d) rows, dense or sparse; or a list of bags.
            y: for each bag (a mapping by id, or in order of first appearance) or row the share of class 1, or a vector
                with the shares, or counts, of all classes.
            bags: (n,) ids.

        Raises:
            DataError: for shares that are none, or more classes than the method takes.
            SettingsError: for a parameter that is not allowed.
        """
        check_settings(self, **self.allowed)
        given = check_training(X, y, bags)
        self._note_columns(X, given.X, reset=True)
        plain, names = shares_by_class(given.weak, given.bags, self.classes)
        shares = read_shares(plain, given.bags)
        self.classes_ = self._class_names(shares.shape[1], names)
        refuse_one_class(shares)
        warn_if_alike(shares, given.bags)
        self.has_bags_ = given.bags.n_bags < given.bags.n_rows
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        rows, grouped, ordered, _ = in_own_order(self.scaling_.transform(given.X), given.bags, shares)
        self.learn(rows, grouped, ordered)
        return self

    @abstractmethod
    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Learn from scaled rows (n, d), bags with an ascending index, and shares (B, C)."""

    @abstractmethod
    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,) for two classes, positive for class 1, else (n, C)."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for two classes, positive for class 1, else (n, C)."""
        return self.score_rows(self._rows(X, None)[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        winners = _winners(self.decision_function(X))
        return self.classes_[winners]

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the mean score of the instances of each bag: (ids, scores (B,) or (B, C))."""
        rows, grouped = self._rows_in_bags(X, bags)
        return grouped.ids, grouped.mean(self.score_rows(rows))

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the shares of predicted classes in each bag: (ids, shares of class 1 (B,), or (B, C) for C > 2)."""
        rows, grouped = self._rows_in_bags(X, bags)
        shares = grouped.mean(np.eye(len(self.classes_))[_winners(self.score_rows(rows))])
        return grouped.ids, shares[:, 1] if shares.shape[1] == 2 else shares

    def _rows_in_bags(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        refuse_lost_bags(self, X, bags)
        return self._rows(X, bags)

    def _rows(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        self._note_columns(X, rows, reset=False)
        return self.scaling_.transform(rows), grouped

    def _note_columns(self, X: Any, rows: Any, reset: bool) -> None:
        validate_data(self, rows if isinstance(X, list | tuple) else X, skip_check_array=True, reset=reset)

    def _class_names(self, n_classes: int, found: tuple[Any, ...] | None) -> NDArray[Any]:
        if self.binary and n_classes > 2:
            raise DataError(
                f"{type(self).__name__} tells two classes apart, and y has shares of {n_classes}; use a baseline for "
                f"several classes (mean-map, llp-em, proportion-matching, llp-k-means)."
            )
        if found is None:
            return np.arange(n_classes)
        names = class_array(found)
        if names.shape != (n_classes,) or len(set(names.tolist())) < n_classes:
            raise SettingsError(
                f"classes must be {n_classes} different names, one for each class that y has shares of; got "
                f"{list(found)!r}."
            )
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self.binary
        return tags


def _winners(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.asarray(scores > 0 if scores.ndim == 1 else scores.argmax(axis=1), dtype=np.intp)
