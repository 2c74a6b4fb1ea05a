"""The LLP regime: of each bag the shares of the classes are known, and of no instance its class."""

from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Bags,
    DataError,
    LabelSpace,
    Part,
    Presets,
    Regime,
    SettingsError,
    ShareReading,
    WeakLabels,
    one_of,
)
from bliss_llp.regime.counts import keep_counts, nearest_counts
from bliss_llp.regime.presets import PRESETS
from bliss_llp.regime.weak_shares import check_training_shares, read_shares, shares_by_class


def _class_names(_: Any, attribute: Any, value: Any) -> None:
    """Allow None or two different names or more (an attrs validator)."""
    if value is not None and (len(value) < 2 or len(set(value)) < len(value)):
        raise SettingsError(f"{attribute.name} must be two different names or more, or None; got {list(value)!r}.")


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | np.ndarray) else value


@frozen
class LlpRegime(Regime):
    """Learning with label proportions: the weak label of a bag is the share of class 1, or the shares of all classes.

    Weak labels are single numbers in [0, 1] for two classes, vectors (B, C) of shares that sum to 1 within 0.01,
    vectors of counts that sum to the size of every bag, or mappings from classes to shares or counts. Shares that the
    size of a bag cannot reach mean the nearest counts, by largest remainder: 0.33 of four instances is one instance. A
    class with count 0 is no candidate in its bag, so bags of one class have no arms.

    Args:
        classes: names of the classes in the order of the shares; by default the keys of mappings, else 0 .. C - 1.
        assignments: "counts" (every assignment of a round gives each bag exactly its counts: those with the largest
            bounds) or "free" (each instance has the label with the largest bound).
    """

    presets: ClassVar[Presets] = PRESETS
    reading: ClassVar[ShareReading] = ShareReading()

    classes: tuple[Any, ...] | None = field(default=None, converter=_as_tuple, validator=_class_names)
    assignments: str = field(default="counts", validator=one_of("counts", "free"))

    @property
    def label_columns(self) -> tuple[Any, ...] | None:
        """The names of the classes, where they are given."""
        return self.classes

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read the shares, refuse those that tell nothing, and warn of those that tell little."""
        plain, names = shares_by_class(weak, bags, self.classes)
        shares = read_shares(plain, bags)
        classes = self._names(shares.shape[1], names)
        check_training_shares(shares, bags, classes)
        return WeakLabels(shares, classes)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read the shares of test bags, which may be of one class."""
        shares = read_shares(shares_by_class(weak, bags, classes)[0], bags)
        if shares.shape[1] != len(classes):
            raise DataError(
                f"The bags have shares of {shares.shape[1]} classes, and there were {len(classes)} in training: "
                f"{list(classes)}; give each bag a share of each of them."
            )
        return WeakLabels(shares, classes)

    def _names(self, n_classes: int, names: tuple[Any, ...] | None) -> tuple[Any, ...]:
        if names is None:
            return tuple(range(n_classes))
        if len(names) != n_classes:
            raise DataError(
                f"The bags have shares of {n_classes} classes, but the regime's classes are {list(names)}; name each "
                f"class once."
            )
        return names

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Give instances the classes of which their bag has any, once shares are counts."""
        counts = nearest_counts(weak.values, bags.sizes)
        return LabelSpace(bags.spread(counts > 0), np.arange(counts.shape[1], dtype=np.intp))

    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Stratify by ranges of the share of class 1, or by the class with the largest share; five bags or more each.

        Folds then have about equal shares, as bags that are dealt in order of their share have.
        """
        return strata_of_shares(weak.values)

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Give every instance the shares of its bag as a soft label."""
        return bags.spread(weak.values)

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Draw first labels by the shares of the bag."""
        return part.bags.spread(part.weak.values)

    def constraint(self) -> Any:
        """Keep the counts of bags in the assignments of rounds, if so set."""
        return keep_counts if self.assignments == "counts" else None


COMMON = 5  # Where single folds are held out, each needs a bag of every stratum; so many folds are usual.


def strata_of_shares(shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number bags by ranges of the share of class 1, or for several classes by the one with the largest share.

    The strata depend on values alone, not on the order of bags, and bags of equal shares are in one.

    Args:
        shares: (B, C).

    Returns:
        (B,) integers from 0; every stratum has five bags or more, if there are as many.

    >>> strata_of_shares(np.array([[0.9, 0.1]] * 6 + [[0.5, 0.5]] * 3 + [[0.4, 0.6]] * 3)).tolist() == [0] * 6 + [1] * 6
    True
    """
    if shares.shape[1] == 2:
        return _merged(np.unique(shares[:, 1], return_inverse=True)[1])
    largest = shares.argmax(axis=1)
    counts = np.bincount(largest, minlength=shares.shape[1])
    # From rare to frequent classes, so that rare ones are put together.
    rank = np.argsort(np.argsort(counts, kind="stable"))
    return _merged(np.unique(rank[largest], return_inverse=True)[1])


def _merged(levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put neighbouring levels (B,) together until each has enough bags; what is left over joins the last."""
    stratum = np.zeros(levels.max() + 1, dtype=np.intp)
    number = gathered = 0
    left = len(levels)
    for level, count in enumerate(np.bincount(levels)):
        if gathered >= COMMON and left >= COMMON:
            number, gathered = number + 1, 0
        stratum[level] = number
        gathered, left = gathered + count, left - count
    return stratum[levels]
