"""Bags of which the number of positive rows lies in a known interval, or has a known grade."""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BagReading,
    Bags,
    DataError,
    LabelSpace,
    Outcome,
    Part,
    SettingsError,
    WeakLabels,
    count_slopes,
    keep_counts,
)
from bliss_weak_labels.likelihood.regime import LikelihoodRegime
from bliss_weak_labels.regimes.words import are_fractions

WANTED = "a bag has the smallest and the largest number of positive rows that it may hold, or a grade of regime.grades"
OF_COUNTS = ' For the numbers of rows of all classes use regime="llp".'
OF_SETS = ' For a set of the classes that are in a bag use regime="multiclass-mil".'
OF_SHARES = ' For the share of positive rows, a number between 0 and 1, use regime="llp".'


def _hint(value: Any) -> str:
    """Name the regime whose weak labels look so."""
    if isinstance(value, set | frozenset):
        return OF_SETS
    several = [value]
    if isinstance(value, Mapping | list | tuple):
        several = list(value.values()) if isinstance(value, Mapping) else list(value)
    if are_fractions(several):
        return OF_SHARES
    return OF_COUNTS if len(several) > 2 and all(isinstance(one, int) for one in several) else ""


def _numbers(interval: Any) -> list[float]:
    """Return the smallest and the largest number, NaN where it is no interval.

    >>> _numbers([1, 3]), _numbers(2), _numbers("few")
    ([1.0, 3.0], [2.0, 2.0], [nan, nan])
    """
    try:
        numbers = [float(one) for one in ([interval, interval] if np.isscalar(interval) else interval)]
    except (TypeError, ValueError):
        return [np.nan, np.nan]
    if isinstance(interval, set | frozenset):  # A table reads [1, 3] in a cell as a set.
        numbers = [min(numbers), max(numbers)] if len(numbers) in (1, 2) else []
    return numbers if len(numbers) == 2 and not isinstance(interval, Mapping) else [np.nan, np.nan]


def _grades(_: Any, attribute: Any, value: Any) -> None:
    for grade, interval in (value or {}).items():
        if len(interval) != 2 or not 0 <= interval[0] <= interval[1]:
            raise SettingsError(f"{attribute.name}: {grade!r} must be [smallest, largest] count; got {interval!r}.")


@frozen
class CountIntervals(LikelihoodRegime):
    """Of each bag is known in which interval the number of its positive rows lies.

    The number N of positive rows of a bag is taken to be normal, with mean sum s and variance sum s (1 - s), and the
    likelihood is P(smallest - 1/2 < N < largest + 1/2). In a label assignment every bag has a number in its interval.

    Args:
        grades: an interval for each grade, as `{"none": [0, 0], "few": [1, 2], "many": [3, 100]}`; without them weak
            labels are intervals.
    """

    binary: ClassVar[bool] = True
    columns_are_classes: ClassVar[bool] = False
    grades: Mapping[Any, Any] | None = field(default=None, validator=_grades)

    @property
    def reading(self) -> BagReading:
        """A bag is read by the number of its rows that are predicted positive."""
        return CountReading()

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read intervals, and hold them against the sizes of bags."""
        intervals = self._intervals(weak, bags)
        sizes = bags.sizes
        for bag, ((low, high), size) in enumerate(zip(intervals.tolist(), sizes.tolist(), strict=True)):
            if not 0 <= low <= high or low > size:
                raise DataError(
                    f"Bag {bags.ids.tolist()[bag]!r} of {size} row(s) has the interval from {low:g} to {high:g}, which "
                    f"excludes every count from 0 to {size}; {WANTED}."
                    f"{OF_COUNTS if (intervals.sum(axis=1) == sizes).all() else ''}"
                )
        values = np.minimum(intervals, sizes[:, None])
        if (values[:, 0] == 0).all() and (values[:, 1] == sizes).all():
            raise DataError("Every interval allows every count, so nothing can be learnt.")
        return WeakLabels(values, (0, 1))

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read intervals of test bags, which may allow every count."""
        return WeakLabels(np.minimum(self._intervals(weak, bags), bags.sizes[:, None]), classes)

    def _intervals(self, weak: NDArray[Any], bags: Bags) -> NDArray[np.int64]:
        found = np.empty((bags.n_bags, 2))
        for bag, value in enumerate(weak.tolist()):
            interval = (self.grades or {}).get(value, value) if isinstance(value, Hashable) else value
            found[bag] = _numbers(interval)
            if not (found[bag] == np.round(found[bag])).all():
                raise DataError(f"Bag {bags.ids.tolist()[bag]!r} has the weak label {value!r}; {WANTED}.{_hint(value)}")
        return found.astype(np.int64)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Leave no positive row where none may be, and no negative one where all must be positive."""
        low, high = bags.spread(weak.values).T
        return LabelSpace(np.stack([low < bags.spread(bags.sizes), high > 0], axis=1), np.arange(2))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return the middle of the interval as a share."""
        share = bags.spread(weak.values.mean(axis=1) / bags.sizes)
        return np.stack([1 - share, share], axis=1)

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw first labels by the middle of the interval."""
        return self.inherited(part.weak, part.bags)

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope of log P(low - 1/2 < N < high + 1/2) in the chance of class 1, by way of the mean of N."""
        slope = count_slopes(chances[:, 1], part.bags, *part.weak.values.T)
        return np.stack([np.zeros(len(slope)), slope], axis=1)

    def constraint(self) -> Any:
        """Keep the number of positive rows of each bag in its interval."""
        return keep_intervals


def keep_intervals(bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
    """Choose the assignment with the largest sum of bounds among those with a count of positives in each interval.

    Args:
        bounds: (n, 2), -inf where a label is no candidate.
        part: rows whose bags have intervals (B, 2) as weak labels.
    """
    with np.errstate(invalid="ignore"):
        gains = np.nan_to_num(bounds[:, 1] - bounds[:, 0])
    chosen = keep_counts(gains, part.bags, *part.weak.values.T)
    return np.where(part.space.free, chosen, part.space.known)


@frozen
class CountReading(BagReading):
    """A bag is read by the number of its positive rows."""

    from_instances: ClassVar[bool] = True

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the scores of a bag (n,) -> (B,)."""
        return bags.mean(scores)

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Count positive rows: (B, 2) the same number twice, an interval of one."""
        counts = bags.sum((scores > threshold).astype(np.int64))
        return np.stack([counts, counts], axis=1)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags whose count lies in its interval."""
        heldout = outcome.fold.heldout
        counts = heldout.bags.sum(outcome.heldout_classes)
        return {"in_interval": float(_within(counts, heldout.weak.values).mean())}

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return the share of bags whose predicted count lies in its interval."""
        return {"in_interval": float(_within(predicted[:, 0], weak.values).mean())}


def _within(counts: NDArray[Any], intervals: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((counts >= intervals[:, 0]) & (counts <= intervals[:, 1]))
