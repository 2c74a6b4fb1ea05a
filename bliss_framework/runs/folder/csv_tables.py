"""labels.csv and bags.csv: what was inferred or predicted of each instance and of each bag."""

import csv
import io
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import RunError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.runs.folder.atomic import plain, write_text

LABEL_COLUMNS = ("row", "bag", "label", "confidence", "undecided")
BAG_COLUMNS = ("bag", "n_instances", "weak_label", "predicted", "score")
MEAN_REWARD = "mean_reward_"
LABELS, BAGS = TABLES = ("labels.csv", "bags.csv")


def write_tables(folder: Path, model: BlissClassifier, data: CheckedData, names: Collection[str] = TABLES) -> None:
    """Write what was inferred of the data as labels.csv and bags.csv.

    Args:
        folder: where they go.
        model: fitted to the data.
        data: the data.
        names: of the files to write.

    Raises:
        FileError: a file cannot be written.
    """
    if LABELS in names:
        write_text(folder / LABELS, _table(_label_rows(model)))
    if BAGS in names:
        write_text(folder / BAGS, _table(_bag_rows(model, data)))


def write_predictions(folder: Path, bags: list[dict[str, Any]], instances: list[dict[str, Any]]) -> None:
    """Write predictions as bags.csv and labels.csv, one column for each key."""
    for name, rows in (("bags.csv", bags), ("labels.csv", instances)):
        cells = ([_cell(value) for value in row.values()] for row in rows)
        write_text(folder / name, _table(iter([list(rows[0]), *cells])))


def read_labels(path: Path) -> list[dict[str, str]]:
    """Read the lines of labels.csv; there are none where there is no file.

    Raises:
        RunError: the file is damaged: other columns, a line that was cut off, a confidence that is no number from 0
            to 1, a mean reward that is no number.
    """
    lines = read_lines(path, LABEL_COLUMNS)
    for number, line in enumerate(lines, start=2):
        means = [cell for column, cell in line.items() if column.startswith(MEAN_REWARD) and cell]
        if not 0 <= _number(line["confidence"]) <= 1 or not np.isfinite([_number(mean) for mean in means]).all():
            raise _damaged(path, f"line {number} holds what is no confidence or no mean reward")
    return lines


def read_bags(path: Path) -> list[dict[str, str]]:
    """Read the lines of bags.csv; there are none where there is no file.

    Raises:
        RunError: the file is damaged: other columns, or a line that was cut off.
    """
    return read_lines(path, BAG_COLUMNS)


def read_lines(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table that begins with certain columns; there are no lines where there is no file (RunError)."""
    if not path.exists():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            header, *lines = csv.reader(stream, strict=True)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, csv.Error) as error:
        raise _damaged(path, str(error)) from None
    if header[: len(columns)] != list(columns):
        raise _damaged(path, f"its columns are {', '.join(header)[:80]}, and {', '.join(columns)} are needed")
    for number, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise _damaged(path, f"line {number} has {len(cells)} cells, and {len(header)} are needed")
    return [dict(zip(header, cells, strict=True)) for cells in lines]


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _damaged(path: Path, what: str) -> RunError:
    return RunError(f"{path} is damaged ({what}). Run the experiment again with another --output.")


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
    yield [*LABEL_COLUMNS, *(f"{MEAN_REWARD}{label}" for label in range(n_labels))]
    bags = model.bag_ids_[model.bag_index_].tolist()
    columns = zip(model.labels_.tolist(), model.confidence_, model.undecided_, model.label_means_, strict=True)
    for row, (label, confidence, undecided, means) in enumerate(columns):
        shown = ["" if np.isnan(mean) else repr(float(mean)) for mean in means]
        yield [row, bags[row], label, repr(float(confidence)), int(undecided), *shown]


def _bag_rows(model: BlissClassifier, data: CheckedData) -> Iterator[list[Any]]:
    yield list(BAG_COLUMNS)
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
