"""Scaling of rows and columns, learnt on training rows only."""

from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator

from bliss_framework.estimator.row_settings import scaling_mode
from bliss_framework.kernel.row_view import RowView, as_rows
from bliss_framework.kernel.rows import ORDINARY, Rows
from bliss_framework.validators import check_value

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
            X: (n, d) array or CSR matrix of floats, or a view of rows.
        """
        check_value("scaling", self.mode, scaling_mode)
        given = as_rows(X)
        steps = self.mode if self.mode != "auto" else "unit" if given.is_sparse else "clipped"
        self.unit_ = "unit" in steps
        self.clip_ = steps == "clipped"
        self.exponents_: NDArray[np.intc] | None = None
        self.mean_: NDArray[np.float64] | None = None
        self.factor_: NDArray[np.float64] | None = None
        if self.clip_ or "standard" in steps:
            rows = given.as_type(np.float64)
            magnitudes = rows.column_magnitudes()
            self.exponents_ = _exponents(magnitudes)
            if self.exponents_ is not None:
                rows = rows.times_powers_of_two(self.exponents_)
                magnitudes = rows.column_magnitudes()
            self.mean_, self.factor_ = _columns(rows, magnitudes)
        return self

    def transform(self, X: Any) -> Any:
        """Scale rows (n, d) to float64; the input is not changed, and mode "none" returns it as it is."""
        if self.mode == "none":
            return X
        rows = Rows(X)
        if rows.is_sparse:
            return self.block(rows.array, np.float64)
        return self.view(RowView.of(rows)).array

    def view(self, rows: RowView) -> RowView:
        """Scale rows when they are read: float64, unless another precision is asked for."""
        return rows if self.mode == "none" else evolve(rows, transform=self.block, dtype=np.float64)

    def block(self, read: Any, dtype: DTypeLike) -> Any:
        """Scale an array (b, d), which is changed, or a CSR matrix, in a precision."""
        rows = Rows(read).as_type(dtype)
        # Models that were saved before there were exponents have none.
        exponents = getattr(self, "exponents_", None)
        if exponents is not None:
            rows = rows.times_powers_of_two(exponents)
        if self.mean_ is not None and self.factor_ is not None:
            rows = rows.standardised(self.mean_.astype(dtype), self.factor_.astype(dtype), own=True)
        if self.clip_:
            rows = rows.clipped(DEVIATIONS, own=True)
        return rows.of_unit_length().array if self.unit_ else rows.array


def _exponents(magnitudes: NDArray[Any]) -> NDArray[np.intc] | None:
    """Return the power of two (d,) that brings columns near 1 whose squares overflow or vanish; None if none does."""
    powers = np.frexp(magnitudes)[1]
    extreme = (magnitudes > 0) & (np.abs(powers) > ORDINARY)
    return np.where(extreme, -powers, 0).astype(np.intc) if extreme.any() else None


def _columns(rows: Rows | RowView, magnitudes: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    deviation = np.sqrt(np.maximum(rows.column_variances(), 0.0))
    # A hand-written division would blow up the rounding noise of a constant column.
    constant = deviation <= 1e-10 * magnitudes
    return rows.column_means(), np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
