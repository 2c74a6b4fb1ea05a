"""What belongs to bags, brought into their order: by bag id or by position, and never by guess.

A mapping is by bag id. A series or a data frame has an index, which must say what its entries belong to: either it is
the index of the rows, exactly, or it holds the bag ids. Lists and arrays have nothing but an order: that of the bags
as they first appear, or that of the rows.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from bliss_framework.errors import DataError
from bliss_framework.extension.naming import near_miss
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows

N_SHOWN = 3  # Ids or labels that a message shows of each side.


@frozen(eq=False)
class RowIndex:
    """What is known of the rows of some data beyond their order.

    Attributes:
        labels: the labels (n,) of the rows in the index of a data frame, or None where no frame or series said any.
        named: whether the bags have ids of the caller's; else they are numbered, or every row is one.
        listed: whether the rows came as a list of bags.
    """

    labels: Any = field(default=None)
    named: bool = field(default=True)
    listed: bool = field(default=False)


def row_index(X: Any, bags: Any, listed: bool = False) -> RowIndex:
    """Find the index of the rows: that of the data frame X, or of the series of bag ids.

    Raises:
        DataError: X and bags have two different indexes.
    """
    own = X.index if not listed and has_index(X) else None
    other = bags.index if has_index(bags) else None
    if own is not None and other is not None and len(own) == len(other) and not _equal_labels(own, other):
        raise DataError(
            f"The index of X ({_shown(own)}) is not the index of bags ({_shown(other)}), so it is not clear which row "
            f"is in which bag. Give both the same index, or pass bags.to_numpy() if its ids are in the order of the "
            f"rows."
        )
    return RowIndex(other if own is None else own, bags is not None, listed)


def has_index(values: Any) -> bool:
    """Say whether something is a series or data frame with an index, as pandas has them."""
    return hasattr(values, "index") and hasattr(values, "to_dict") and hasattr(values.index, "is_unique")


def column_labels(y: Any) -> tuple[Any, ...] | None:
    """Return the labels of the columns of a data frame of weak labels; None where there is one column or none."""
    columns = getattr(y, "columns", None)
    if columns is None or len(columns) < 2:
        return None
    labels = tuple(columns.tolist() if hasattr(columns, "tolist") else columns)
    return None if any(isinstance(one, tuple) for one in labels) else labels


def per_bag(values: Any, bags: Bags, index: RowIndex, name: str = "y", noun: str = "weak label") -> NDArray[Any]:
    """Bring one value for each bag, or for each row, into the order of the bags: (B, ...).

    Args:
        values: a mapping or series by bag id; a series or frame with the index of the rows; or an array or list with
            one entry for each bag in order of first appearance, or for each row. Entries of rows are equal in a bag.
        bags: B bags of n rows.
        index: of the rows.
        name: of the argument, for messages.
        noun: for one of its entries.

    Raises:
        DataError: naming the bag or row, what was found and what is allowed.
    """
    words = _Words(name, noun)
    if has_index(values):
        single = values.ndim == 2 and values.shape[1] == 1
        return _by_index(values.iloc[:, 0] if single else values, bags, index, words)
    if isinstance(values, Mapping):
        return as_array([values[one] for one in _in_order(list(values), bags, words)], name, noun)
    array = _column(as_array(values, name, noun))
    if len(array) == bags.n_bags:
        return array
    if len(array) == bags.n_rows:
        return _by_row(array, bags, words)
    raise DataError(words.count(len(array), bags))


@frozen
class _Words:
    """How messages speak of an argument."""

    name: str = field()
    noun: str = field()

    def count(self, n: int, bags: Bags) -> str:
        many = f"{n} {'label' if n == 1 else 'labels'}" if self.noun == "weak label" else f"{n} entries"
        return (
            f"{self.name} has {many} and X has inconsistent numbers of bags and rows: {bags.n_bags} bags, "
            f"{bags.n_rows} rows. Pass one {self.noun} for each bag or one for each row."
        )


def _by_index(values: Any, bags: Bags, index: RowIndex, words: _Words) -> NDArray[Any]:
    """Read a series or frame by what its index is: that of the rows, or bag ids."""
    labels, array = values.index, as_array(values, words.name, words.noun)
    if _is_of_rows(labels, bags, index):
        return _by_row(array, bags, words)
    if not index.named:
        return _in_own_order(labels, array, bags, index, words)
    known = set(bags.ids.tolist())
    if not any(one in known for one in labels.tolist()):
        raise DataError(_strangers(labels, bags, index, words))
    if not labels.is_unique:
        twice = labels[labels.duplicated()].tolist()
        raise DataError(f"{words.name} has more than one {words.noun} for bag {twice[0]!r}; give each bag one.")
    place = {one: position for position, one in enumerate(labels.tolist())}
    found = array[[place[one] for one in _in_order(labels.tolist(), bags, words)]]
    _refuse_two_meanings(labels, found, array, bags, index, words)
    return found


def _is_of_rows(labels: Any, bags: Bags, index: RowIndex) -> bool:
    """Say whether an index is that of the rows, or repeats the bag id of each row."""
    if len(labels) != bags.n_rows:
        return False
    if index.labels is not None and _equal_labels(labels, index.labels):
        return True
    if index.named and bags.n_bags < bags.n_rows:
        # Rows of plain arrays have no index, and weak labels that were shuffled would differ within a bag.
        return index.labels is None or labels.tolist() == bags.ids[bags.index].tolist()
    return False


def _in_own_order(labels: Any, array: NDArray[Any], bags: Bags, index: RowIndex, words: _Words) -> NDArray[Any]:
    """Return the entries as they stand, where an index can mean nothing else: bags have no ids to look up."""
    if len(labels) != bags.n_bags:
        raise DataError(words.count(len(labels), bags))
    own = list(range(bags.n_bags))
    shuffled = labels.tolist() != own and sorted(labels.tolist(), key=repr) == sorted(own, key=repr)
    if index.labels is not None or (index.listed and (shuffled or labels.dtype.kind not in "iu")):
        rows = (
            f"the list X has bags 0 to {bags.n_bags - 1}"
            if index.listed
            else f"the index of X is {_shown(index.labels)}"
        )
        raise DataError(
            f"The index of {words.name} is {_shown(labels)}, and {rows}, so it is not clear which {words.noun} belongs "
            f"where. Give both the same index, or pass {words.name}.to_numpy() if it is in the order of X."
        )
    return array


def _refuse_two_meanings(
    labels: Any, found: NDArray[Any], array: NDArray[Any], bags: Bags, index: RowIndex, words: _Words
) -> None:
    """Refuse an index that holds the bag ids and could as well be that of the rows, where that is not the same."""
    if len(labels) != bags.n_rows or bags.n_bags != bags.n_rows:
        return
    rows = list(range(bags.n_rows)) if index.labels is None else index.labels.tolist()
    if set(labels.tolist()) != set(rows) or rows == bags.ids.tolist():
        return
    of_row = dict(zip(labels.tolist(), range(len(labels)), strict=True))
    by_row = array[[of_row[one] for one in rows]]
    if not _all_equal(found, by_row):
        raise DataError(
            f"The index of {words.name} is {_shown(labels)}: these are the bag ids, and the numbers of the rows as "
            f"well, and the two say something else. Pass {words.name} as a mapping by bag id, {words.name}.to_dict(), "
            f"or as an array with one {words.noun} for each row."
        )


def _strangers(labels: Any, bags: Bags, index: RowIndex, words: _Words) -> str:
    """Say that an index is neither that of the rows nor the bag ids, and show all sides."""
    ids = bags.ids.tolist()
    like = near_miss(ids[0], labels.tolist()).replace(" There is ", " For instance ", 1)
    rows = "" if index.labels is None else f", nor is it the index of the rows ({_shown(index.labels)})"
    return (
        f"No bag id is in the index of {words.name}: the bags are called {_listed(ids)}, and the index is "
        f"{_shown(labels)}{rows}.{like} Give {words.name} the bag ids or the index of the rows, or pass "
        f"{words.name}.to_numpy() if it is in the order in which the bags first appear."
    )


def _in_order(labels: Sequence[Any], bags: Bags, words: _Words) -> list[Any]:
    """Return the bag ids, once each of them has a label and each label a bag."""
    ids = bags.ids.tolist()
    known, given = set(ids), set(labels)
    missing = [one for one in ids if one not in given]
    spare = [one for one in labels if one not in known]
    if missing:
        others = near_miss(missing[0], spare)
        others = others or (f" {words.name} has one for {_listed(spare)}, of which there are no rows." if spare else "")
        raise DataError(
            f"Bag {missing[0]!r} has rows but no {words.noun} ({len(missing)} such bags of {len(ids)}).{others}"
        )
    if spare:
        raise DataError(
            f"{words.name} has a {words.noun} for bag {spare[0]!r}, which has no rows ({len(spare)} such bags)."
        )
    return list(ids)


def _by_row(values: NDArray[Any], bags: Bags, words: _Words) -> NDArray[Any]:
    first = np.zeros(bags.n_bags, dtype=np.intp)
    first[bags.index[::-1]] = np.arange(bags.n_rows)[::-1]
    of_bag = values[first]
    repeated = of_bag[bags.index]
    differs = np.flatnonzero(~_same_entries(values, repeated))
    if len(differs):
        row = int(differs[0])
        bag, own, other = bags.ids.tolist()[bags.index[row]], values[row : row + 1], repeated[row : row + 1]
        raise DataError(
            f"Row {row} of bag {bag!r} has the {words.noun} {own.tolist()[0]!r}, but another row of the bag has "
            f"{other.tolist()[0]!r}; a {words.noun} belongs to the whole bag."
        )
    return of_bag


def _same_entries(values: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which entries (n, ...) are equal; missing ones are equal to each other."""
    if values.dtype == object and values.ndim == 1:
        return np.array([a is b or bool(a == b) for a, b in zip(values, others, strict=True)], dtype=bool)
    equal = values == others
    if values.dtype.kind in "fcmM":
        equal |= (values != values) & (others != others)
    return np.asarray(equal.reshape(len(values), -1).all(axis=1))


def _all_equal(values: NDArray[Any], others: NDArray[Any]) -> bool:
    return bool(_same_entries(values, others).all())


def _equal_labels(one: Any, other: Any) -> bool:
    return len(one) == len(other) and one.tolist() == other.tolist()


def _shown(labels: Any) -> str:
    return _listed(labels.tolist())


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(repr(one) for one in values[:N_SHOWN]) + (", ..." if len(values) > N_SHOWN else "")


def as_array(values: Any, name: str = "y", noun: str = "weak label") -> NDArray[Any]:
    """Make an array with one entry for each label; sets and ragged lists become objects, never split.

    Raises:
        DataError: there is nothing that could be one entry for each bag.
    """
    if Rows(values).is_sparse:
        raise DataError(f"Sparse {name} is not supported; pass a dense array with one {noun} for each bag.")
    if np.ma.isMaskedArray(values):
        return _unmasked(values)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        if values.ndim == 0:
            raise DataError(f"{name} must hold one {noun} for each bag; got a single value.")
        return _plain(values)
    if isinstance(values, str | bytes | set | frozenset) or not isinstance(values, Iterable):
        raise DataError(f"{name} must hold one {noun} for each bag, in order or by bag id; got {values!r}.")
    values = list(values)
    if any(isinstance(v, str | set | frozenset | list | tuple | Mapping | type(None)) for v in values):
        lengths = {len(v) for v in values if isinstance(v, list | tuple)}
        numeric = all(
            isinstance(v, list | tuple) and all(isinstance(u, int | float | np.number) for u in v) for v in values
        )
        if len(lengths) == 1 and numeric:
            return np.asarray(values)
        return _plain(boxed(values))
    return _plain(exact(values))


def exact(values: list[Any]) -> NDArray[Any]:
    """Make an array of a list; whole numbers that no one type of numpy holds stay as they are.

    numpy would make floats of them, and two large ones would become one.

    >>> exact([2**63, -1]).tolist() == [2**63, -1]
    True
    """
    array = np.asarray(values)
    if array.dtype.kind != "f" or not all(isinstance(one, int | np.integer) for one in values):
        return array
    return boxed(values)


def _unmasked(values: Any) -> NDArray[Any]:
    """Return the entries of a masked array, None where one is masked."""
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return _plain(np.asarray(values))
    if values.ndim > 1:
        raise DataError("y has masked entries; give every bag its weak label, without a mask.")
    return boxed([None if hidden else one for one, hidden in zip(values.data.tolist(), mask, strict=True)])


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Undo an object dtype where all entries are plain numbers or all are text."""
    if values.dtype != object:
        return values
    flat = values.ravel().tolist()
    if all(isinstance(v, int | float | np.number | np.bool_) for v in flat):
        array = exact(flat)
        return array.reshape(values.shape)
    if all(isinstance(v, str) for v in flat):
        return values.astype(str)
    if values.ndim > 1:
        return values
    return boxed([None if missing else v for v, missing in zip(values, _is_null(values), strict=True)])


def _is_null(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which objects are pandas' own nulls: their comparisons are neither true nor false."""
    scalar = [type(v).__name__ in ("NAType", "NaTType") for v in values]
    return np.array(scalar, dtype=bool)


def boxed(entries: Sequence[Any]) -> NDArray[Any]:
    """Make an array of objects; numpy itself would turn lists of equal lengths into a table."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _column(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it was flattened.",
            DataConversionWarning,
            stacklevel=4,
        )
        return values[:, 0]
    return values
