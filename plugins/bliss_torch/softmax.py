"""The cooperative softmax on a device: a few steps a pull for all assignments at once, each from where it stopped."""

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
)
from bliss_torch.descent import Descents, descend
from bliss_torch.device import Device, DeviceRows, device_name, held, stored_as
from bliss_torch.memory import DOUBLE, SINGLE, rows_memory
from bliss_torch.objective import LabelLosses, Objective, outputs_of
from bliss_torch.softmax_classifier import TorchSoftmaxClassifier, first_step, start

TOLERANCE = 1e-7
REMEMBERED = 20  # Arrays of the size of all coefficients that a descent holds.


@frozen
class TorchSoftmax(Classifier):
    """A softmax whose labels of one class do not compete, like `cooperative-softmax`, on a torch device.

    Args:
        l2: penalty of squared weights, beside the mean logarithm of probabilities.
        n_steps: of L-BFGS in each pull.
        max_iter: of the fit after inference.
        device: "auto", "cpu", "cuda" or "cuda:0" and so on; "auto" is CUDA where there is such a device.
        storage: "float32", "float16" or "bfloat16", of rows on the device; sums are of single precision at least.
    """

    l2: float = field(default=1e-4, validator=between(0.0, 1e6))
    n_steps: int = field(default=10, validator=at_least(1))
    max_iter: int = field(default=100, validator=at_least(1))
    device: str = field(default="auto", validator=device_name)
    storage: str = field(default="float32", validator=stored_as)

    def __attrs_post_init__(self) -> None:
        """Refuse a device that is not there, before any work."""
        self._device.check()

    @property
    def _device(self) -> Device:
        return Device(self.device, self.storage, "torch-softmax")

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Send the rows to the device, once for a fold."""
        rows, others = (held(part.rows, self._device) for part in (train, heldout))
        _, groups = np.unique(train.space.class_of_label, return_inverse=True)
        return PreparedTorchSoftmax(rows, others, train.weights, groups, self, rng)

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier, in which every class is a group of its own."""
        return TorchSoftmaxClassifier(self.l2, self.max_iter, 1e-5, self.device, self.storage, random_state)

    def memory(self, size: ProblemSize) -> int:
        """Count the stored rows, labels and outputs, and the memory of the descents."""
        outputs = 2 * SINGLE * size.n_rows * size.n_labels * size.n_pulls
        coefficients = DOUBLE * size.n_pulls * size.n_labels * (size.n_columns + 1)
        return rows_memory(size, self._device, size.n_rows) + outputs + size.predictions + REMEMBERED * coefficients


class PreparedTorchSoftmax(PreparedClassifier):
    """The rows of one fold on the device, and where each of its parallel descents is.

    Position p of a batch goes on from where the assignment at the same position of the last batch stopped, as in
    `cooperative-softmax`.
    """

    def __init__(
        self,
        rows: DeviceRows,
        heldout: DeviceRows,
        weights: NDArray[np.float64] | None,
        groups: NDArray[np.intp],
        settings: TorchSoftmax,
        rng: np.random.Generator,
    ) -> None:
        self._rows, self._heldout, self._groups, self._settings = rows, heldout, groups, settings
        self._weights = np.ones(rows.shape[0]) if weights is None else weights
        self._first_step = first_step(rows, settings.l2)
        self._descents = Descents.at(start((len(groups), rows.shape[1] + 1), rng, rows.device)[None])

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Take a few steps for each of P assignments, with one matrix product for all in each step."""
        P, device = len(assignments), self._rows.device
        with device.computing():
            self._descents = self._resized(P)
            mixed = np.flatnonzero((assignments != assignments[:, :1]).any(axis=1))
            if len(mixed):
                given = np.broadcast_to(self._weights, assignments.shape) if weights is None else weights
                self._descend(device.indices(mixed), assignments[mixed], given[mixed])
            labels = np.arange(len(self._groups))
            present = np.stack([(assignments == label).any(axis=1) for label in labels], axis=1)
            return Predictions.from_scores(*(self._scores(rows, present) for rows in (self._rows, self._heldout)))

    def _resized(self, n: int) -> Descents:
        """Give each of n positions the descent of an old one, in order."""
        old = len(self._descents.points)
        places = self._rows.device.indices(np.arange(n) * old // n)
        return self._descents if n == old else self._descents.take(places)

    def _descend(self, positions: Any, assignments: NDArray[np.intp], weights: NDArray[np.float64]) -> None:
        device, settings = self._rows.device, self._settings
        normalised = device.tensor(weights / weights.sum(axis=1, keepdims=True))
        losses = LabelLosses(device.indices(assignments).int(), normalised, self._groups)
        objective = Objective(self._rows, losses, len(self._groups), settings.l2)
        before = self._descents.take(positions)
        moved, _ = descend(objective, before, settings.n_steps, self._first_step, TOLERANCE)
        self._descents = self._descents.put(positions, moved)

    def _scores(self, rows: DeviceRows, present: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return scores (P, n) of two labels, else (P, n, L); a label that is not present is never the best one."""
        outputs = outputs_of(rows, self._descents.points, len(self._groups))
        absent = rows.device.indices(~present)[:, :, None].bool()
        lowest = outputs.amin(dim=(1, 2), keepdim=True) - 1
        outputs = lowest.where(absent, outputs)
        scores = outputs[:, 1] - outputs[:, 0] if len(self._groups) == 2 else outputs.movedim(1, 2)
        return np.asarray(scores.contiguous().cpu().numpy())
