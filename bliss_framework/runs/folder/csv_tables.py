"""labels.csv and bags.csv: what was inferred or predicted of each instance and of each bag."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.runs.folder.atomic import plain, write_text


def write_tables(folder: Path, model: BlissClassifier, data: CheckedData) -> None:
    """Write what was inferred of the data as labels.csv and bags.csv.

    Args:
        folder: where they go.
        model: fitted to the data.
        data: the data.

    Raises:
        RunError: a file cannot be written.
    """
    write_text(folder / "labels.csv", _table(_label_rows(model)))
    write_text(folder / "bags.csv", _table(_bag_rows(model, data)))


def write_predictions(folder: Path, bags: list[dict[str, Any]], instances: list[dict[str, Any]]) -> None:
    """Write predictions as bags.csv and labels.csv, one column for each key."""
    for name, rows in (("bags.csv", bags), ("labels.csv", instances)):
        cells = ([_cell(value) for value in row.values()] for row in rows)
        write_text(folder / name, _table(iter([list(rows[0]), *cells])))


def predicted_bags(model: Any, data: CheckedData) -> tuple[NDArray[Any], list[Any]]:
    """Predict bags, and write label sets as the user did: by names, unless they were given as a matrix.

    Args:
        model: fitted.
        data: rows and bags.

    Returns:
        The ids, and of each bag its weak label, a list of names, or a row of the matrix.
    """
    ids, predicted = model.predict_bags(data)
    if predicted.ndim == 1 or model.weak_labels_.ndim > 1:
        return ids, plain(predicted)
    names = np.asarray(model.classes_)[-predicted.shape[1] :]
    return ids, [plain(names[row == 1]) for row in predicted]


def _label_rows(model: BlissClassifier) -> Iterator[list[Any]]:
    n_labels = model.label_means_.shape[1]
    yield ["row", "bag", "label", "confidence", "undecided", *(f"mean_reward_{label}" for label in range(n_labels))]
    bags = model.bag_ids_[model.bag_index_].tolist()
    columns = zip(model.labels_.tolist(), model.confidence_, model.undecided_, model.label_means_, strict=True)
    for row, (label, confidence, undecided, means) in enumerate(columns):
        shown = ["" if np.isnan(mean) else repr(float(mean)) for mean in means]
        yield [row, bags[row], label, repr(float(confidence)), int(undecided), *shown]


def _bag_rows(model: BlissClassifier, data: CheckedData) -> Iterator[list[Any]]:
    yield ["bag", "n_instances", "weak_label", "predicted", "score"]
    ids, predicted = predicted_bags(model, data)
    scores = model.score_bags(data)[1]
    sizes = np.bincount(model.bag_index_)
    for i, bag in enumerate(ids.tolist()):
        shown = [_cell(value) for value in (model.weak_labels_[i], predicted[i], scores[i])]
        yield [bag, int(sizes[i]), *shown]


def _cell(value: Any) -> Any:
    """Write a label set as JSON: a table has one cell for it."""
    if isinstance(value, set | frozenset):
        return json.dumps(sorted(map(str, value)), ensure_ascii=False)
    return json.dumps(plain(value), ensure_ascii=False) if np.ndim(value) else plain(value)


def _table(rows: Iterator[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
