"""What scikit-learn classifiers that score rows have in common."""

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Scored(ClassifierMixin, BaseEstimator):
    """A classifier of dense or sparse rows that predicts by its `decision_function`."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: the one with the largest score, or of two classes by the sign."""
        scores = self.decision_function(X)
        predicted: NDArray[Any] = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
