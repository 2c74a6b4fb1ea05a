"""The contract of classifiers."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_framework.kernel.pull import Part, Predictions
from bliss_framework.kernel.row_view import RowView, for_passes
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.landmarks import Landmarks


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


@frozen(eq=False)
class SumsForm:
    """A classifier that is least squares on features, and so needs of each fold no more than sums over rows.

    Attributes:
        ridge: above 0.
        landmarks: whose features are used; None for the rows themselves.
    """

    ridge: float = field()
    landmarks: Landmarks | None = field(default=None)

    def features(self, rows: Rows | RowView) -> Rows | RowView:
        """Return the features of rows, for many passes over them."""
        return for_passes(rows) if self.landmarks is None else self.landmarks.features(rows)


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

    def in_sums(
        self, rows: Rows | RowView, weights: NDArray[np.float64] | None, rng: np.random.Generator
    ) -> SumsForm | None:
        """Return the same classifier as least squares on features; None where it is something else.

        Args:
            rows: (n, d) of all folds.
            weights: (n,) by which they count, or None.
            rng: of what is drawn.
        """
        return None

    @abstractmethod
    def estimator(self, random_state: int) -> Any:
        """Return a fresh scikit-learn classifier with the same parameters, for the fit after inference.

        One with `fit_shares(X, shares, sample_weight)` learns soft labels; see also `SumsEstimator`.
        """
