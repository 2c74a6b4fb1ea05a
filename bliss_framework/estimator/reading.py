"""From rows as they are passed to `fit` and `predict` to numbers: with empty cells and words where these are wanted."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray
from sklearn.utils import check_array

from bliss_framework.errors import DataError, RunError
from bliss_framework.extension.loading.discovery import unreadable_files
from bliss_framework.kernel.rows import Rows

MOST_WORDS = 20  # Of more the column names things, where most of its words are in one row only.


@frozen(eq=False)
class ReadRows:
    """Rows as numbers.

    Attributes:
        array: (n, d) array of floats or CSR matrix.
        columns: the name of each column, or None.
        categories: the words of columns that hold places in such a list, by the name of the column.
        empty_cells: whether there is a NaN.
    """

    array: Any = field()
    columns: tuple[str, ...] | None = field(default=None)
    categories: Mapping[str, tuple[str, ...]] = field(factory=dict)
    empty_cells: bool = field(default=False)


ReadX = Callable[[Any], ReadRows]


def numbers_alone(X: Any) -> ReadRows:
    """Read rows that are finite numbers."""
    return ReadRows(check_rows(X), column_names(X))


def with_empty_cells(X: Any) -> ReadRows:
    """Read rows in which cells may be empty, and columns of a data frame may hold words.

    Raises:
        DataError: naming the column, what was found and what is allowed.
    """
    names = column_names(X)
    if names is None or hasattr(X, "sparse") or len(set(names)) < len(names) or _is_numeric(X):
        return read_numbers(X, names, empty_cells=True)
    numbers, categories = np.empty((len(X), len(names))), {}
    for place, name in enumerate(names):
        numbers[:, place], words = _read_column(name, np.asarray(X[name].to_numpy()))
        if words:
            categories[name] = words
    return evolve(read_numbers(numbers, names, empty_cells=True), categories=categories)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame; None where there are none, or not all of them are text."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def check_rows(X: Any) -> Any:
    """Turn rows into an array of floats or a CSR matrix of float64, refusing NaN and infinity by row and column.

    The caller's object is never changed, sparse rows are never made dense, and an array of float32 keeps its precision:
    images would take twice the memory. Scaling gives float64, so it is float32 to classifiers with scaling "none" only.
    """
    return read_numbers(X).array


def read_numbers(X: Any, names: Sequence[str] | None = None, empty_cells: bool = False) -> ReadRows:
    """Turn rows into numbers as `check_rows` does.

    Args:
        X: (n, d) numbers.
        names: of the columns, where X itself has none.
        empty_cells: whether NaN is allowed, which is an empty cell.
    """
    floats = [np.float64, np.float32]
    _refuse_unclear(X)
    try:
        # One memory layout, because a sum over columns in another layout has other last bits.
        checked = check_array(X, accept_sparse="csr", dtype=floats, order="C", ensure_all_finite=False, input_name="X")
    except UnicodeDecodeError as error:
        # A library that scikit-learn asks about data frames reads the entry points of all that is installed.
        folders = ", ".join(unreadable_files()) or "an unknown place"
        raise RunError(
            f"The entry points of an installed distribution are not UTF-8 text ({error}), so that data cannot be "
            f"checked. They lie in {folders}; reinstall or uninstall that distribution."
        ) from None
    except ValueError as error:
        raise DataError(str(error)) from None
    # What shares its memory with a map is still a map, though scikit-learn returns an array.
    mapped = isinstance(X, np.memmap) and np.may_share_memory(X, checked)
    rows = Rows(X if mapped else checked).canonical()
    found = rows.first_not_finite()
    if found is not None and (not empty_cells or _has_infinity(rows)):
        _refuse_not_finite(_first_infinite(rows) if empty_cells else found, getattr(X, "columns", names))
    return ReadRows(rows.array, None if names is None else tuple(names), empty_cells=found is not None)


def _refuse_unclear(X: Any) -> None:
    """Refuse what scikit-learn would read as something else: masked entries, and columns with one name."""
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        row = int(np.argwhere(np.ma.getmaskarray(X))[0][0])
        raise DataError(f"X has a masked entry in row {row}; all values must be known. Impute or drop it first.")
    if getattr(X, "ndim", 0) == 3:
        raise DataError(
            f"Found array with dim 3, of shape {tuple(X.shape)}, while dim <= 2 is required; an array of bags is "
            f"passed as a list of bags, list(X)."
        )
    names = column_names(X) or ()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f'X has two columns "{twice}"; rename or remove one.')


def _refuse_not_finite(wrong: tuple[int, int, float], names: Any) -> NoReturn:
    row, column, value = wrong
    name = f" ({names[column]!r})" if names is not None else ""
    found = "NaN" if np.isnan(value) else "infinity"
    hint = ' prepare="auto" fills empty cells.' if np.isnan(value) else ""
    raise DataError(
        f"X contains {found} in row {row}, column {column}{name}; all values must be finite numbers (no NaN, no inf). "
        f"Impute or drop it first.{hint}"
    )


def _has_infinity(rows: Rows) -> bool:
    values = rows.array.data if rows.is_sparse else rows.array
    return bool(np.isinf(values).any())


def _first_infinite(rows: Rows) -> tuple[int, int, float]:
    filled = rows.array.copy()
    if rows.is_sparse:
        filled.data[np.isnan(filled.data)] = 0.0
    else:
        filled[np.isnan(filled)] = 0.0
    found = Rows(filled).first_not_finite()
    assert found is not None
    return found


def _is_numeric(X: Any) -> bool:
    """Say whether all columns of a data frame have a type of numbers, as numpy knows it."""
    return all(getattr(kind, "kind", "O") in "biuf" for kind in getattr(X, "dtypes", ()))


def _read_column(name: str, values: NDArray[Any]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return a column as numbers, with its words where they are places in these."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64), ()
    if values.dtype.kind in "mM":
        raise DataError(
            f'The column "{name}" holds dates, which are no features; leave it out, or write days since some day.'
        )
    cells = [None if _is_empty(one) else one for one in values.tolist()]
    known = [one for one in cells if one is not None]
    if all(isinstance(one, Real) for one in known):
        return np.array([np.nan if one is None else float(one) for one in cells]), ()
    if not all(isinstance(one, str) for one in known):
        odd = next(one for one in known if not isinstance(one, str))
        raise DataError(f'The column "{name}" holds words and other things, such as {odd!r}; write all of it as text.')
    words = sorted(set(known))
    if len(words) > MOST_WORDS and 2 * len(words) > len(known):
        raise DataError(
            f'The column "{name}" has {len(words)} different words in {len(known)} cells, so it names rows and is no '
            f"category; leave it out of X."
        )
    place = {word: float(at) for at, word in enumerate(words)}
    return np.array([np.nan if one is None else place[one] for one in cells]), tuple(words)


def _is_empty(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )
