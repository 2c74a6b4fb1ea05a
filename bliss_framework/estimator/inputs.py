"""What users pass to `fit` and `predict`, checked before any long work: rows, bags, and one weak label for each bag."""

import warnings
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array

from bliss_framework.errors import DataError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows


def check_training(X: Any, y: Any = None, bags: Any = None) -> CheckedData:
    """Check what is passed to `fit`.

    Args:
        X: (n, d) numbers, dense, sparse or a data frame; or a list of bags, each (n_i, d); or `CheckedData`, which are
            returned as they are.
        y: one weak label for each bag (a mapping or series by bag id, or in order of first appearance) or for each row.
        bags: (n,) ids or `Bags`, or None where every row is a bag of its own (or X is a list of bags).

    Raises:
        DataError: naming what was found and what is allowed.
    """
    data = check_labelled(X, y, bags)
    if data.bags.n_bags < 2:
        raise DataError(_one_bag(data.bags.n_rows))
    return data


def check_labelled(X: Any, y: Any = None, bags: Any = None) -> CheckedData:
    """Check rows that have weak labels, whether to train on or to compare predictions with; one bag is enough here."""
    if isinstance(X, CheckedData):
        return X
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None.")
    data = check_unlabelled(X, bags)
    if _is_list_of_bags(X) and isinstance(y, Sized) and len(y) != data.bags.n_bags:
        raise DataError(f"X is a list of {data.bags.n_bags} bags, but y has {_number_of_labels(len(y))}.")
    return evolve(data, weak=weak_per_bag(y, data.bags, named=bags is not None))


def check_unlabelled(X: Any, bags: Any = None) -> CheckedData:
    """Check rows and their bags; arguments as in `check_training`."""
    if isinstance(X, CheckedData):
        return X
    if _is_list_of_bags(X):
        if bags is not None:
            raise DataError("X is a list of bags, so it says which rows belong together; do not pass bags as well.")
        return _from_bags(X)
    rows = check_rows(X)
    if bags is None:
        return CheckedData(rows, Bags.from_ids(np.arange(rows.shape[0])), None, column_names(X))
    grouped = bags_of(bags)
    if grouped.n_rows != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows, but bags has {grouped.n_rows} ids; pass one bag id for each row.")
    return CheckedData(rows, grouped, None, column_names(X))


def check_bags(X: Any, bags: Any = None) -> tuple[Any, Bags]:
    """Check rows and their bags: (X as `check_rows` returns it, Bags)."""
    data = check_unlabelled(X, bags)
    return data.X, data.bags


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame; None where there are none, or not all of them are text."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def bags_of(ids: Any) -> Bags:
    """Read the bag id of each row (n,). In a list that mixes text and numbers "7" and 7 stay different bags."""
    if isinstance(ids, Bags):
        return ids
    if isinstance(ids, list | tuple) and len({isinstance(i, str) for i in ids}) > 1:
        ids = _boxed(ids)
    return Bags.from_ids(ids)


def check_rows(X: Any) -> Any:
    """Turn rows into an array of floats or a CSR matrix of float64, refusing NaN and infinity by row and column.

    The caller's object is never changed, sparse rows are never made dense, and an array of float32 keeps its precision:
    images would take twice the memory. Scaling gives float64, so it is float32 to classifiers with scaling "none" only.
    """
    floats = [np.float64, np.float32]
    try:
        # One memory layout, because a sum over columns in another layout has other last bits.
        checked = check_array(X, accept_sparse="csr", dtype=floats, order="C", ensure_all_finite=False, input_name="X")
    except ValueError as error:
        raise DataError(str(error)) from None
    rows = Rows(checked).canonical()
    _refuse_not_finite(rows, getattr(X, "columns", None))
    return rows.array


def weak_per_bag(y: Any, bags: Bags, named: bool = True) -> NDArray[Any]:
    """Bring weak labels into the order of the bags: (B, ...).

    Args:
        y: a mapping or series by bag id; or an array or list with one entry for each bag in order of first
            appearance, or for each row (equal within a bag).
        bags: B bags of n rows.
        named: whether the ids are the caller's own. Where they are not, the index of a series names no bags, and its
            entries are in order.
    """
    if named and hasattr(y, "index") and hasattr(y, "to_dict") and not _is_positional(y, bags):
        y = _by_index(y)
    if isinstance(y, Mapping):
        return _by_id(y, bags)
    values = _column(_as_array(y))
    if len(values) == bags.n_bags:
        return values
    if len(values) == bags.n_rows:
        return _by_row(values, bags)
    raise DataError(
        f"y has {_number_of_labels(len(values))} and X has inconsistent numbers of bags and rows: {bags.n_bags} bags, "
        f"{bags.n_rows} rows. Pass one weak label for each bag or one for each row."
    )


def _is_positional(y: Any, bags: Bags) -> bool:
    """Say whether a series is in order rather than by bag id: its index does not hold the bag ids."""
    if len(y) == bags.n_rows and bags.n_rows != bags.n_bags:
        return True
    known = set(y.index.tolist())
    return not any(i in known for i in bags.ids.tolist())


def _by_index(y: Any) -> dict[Any, Any]:
    """Turn a series, or a data frame with a row for each bag, into a mapping by bag id."""
    if not y.index.is_unique:
        twice = y.index[y.index.duplicated()].tolist()
        raise DataError(f"y has more than one weak label for bag {twice[0]!r}; give each bag one.")
    values = y.to_numpy()
    entries = values if values.ndim == 1 else values[:, 0] if values.shape[1] == 1 else map(tuple, values)
    return dict(zip(y.index.tolist(), entries, strict=True))


def _by_id(y: Mapping[Any, Any], bags: Bags) -> NDArray[Any]:
    ids = bags.ids.tolist()
    missing = [i for i in ids if i not in y]
    if missing:
        raise DataError(f"Bag {missing[0]!r} has rows but no weak label ({len(missing)} such bags of {len(ids)}).")
    known = set(ids)
    spare = [i for i in y if i not in known]
    if spare:
        raise DataError(f"y has a weak label for bag {spare[0]!r}, which has no rows ({len(spare)} such bags).")
    return _as_array([y[i] for i in ids])


def _by_row(values: NDArray[Any], bags: Bags) -> NDArray[Any]:
    first = np.zeros(bags.n_bags, dtype=np.intp)
    first[bags.index[::-1]] = np.arange(bags.n_rows)[::-1]
    weak = values[first]
    repeated = weak[bags.index]
    if values.dtype == object:
        differs = np.flatnonzero([not _equal(a, b) for a, b in zip(values, repeated, strict=True)])
    else:
        unequal = (values != repeated).reshape(len(values), -1).any(axis=1)
        differs = np.flatnonzero(unequal & ~_both_nan(values, repeated))
    if len(differs):
        row = int(differs[0])
        bag, own, other = bags.ids.tolist()[bags.index[row]], values[row : row + 1], repeated[row : row + 1]
        raise DataError(
            f"Row {row} of bag {bag!r} has the weak label {own.tolist()[0]!r}, but another row of the bag has "
            f"{other.tolist()[0]!r}; a weak label belongs to the whole bag."
        )
    return weak


def _both_nan(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    if a.dtype.kind != "f":
        return np.zeros(len(a), dtype=bool)
    return np.asarray((np.isnan(a) & np.isnan(b)).reshape(len(a), -1).all(axis=1))


def _equal(a: Any, b: Any) -> bool:
    return a is b or bool(a == b)


def _as_array(y: Any) -> NDArray[Any]:
    """Make an array with one entry for each label; sets and ragged lists become objects, never split."""
    if Rows(y).is_sparse:
        raise DataError("Sparse y is not supported; pass a dense array with one weak label for each bag.")
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if hasattr(y, "__array__"):
        y = np.asarray(y)
        if y.ndim == 0:
            raise DataError("y must hold one weak label for each bag; got a single value.")
        return _plain(y)
    if isinstance(y, str | set | frozenset) or not isinstance(y, Iterable):
        raise DataError(f"y must hold one weak label for each bag, in order or by bag id; got {y!r}.")
    y = list(y)
    if any(isinstance(v, str | set | frozenset | list | tuple | type(None)) for v in y):
        lengths = {len(v) for v in y if isinstance(v, list | tuple)}
        numeric = all(isinstance(v, list | tuple) and all(isinstance(u, int | float | np.number) for u in v) for v in y)
        if len(lengths) == 1 and numeric:
            return np.asarray(y)
        return _plain(_boxed(y))
    return _plain(np.asarray(y))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Undo an object dtype where all entries are plain numbers or all are text."""
    if values.dtype != object or values.ndim != 1:
        return values
    if all(isinstance(v, int | float | np.number | np.bool_) for v in values):
        return np.asarray(values.tolist())
    if all(isinstance(v, str) for v in values):
        return values.astype(str)
    # The comparisons of pandas' NA are neither true nor false.
    return _boxed([None if type(v).__name__ == "NAType" else v for v in values])


def _boxed(entries: Sequence[Any]) -> NDArray[Any]:
    """Make an array of objects; numpy itself would turn lists of equal lengths into a table."""
    boxed = np.empty(len(entries), dtype=object)
    boxed[:] = entries
    return boxed


def _column(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it was flattened.",
            DataConversionWarning,
            stacklevel=4,
        )
        return values[:, 0]
    return values


def _is_list_of_bags(X: Any) -> bool:
    return isinstance(X, list | tuple) and any(_is_table(bag) for bag in X)


def _is_table(bag: Any) -> bool:
    if isinstance(bag, list | tuple):
        return len(bag) > 0 and all(isinstance(row, list | tuple) or getattr(row, "ndim", 0) == 1 for row in bag)
    return getattr(bag, "ndim", 0) == 2


def _table(bag: Any, position: int) -> Any:
    """Return a bag as something with a shape (n_i, d)."""
    if not _is_table(bag):
        raise DataError(f"bag {position} in the list X is no table of rows (n_i, d); give it two dimensions.")
    if hasattr(bag, "shape"):
        return bag
    lengths = sorted({len(row) for row in bag})
    if len(lengths) > 1:
        raise DataError(f"bag {position} has rows of {lengths[0]} and of {lengths[1]} features; all need as many.")
    return np.asarray(bag)


def _from_bags(X: Sequence[Any]) -> CheckedData:
    bags = [_table(bag, position) for position, bag in enumerate(X)]
    columns = column_names(bags[0])
    if columns is not None:
        bags = [_like_first(bag, columns, position) for position, bag in enumerate(bags)]
    widths = [bag.shape[1] for bag in bags]
    for position, width in enumerate(widths):
        if width != widths[0]:
            raise DataError(f"bag {position} has {width} features, bag 0 has {widths[0]}; all bags need the same ones.")
        if bags[position].shape[0] == 0:
            raise DataError(f"bag {position} has no rows; a bag needs at least one instance.")
    stack = Rows.stacked(bags).array
    sizes = [bag.shape[0] for bag in bags]
    return CheckedData(check_rows(stack), Bags.from_ids(np.repeat(np.arange(len(bags)), sizes)), None, columns)


def _like_first(bag: Any, columns: tuple[str, ...], position: int) -> Any:
    """Bring the columns of a data frame into the order of the first bag's."""
    own = column_names(bag)
    if own is None or own == columns:
        return bag
    for name in columns:
        if name not in own:
            raise DataError(f'bag {position} has no column "{name}", which bag 0 has; all bags need the same ones.')
    if len(own) != len(columns):
        extra = next(name for name in own if name not in columns)
        raise DataError(f'bag {position} has the column "{extra}", which bag 0 has not; all bags need the same ones.')
    return bag[list(columns)]


def _refuse_not_finite(rows: Rows, names: Any) -> None:
    wrong = rows.first_not_finite()
    if wrong is None:
        return
    row, column, value = wrong
    name = f" ({names[column]!r})" if names is not None else ""
    found = "NaN" if np.isnan(value) else "infinity"
    raise DataError(
        f"X contains {found} in row {row}, column {column}{name}; all values must be finite numbers (no NaN, no inf). "
        f"Impute or drop it first."
    )


def _one_bag(n_rows: int) -> str:
    if n_rows == 1:
        return "Label inference needs at least two bags; X has one row only (n_samples = 1)."
    return f"Label inference needs at least two bags; all {n_rows} rows are in one."


def _number_of_labels(n: int) -> str:
    return f"{n} label" if n == 1 else f"{n} labels"
