"""What tests say of methods, bag by bag: measures with their intervals, and methods compared on the same bags."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.estimator.uncertainty import (
    BagRatio,
    Difference,
    Interval,
    difference_of,
    interval_of_area,
    interval_of_ratio,
    interval_of_share,
)
from bliss_framework.report.wording import shown_measures
from bliss_framework.runs.evaluation.tests_table import MethodTests

CLOSE = 0.03  # Over several repeats the mean of ratios is a little off the ratio of means.


@frozen(eq=False)
class Figure:
    """A measure of a method.

    Attributes:
        value: as result.json has it.
        interval: of 95 %, or None where nothing says how sure it is.
        ratio: what it is made of, bag by bag, or None.
    """

    value: Mapping[str, Any] = field()
    interval: Interval | None = field(default=None)
    ratio: BagRatio | None = field(default=None)

    @property
    def mean(self) -> float:
        """The mean over repeats."""
        return float(self.value["mean"])


Figures = Mapping[str, Figure]  # By the name of the measure.
Method = tuple[str, Figures]


def figures_of(
    rows: Sequence[tuple[str, Mapping[str, Any]]], tests: Sequence[MethodTests], data: Mapping[str, Any]
) -> list[Method]:
    """Give the measures of methods their intervals, from tests bag by bag where the run kept them.

    Args:
        rows: the name of each method, and its evaluation as in result.json.
        tests: of the run.
        data: of result.json.
    """
    by_name = {one.name: one for one in tests}
    return [
        (name, {key: _figure(key, value, by_name.get(name), evaluation, data) for key, value in known.items()})
        for name, evaluation in rows
        if (known := {k: v for k, v in shown_measures(evaluation).items() if v["mean"] is not None})
    ]


def _figure(
    measure: str,
    value: Mapping[str, Any],
    tests: MethodTests | None,
    evaluation: Mapping[str, Any],
    data: Mapping[str, Any],
) -> Figure:
    mean = float(value["mean"])
    if tests is None:
        # Each bag is tested once, so the share itself says how many of them are right.
        once = measure == "bag_accuracy" and len(value["runs"]) == 1 and evaluation.get("cv") is not None
        once = once and "n_groups" not in data
        n = data["n_bags"]
        return Figure(value, interval_of_share(mean * n, n) if once and n > 0 and 0 <= mean <= 1 else None)
    if measure == "bag_auc" and tests.truth.ndim == 1:
        first = tests.of_repeat(1)
        units, positive = first.bags if first.groups is None else first.groups, first.truth == 1
        # Bags of one group say no more than one of them, at worst.
        n_positive, n_negative = len(set(units[positive].tolist())), len(set(units[~positive].tolist()))
        both = n_positive > 0 and n_negative > 0
        return Figure(value, interval_of_area(mean, n_positive, n_negative) if both else None)
    ratio = ratio_of(measure, tests)
    if ratio is None or abs(ratio.value - mean) > CLOSE:
        return Figure(value)  # A measure of another regime that has the same name.
    interval = interval_of_ratio(ratio)
    return Figure(value, Interval(min(interval.low, mean), max(interval.high, mean)), ratio)


def ratio_of(measure: str, tests: MethodTests) -> BagRatio | None:
    """Return what a measure is made of, bag by bag or group by group, the repeats of a bag averaged.

    None where it is no such measure.
    """
    parts = _parts(measure, tests)
    if parts is None:
        return None
    _, first, bag = np.unique(tests.bags, return_index=True, return_inverse=True)
    times = np.bincount(bag)
    above, below = (np.bincount(bag, part) / times for part in parts)
    ratio = BagRatio(above, below)
    if tests.groups is None:
        return ratio
    return ratio.of_groups(np.unique(tests.groups[first], return_inverse=True)[1])


def _parts(measure: str, tests: MethodTests) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    truth, predicted = tests.truth, tests.predicted
    ones = np.ones(len(truth))
    if measure == "bag_accuracy" and truth.shape == predicted.shape and truth.ndim == 1:
        return (truth == predicted).astype(np.float64), ones
    if measure.startswith("proportion_") and truth.ndim == 2:
        error = np.abs(in_columns(predicted) - truth).sum(axis=1) / 2
        return {"proportion_error": (error, ones), "proportion_accuracy": (1 - error, ones)}.get(measure)
    if measure.startswith("label_set_") and truth.ndim == 2 and truth.shape == predicted.shape:
        found, claimed, there = (part.sum(axis=1) for part in (truth * predicted, predicted, truth))
        right = (truth == predicted).mean(axis=1)
        return {
            "label_set_f1": (2 * found, claimed + there),
            "label_set_precision": (found, claimed),
            "label_set_recall": (found, there),
            "label_set_hamming": (right, ones),
        }.get(measure)
    return None


def in_columns(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares with a column for each class: (m,) of class 1 becomes (m, 2)."""
    return shares if shares.ndim == 2 else np.stack([1 - shares, shares], axis=1)


def compared(first: Figure, second: Figure, n_comparisons: int) -> Difference | None:
    """Compare two methods in one measure; None where nothing says how they did on the same bags."""
    if first.ratio is None or second.ratio is None or len(first.ratio.above) != len(second.ratio.above):
        return None
    return difference_of(first.ratio, second.ratio, n_comparisons)
