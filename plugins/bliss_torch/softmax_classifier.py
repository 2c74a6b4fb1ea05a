"""The softmax as a scikit-learn classifier that learns on a device and predicts with NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.plugin import Rows, RowView, as_rows, outputs
from bliss_torch.classes import FLOATS, best_class, positions_of_classes, row_weights
from bliss_torch.descent import Descents, descend
from bliss_torch.device import Device, DeviceRows, held
from bliss_torch.objective import Objective, ShareLosses

SMALL = 1e-3


class TorchSoftmaxClassifier(ClassifierMixin, BaseEstimator):
    """Softmax regression, in which every class is a group of its own.

    Args:
        l2: penalty of squared weights, beside the weighted mean of -log p; intercepts are free.
        max_iter: most steps of L-BFGS.
        tol: largest gradient entry at which the fit ends.
        device: see `TorchSoftmax`.
        storage: see `TorchSoftmax`.
        random_state: seed of the start.

    Attributes:
        classes_: (C,) sorted.
        coef_: (C, d) arrays of NumPy.
        intercept_: (C,).
        n_iter_: steps taken.
    """

    def __init__(
        self,
        l2: float = 1e-4,
        max_iter: int = 200,
        tol: float = 1e-5,
        device: str = "auto",
        storage: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.device = device
        self.storage = storage
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TorchSoftmaxClassifier":
        """Descend to the best coefficients: X (n, d), y (n,), sample_weight (n,) >= 0."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        self.classes_, positions = positions_of_classes(self, y)
        return self._fitted(Rows(X), np.eye(len(self.classes_))[positions], sample_weight)

    def fit_shares(self, X: Any, shares: Any, sample_weight: Any = None) -> "TorchSoftmaxClassifier":
        """Fit soft labels: shares (n, C) of the classes 0 .. C - 1, each row summing to 1."""
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        self.classes_ = np.arange(shares.shape[1])
        return self._fitted(Rows(X), shares, sample_weight)

    def _fitted(self, rows: Rows, shares: NDArray[np.float64], sample_weight: Any) -> "TorchSoftmaxClassifier":
        weights = row_weights(sample_weight, len(shares))
        weighted = shares if weights is None else shares * weights[:, None]
        device = Device(self.device, self.storage, "torch-softmax")
        device.check()
        there = held(rows, device)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        shape = len(self.classes_), rows.shape[1] + 1
        with device.computing():
            objective = Objective(there, ShareLosses(device.tensor((weighted / weighted.sum()).T)), shape[0], self.l2)
            begin, step = Descents.at(start(shape, rng, device)[None]), first_step(there, self.l2)
            found, n_steps = descend(objective, begin, self.max_iter, step, self.tol)
            coefficients = np.array(found.points.cpu().numpy()).reshape(shape)
        self.coef_, self.intercept_ = coefficients[:, :-1], coefficients[:, -1]
        self.n_iter_ = max(n_steps, 1)
        return self

    def scores_of(self, rows: Rows | RowView) -> NDArray[np.float64]:
        """Return outputs for rows, which are read a block at a time: (n,) for two classes, else (n, C)."""
        found = self._outputs(rows)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def _outputs(self, rows: Rows | RowView) -> NDArray[np.float64]:
        return outputs(rows, np.vstack([self.coef_.T, self.intercept_])).astype(np.float64, copy=False)

    def _read(self, X: Any) -> Rows | RowView:
        check_is_fitted(self)
        return as_rows(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return outputs: (n,) for two classes, positive for the second, else (n, C)."""
        return self.scores_of(self._read(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities (n, C) that sum to 1."""
        return np.asarray(softmax(self._outputs(self._read(X)), axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest output for each row."""
        return best_class(self.classes_, self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def start(shape: tuple[int, int], rng: np.random.Generator, device: Device) -> Any:
    """Draw small coefficients (L * (d + 1),) of doubles: at 0, labels of one group would all be the same."""
    drawn = rng.normal(0.0, SMALL, shape).ravel()
    return device.torch.from_numpy(drawn).to(device.place)


def first_step(rows: DeviceRows, l2: float) -> float:
    """Return a step, in units of the gradient, that cannot overshoot: the softmax bends no more than |x|^2 / 2."""
    with rows.device.computing() as torch:
        squares = sum(float(block.square().sum(dtype=torch.float64)) for _, block in rows.blocks(rows.device.n_values))
    return 1.0 / (0.5 * (squares / rows.shape[0] + 1.0) + l2)
