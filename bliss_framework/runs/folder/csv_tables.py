"""labels.csv and bags.csv: what was inferred or predicted of each instance and of each bag."""

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import RunError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.instance_ranks import InstanceRanks, ranks_of
from bliss_framework.estimator.out_of_fold import out_of_fold_probabilities
from bliss_framework.extension.naming import as_count
from bliss_framework.runs.folder.atomic import plain, write_text

LABEL_COLUMNS = ("row", "bag", "label", "confidence", "undecided")
BAG_COLUMNS = ("bag", "n_instances", "weak_label", "predicted", "score")
MEAN_REWARD = "mean_reward_"
SCORE, PROBABILITY, RANK, SCORE_OF = "score", "probability", "rank", "score_of"
OUT_OF_FOLD = ("out_of_fold_predicted", "out_of_fold_score", PROBABILITY)
CARRIED = "carried_"  # Before the name of a carried column that is called like one of ours.
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
        write_text(folder / LABELS, _table(_label_rows(model, data)))
    if BAGS in names:
        write_text(folder / BAGS, _table(_bag_rows(model, data)))


def write_predictions(folder: Path, bags: list[dict[str, Any]], instances: list[dict[str, Any]]) -> None:
    """Write predictions as bags.csv and labels.csv, one column for each key."""
    for name, rows in ((BAGS, bags), (LABELS, instances)):
        cells = ([_cell(value) for value in row.values()] for row in rows)
        write_text(folder / name, _table(iter([list(rows[0]), *cells])))


def carried_columns(carried: Mapping[str, NDArray[Any]], taken: Collection[str]) -> dict[str, list[Any]]:
    """Return carried columns as they are written, by name; one of several columns is a list in each row.

    Args:
        carried: (n, ...) arrays by name.
        taken: names that other columns have; a carried one that is called so is written as `carried_NAME`.

    >>> carried_columns({"score": np.array([1.5]), "x": np.array(["left"])}, ["score"])
    {'carried_score': [1.5], 'x': ['left']}
    """
    names = {name: name for name in carried}
    for name in carried:
        while names[name] in taken:
            names[name] = f"{CARRIED}{names[name]}"
    return {names[name]: np.asarray(values).tolist() for name, values in carried.items()}


def carried_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the carried columns of a line of labels.csv: those that are none of ours.

    >>> carried_of({"row": 0, "bag": "b", "mean_reward_0": 0.5, "score": 1.0, "shape": "s1"})
    {'shape': 's1'}
    """
    own = {*LABEL_COLUMNS, SCORE, PROBABILITY, RANK, SCORE_OF}
    return {name: value for name, value in line.items() if name not in own and not name.startswith(MEAN_REWARD)}


def rank_columns(ranks: InstanceRanks | None, classes: NDArray[Any], n: int) -> dict[str, list[Any]]:
    """Return the columns score, probability and rank of n instances, and of which of several classes they are.

    Args:
        ranks: None leaves the cells empty.
        classes: (C,) the user's values.
        n: how many instances there are.
    """
    several = len(classes) > 2
    if ranks is None:
        names = (SCORE, PROBABILITY, RANK, *((SCORE_OF,) if several else ()))
        return {name: [""] * n for name in names}
    columns = {SCORE: ranks.scores, PROBABILITY: ranks.probabilities, RANK: ranks.ranks}
    if several:
        columns[SCORE_OF] = classes[ranks.classes]
    return {name: values.tolist() for name, values in columns.items()}


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
        if not _is_ranked(line):
            raise _damaged(path, f"line {number} holds what is no score, no probability or no rank")
    return lines


def _is_ranked(line: Mapping[str, str]) -> bool:
    """Whether what a line says of its score is sound; the columns are missing in runs of earlier versions."""
    score, probability, rank = (line.get(name, "") for name in (SCORE, PROBABILITY, RANK))
    if not score:
        return not probability and not rank
    return bool(np.isfinite(_number(score)) and 0 <= _number(probability) <= 1 and as_count(rank))


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
    return ids, in_user_words(model, predicted)


def in_user_words(model: Any, predicted: NDArray[Any]) -> list[Any]:
    """Write predicted weak labels (B, ...) as the user did; see `predicted_bags`."""
    if predicted.ndim == 1 or model.weak_labels_.ndim > 1:
        return list(plain(predicted))
    names = np.asarray(model.classes_)[-predicted.shape[1] :]
    return [plain(names[row == 1]) for row in predicted]


def bag_probabilities(probabilities: NDArray[np.float64], predicted: NDArray[Any]) -> list[Any]:
    """Return of each bag the probability of the second of two weak labels, or a list with that of each.

    Args:
        probabilities: (B, C) as `predict_bag_proba` returns them.
        predicted: (B, ...) as `predict_bags` returns them.
    """
    one = probabilities.shape[1] == 2 and predicted.ndim == 1
    return list((probabilities[:, 1] if one else probabilities).tolist())


def _label_rows(model: BlissClassifier, data: CheckedData) -> Iterator[list[Any]]:
    n, n_labels = model.label_means_.shape
    own = [*LABEL_COLUMNS, *(f"{MEAN_REWARD}{label}" for label in range(n_labels))]
    ranks = ranks_of(model, model.out_of_fold_scores_, model.bag_index_)
    further = rank_columns(ranks, model.classes_, n)
    further |= carried_columns(data.carried, [*own, *further])
    yield [*own, *further]
    bags = model.bag_ids_[model.bag_index_].tolist()
    columns = zip(model.labels_.tolist(), model.confidence_, model.undecided_, model.label_means_, strict=True)
    others = zip(*further.values(), strict=True)
    for row, ((label, confidence, undecided, means), other) in enumerate(zip(columns, others, strict=True)):
        shown = ["" if np.isnan(mean) else repr(float(mean)) for mean in means]
        yield [row, bags[row], label, repr(float(confidence)), int(undecided), *shown, *map(_cell, other)]


def _bag_rows(model: BlissClassifier, data: CheckedData) -> Iterator[list[Any]]:
    yield [*BAG_COLUMNS, *OUT_OF_FOLD]
    ids, predicted = predicted_bags(model, data)
    scores = model.score_bags(data)[1]
    sizes = np.bincount(model.bag_index_)
    others = _out_of_fold(model)
    for i, bag in enumerate(ids.tolist()):
        shown = [_cell(value) for value in (model.weak_labels_[i], predicted[i], scores[i], *others[i])]
        yield [bag, int(sizes[i]), *shown]


def _out_of_fold(model: BlissClassifier) -> list[tuple[Any, ...]]:
    """Return the out-of-fold cells of each bag, empty ones where there are too few bags."""
    found = out_of_fold_probabilities(model)
    if found is None:
        return [("", "", "")] * len(model.bag_ids_)
    predicted, probabilities = model.out_of_fold_bags_, bag_probabilities(found, model.out_of_fold_bags_)
    return list(zip(in_user_words(model, predicted), model.out_of_fold_bag_scores_, probabilities, strict=True))


def _cell(value: Any) -> Any:
    """Write a label set as JSON: a table has one cell for it."""
    if isinstance(value, set | frozenset):
        return json.dumps(sorted(map(str, value)), ensure_ascii=False)
    return json.dumps(plain(value), ensure_ascii=False) if np.ndim(value) else plain(value)


def _table(rows: Iterator[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
