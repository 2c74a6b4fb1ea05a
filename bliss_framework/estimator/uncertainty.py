"""How sure a figure is that was counted over bags, and whether two methods differ beyond noise on the same bags.

A share of bags that are right has the interval of Wilson ("Probable Inference, the Law of Succession, and Statistical
Inference", 1927), and two such shares on the same bags are compared by the exact test of McNemar (1947). Every other
measure, several repeats, and bags that come in groups are resampled: the percentile bootstrap over bags, or over groups
(Efron and Tibshirani, "An Introduction to the Bootstrap", 1993), and for two methods the same with pairs. A bag is the
unit: instances of one bag, and the same bag in several repeats, are no independent witnesses.

`Judged` takes any measure of a reading; `BagRatio` those that are a sum over bags by another one, as files keep them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.stats import binomtest, norm

from bliss_framework.extension.contracts import BagReading
from bliss_framework.kernel.labels import WeakLabels

LEVEL = 0.95
SIGNIFICANT = 0.05
WILSON, BOOTSTRAP, MCNEMAR, PAIRED = "wilson", "bootstrap", "mcnemar-exact", "paired-bootstrap"
N_RESAMPLES, FEWER = 1000, 200
MANY = 2000  # Bags beyond which fewer samples are drawn, and bags are not judged one by one.
MOST_BAGS = 5000  # Of draws of ratios at a time: 1000 x 5000 numbers are 40 MB.
TRIED = 50  # Bags on which it is tried first whether a measure is a mean over bags.


@frozen(eq=False)
class Judged:
    """What one method predicted of some bags, in one or several repeats.

    Attributes:
        reading: says the measures.
        weak: the true weak labels of the bags.
        groups: (B,) what is drawn as a whole, such as the patient; each bag on its own where there are no groups.
        repeats: of each repeat the predicted weak labels (B, ...) and the scores (B,) or (B, C), in the order of bags.
    """

    reading: BagReading = field()
    weak: WeakLabels = field()
    groups: NDArray[np.intp] | None = field()
    repeats: Sequence[tuple[NDArray[Any], NDArray[np.float64]]] = field()

    @property
    def n_bags(self) -> int:
        """The number of bags."""
        return len(self.weak.values)

    def value(self, measure: str, bags: NDArray[np.intp]) -> float:
        """Return the mean over repeats of a measure of some bags, which may stand there several times."""
        weak = self.weak.take(bags, np.empty(0, dtype=np.intp))
        values = [self.reading.evaluate(labels[bags], scores[bags], weak)[measure] for labels, scores in self.repeats]
        return float(np.mean(values))

    def by_bag(self, measure: str) -> NDArray[np.float64] | None:
        """Return the measure of each bag (B,) if that of all is their mean; else None."""
        if self.n_bags > MANY:
            return None
        tried = np.arange(min(self.n_bags, TRIED))
        try:
            if not self._is_mean(measure, tried, self._singles(measure, tried)):
                return None
            # The first bags may agree by chance, such as where they all have one label: all of them have to.
            everyone = np.arange(self.n_bags)
            single = self._singles(measure, everyone)
            return single if self._is_mean(measure, everyone, single) else None
        except Exception:
            # What a measure raises on one bag is no error: it may need several.
            return None

    def _is_mean(self, measure: str, bags: NDArray[np.intp], single: NDArray[np.float64]) -> bool:
        return bool(np.isclose(single.mean(), self.value(measure, bags)))

    def _singles(self, measure: str, bags: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.array([self.value(measure, np.array([bag])) for bag in bags])


def interval_of(judged: Judged, measure: str) -> dict[str, Any]:
    """Return the interval of a measure: `low`, `high`, `level` and `by`, "wilson" or "bootstrap".

    Both ends are null where the measure cannot be taken of bags that are drawn anew.
    """
    single = judged.by_bag(measure)
    if single is not None and _counts(judged, single):
        low, high = wilson(float(single.mean()), len(single))
        return {"low": low, "high": high, "level": LEVEL, "by": WILSON}

    def value(bags: NDArray[np.intp]) -> float:
        return judged.value(measure, bags) if single is None else float(single[bags].mean())

    ends = _middle(_resampled(judged, value))
    return {"low": ends.low, "high": ends.high, "level": LEVEL, "by": BOOTSTRAP}


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the interval of a share of n.

    >>> [round(end, 3) for end in wilson(1.0, 20)]
    [0.839, 1.0]
    """
    z = float(norm.ppf((1 + LEVEL) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(0.0, middle - half), min(1.0, middle + half)


def exact_p(first_alone: int, second_alone: int) -> float:
    """Return the p of the exact test of McNemar: how rare so uneven a split is, where both are equally likely.

    >>> exact_p(5, 0)
    0.0625
    """
    n = first_alone + second_alone
    return 1.0 if n == 0 else float(binomtest(first_alone, n).pvalue)


def paired_p_value(one: Judged, other: Judged, measure: str) -> tuple[float, str]:
    """Return how often chance alone makes two methods differ as much on the same bags, and by which test.

    Args:
        one, other: predictions of the same bags.
        measure: by which they are compared.
    """
    first, second = one.by_bag(measure), other.by_bag(measure)
    if first is None or second is None:
        drawn = _resampled(one, lambda bags: one.value(measure, bags) - other.value(measure, bags))
    elif _counts(one, first) and _counts(other, second):
        return exact_p(int((first > second).sum()), int((first < second).sum())), MCNEMAR
    else:
        difference = first - second
        drawn = _resampled(one, lambda bags: float(difference[bags].mean()))
    return _p_of(drawn), PAIRED


def _p_of(differences: NDArray[np.float64]) -> float:
    """Return the p of differences of draws: twice the lesser share of those on one side of 0; 1 where one is NaN."""
    if np.isnan(differences).any():
        return 1.0
    tail = min((differences <= 0).sum(), (differences >= 0).sum())
    return float(min(1.0, 2 * (tail + 1) / (len(differences) + 1)))


def _counts(judged: Judged, single: NDArray[np.float64]) -> bool:
    """Whether each bag is right or wrong, once, and on its own."""
    return judged.groups is None and len(judged.repeats) == 1 and bool(np.isin(single, (0.0, 1.0)).all())


def _resampled(judged: Judged, value: Callable[[NDArray[np.intp]], float]) -> NDArray[np.float64]:
    """Return a value of bags that are drawn with replacement, groups as a whole, many times; draws have a seed."""
    groups = np.arange(judged.n_bags) if judged.groups is None else judged.groups
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    rng = np.random.default_rng(0)
    n_draws = N_RESAMPLES if judged.n_bags * len(judged.repeats) <= MANY else FEWER
    draws = (rng.integers(len(members), size=len(members)) for _ in range(n_draws))
    try:
        return np.array([value(np.concatenate([members[one] for one in draw])) for draw in draws])
    except Exception:
        # A measure may need what a draw lacks, such as bags of both classes.
        return np.full(1, np.nan)


@frozen
class Interval:
    """Where a figure lies with a confidence of 95 %: its ends, both of them possible values of the figure."""

    low: float = field()
    high: float = field()


@frozen(eq=False)
class BagRatio:
    """A measure of bags that is a sum over bags by another one, such as the share of those that are right.

    Attributes:
        above: (B,) what each bag adds above the line; for a share, 1 where it is right and 0 elsewhere.
        below: (B,) what it adds below; for a share, 1.
        unit: what is drawn anew, "bags", or "groups" of them, of which each array then has an entry.
    """

    above: NDArray[np.float64] = field()
    below: NDArray[np.float64] = field()
    unit: str = field(default="bags")

    def of_groups(self, groups: NDArray[np.intp]) -> "BagRatio":
        """Return the same measure with an entry for each group of bags, such as the patient.

        Args:
            groups: (B,) the group of each bag, counted from 0.
        """
        above, below = (np.bincount(groups, part).astype(np.float64) for part in (self.above, self.below))
        return BagRatio(above, below, "groups")

    @property
    def value(self) -> float:
        """The measure of all bags; 1 where there is nothing below the line."""
        return float(_ratio(self.above.sum(), self.below.sum()))

    @property
    def counts_bags(self) -> bool:
        """Whether it is a share of bags, each of them right or wrong."""
        return self.unit == "bags" and bool((self.below == 1).all() and np.isin(self.above, (0.0, 1.0)).all())


@frozen
class Difference:
    """What one method does better than another on the same bags.

    Attributes:
        value: the first figure less the second.
        interval: of the difference.
        p: how often chance alone makes so large a difference, times the number of comparisons.
        by: which test says so, one of `TESTS`.
    """

    value: float = field()
    interval: Interval = field()
    p: float = field()
    by: str = field()

    @property
    def beyond_noise(self) -> bool:
        """Whether so large a difference is rare, less than one in twenty, where two methods are equally good."""
        return self.p < SIGNIFICANT


def interval_of_share(right: float, n: int) -> Interval:
    """Return the interval of a share (Wilson, 1927), which is sensible for few trials and near 0 and 1, too.

    Args:
        right: how many were right.
        n: of how many, at least one.

    >>> interval = interval_of_share(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    return Interval(*wilson(right / n, n))


def interval_of_area(area: float, n_positive: int, n_negative: int) -> Interval:
    """Return the interval of an area under a ROC curve (Hanley and McNeil, 1982), on the scale of log odds.

    Args:
        area: in [0, 1].
        n_positive: at least one.
        n_negative: at least one.

    >>> interval = interval_of_area(0.9, 30, 30)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.78, 0.96)
    """
    # An area of exactly 1 or 0 has no deviation; half a pair that is out of order stands for what was not seen.
    inside = float(np.clip(area, 0.5 / (n_positive * n_negative), 1 - 0.5 / (n_positive * n_negative)))
    both_positive, both_negative = inside / (2 - inside), 2 * inside**2 / (1 + inside)
    variance = inside * (1 - inside) + (n_positive - 1) * (both_positive - inside**2)
    variance = (variance + (n_negative - 1) * (both_negative - inside**2)) / (n_positive * n_negative)
    half = float(norm.ppf((1 + LEVEL) / 2)) * np.sqrt(variance) / (inside * (1 - inside))
    odds = np.log(inside / (1 - inside))
    low, high = (float(1 / (1 + np.exp(-end))) for end in (odds - half, odds + half))
    return Interval(min(low, area), max(high, area))


def interval_of_ratio(ratio: BagRatio) -> Interval:
    """Return the interval of a measure of bags: Wilson's for a share of them, else by drawing bags again."""
    if ratio.counts_bags:
        return interval_of_share(float(ratio.above.sum()), len(ratio.above))
    return _middle(_draws_of(ratio))


def difference_of(first: BagRatio, second: BagRatio, n_comparisons: int = 1) -> Difference:
    """Compare two methods on the same bags, by the same tests as `paired_p_value`.

    Args:
        first: of one method.
        second: of the other, bag by bag the same bags.
        n_comparisons: how many were made, of which this is one; p is multiplied by it.

    >>> right = BagRatio(np.ones(12), np.ones(12))
    >>> wrong = BagRatio(np.repeat([0.0, 1.0], 6), np.ones(12))
    >>> difference_of(right, wrong)
    Difference(value=0.5, interval=Interval(low=0.25, high=0.75), p=0.03125, by='mcnemar-exact')
    """
    drawn = _draws_of(first) - _draws_of(second)
    p, by = _p_of(drawn), PAIRED
    if first.counts_bags and second.counts_bags:
        p, by = exact_p(int((first.above > second.above).sum()), int((first.above < second.above).sum())), MCNEMAR
    return Difference(first.value - second.value, _middle(drawn), min(1.0, p * n_comparisons), by)


def _draws_of(ratio: BagRatio) -> NDArray[np.float64]:
    """Return the measure of bags drawn with replacement, (N_RESAMPLES,); for as many bags the same draws."""
    rng, n = np.random.default_rng(0), len(ratio.above)
    above, below = np.zeros(N_RESAMPLES), np.zeros(N_RESAMPLES)
    # How often each bag is drawn is nearly Poisson, which needs no other bags: parts of them fit into memory.
    exact = n <= MOST_BAGS
    for start in range(0, n, MOST_BAGS):
        part = slice(start, min(start + MOST_BAGS, n))
        size = part.stop - part.start
        times = rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES) if exact else rng.poisson(1.0, (N_RESAMPLES, size))
        above += times @ ratio.above[part]
        below += times @ ratio.below[part]
    return _ratio(above, below)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, and call it perfect where there is nothing to divide by, as measures do."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), 1.0)


def _middle(values: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


TESTS = {MCNEMAR: "McNemar's exact test", PAIRED: "a bootstrap over pairs"}


def words_of_test(comparison: Mapping[str, Any]) -> str:
    """Say how sure a difference is, and by which test.

    >>> words_of_test({"p_value": 0.012, "by": "mcnemar-exact"})
    "p = 0.012 by McNemar's exact test"
    """
    p_value = comparison["p_value"]
    return f"p {'= ' + format(p_value, '.2g') if p_value >= 0.001 else '< 0.001'} by {TESTS[comparison['by']]}"
