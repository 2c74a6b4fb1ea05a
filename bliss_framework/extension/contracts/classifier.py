"""The contract of classifiers."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_framework.kernel.pull import Part, Predictions
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.landmarks import Landmarks
from bliss_framework.primal.sums import NumpySums, RowSums


@frozen
class ProblemSize:
    """How much there is to learn from, by which a classifier says what memory it takes.

    Attributes:
        n_train: rows that it is trained on.
        n_heldout: rows that it predicts beside those.
        n_columns: columns of a row.
        row_bytes: what a row takes in memory as float64; of sparse rows what their entries take.
        sparse: whether rows are sparse.
        n_labels: labels of a row.
        n_pulls: assignments that are pulled at once.
        mapped: whether rows stay in a file, from which blocks of them are read.
        n_folds: folds that are trained side by side, in lock-step, each of them on a part of the rows.

    >>> ProblemSize(n_train=1000, n_heldout=500, n_columns=10, row_bytes=80).predictions
    36000
    """

    n_train: int = field()
    n_heldout: int = field()
    n_columns: int = field()
    row_bytes: float = field()
    sparse: bool = field(default=False)
    n_labels: int = field(default=2)
    n_pulls: int = field(default=1)
    mapped: bool = field(default=False)
    n_folds: int = field(default=1)

    @property
    def n_rows(self) -> int:
        """Rows that are trained on or predicted."""
        return self.n_train + self.n_heldout

    @property
    def rows(self) -> int:
        """Bytes of all rows."""
        return int(self.n_rows * self.row_bytes)

    @property
    def predictions(self) -> int:
        """Bytes of the scores and labels of all rows in a pull of each fold, and of the outputs behind them."""
        outputs = 1 if self.n_labels == 2 else self.n_labels
        return 8 * self.n_rows * self.n_folds * self.n_pulls * (2 * outputs + 1)


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
        sums: who sums over rows: NumPy, unless a classifier has a device for it.
    """

    ridge: float = field()
    landmarks: Landmarks | None = field(default=None)
    sums: RowSums = field(factory=NumpySums)

    def features(self, rows: Rows | RowView) -> Any:
        """Return the features of rows, as `sums` holds them for many passes over them."""
        return self.sums.held(rows if self.landmarks is None else self.landmarks.features(rows))


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


class LeaveOutEstimator(Protocol):
    """A final classifier that finds out from one fit what fits without each fold would say, as kernel ridge does."""

    def fit_leaving_out(
        self,
        X: Any,
        shares: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        folds: NDArray[np.intp],
    ) -> NDArray[np.float64] | None:
        """Fit all rows as `fit_shares` does, and return scores of each row by a fit without the rows of its fold.

        Args:
            X: (n, d) array or CSR matrix.
            shares: (n, C) of the classes 0 .. C - 1.
            sample_weight: (n,) or None.
            folds: (n,) of each row, two or more.

        Returns:
            (n,) for two classes, positive for class 1, else (n, C); None, without a fit, where it is trained once for
            each fold like any other.
        """


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

        One with `fit_shares(X, shares, sample_weight)` learns soft labels; see also `SumsEstimator` and
        `LeaveOutEstimator`.
        """

    def memory(self, size: ProblemSize) -> int:
        """Return how many bytes `prepare` and a pull take at their peak, beside the data set.

        It is asked before any work, and a fit that needs more memory than there is does not start. An estimate that is
        a fifth too large does little harm; one that is too small lets a long run fail in its midst.

        Args:
            size: of the training part and the held-out set of a fold.

        The parts of a fold are views, so whoever asks for `Part.X` takes a copy of these rows. The default is two such
        copies, and the predictions. A classifier that holds a table of all pairs of rows, or a matrix of all pairs of
        columns, says so here.
        """
        return 2 * size.rows + size.predictions

    def final_memory(self, size: ProblemSize) -> int:
        """Return how many bytes a fit of `estimator` takes at its peak, and after it the scores of other rows.

        Args:
            size: `n_train` rows to fit, `n_heldout` rows to score, which may be the same ones.

        The default is what `memory` says.
        """
        return self.memory(size)
