"""How sure a figure is that was counted over bags, and whether two methods differ beyond noise on the same bags.

A share of bags that are right has the interval of Wilson ("Probable Inference, the Law of Succession, and Statistical
Inference", 1927), and two such shares on the same bags are compared by the exact test of McNemar (1947). Every other
measure, several repeats, and bags that come in groups are resampled: the percentile bootstrap over bags, or over groups
(Efron and Tibshirani, "An Introduction to the Bootstrap", 1993), and for two methods the same with pairs.
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
WILSON, BOOTSTRAP, MCNEMAR = "wilson", "bootstrap", "mcnemar-exact"
N_RESAMPLES, FEWER = 1000, 200
MANY = 2000  # Bags beyond which fewer samples are drawn, and bags are not judged one by one.
TRIED = 50  # Bags on which it is tried whether a measure is a mean over bags.


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
            single = self._singles(measure, tried)
            if not np.isclose(single.mean(), self.value(measure, tried)):
                return None
            return single if len(tried) == self.n_bags else self._singles(measure, np.arange(self.n_bags))
        except Exception:
            # What a measure raises on one bag is no error: it may need several.
            return None

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

    low, high = np.quantile(_resampled(judged, value), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return {"low": low, "high": high, "level": LEVEL, "by": BOOTSTRAP}


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
    if np.isnan(drawn).any():
        return 1.0, f"paired-{BOOTSTRAP}"
    tail = min((drawn <= 0).sum(), (drawn >= 0).sum())
    return float(min(1.0, 2 * (tail + 1) / (len(drawn) + 1))), f"paired-{BOOTSTRAP}"


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


TESTS = {MCNEMAR: "McNemar's exact test", f"paired-{BOOTSTRAP}": "a bootstrap over pairs"}


def words_of_test(comparison: Mapping[str, Any]) -> str:
    """Say how sure a difference is, and by which test.

    >>> words_of_test({"p_value": 0.012, "by": "mcnemar-exact"})
    "p = 0.012 by McNemar's exact test"
    """
    p_value = comparison["p_value"]
    return f"p {'= ' + format(p_value, '.2g') if p_value >= 0.001 else '< 0.001'} by {TESTS[comparison['by']]}"
