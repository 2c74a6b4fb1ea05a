"""What baselines of multi-class MIL share: a score of each label, and a bag or an instance has those above 0."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from bliss_framework.plugin import Bags, CheckedData, WeakLabels, check_training, class_array, refuse_lost_bags
from bliss_multiclass_mil.regime.weak_label_sets import LabelSetForm, check_label_sets, label_names_of


class LabelScorer(ClassifierMixin, BaseEstimator):
    """The faces of an estimator that scores instances for every label.

    Attributes:
        classes_: the negative class, then the C labels.
    """

    def checked(self, X: Any, y: Any, bags: Any) -> tuple[CheckedData, WeakLabels]:
        """Check training input: X (n, d), y one label set for each bag or row, bags (n,) ids."""
        given = check_training(X, y, bags)
        form = LabelSetForm(self.negative_label, self.separator, label_names_of(self.label_names))
        weak = check_label_sets(given.weak, given.bags, form)
        self.classes_ = class_array(weak.classes)
        self.has_bags_ = given.bags.n_bags < given.bags.n_rows
        return given, weak

    @abstractmethod
    def label_scores(self, X: Any, bags: Any = None) -> tuple[NDArray[np.float64], Bags]:
        """Score every instance for every label: (n, C), and the bags of the instances."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n, C + 1), 0 for the negative class."""
        scores = self.label_scores(X)[0]
        return np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance: the label with the largest score, negative where none exceeds 0."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag for each label by its best instance: (ids, (B, C))."""
        refuse_lost_bags(self, X, bags)
        scores, grouped = self.label_scores(X, bags)
        return grouped.ids, np.asarray(grouped.max(scores))

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Predict the label set of each bag: (ids, (B, C) of 0 and 1)."""
        ids, scores = self.score_bags(X, bags)
        return ids, (scores > 0).astype(np.int8)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
