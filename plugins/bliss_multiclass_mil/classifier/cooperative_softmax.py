"""The cooperative softmax in label inference: a few steps a pull, each from where the last pull stopped."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Classifier,
    Part,
    Predictions,
    PreparedClassifier,
    ProblemSize,
    at_least,
    between,
    one_of,
    positive,
)
from bliss_multiclass_mil.classifier.descent import State, descend, first_step, start, with_precision
from bliss_multiclass_mil.classifier.estimator import CooperativeSoftmaxClassifier
from bliss_multiclass_mil.classifier.objective import Groups, Objective, outputs_of
from bliss_multiclass_mil.classifier.random_features import RandomFeatures

TOLERANCE = 1e-7
# Arrays of the size of all outputs, and of all coefficients, in a pull.
OUTPUTS, STEPS = 6, 40


@frozen
class CooperativeSoftmax(Classifier):
    """A softmax whose labels of one class do not compete with each other (paper, "Multi-Class MIL").

    Args:
        l2: penalty of squared weights, beside the mean logarithm of probabilities.
        n_steps: of L-BFGS in each pull.
        n_features: random Fourier features; 0 keeps the rows, and the classifier linear.
        width: of the kernel that the features stand for, in units of 1 / (half the mean squared distance of rows).
        max_iter: of the fit after inference.
        precision: "float32" or "float64", of rows and products in label inference.
    """

    l2: float = field(default=1e-4, validator=between(0.0, 1e6))
    n_steps: int = field(default=10, validator=at_least(1))
    n_features: int = field(default=0, validator=at_least(0))
    width: float = field(default=0.25, validator=positive)
    max_iter: int = field(default=100, validator=at_least(1))
    precision: str = field(default="float32", validator=one_of("float32", "float64"))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Cast the rows and make their features, once for a fold."""
        rows, others = (with_precision(part.X, self.precision) for part in (train, heldout))
        if self.n_features:
            features = RandomFeatures.drawn(rows, self.n_features, self.width, rng)
            rows, others = features.of(rows), features.of(others)
        groups = Groups.from_classes(train.space.class_of_label)
        return PreparedCooperativeSoftmax(rows, others, train.weights, groups, self, rng)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier, in which every class is a group of its own."""
        return CooperativeSoftmaxClassifier(
            l2=self.l2,
            n_features=self.n_features,
            width=self.width,
            max_iter=self.max_iter,
            precision=self.precision,
            random_state=random_state,
        )

    def memory(self, size: ProblemSize) -> int:
        """Count rows, their features, outputs with their slopes, and the memory of the descents."""
        itemsize = np.dtype(self.precision).itemsize
        n_columns = self.n_features or size.n_columns
        features = itemsize * size.n_rows * self.n_features + 16 * size.n_columns * self.n_features
        outputs = OUTPUTS * itemsize * size.n_rows * size.n_labels * size.n_pulls
        return 2 * size.rows + features + outputs + STEPS * 8 * size.n_pulls * size.n_labels * (n_columns + 1)


class PreparedCooperativeSoftmax(PreparedClassifier):
    """The rows of one fold, and where each of its parallel descents is.

    Position p of a batch goes on from where the assignment at the same position of the last batch stopped. Inferences
    that run side by side keep their places, so each has a warm start of its own; when the number of positions changes,
    as between the initial sweep and parallel pulls, new positions follow the old ones in order. Folds share nothing.
    """

    def __init__(
        self,
        rows: Any,
        heldout: Any,
        weights: NDArray[np.float64] | None,
        groups: Groups,
        settings: CooperativeSoftmax,
        rng: np.random.Generator,
    ) -> None:
        self._rows, self._heldout, self._groups, self._settings = rows, heldout, groups, settings
        self._weights = np.ones(rows.shape[0]) if weights is None else weights
        self._n_labels = len(groups.of_label)
        self._shape = (self._n_labels, rows.shape[1] + 1)
        self._first_step = first_step(rows, settings.l2)
        self._state = State.at(start(self._shape, rng).reshape(1, -1))

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Take a few steps for each of P assignments, with one matrix product for all in each step."""
        self._state = _resized(self._state, len(assignments))
        mixed = np.flatnonzero((assignments != assignments[:, :1]).any(axis=1))
        if len(mixed):
            given = np.broadcast_to(self._weights, assignments.shape) if weights is None else weights
            self._descend(mixed, assignments[mixed], given[mixed])
        coefficients = self._state.point.reshape(-1, *self._shape)
        present = np.stack([(assignments == label).any(axis=1) for label in range(self._n_labels)], axis=1)
        return Predictions.from_scores(
            *(self._scores(rows, coefficients, present) for rows in (self._rows, self._heldout))
        )

    def _descend(
        self, positions: NDArray[np.intp], assignments: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        normalised = (weights / weights.sum(axis=1, keepdims=True)).astype(self._rows.dtype)
        objective = Objective(self._rows, assignments, normalised, self._groups, self._settings.l2)

        def function(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            values, gradients = objective(points.reshape(-1, *self._shape))
            return values, gradients.reshape(points.shape)

        n_steps = self._settings.n_steps
        moved, _ = descend(function, self._state.take(positions), n_steps, self._first_step, TOLERANCE)
        self._state = self._state.put(positions, moved)

    def _scores(self, rows: Any, coefficients: NDArray[np.float64], present: NDArray[np.bool_]) -> NDArray[np.floating]:
        outputs = outputs_of(rows, coefficients)
        # A label that the assignment does not use is never predicted, whatever earlier pulls taught of it.
        lowest = outputs.min(axis=(1, 2), keepdims=True) - 1
        outputs = np.where(present[:, :, None], outputs, lowest)
        return outputs[:, 1] - outputs[:, 0] if self._n_labels == 2 else np.moveaxis(outputs, 1, 2)


def _resized(state: State, n: int) -> State:
    """Give each of n positions the state of an old one, in order."""
    old = len(state.point)
    return state if n == old else state.take(np.arange(n) * old // n)
