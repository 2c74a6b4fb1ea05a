"""How sure a figure of some bags is: intervals of shares and of ranks, and methods compared on the same bags.

A bag is the unit: instances of one bag, and the same bag in several repeats, are no independent witnesses.
"""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.stats import norm

from bliss_framework.estimator.uncertainty import LEVEL, exact_p, wilson

N_RESAMPLES = 2000
MOST_BAGS = 5000  # Of resamples at a time: 2000 x 5000 numbers are 80 MB.


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
    """

    above: NDArray[np.float64] = field()
    below: NDArray[np.float64] = field()

    @property
    def value(self) -> float:
        """The measure of all bags; 1 where there is nothing below the line."""
        return float(_ratio(self.above.sum(), self.below.sum()))

    @property
    def counts_bags(self) -> bool:
        """Whether it is a share of bags, each of them right or wrong."""
        return bool((self.below == 1).all() and np.isin(self.above, (0.0, 1.0)).all())


@frozen
class Difference:
    """What one method does better than another on the same bags.

    Attributes:
        value: the first figure less the second.
        interval: of the difference.
        p: of the exact test that both are right on the same number of bags; None where the measure is no share of
            bags.
    """

    value: float = field()
    interval: Interval = field()
    p: float | None = field()

    @property
    def beyond_noise(self) -> bool:
        """Whether so large a difference is rare, less than one in twenty, where two methods are equally good."""
        if self.p is not None:
            return self.p < 1 - LEVEL
        return self.interval.low > 0 or self.interval.high < 0


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


def interval_of(ratio: BagRatio) -> Interval:
    """Return the interval of a measure of bags: Wilson's for a share of them, else by drawing bags again."""
    if ratio.counts_bags:
        return interval_of_share(float(ratio.above.sum()), len(ratio.above))
    return _middle(_resampled(ratio))


def difference_of(first: BagRatio, second: BagRatio) -> Difference:
    """Compare two methods on the same bags.

    Shares of bags are compared by the exact test of McNemar (1947), which looks at bags that one method alone has
    right; other measures by drawing bags again, the same for both methods.

    Args:
        first: of one method.
        second: of the other, bag by bag the same bags.

    >>> right = BagRatio(np.ones(12), np.ones(12))
    >>> wrong = BagRatio(np.repeat([0.0, 1.0], 6), np.ones(12))
    >>> difference_of(right, wrong)
    Difference(value=0.5, interval=Interval(low=0.25, high=0.75), p=0.03125)
    """
    interval = _middle(_resampled(first) - _resampled(second))
    p = None
    if first.counts_bags and second.counts_bags:
        alone, other_alone = int((first.above > second.above).sum()), int((first.above < second.above).sum())
        p = exact_p(alone, other_alone)
    return Difference(first.value - second.value, interval, p)


def _resampled(ratio: BagRatio) -> NDArray[np.float64]:
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
