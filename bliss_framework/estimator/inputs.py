"""What users pass to `fit` and `predict`, checked before any long work: rows, bags, and one weak label for each bag."""

import warnings
from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.errors import BlissWarning, DataError
from bliss_framework.estimator.alignment import RowIndex, boxed, column_labels, exact, has_index, per_bag, row_index
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.reading import ReadX, column_names, numbers_alone
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows

# What a missing value becomes when a column is made text.
NULL_WORDS = frozenset({"nan", "NaN", "NaT", "<NA>"})


def check_training(
    X: Any,
    y: Any = None,
    bags: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    read: ReadX = numbers_alone,
) -> CheckedData:
    """Check what is passed to `fit`.

    Args:
        X: (n, d) numbers, dense, sparse or a data frame; or a list of bags, each (n_i, d); or a mapping of such bags by
            bag id; or `CheckedData`, which are returned as they are.
        y: one weak label for each bag (a mapping or series by bag id, or in order of first appearance) or for each row.
            The index of a series or frame is that of X or holds the bag ids. The columns of a frame name the labels.
        bags: (n,) ids or `Bags`, or None where every row is a bag of its own (or X is a list or mapping of bags).
        groups: the group of each bag or row, in the same forms as y, or None. Bags of a group are never split.
        sample_weight: the weight of each bag or row, in the same forms as y but for rows that differ, or None.
        read: makes numbers of rows; by default all of them are finite numbers already.

    Raises:
        DataError: naming what was found and what is allowed.
    """
    data = check_labelled(X, y, bags, groups, sample_weight, read)
    if data.bags.n_bags < 2:
        raise DataError(_one_bag(data.bags.n_rows))
    return data


def check_labelled(
    X: Any,
    y: Any = None,
    bags: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    read: ReadX = numbers_alone,
) -> CheckedData:
    """Check rows that have weak labels, whether to train on or to compare predictions with; one bag is enough here."""
    if isinstance(X, CheckedData):
        return X
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None.")
    data, index = _with_index(X, bags, read)
    if index.listed and isinstance(y, Sized) and len(y) != data.bags.n_bags:
        raise DataError(f"X is a list of {data.bags.n_bags} bags, but y has {_number_of_labels(len(y))}.")
    weak = per_bag(y, data.bags, index)
    _warn_of_null_words(weak, "weak label")
    return evolve(
        data,
        weak=weak,
        label_names=column_labels(y),
        bags=_grouped(data.bags, groups, index),
        weights=row_weights(sample_weight, data.bags, index),
    )


def check_unlabelled(X: Any, bags: Any = None, read: ReadX = numbers_alone) -> CheckedData:
    """Check rows and their bags; arguments as in `check_training`."""
    return X if isinstance(X, CheckedData) else _with_index(X, bags, read)[0]


def _with_index(X: Any, bags: Any, read: ReadX) -> tuple[CheckedData, RowIndex]:
    """Check rows and their bags, and return the index of the rows beside them."""
    ids = None
    if _is_mapping(X):
        ids, X = _bags_by_id(X)
    X = _as_list_of_bags(X)
    if _is_list_of_bags(X):
        if bags is not None:
            raise DataError("X is a list of bags, so it says which rows belong together; do not pass bags as well.")
        return _from_bags(X, ids, read), RowIndex(None, named=ids is not None, listed=True)
    if isinstance(bags, str):
        raise DataError(_one_text(bags, X))
    index = row_index(X, bags)
    rows = read(X)
    n_rows = rows.array.shape[0]
    grouped = Bags.from_ids(np.arange(n_rows)) if bags is None else bags_of(bags)
    if grouped.n_rows != n_rows:
        raise DataError(f"X has {n_rows} rows, but bags has {grouped.n_rows} ids; pass one bag id for each row.")
    data = CheckedData(
        rows.array, grouped, None, rows.columns, categories=rows.categories, empty_cells=rows.empty_cells
    )
    return data, index


def check_bags(X: Any, bags: Any = None) -> tuple[Any, Bags]:
    """Check rows and their bags: (X as `check_rows` returns it, Bags)."""
    data = check_unlabelled(X, bags)
    return data.X, data.bags


def bags_of(ids: Any) -> Bags:
    """Read the bag id of each row (n,). In a list that mixes text and numbers "7" and 7 stay different bags."""
    if isinstance(ids, Bags):
        return ids
    if isinstance(ids, list | tuple):
        mixed = len({isinstance(i, str | bytes) for i in ids}) > 1
        ids = boxed(ids) if mixed else exact(list(ids))
    bags = Bags.from_ids(ids)
    _warn_of_null_words(bags.ids, "bag id")
    return bags


def row_weights(sample_weight: Any, bags: Bags, index: RowIndex) -> NDArray[np.float64] | None:
    """Return the weight (n,) of each row, of mean 1; None where all are alike.

    Args:
        sample_weight: one weight for each row, or for each bag, which every row of the bag then has; None for no
            weights. A mapping, or a series by bag id, is of bags.
        bags: B bags of n rows.
        index: of the rows.

    Raises:
        DataError: a weight is no finite number above 0, or they are too many or too few.
    """
    if sample_weight is None:
        return None
    # Weights of rows may differ in a bag, so they are not read as what belongs to bags.
    of_rows = not isinstance(sample_weight, Mapping) and _is_per_row(sample_weight, bags, index)
    if of_rows:
        weights = np.asarray(sample_weight)
    else:
        weights = bags.spread(per_bag(sample_weight, bags, index, "sample_weight", "weight"))
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must hold numbers, one for each row or for each bag.") from None
    if numbers.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; got an array of shape {numbers.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if len(wrong):
        value = f"{numbers[wrong[0]]:g}" if numbers[wrong[0]] else "zero"
        raise DataError(
            f"The sample_weight of row {wrong[0]} is {value}, and weights are finite numbers above zero; leave out "
            f"rows that must count for no class."
        )
    return None if (numbers == numbers[0]).all() else numbers / numbers.mean()


def _is_per_row(weights: Any, bags: Bags, index: RowIndex) -> bool:
    if not has_index(weights):
        return np.asarray(weights).shape[:1] == (bags.n_rows,)
    if len(weights) != bags.n_rows:
        return False
    if index.labels is not None:
        return bool(weights.index.tolist() == index.labels.tolist())
    return bags.n_bags < bags.n_rows or not index.named


def _grouped(bags: Bags, groups: Any, index: RowIndex) -> Bags:
    """Add the groups of bags; where every bag is one of its own there are none."""
    if groups is None:
        return bags
    own = groups.spread(groups.ids) if isinstance(groups, Bags) else groups
    found = bags_of(per_bag(own, bags, index, "groups", "group"))
    if found.n_bags < 2:
        raise DataError(f"All {bags.n_bags} bags are in one group, so none could be held out; pass no groups.")
    return bags if found.n_bags == bags.n_bags else evolve(bags, groups=found.index)


def _warn_of_null_words(values: NDArray[Any], noun: str) -> None:
    """Warn of text that a missing value becomes when it is made text."""
    if values.ndim != 1 or values.dtype.kind not in "UO":
        return
    words = NULL_WORDS | ({"None"} if noun == "bag id" else set())
    found = [one for one in values.tolist() if isinstance(one, str) and one in words]
    if found:
        warnings.warn(
            f"There is the {noun} {found[0]!r}, which is what a missing value becomes when a column is made text. If "
            f"it is one, leave those rows out or fill it in.",
            BlissWarning,
            stacklevel=4,
        )


def _one_text(bags: str, X: Any) -> str:
    columns = column_names(X) or ()
    if bags in columns:
        return (
            f"bags is the text {bags!r}, and bags are one id for each row. X has a column of that name: pass "
            f"bags=X[{bags!r}], and X.drop(columns={bags!r}) as rows."
        )
    return f"bags is the text {bags!r}, and bags are one-dimensional: one id for each row."


def _bags_by_id(X: Mapping[Any, Any]) -> tuple[NDArray[Any], list[Any]]:
    """Return the ids (B,) and the bags of a mapping of bags by id."""
    if not X or not all(_is_table(bag) for bag in X.values()):
        raise DataError(
            "X is a mapping, and a mapping of bags has a table of rows (n_i, d) for each bag id; pass a list of bags, "
            "or the rows (n, d) with bags=ids."
        )
    return bags_of(list(X)).ids, list(X.values())


def has_bags(X: Any) -> bool:
    """Say whether X itself says which rows belong together."""
    return isinstance(X, CheckedData) or _is_mapping(X) or _is_list_of_bags(_as_list_of_bags(X))


def _is_mapping(X: Any) -> bool:
    """Say whether X is a mapping of bags by id; a sparse matrix of SciPy that is a mapping has a shape."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def is_table(X: Any) -> bool:
    """Say whether X is a table of rows (n, d), rather than bags in a list, an array of objects or a mapping."""
    return not (isinstance(X, CheckedData | list | tuple) or _is_mapping(X) or isinstance(_as_list_of_bags(X), list))


def _as_list_of_bags(X: Any) -> Any:
    """Turn an array of objects, each a table of rows, into a list of bags: so .npy and .mat files hold them."""
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    entries = X.ravel().tolist()
    return entries if X.size and X.size == len(X) and all(_is_table(one) for one in entries) else X


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


def _from_bags(X: Sequence[Any], ids: NDArray[Any] | None, read: ReadX) -> CheckedData:
    bags = [_table(bag, position) for position, bag in enumerate(X)]
    columns, bags = _same_columns(bags)
    widths = [bag.shape[1] for bag in bags]
    for position, width in enumerate(widths):
        if width != widths[0]:
            raise DataError(f"bag {position} has {width} features, bag 0 has {widths[0]}; all bags need the same ones.")
        if bags[position].shape[0] == 0:
            raise DataError(f"bag {position} has no rows; a bag needs at least one instance.")
    stack = Rows.stacked(bags).array
    sizes = [bag.shape[0] for bag in bags]
    index = np.repeat(np.arange(len(bags)), sizes)
    rows = read(stack)
    own = Bags(np.arange(len(bags)) if ids is None else ids, index)
    return CheckedData(rows.array, own, None, columns, empty_cells=rows.empty_cells)


def _same_columns(bags: list[Any]) -> tuple[tuple[str, ...] | None, list[Any]]:
    """Bring the columns of data frames into one order by name, and return their names where they are text.

    The order is that of the frames where all agree, else the alphabetical one: the result must not depend on which bag
    comes first.
    """
    orders = {position: _column_order(bag) for position, bag in enumerate(bags)}
    named = {position: order for position, order in orders.items() if order is not None}
    if not named:
        return None, bags
    first, wanted = next(iter(named.items()))
    for position, own in named.items():
        _refuse_other_columns(wanted, own, first, position)
    if len(set(named.values())) > 1:
        wanted = tuple(sorted(wanted, key=lambda one: (str(type(one)), one)))
    ordered = [bag if named.get(i, wanted) == wanted else bag[list(wanted)] for i, bag in enumerate(bags)]
    text = len(named) == len(bags) and all(isinstance(one, str) for one in wanted)
    return wanted if text else None, ordered


def _column_order(bag: Any) -> tuple[Any, ...] | None:
    columns = getattr(bag, "columns", None)
    return None if columns is None else tuple(columns)


def _refuse_other_columns(wanted: tuple[Any, ...], own: tuple[Any, ...], first: int, position: int) -> None:
    for name in wanted:
        if name not in own:
            raise DataError(
                f'bag {position} has no column "{name}", which bag {first} has; all bags need the same ones.'
            )
    for name in own:
        if name not in wanted:
            raise DataError(
                f'bag {position} has the column "{name}", which bag {first} has not; all bags need the same.'
            )
    if len(set(own)) < len(own):
        twice = next(name for name in own if own.count(name) > 1)
        raise DataError(f'bag {position} has two columns "{twice}"; rename or remove one.')


def _one_bag(n_rows: int) -> str:
    if n_rows == 1:
        return "Label inference needs at least two bags; X has one row only (n_samples = 1)."
    return f"Label inference needs at least two bags; all {n_rows} rows are in one."


def _number_of_labels(n: int) -> str:
    return f"{n} label" if n == 1 else f"{n} labels"
