"""The table of the bags that a model was trained on."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bliss_framework.report.parts import Cell, Table, rounded, words
from bliss_framework.report.weak_bags import LABEL_SETS, WeakBags, label_names, numbers
from bliss_framework.runs.folder.csv_tables import BAG_COLUMNS, OUT_OF_FOLD, PROBABILITY

MOST_BAGS = 500
UNSEEN = OUT_OF_FOLD[0]


def bag_table(bags: Sequence[Mapping[str, str]], weak: WeakBags) -> Table:
    """Lay out bags, those first that the model sees otherwise than their weak label."""
    order = np.argsort(-np.array(_disagreements(bags, weak)), kind="stable")
    ranked = [bags[place] for place in order[:MOST_BAGS].tolist()]
    rows = _set_rows(ranked, weak) if weak.kind == LABEL_SETS else _rows(ranked)
    title = "Bags that the model was trained on, those that it sees otherwise than their weak label first"
    left = f" {len(bags) - MOST_BAGS} more are in bags.csv." if len(bags) > MOST_BAGS else ""
    columns, *lines = rows
    names = tuple(f"{name} (out of fold)" if name == PROBABILITY else words(name) for name in columns)
    note = f"The model was trained on these bags; tests are what it does on others.{left}"
    return Table(title, names, tuple(tuple(map(Cell, line)) for line in lines), note)


def _rows(bags: Sequence[Mapping[str, str]]) -> Iterator[Sequence[str]]:
    columns = (*BAG_COLUMNS, *(name for name in bags[0] if name not in BAG_COLUMNS))
    yield columns
    for bag in bags:
        yield [rounded(bag[column]) for column in columns]


def _set_rows(bags: Sequence[Mapping[str, str]], weak: WeakBags) -> Iterator[Sequence[str]]:
    """Yield label sets by names, with the probabilities of these labels alone: there may be hundreds of others."""
    named = ("weak_label", "predicted", *([UNSEEN] if UNSEEN in bags[0] else []))
    yield ("bag", "n_instances", *named, *([PROBABILITY] if PROBABILITY in bags[0] else []))
    for bag in bags:
        sets = [label_names(bag[column], weak) for column in named]
        shown = [", ".join(names) or "-" for names in sets]
        meant = {name for names in sets for name in names}
        probability = [_probabilities(bag[PROBABILITY], meant, weak)] if PROBABILITY in bag else []
        yield (bag["bag"], bag["n_instances"], *shown, *probability)


def _probabilities(cell: str, meant: set[str], weak: WeakBags) -> str:
    values = numbers(cell)
    if values is None or len(values) != len(weak.words):
        return "-"
    told = (f"{name} {value:.2f}" for name, value in zip(weak.words, values, strict=True) if name in meant)
    return ", ".join(told) or "-"


def _disagreements(bags: Sequence[Mapping[str, str]], weak: WeakBags) -> list[float]:
    """Return by how much predictions differ from weak labels: numbers by their distance, others by 0 or 1."""
    if weak.values is not None and weak.predicted is not None and weak.values.shape == weak.predicted.shape:
        apart: NDArray[np.float64] = np.abs(weak.values - weak.predicted)
        return [float(one) for one in apart.reshape(len(bags), -1).mean(axis=1)]
    return [_distance(row["weak_label"], row["predicted"]) for row in bags]


def _distance(one: str, other: str) -> float:
    try:
        return abs(float(one) - float(other))
    except ValueError:
        return float(one != other)
