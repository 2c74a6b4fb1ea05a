"""What was understood of a data set before anything runs: columns and their roles, bags, classes, a few rows."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from bliss_framework.extension.dataset import TableColumn, WeakDataset
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows
from bliss_framework.runs.data.find import LoadedData

N_ROWS = 5
MOST_VALUES = 20  # Of more, weak labels are numbers and no classes.
MOST_CELLS = 12  # Of a row in a preview.


def described(loaded: LoadedData) -> dict[str, Any]:
    """Describe a data set as plain values, as `bliss datasets FILE --json` prints it."""
    dataset = loaded.dataset
    bags = Bags.from_ids(dataset.bags)
    columns = dataset.table or _columns(dataset)
    return {
        "name": dataset.name,
        "origin": loaded.origin,
        "regime": dataset.regime,
        "n_bags": bags.n_bags,
        "n_instances": bags.n_rows,
        "n_features": int(dataset.X.shape[1]),
        "n_missing": _n_missing(dataset),
        "labels": _labels(dataset.weak),
        "columns": [
            {"name": one.name, "role": one.role, "why": one.why, "n_missing": one.n_missing} for one in columns
        ],
        "preview": [_row(dataset, bags, row) for row in range(min(N_ROWS, bags.n_rows))],
    }


def _n_missing(dataset: WeakDataset) -> int:
    values = Rows(dataset.X).array.data if Rows(dataset.X).is_sparse else dataset.X
    return int(np.isnan(np.asarray(values)).sum())


def _columns(dataset: WeakDataset) -> tuple[TableColumn, ...]:
    """Say of the named columns of a file that is no table that they are features."""
    return tuple(TableColumn(name, "feature") for name in dataset.feature_names or ())


def _labels(weak: Any) -> dict[str, int]:
    """Count the bags of each weak label; of label sets those that hold a label, of many numbers nothing."""
    if weak is None or np.ndim(weak) != 1:
        return {}
    values = np.asarray(weak).tolist()
    if any(isinstance(one, set | frozenset) for one in values):
        return dict(sorted(Counter(str(label) for one in values for label in one).items()))
    counts = Counter(map(str, values))
    return dict(sorted(counts.items())) if len(counts) <= MOST_VALUES else {}


def _row(dataset: WeakDataset, bags: Bags, row: int) -> dict[str, Any]:
    """Return the first cells of a row, what is carried last; None where a cell is empty."""
    cells: dict[str, Any] = {"bag": dataset.bags[row]}
    if dataset.weak is not None:
        label = dataset.weak[bags.index[row]]
        cells["label"] = sorted(map(str, label)) if isinstance(label, set | frozenset) else label
    names = dataset.feature_names or tuple(f"feature {place}" for place in range(dataset.X.shape[1]))
    values = Rows(dataset.X).take(np.array([row])).dense()[0].tolist()
    shown = zip(names[:MOST_CELLS], values[:MOST_CELLS], strict=True)
    cells |= {name: _cell(value, dataset.categories, name) for name, value in shown}
    return cells | {name: own[row] for name, own in dataset.carried.items()}


def _cell(value: float, categories: Mapping[str, tuple[str, ...]], name: str) -> Any:
    if np.isnan(value):
        return None
    return categories[name][int(value)] if name in categories else value
