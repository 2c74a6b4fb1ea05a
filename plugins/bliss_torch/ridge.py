"""Ridge on a device: sums over rows there, and the system of as many unknowns as columns solved here in double."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bliss_framework import DataError
from bliss_framework.plugin import (
    MOST_UNKNOWNS,
    Classifier,
    FactorisedSystem,
    Part,
    Predictions,
    PreparedClassifier,
    ProblemSize,
    Rows,
    RowView,
    SumsForm,
    has_sums,
    positive,
)
from bliss_torch.device import Device, device_name, stored_as
from bliss_torch.least_squares import TorchLeastSquares
from bliss_torch.memory import rows_memory, sums_memory
from bliss_torch.sums import TorchSums


@frozen
class TorchRidge(Classifier):
    """Linear least squares like `ridge`, whose sums over rows are made on a torch device.

    Args:
        ridge: regularisation, above 0.
        device: "auto", "cpu", "cuda" or "cuda:0" and so on; "auto" is CUDA where there is such a device.
        storage: "float32", "float16" or "bfloat16", of rows on the device; sums are of single precision at least.
    """

    ridge: float = field(default=1.0, validator=positive)
    device: str = field(default="auto", validator=device_name)
    storage: str = field(default="float32", validator=stored_as)

    def __attrs_post_init__(self) -> None:
        """Refuse a device that is not there, before any work."""
        self._device.check()

    @property
    def _device(self) -> Device:
        return Device(self.device, self.storage, "torch-ridge")

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Send the rows to the device, and factorise their sums."""
        refuse_many_columns(train.rows.shape[1])
        return PreparedTorchRidge(TorchSums(self._device), self.ridge, train, heldout)

    def in_sums(
        self, rows: Rows | RowView, weights: NDArray[np.float64] | None, rng: np.random.Generator
    ) -> SumsForm | None:
        """Return the rows as their own features, summed up on the device."""
        refuse_many_columns(rows.shape[1])
        return SumsForm(self.ridge, sums=TorchSums(self._device))

    def estimator(self, random_state: int) -> Any:
        """Return the same model as a scikit-learn classifier, which predicts without torch."""
        return TorchLeastSquares(self.ridge, self.device, self.storage)

    def memory(self, size: ProblemSize) -> int:
        """Count the stored rows, their sums and the predictions."""
        return rows_memory(size, self._device, size.n_rows) + sums_memory(size, min(size.n_columns, MOST_UNKNOWNS))

    def final_memory(self, size: ProblemSize) -> int:
        """Count the rows to train on, their sums and the scores."""
        return rows_memory(size, self._device, size.n_train) + sums_memory(size, min(size.n_columns, MOST_UNKNOWNS))


def refuse_many_columns(n_columns: int) -> None:
    """Refuse rows of more columns than there may be unknowns.

    Raises:
        DataError: naming classifiers that take them.
    """
    if not has_sums(n_columns):
        raise DataError(
            f"torch-ridge solves for a coefficient of each column, of at most {MOST_UNKNOWNS - 1} of them, and the "
            f'rows have {n_columns}: take the classifier "ridge", or "torch-softmax".'
        )


class PreparedTorchRidge(PreparedClassifier):
    """The rows of one fold on the device, and the factor of their normal equations here.

    Args:
        sums: on the device.
        ridge: above 0.
        train: rows to train on, with their weights and labels.
        heldout: rows to predict as well.
    """

    def __init__(self, sums: TorchSums, ridge: float, train: Part, heldout: Part) -> None:
        self._sums, self._ridge, self._n_labels = sums, ridge, train.space.n_labels
        self._weights = train.weights
        self._train, self._heldout = sums.held(train.rows), sums.held(heldout.rows)
        self._system = FactorisedSystem.of(sums.gram(self._train, self._weights), ridge)

    @property
    def smoother(self) -> LinearOperator:
        """M, so that held-out outputs are M t, as an operator: two passes over the rows on the device."""
        shape = (self._heldout.shape[0], self._train.shape[0])
        both = {"matvec": self.respond, "matmat": self.respond, "rmatvec": self._effects, "rmatmat": self._effects}
        return LinearOperator(shape, dtype=np.dtype(np.float32), **both)

    def respond(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return held-out outputs (m, T) for any real targets (n, T)."""
        given = np.asarray(targets).reshape(self._train.shape[0], -1)
        weighted = given if self._weights is None else given * self._weights[:, None]
        return self._sums.outputs(self._heldout, self._system.solve(self._sums.moments(self._train, weighted)))

    def _effects(self, slopes: NDArray[Any]) -> NDArray[Any]:
        """Return M' g (n, T) for slopes g (m, T)."""
        given = np.asarray(slopes).reshape(self._heldout.shape[0], -1)
        moved = self._sums.outputs(self._train, self._system.solve(self._sums.moments(self._heldout, given)))
        return moved if self._weights is None else moved * self._weights[:, None].astype(moved.dtype)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Make the moments of all P assignments in one product; weights of a pull cost a factorisation each."""
        P, n_columns = len(assignments), 1 if self._n_labels == 2 else self._n_labels
        if weights is None:
            solved = self._system.solve(self._moments(assignments, self._weights))
        else:
            pairs = [(assignments[p : p + 1], own) for p, own in enumerate(weights)]
            solved = np.concatenate([self._system_of(w).solve(self._moments(one, w)) for one, w in pairs], axis=1)
        train, heldout = (
            self._sums.outputs(rows, solved).reshape(-1, P, n_columns).swapaxes(0, 1)
            for rows in (self._train, self._heldout)
        )
        self._say_the_only_label(assignments, train, heldout)
        return Predictions.from_scores(train, heldout) if n_columns > 1 else _of_two(train, heldout)

    def _system_of(self, weights: NDArray[np.float64]) -> FactorisedSystem:
        return FactorisedSystem.of(self._sums.gram(self._train, weights), self._ridge)

    def _moments(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return sums (d + 1, P * S) of rows times weighted targets, which are made on the device."""
        device = self._sums.device
        with device.computing() as torch:
            given = device.indices(assignments).T[:, :, None]
            wanted = device.indices([1] if self._n_labels == 2 else range(self._n_labels))
            targets = (given == wanted).to(torch.float32).mul_(2.0).sub_(1.0)
            if weights is not None:
                targets *= device.tensor(weights)[:, None, None]
        return self._sums.moments(self._train, targets.reshape(len(targets), -1))

    def _say_the_only_label(self, assignments: NDArray[np.intp], *outputs: NDArray[Any]) -> None:
        """Overwrite outputs (P, n, S) of assignments that hold one label only."""
        alone = np.flatnonzero((assignments == assignments[:, :1]).all(axis=1))
        labels = assignments[alone, 0]
        said = 2.0 * labels[:, None] - 1.0 if self._n_labels == 2 else np.eye(self._n_labels)[labels]
        for one in outputs:
            one[alone] = said[:, None]


def _of_two(train: NDArray[Any], heldout: NDArray[Any]) -> Predictions:
    return Predictions.from_scores(train[:, :, 0], heldout[:, :, 0])
