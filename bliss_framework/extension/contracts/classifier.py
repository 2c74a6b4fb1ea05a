"""The contract of classifiers."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_framework.kernel.pull import Part, Predictions
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows


class PreparedClassifier(ABC):
    """A classifier that is prepared for one fold.

    Attributes:
        smoother: (m, n) matrix or `scipy.sparse.linalg.LinearOperator` M where held-out outputs are M @ targets, for
            classifiers that are linear in their labels; None for all others.
    """

    smoother: NDArray[np.floating] | LinearOperator | None = None

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


class SumsEstimator(Protocol):
    """A final classifier that needs of rows and labels no more than sums, such as least squares.

    It is trained in blocks of rows, wherever they are, and without each fold by adding up the sums of the others.
    """

    def begun(self, rows: Rows | RowView, weights: NDArray[np.float64] | None) -> "SumsEstimator | None":
        """Return a copy that knows what needs no labels, of rows (n, d) and weights (n,); None where sums do not do."""

    def sums(
        self, rows: Rows | RowView, shares: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return an array that adds up, of some rows (n, d), shares (n, C) of the classes, and weights (n,)."""

    def solved(self, sums: NDArray[np.float64], n_classes: int) -> Any:
        """Return a copy that is fitted by the sums of all that it is trained on."""


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
        """Return a fresh scikit-learn classifier with the same parameters, for the fit after inference.

        One with `fit_shares(X, shares, sample_weight)` learns soft labels; see also `SumsEstimator`.
        """
