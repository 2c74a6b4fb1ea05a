"""WeakDataset: rows, bags and weak labels as a file or a generator gives them, before any regime has looked."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.rows import Rows

# What is digested at a time.
BLOCK_BYTES = 1 << 24


@frozen
class TableColumn:
    """What a column of a table was taken for.

    Attributes:
        name: of the column.
        role: "bag", "label", "instance label", "group", "feature", "category", "carried" or "ignored".
        why: the reason, as the end of a sentence.
        n_missing: cells that hold nothing.
    """

    name: str = field()
    role: str = field()
    why: str = field(default="")
    n_missing: int = field(default=0)


@frozen(eq=False)
class WeakDataset:
    """A weakly labelled data set.

    Attributes:
        name: what results call it.
        X: (n, d) float array or scipy sparse matrix.
        bags: (n,) bag id of each row.
        weak: (B,) or (B, ...) weak label of each bag, in order of first appearance.
        regime: the component name of the regime that the weak labels are made for.
        regime_parameters: of that regime, where the data themselves say them, such as a share that is known.
        instance_labels: (n,) true classes where they are known (never used for inference), or None.
        feature_names: one for each column, or None.
        label_names: names of all labels of label sets, of the columns where these are a matrix; or None.
        groups: (n,) what is above the bag of each row, such as the patient of a slide, or None. Bags of one group are
            on one side of every split.
        carried: (n,) arrays of numbers or text that are no features and stay beside the rows, by name, such as ids of
            instances, names, coordinates; they are written to every output of rows.
        categories: the words of columns of X that hold places in such a list, by the name of the column; NaN where a
            cell is empty. A model makes a column of 0 and 1 of each word.
        table: what each column of a file was taken for, where it is a table.
        notes: sentences for the user about what was left out or may mean something else than it seems.
    """

    name: str = field()
    X: Any = field()
    bags: NDArray[Any] = field()
    weak: Any = field()
    regime: str = field(default="mil")
    regime_parameters: Mapping[str, Any] = field(factory=dict, kw_only=True)
    instance_labels: NDArray[Any] | None = field(default=None)
    feature_names: tuple[str, ...] | None = field(default=None)
    label_names: tuple[str, ...] | None = field(default=None)
    groups: NDArray[Any] | None = field(default=None)
    carried: Mapping[str, NDArray[Any]] = field(factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(factory=dict)
    table: tuple[TableColumn, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())

    def sha256(self) -> str:
        """Digest rows, bags and weak labels, so that a run can tell whether its data changed."""
        digest = hashlib.sha256()
        groups = [] if self.groups is None else [self.groups]
        words = [np.array([name, *of_column]) for name, of_column in sorted(self.categories.items())]
        for part in [*Rows(self.X).buffers(), self.bags, self.weak, *groups, *words]:
            array = np.asarray(part)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            if array.dtype == object:
                digest.update(repr(_ordered(array.tolist())).encode())
                continue
            for block in _blocks(array):
                digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()


def _blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cut an array into runs of rows, of which the bytes follow each other: a copy of all may not fit into memory."""
    if not array.ndim:
        yield array
        return
    step = max(1, BLOCK_BYTES * len(array) // max(array.nbytes, 1))
    yield from (array[start : start + step] for start in range(0, len(array), step))


def _ordered(value: Any) -> Any:
    """Turn sets into sorted lists: the order of a set of names is another one in each process."""
    if isinstance(value, list | tuple):
        return [_ordered(one) for one in value]
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else value
