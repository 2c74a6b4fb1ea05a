"""Values that no result can be trusted with: too large or too small for their squares, all alike, or one beyond all."""

import warnings

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import BlissWarning, DataError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.kernel.rows import ORDINARY, Rows

LARGE = 1e10  # From here on a column is looked at, and by so much a value must exceed all others.


def check_values(data: CheckedData, scaling: str) -> None:
    """Refuse values that cannot be computed with, and warn of those that make a column or all rows say nothing.

    Args:
        data: rows with the names of their columns.
        scaling: a mode of `Scaling`; with "none" values are used as they are.

    Raises:
        DataError: with `scaling="none"`, for values whose squares overflow or vanish; naming column, row and value.

    Warns:
        BlissWarning: where all rows are equal, or one value of a column is beyond all others.
    """
    rows = Rows(data.X)
    if 0 in rows.shape:
        return
    magnitudes = rows.column_magnitudes()
    if scaling == "none":
        _refuse_extremes(rows, magnitudes, data.columns)
    if _all_equal(rows):
        warnings.warn(
            f"All {rows.shape[0]} rows of X are equal, so nothing tells one instance from another, and their labels "
            f"mean nothing.",
            BlissWarning,
            stacklevel=4,
        )
        return
    for column in np.flatnonzero(magnitudes > LARGE).tolist():
        _warn_of_outlier(rows.columns(np.array([column])).dense()[:, 0], column, data.columns)


def _refuse_extremes(rows: Rows, magnitudes: NDArray[np.floating], names: tuple[str, ...] | None) -> None:
    # Squares of single precision overflow sooner.
    limit = 2.0 ** (ORDINARY if rows.dtype == np.float64 else ORDINARY // 8)
    column = int(magnitudes.argmax())
    largest = float(magnitudes[column])
    if 1 / limit <= largest <= limit or largest == 0:
        return
    values = rows.columns(np.array([column])).dense()[:, 0]
    row = int(np.abs(values).argmax())
    size = "large" if largest > limit else "small"
    raise DataError(
        f'{_called(column, names)} of X has the value {values[row]:g} in row {row}; with scaling = "none" that is too '
        f"{size} for its square to be computed in {rows.dtype}. Use another scaling, or another unit."
    )


def _all_equal(rows: Rows) -> bool:
    largest, smallest = rows.array.max(axis=0), rows.array.min(axis=0)
    return bool((largest != smallest).sum() == 0)


def _warn_of_outlier(values: NDArray[np.floating], column: int, names: tuple[str, ...] | None) -> None:
    if len(values) < 3:
        return
    sizes = np.abs(values)
    second, first = np.partition(sizes, len(sizes) - 2)[-2:]
    # One value beside zeros alone may be all that the column has to say.
    if second == 0 or first / LARGE <= second:
        return
    row = int(sizes.argmax())
    warnings.warn(
        f"{_called(column, names)} of X has the value {values[row]:g} in row {row}, and no other above {second:g}; "
        f"beside it all others are alike, so the column says next to nothing. See whether it means a missing value.",
        BlissWarning,
        stacklevel=4,
    )


def _called(column: int, names: tuple[str, ...] | None) -> str:
    return f"Column {column}" if names is None else f'Column "{names[column]}"'
