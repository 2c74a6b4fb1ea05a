"""Scaling of rows and columns, learnt on training rows only."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.sparsefuncs import mean_variance_axis

from bliss_framework.errors import SettingsError

MODES = ("auto", "clipped", "standard", "standard-unit", "unit", "none")
DEVIATIONS = 3.0


class Scaling(BaseEstimator):  # type: ignore[misc]
    """Standardise columns, limit outliers, normalise rows, or leave rows alone.

    Args:
        mode: "standard" gives columns mean 0 and deviation 1 (sparse rows are not centred, so they stay sparse);
            "clipped" also limits values to 3 deviations, so that a rare large value does not rule all distances;
            "unit" gives rows Euclidean length 1; "standard-unit" standardises and then does so; "none" does nothing;
            "auto" is "clipped" for dense and "unit" for sparse rows, which is what sensors and what texts want.

    Columns that are constant in training become 0 everywhere: nothing was learnt about them.

    >>> Scaling("standard").fit(np.array([[0.0, 7.0], [2.0, 7.0]])).transform(np.array([[4.0, 9.0]])).tolist()
    [[3.0, 0.0]]
    """

    def __init__(self, mode: str = "auto") -> None:
        self.mode = mode

    def fit(self, X: Any) -> "Scaling":
        """Learn column means and deviations.

        Args:
            X: (n, d) array or CSR matrix of floats.
        """
        check_mode(self.mode)
        steps = self.mode if self.mode != "auto" else "unit" if sp.issparse(X) else "clipped"
        self.unit_ = "unit" in steps
        self.clip_ = steps == "clipped"
        self.mean_: NDArray[np.float64] | None = None
        self.factor_: NDArray[np.float64] | None = None
        if self.clip_ or "standard" in steps:
            self.mean_, self.factor_ = _columns(_double(X))
        return self

    def transform(self, X: Any) -> Any:
        """Scale rows (n, d) to float64; the input is not changed, and mode "none" returns it as it is."""
        if self.mode == "none":
            return X
        X = _double(X)
        if self.factor_ is not None:
            X = X @ sp.diags(self.factor_) if sp.issparse(X) else (X - self.mean_) * self.factor_
        if self.clip_:
            X = _clipped(X)
        return _unit_rows(X) if self.unit_ else X


def check_mode(mode: Any) -> None:
    """Refuse a mode that there is not."""
    if not isinstance(mode, str) or mode not in MODES:
        raise SettingsError(f"scaling must be one of {', '.join(MODES)}; got {mode!r}.")


def _double(X: Any) -> Any:
    return X.astype(np.float64, copy=False)


def _columns(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if sp.issparse(X):
        # The difference of two mean squares would be noise in a column that is constant but not 0.
        mean, variance = mean_variance_axis(X, axis=0)
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    else:
        mean, variance, largest = X.mean(axis=0), X.var(axis=0), np.abs(X).max(axis=0)
    deviation = np.sqrt(np.maximum(variance, 0.0))
    # A hand-written division would blow up the rounding noise of a constant column.
    constant = deviation <= 1e-10 * largest
    return mean, np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))


def _clipped(X: Any) -> Any:
    if not sp.issparse(X):
        return np.clip(X, -DEVIATIONS, DEVIATIONS)
    limited = sp.csr_matrix(X)
    return sp.csr_matrix(
        (np.clip(limited.data, -DEVIATIONS, DEVIATIONS), limited.indices, limited.indptr), shape=limited.shape
    )


def _unit_rows(X: Any) -> Any:
    if sp.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_matrix(sp.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)
