"""What every MIL baseline is: a scikit-learn style estimator on bags, that scores instances or bags as a whole."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import Bags, Scaling, check_bags, check_training, refuse_lost_bags
from bliss_mil.regime.weak_labels import check_binary


class BagClassifier(ClassifierMixin, BaseEstimator):
    """What the baselines share: they read rows, bags and weak labels alike, and call scores above 0 positive."""

    def learn(self, X: Any, y: Any, bags: Any) -> tuple[Any, Bags, NDArray[Any]]:
        """Check training input and return scaled rows, their bags and a 0 or 1 for each bag."""
        given = check_training(X, y, bags)
        self._note_columns(X, given.X, reset=True)
        weak = check_binary(given.weak, given.bags, self.positive_label)
        self.classes_ = np.asarray(weak.classes)
        self.has_bags_ = given.bags.n_bags < given.bags.n_rows
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        return self.scaling_.transform(given.X), given.bags, weak.values

    def rows(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        self._note_columns(X, rows, reset=False)
        return self.scaling_.transform(rows), grouped

    def rows_in_bags(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        """Return scaled rows and their bags, which must be given where the baseline was fitted on bags."""
        refuse_lost_bags(self, X, bags)
        return self.rows(X, bags)

    def _note_columns(self, X: Any, rows: Any, reset: bool) -> None:
        validate_data(self, rows if isinstance(X, list | tuple) else X, skip_check_array=True, reset=reset)

    @abstractmethod
    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""
        ids, scores = self.score_bags(X, bags)
        return ids, self.classes_[(scores > 0).astype(int)]

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


class InstanceScorer(BagClassifier):
    """Scores instances; a bag is as positive as its most positive instance."""

    @abstractmethod
    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,), positive above 0."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,), positive above 0."""
        rows, _ = self.rows(X, None)
        return self.score_rows(rows)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag by its most positive instance: (ids, scores)."""
        rows, grouped = self.rows_in_bags(X, bags)
        return grouped.ids, grouped.max(self.score_rows(rows))


class WholeBagScorer(BagClassifier):
    """Scores bags as a whole; an instance is a bag of one."""

    @abstractmethod
    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances (n,) as if each were a bag."""
        rows, _ = self.rows(X, None)
        return self.score_grouped(rows, Bags.from_ids(np.arange(rows.shape[0])))

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag: (ids, scores), positive above 0."""
        rows, grouped = self.rows_in_bags(X, bags)
        return grouped.ids, self.score_grouped(rows, grouped)
