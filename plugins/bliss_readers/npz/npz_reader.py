"""The native data file: an .npz archive of rows, bag ids and weak labels."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Reader, WeakDataset, check_columns
from bliss_readers.npz.npz_archive import Archive, as_rows, open_archive
from bliss_readers.tables.cell_table import MISSING_NAMES, TextTable
from bliss_readers.tables.index_columns import left_out, row_numbers, unnamed_notes
from bliss_readers.tables.label_column import as_truth, collected
from bliss_readers.tables.label_sets import entries_of

_REGIME_OF_KEY = {"y": "mil", "Y": "multiclass-mil", "proportions": "llp"}
_KEYS_OF_REGIME = {"mil": ("y",), "multiclass-mil": ("Y", "y"), "llp": ("proportions",)}
_CSR_KEYS = ("format", "shape", "data", "indices", "indptr")
_OTHER_KEYS = {"X", "bag", "inst_y", "feature_names", "label_names", "_is_array", *_CSR_KEYS}


class NpzReader(Reader):
    """Reads .npz archives without pickles.

    Keys: `X` (n, d), or the CSR parts that `scipy.sparse.save_npz` writes; `bag` (n,) integers or text; one of `y`
    (B,), `Y` (B, C) of 0 and 1 with `label_names` (C,), and `proportions` (B,) or (B, C), one entry for each bag in
    order of first appearance; optional `inst_y` (n,) and `feature_names` (d,).
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .npz and starts like a zip archive."""
        if path.suffix.lower() != ".npz":
            return False
        try:
            with path.open("rb") as file:
                return file.read(2) == b"PK"
        except (OSError, ValueError):
            return False

    def read(  # type: ignore[override]
        self, path: Path, *, regime: str | None = None, label_sets: bool | None = None, separator: str | None = None
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the archive.
            regime: what the weak labels are for, and so which of them is taken where the file holds several. By default
                `y` ("mil", for label sets "multiclass-mil"), else `Y` ("multiclass-mil"), else `proportions` ("llp").
            label_sets: whether `y` holds sets of names where it is text; found out as in tables.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".

        Returns:
            The data set, its rows of float32 or float64 as they are stored, float16 as float32, integers and sparse
            rows as float64. Rows of 64 MiB and more that are not compressed are mapped from the file. `weak` is None
            where the file holds no weak labels.

        Raises:
            DataError: naming the file, the key, what was found and what is allowed.
        """
        path = Path(path)
        with open_archive(path) as archive:
            return archive_dataset(archive, stored_rows(archive), regime, label_sets, separator)


def archive_dataset(
    archive: Archive, rows: Any, regime: str | None, label_sets: bool | None, separator: str | None
) -> WeakDataset:
    """Make a data set of an archive, and of rows that stand in it or elsewhere.

    Args:
        archive: of bag ids and weak labels.
        rows: (n, d) array or CSR matrix.
        regime: see `NpzReader.read`, as the others.
        label_sets: whether text in `y` holds sets of names.
        separator: between these.

    Raises:
        DataError: naming the file, the key, what was found and what is allowed.
    """
    n_rows, n_features = rows.shape
    bag = archive.get("bag", kinds="iuU", shape=(n_rows,))
    _refuse_missing(archive, "bag", bag, "bag id", "row")
    key = _weak_key(archive, regime)
    weak = None if key is None else _weak(archive, key, Bags.from_ids(bag).n_bags, label_sets, separator)
    rows, names, notes = _without_index(archive.path, rows, _names(archive, "feature_names", n_features))
    return WeakDataset(
        name=archive.path.stem,
        X=rows,
        bags=bag,
        weak=weak,
        regime=regime or _regime_of(key, weak),
        instance_labels=_true_classes(archive, n_rows),
        feature_names=names,
        label_names=None if weak is None or weak.ndim < 2 else _names(archive, "label_names", weak.shape[1]),
        notes=tuple(notes),
    )


def stored_rows(archive: Archive) -> Any:
    """Return the rows of an archive: an array, a memory map of a large one that is not compressed, or a CSR matrix.

    Raises:
        DataError: there are none, or they are not as they should be.
    """
    if "X" in archive:
        return as_rows(archive.get("X", kinds="biuf", shape=(None, None), mapped=True))
    if "format" in archive:
        return _sparse_rows(archive)
    raise DataError(
        f'{archive.path} has no rows: neither "X" nor the parts of a CSR matrix ({", ".join(_CSR_KEYS)}). '
        f"It holds {', '.join(archive.keys) or 'nothing'}."
    )


def _sparse_rows(archive: Archive) -> sp.csr_matrix:
    _check_format(archive)
    shape = archive.get("shape", kinds="iu", shape=(2,)).tolist()
    check_columns(archive.path, shape[1])
    data = archive.get("data", kinds="biuf", shape=(None,)).astype(np.float64)
    indices, indptr = (archive.get(key, kinds="iu", shape=(None,)) for key in ("indices", "indptr"))
    try:
        rows = sp.csr_matrix((data, indices, indptr), shape=tuple(shape))
        # A column index beyond the last column would be read from memory that is not ours.
        rows.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise archive.error("indices", f"and the other CSR parts do not fit together ({error})") from error
    _refuse_repeated(archive, rows)
    return rows


def _refuse_repeated(archive: Archive, rows: sp.csr_matrix) -> None:
    """Refuse a row that has a column twice: SciPy adds them, other programs take one of them."""
    row_of = np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, row_of))
    row_of, columns = row_of[order], rows.indices[order]
    repeated = np.flatnonzero((np.diff(row_of) == 0) & (np.diff(columns) == 0))
    if len(repeated):
        at = repeated[0]
        raise archive.error(
            "indices",
            f"holds the column {columns[at]} twice in row {row_of[at]}, counted from 0; leave one of them out, or add "
            f"them up with sum_duplicates() before you save",
        )


def _without_index(
    path: Path, rows: Any, names: tuple[str, ...] | None
) -> tuple[Any, tuple[str, ...] | None, list[str]]:
    """Leave out the columns of a data frame's index, and note those that count the rows."""
    if sp.issparse(rows):
        return rows, names, []
    index = [] if names is None else [at for at, name in enumerate(names) if row_numbers(name, rows[:, at])]
    if not index or names is None:
        return rows, names, [*unnamed_notes(names or (), path.name)]
    kept = [at for at in range(len(names)) if at not in index]
    rest, rest_names = rows[:, kept], tuple(names[at] for at in kept)
    return rest, rest_names, left_out([names[at] for at in index], path.name)


def _check_format(archive: Archive) -> None:
    # Old versions of SciPy wrote the format as bytes.
    stored = archive.get("format", kinds="US", shape=()).astype(str).item()
    if stored != "csr":
        raise archive.error("format", f'says "{stored}"; allowed is "csr": save X.tocsr()')


def _regime_of(key: str | None, weak: NDArray[Any] | None) -> str:
    """Return the regime of weak labels: sets of names, which stand in an object array, are those of Y."""
    return _REGIME_OF_KEY["Y" if weak is not None and weak.dtype == object else key or "y"]


def _weak_key(archive: Archive, regime: str | None) -> str | None:
    wanted = _KEYS_OF_REGIME.get(regime or "", tuple(_REGIME_OF_KEY))
    present = [key for key in wanted if key in archive]
    if present:
        return present[0]
    unknown = [key for key in archive.keys if key not in _OTHER_KEYS]
    if regime is None and not unknown:
        return None
    needed = " or ".join(f'"{key}"' for key in wanted)
    purpose = f' for the regime "{regime}"' if regime else ""
    raise DataError(
        f"{archive.path} has no weak labels{purpose}: {needed} is needed; it holds {', '.join(archive.keys)}."
    )


def _weak(archive: Archive, key: str, n_bags: int, label_sets: bool | None, separator: str | None) -> NDArray[Any]:
    try:
        return _weak_array(archive, key, n_bags, label_sets, separator)
    except DataError as error:
        raise DataError(
            f"{error} It needs one entry for each of the {n_bags} bags, in order of first appearance."
        ) from error


def _weak_array(
    archive: Archive, key: str, n_bags: int, label_sets: bool | None, separator: str | None
) -> NDArray[Any]:
    if key == "y":
        labels = archive.get(key, kinds="biufU", shape=(n_bags,))
        _refuse_missing(archive, key, labels, "weak label", "bag", empty=True)
        return _sets_of(archive, labels, label_sets, separator) if labels.dtype.kind == "U" else as_truth(labels)
    if key == "Y":
        indicators = archive.get(key, kinds="biuf", shape=(n_bags, None))
        archive.get("label_names", kinds="iuU", shape=(indicators.shape[1],))
        return indicators
    return archive.get(key, kinds="biuf", shape=(n_bags, ...))


def _sets_of(archive: Archive, labels: NDArray[Any], label_sets: bool | None, separator: str | None) -> NDArray[Any]:
    """Read weak labels that are text as the same column of a table would be."""
    cells = [str(label).strip() for label in labels.tolist()]
    places = [f"bag {bag}, counted from 0" for bag in range(len(cells))]
    table = TextTable(archive.path, ["y"], [[cell] for cell in cells], places, noun="key")
    entries = entries_of(table, "y", label_sets, separator)
    return as_truth(labels) if entries is None else collected(entries)


def _true_classes(archive: Archive, n_rows: int) -> NDArray[Any] | None:
    classes = _optional(archive, "inst_y", "biufU", n_rows)
    return None if classes is None else as_truth(classes)


def _refuse_missing(archive: Archive, key: str, values: NDArray[Any], what: str, of: str, empty: bool = False) -> None:
    """Refuse NaN, and the texts that missing values become; among names an empty one may be the empty label set."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "U":
        missing = np.isin(np.char.strip(values), sorted(MISSING_NAMES - ({""} if empty else set())))
    else:
        return
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        raise archive.error(
            key, f"has no {what} for {of} {at}, counted from 0 ({values[at].item()!r}); every {of} needs one"
        )


def _optional(archive: Archive, key: str, kinds: str, length: int) -> NDArray[Any] | None:
    return archive.get(key, kinds=kinds, shape=(length,)) if key in archive else None


def _names(archive: Archive, key: str, length: int) -> tuple[str, ...] | None:
    names = _optional(archive, key, "iuU", length)
    if names is None:
        return None
    texts = tuple(str(name) for name in names.tolist())
    twice = [name for name, count in Counter(texts).items() if count > 1]
    if twice:
        raise archive.error(key, f"has the name {twice[0]!r} twice; rename one of them")
    return texts
