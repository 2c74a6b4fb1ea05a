"""The contract of classifiers."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.kernel.pull import Part, Predictions


class PreparedClassifier(ABC):
    """A classifier that is prepared for one fold.

    Attributes:
        smoother: (m, n) matrix M where held-out outputs are M @ targets, for classifiers that are linear in their
            labels; None for all others.
    """

    smoother: NDArray[np.floating] | None = None

    @abstractmethod
    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Train on each of P label assignments and predict.

        Args:
            assignments: (P, n) labels of the training instances. A row may hold one label only; the prediction is
                then that label for every instance.
            weights: (P, n) instance weights that replace those of the training part, or None.
        """

    def respond(self, targets: NDArray[np.floating]) -> NDArray[np.floating] | None:
        """Return held-out outputs (m, T) for any real targets (n, T), where the classifier is linear in its labels.

        Between -1 (not this label) and 1 a target is a soft label. None means that it is not linear.
        """
        return None if self.smoother is None else self.smoother @ targets


class Classifier(ABC):
    """Any ordinary classifier: pulled many times on a fold, and fitted once in the end."""

    @abstractmethod
    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Do once for a fold all that does not depend on labels (a Gram matrix, a factorisation).

        Args:
            train: rows to train on, with `weights` where instances do not count alike.
            heldout: rows to predict as well.
            rng: for classifiers that draw random numbers.
        """

    @abstractmethod
    def estimator(self, random_state: int) -> Any:
        """Return a fresh scikit-learn classifier with the same parameters, for the fit after inference."""
