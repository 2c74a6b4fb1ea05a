"""The contract of baselines."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Baseline(Protocol):
    """A scikit-learn style estimator with the same methods as BlissClassifier; no base class is needed."""

    def fit(self, X: Any, y: Any, bags: Any = None) -> Any:
        """Learn from weak labels."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag, threshold at 0: (ids, scores)."""
