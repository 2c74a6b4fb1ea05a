"""Columns that give the weak labels away: one that says the label of the bag in other words, or that counts the rows.

Nothing is wrong with such data as far as a program can tell, but a figure that rests on them means nothing.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import BlissWarning
from bliss_framework.estimator.checked_data import CheckedData, in_quotes
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows

FEW_BAGS = 8  # With fewer bags a column separates them by chance too often.
FIRST_BAGS = 20
FEW_ROWS = 5  # Fewer rows are in order by chance too often.


def suspect_columns(data: CheckedData) -> tuple[str, ...]:
    """Say which columns of some training data give the weak labels away.

    Args:
        data: read by a regime. Sparse rows are not looked at: their columns are words, not cells of a table.

    Returns:
        A sentence for each kind of such columns.
    """
    if Rows(data.X).is_sparse:
        return ()
    columns = np.arange(data.X.shape[1])
    telling, counting = columns[_tell_labels(data)], columns[_count_rows(data.X)]
    said = []
    if len(telling):
        said.append(
            f"{_names(data, telling)}: the same in all rows of a bag, and enough to tell the weak label of every bag. "
            f"If that is the label in other words, leave it out of the features."
        )
    if len(counting):
        said.append(
            f"{_names(data, counting)}: counts the rows one by one. If that is a row number and no measurement, leave "
            f"it out of the features."
        )
    return tuple(said)


def warn_of_suspect_columns(data: CheckedData) -> None:
    """Warn of each kind of such columns."""
    for sentence in suspect_columns(data):
        warnings.warn(sentence, BlissWarning, stacklevel=4)


def _names(data: CheckedData, columns: NDArray[np.intp]) -> str:
    names = [str(column) for column in columns] if data.columns is None else [data.columns[one] for one in columns]
    return f"{'Columns' if len(names) > 1 else 'Column'} {in_quotes(names)}"


def _tell_labels(data: CheckedData) -> NDArray[np.bool_]:
    """Say which columns (d,) are constant in bags and in the order of some weak label, ascending or descending."""
    weak = data.labels.values
    if weak.dtype.kind not in "biuf" or data.bags.n_bags < FEW_BAGS or data.bags.n_bags == data.bags.n_rows:
        return np.zeros(data.X.shape[1], dtype=bool)
    # Most columns vary within the first bags, and where all do the rows need not be read to the end.
    first = data.bags.rows_of(np.arange(min(FIRST_BAGS, data.bags.n_bags)))
    if not _is_constant(data.X[first], data.bags.take(first)[0]).any():
        return np.zeros(data.X.shape[1], dtype=bool)
    highest = data.bags.max(data.X)
    found = (highest == data.bags.min(data.X)).all(axis=0) & (highest != highest[:1]).any(axis=0)
    of_bags = highest[:, found]
    order = np.argsort(of_bags, axis=0, kind="stable")
    steps = np.diff(np.take_along_axis(of_bags, order, axis=0), axis=0)
    tells = np.zeros(of_bags.shape[1], dtype=bool)
    for label in weak.reshape(len(weak), -1).T.astype(np.float64):
        if label.min() < label.max():
            changes = np.diff(label[order], axis=0)
            one_way = (changes >= 0).all(axis=0) | (changes <= 0).all(axis=0)
            # Two bags of one value and two labels are not told apart.
            tells |= one_way & ~((steps == 0) & (changes != 0)).any(axis=0)
    found[found] = tells
    return np.asarray(found)


def _is_constant(X: NDArray[np.floating], bags: Bags) -> NDArray[np.bool_]:
    """Say which columns (d,) have one value in each bag."""
    return np.asarray((bags.max(X) == bags.min(X)).all(axis=0))


def _count_rows(X: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say which columns (d,) go up, or down, by one from each row to the next."""
    if len(X) < FEW_ROWS:
        return np.zeros(X.shape[1], dtype=bool)
    step = X[1] - X[0]
    counts = np.abs(step) == 1
    counts[counts] = (np.diff(X[:, counts], axis=0) == step[counts]).all(axis=0)
    return np.asarray(counts)
