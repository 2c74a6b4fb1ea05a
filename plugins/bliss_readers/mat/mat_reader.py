"""MATLAB files of bags: rows with bag ids and labels, or a cell with a matrix for each bag."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Reader, WeakDataset, check_size
from bliss_readers.mat.mat_file import MatFile, list_variables, looks_like_mat
from bliss_readers.tables.cell_table import listed
from bliss_readers.tables.label_column import as_truth

# As collections call their variables, in any letter case.
ROWS = ("features", "data", "x", "instances", "bags", "d")
BAGS = ("bag_ids", "bagids", "bag_id", "bagid", "bag", "bags", "ident")
LABELS = ("labels", "label", "bag_labels", "baglabels", "y", "l", "targets", "target")


class MatReader(Reader):
    """Reads MATLAB files of version 5 to 7, and of 7.3 (extra `files`).

    Andrews' layout has `features` (n, d), `bag_ids` (n) and `labels` (n); others have a cell with a matrix for each
    bag and a label for each. Objects of classes, such as those of PRTools, are not read.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .mat and begins as MATLAB writes it."""
        return path.suffix.lower() == ".mat" and looks_like_mat(path)

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        rows: str | None = None,
        bag: str | None = None,
        label: str | None = None,
        regime: str | None = None,
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the file.
            rows: the variable of the rows: a matrix with a row for each instance, or a cell with a matrix for each bag;
                by default "features", "data", "x", "instances", "bags" or "D".
            bag: the variable of the bag id of each row; by default "bag_ids", "bagids", "bag" or the like.
            label: the variable of the weak labels, one for each bag, or one for each row that is the same in a bag; by
                default "labels", "label", "y" or the like.
            regime: what the weak labels are for; by default "mil".

        Returns:
            The data set, its rows as float64, a CSR matrix where they are stored sparse; `weak` has one entry for each
            bag in order of first appearance.

        Raises:
            DataError: naming the file and the variable, what was found and what is allowed.
            MissingExtraError: the file is of version 7.3, and h5py is not installed.
        """
        path = Path(path)
        file = list_variables(path)
        name = _variable(file, rows, ROWS, "rows")
        values = file.read(name)
        if isinstance(values, np.ndarray) and values.dtype == object:
            X, ids = _stacked(path, name, values)
        else:
            ids = _ids(path, file.read(_variable(file, bag, [one for one in BAGS if one != name], "bag")))
            X = _as_rows(path, name, values, len(ids))
        weak = _weak(file, _variable(file, label, LABELS, "label"), Bags.from_ids(ids))
        return WeakDataset(name=path.stem, X=X, bags=ids, weak=weak, regime=regime or "mil")


def _variable(file: MatFile, told: str | None, usual: Sequence[str], option: str) -> str:
    """Return the name of a variable: the one that is told, else the first that has a usual name."""
    names = {name.casefold(): name for name in file.shapes}
    if told is not None and told in file.shapes:
        return told
    found = [names[one] for one in usual if one in names] if told is None else []
    if found:
        return found[0]
    has = [f"{name} {shape}" for name, shape in file.shapes.items()] + [f"{a} ({b})" for a, b in file.others.items()]
    what = f'no variable "{told}", which' if told is not None else f"no variable called {', '.join(usual)}; the one"
    hint = " Objects of classes are not read: save data, bag ids and labels as matrices." if file.others else ""
    raise DataError(f"{file.path} has {what} the option {option} names. It has {listed(has) or 'none'}.{hint}")


def _as_rows(path: Path, name: str, values: Any, n_rows: int) -> Any:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(f'{path}: "{name}" has the shape {values.shape} and holds {values.dtype}; allowed is (n, d).')
    if values.shape[0] != n_rows and values.shape[1] == n_rows:
        values = values.T
    if values.shape[0] != n_rows:
        raise DataError(f'{path}: "{name}" has the shape {values.shape}, and there are bag ids of {n_rows} rows.')
    return sp.csr_matrix(values).astype(np.float64) if sp.issparse(values) else _doubles(values)


def _doubles(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.ascontiguousarray(values, dtype=np.float64)


def _stacked(path: Path, name: str, cells: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Put the matrices of a cell one below the other; where they share their height they are turned."""
    bags = [one.toarray() if sp.issparse(one) else one for one in cells.ravel().tolist()]
    for number, one in enumerate(bags, start=1):
        if not isinstance(one, np.ndarray) or one.ndim != 2 or one.dtype.kind not in "biuf" or not one.size:
            raise DataError(f'{path}: entry {number} of the cell "{name}" is no matrix with a row for each instance.')
    if not bags:
        raise DataError(f'{path}: the cell "{name}" is empty.')
    if len({one.shape[1] for one in bags}) > 1 and len({one.shape[0] for one in bags}) == 1:
        bags = [one.T for one in bags]
    widths = {one.shape[1] for one in bags}
    if len(widths) > 1:
        odd = next(number for number, one in enumerate(bags, start=1) if one.shape[1] != bags[0].shape[1])
        raise DataError(
            f'{path}: entry {odd} of the cell "{name}" has {bags[odd - 1].shape[1]} columns, and the first one has '
            f"{bags[0].shape[1]}."
        )
    return _doubles(np.vstack(bags)), np.repeat(np.arange(1, len(bags) + 1), [len(one) for one in bags])


def _ids(path: Path, values: Any) -> NDArray[Any]:
    """Return bag ids (n,): whole numbers, or text without the blanks that MATLAB pads it with."""
    flat = _flat(values)
    if flat.dtype.kind == "f" and (not np.isfinite(flat).all() or (flat != np.round(flat)).any()):
        raise DataError(f"{path}: the bag ids are no whole numbers.")
    if flat.dtype.kind not in "iufU" or not len(flat):
        raise DataError(f"{path}: the bag ids are {flat.dtype}; allowed are whole numbers and text.")
    return flat.astype(np.int64) if flat.dtype.kind in "iuf" else flat


def _flat(values: Any) -> NDArray[Any]:
    """Return a vector: of a sparse one all values, of a cell of text the texts."""
    if sp.issparse(values):
        values = values.toarray()
    if values.dtype == object:
        values = np.array([str(np.ravel(one)[0]) if np.size(one) == 1 else "" for one in np.ravel(values).tolist()])
    return np.char.strip(values.ravel()) if values.dtype.kind == "U" else values.ravel()


def _weak(file: MatFile, name: str, bags: Bags) -> NDArray[Any]:
    """Return the weak label of each bag: given for each bag, or for each row and then the same over its bag."""
    check_size(file.path, 8 * int(np.prod(file.shapes[name])))
    labels = _flat(file.read(name))
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "biufU" or len(labels) not in (bags.n_bags, bags.n_rows):
        raise DataError(
            f'{file.path}: "{name}" has {len(labels)} labels of type {labels.dtype}; allowed is one for each of the '
            f"{bags.n_bags} bags, or of the {bags.n_rows} rows."
        )
    if len(labels) == bags.n_bags:
        return as_truth(labels)
    first = np.unique(bags.index, return_index=True)[1]
    differs = np.flatnonzero(labels != labels[first][bags.index])
    if len(differs):
        bag = bags.ids[bags.index[differs[0]]]
        raise DataError(
            f'{file.path}: "{name}" has two labels in the bag {bag!s}; a weak label is the same over its bag.'
        )
    return as_truth(labels[first])
