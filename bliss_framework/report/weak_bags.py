"""The bags of a run with their weak labels as numbers, read from what the run left behind."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.report.reading import FinishedRun

BINARY, LABEL_SETS, SHARES, OTHER = "binary", "label sets", "shares", "other"


@frozen(eq=False)
class WeakBags:
    """The bags of a run.

    Attributes:
        kind: of their weak labels.
        words: of both classes, negative first; of each label of a set; or of each class that has a share.
        ids: (B,) of the bags of bags.csv; empty for a comparison.
        values: (B,) 0 or 1, or (B, C) 0 and 1 or shares.
        predicted: the same, of the model that was trained on them; None where it cannot be read.
        out_of_fold: (B,) probabilities by classifiers that were not trained on the bag, or None.
        tested: whether the run kept tests, bag by bag.
        by_name: whether label sets are written by names, and not as rows of 0 and 1.
    """

    kind: str = field()
    words: tuple[str, ...] = field()
    ids: tuple[str, ...] = field(default=())
    values: NDArray[np.float64] | None = field(default=None)
    predicted: NDArray[np.float64] | None = field(default=None)
    out_of_fold: NDArray[np.float64] | None = field(default=None)
    tested: bool = field(default=False)
    by_name: bool = field(default=False)


def weak_bags(run: FinishedRun) -> WeakBags:
    """Read the kind of weak labels from bags.csv, or where there is none from tests.csv."""
    classes = tuple(map(str, run.document["data"].get("classes", ())))
    if not run.bags:
        return _from_tests(run, classes)
    cells = [_value(line["weak_label"]) for line in run.bags]
    kind = _kind(cells, _measures(run.document), len(classes))
    by_name = kind == LABEL_SETS and _are_named(cells)
    read = {BINARY: _binary, LABEL_SETS: _named_sets if by_name else _sets, SHARES: _shares}.get(kind)
    values = None if read is None else read(cells, classes)
    if read is None or values is None:
        return WeakBags(OTHER, classes, tuple(line["bag"] for line in run.bags), tested=bool(run.tests))
    predicted = read([_value(line["predicted"]) for line in run.bags], classes)
    words = classes[1:] if kind == LABEL_SETS else classes
    ids = tuple(line["bag"] for line in run.bags)
    return WeakBags(kind, words, ids, values, predicted, _probabilities(run.bags), bool(run.tests), by_name)


def label_names(cell: str, weak: WeakBags) -> list[str]:
    """Return the names of the labels of a set as it stands in a cell of bags.csv."""
    value = _value(cell)
    if weak.by_name:
        named = set(map(str, value if isinstance(value, list) else [value]))
        return [name for name in weak.words if name in named]
    if not isinstance(value, list) or len(value) != len(weak.words):
        return []
    return [name for name, own in zip(weak.words, value, strict=True) if own == 1]


def numbers(cell: str) -> list[float] | None:
    """Read the numbers of a cell: one, or a list; None where it holds something else.

    >>> numbers("0.5"), numbers("[0.5, 1]"), numbers("[a]")
    ([0.5], [0.5, 1.0], None)
    """
    value = _value(cell)
    try:
        return [float(one) for one in (value if isinstance(value, list) else [value])]
    except (ValueError, TypeError):
        return None


def _from_tests(run: FinishedRun, classes: tuple[str, ...]) -> WeakBags:
    if not run.tests:
        return WeakBags(OTHER, classes)
    truth, measures = run.tests[0].truth, _measures(run.document)
    if truth.ndim == 1:
        return WeakBags(BINARY if len(classes) == 2 and "bag_accuracy" in measures else OTHER, classes, tested=True)
    shares = any(measure.startswith("proportion_") for measure in measures)
    return WeakBags(SHARES, classes, tested=True) if shares else WeakBags(LABEL_SETS, classes[1:], tested=True)


def _measures(document: Mapping[str, Any]) -> set[str]:
    """Return the names of what was measured, in the inference or in tests."""
    evaluations = [one["evaluation"] for one in document.get("methods", ())] or [document.get("evaluation", {})]
    return {*document.get("inference", {}).get("weak_score", {}), *(name for one in evaluations for name in one)}


def _kind(cells: Sequence[Any], measures: set[str], n_classes: int) -> str:
    if any(measure.startswith("proportion_") for measure in measures):
        return SHARES
    if "label_set_f1" in measures or all(isinstance(cell, list) for cell in cells):
        return LABEL_SETS
    return BINARY if n_classes == 2 and not any(isinstance(cell, list) for cell in cells) else OTHER


def _value(cell: str) -> Any:
    """Read a list, and leave what is none as it is."""
    if not cell.startswith("["):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _binary(cells: Sequence[Any], classes: tuple[str, ...]) -> NDArray[np.float64] | None:
    places = {word: place for place, word in enumerate(classes)}
    known = [places.get(str(cell)) for cell in cells]
    return None if None in known else np.array(known, dtype=np.float64)


def _are_named(cells: Sequence[Any]) -> bool:
    """Whether label sets were given by names, one or a list in each cell, and not as rows of 0 and 1."""
    return any(not isinstance(cell, list) or not cell or isinstance(cell[0], str) for cell in cells)


def _named_sets(cells: Sequence[Any], classes: tuple[str, ...]) -> NDArray[np.float64] | None:
    labels = classes[1:]
    sets = [set(map(str, cell if isinstance(cell, list) else [cell])) for cell in cells]
    known = {*classes, ""}
    if not all(one <= known for one in sets):
        return None
    return np.array([[label in one for label in labels] for one in sets], dtype=np.float64)


def _sets(cells: Sequence[Any], classes: tuple[str, ...]) -> NDArray[np.float64] | None:
    return _matrix(cells, len(classes) - 1)


def _shares(cells: Sequence[Any], classes: tuple[str, ...]) -> NDArray[np.float64] | None:
    try:
        rows = [cell if isinstance(cell, list) else [1 - float(cell), float(cell)] for cell in cells]
    except ValueError:
        return None
    return _matrix(rows, len(classes))


def _matrix(rows: Sequence[Any], width: int) -> NDArray[np.float64] | None:
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    return matrix if matrix.shape == (len(rows), width) and np.isfinite(matrix).all() else None


def _probabilities(bags: Sequence[Mapping[str, str]]) -> NDArray[np.float64] | None:
    """Return the column `probability`, which is out of fold; None where it is not there, or no number."""
    try:
        values = np.array([float(line["probability"]) for line in bags])
    except (KeyError, ValueError):
        return None
    return values if np.isfinite(values).all() else None
