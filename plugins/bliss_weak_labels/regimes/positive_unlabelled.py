"""Some rows are known to be positive, and nothing is known of the others but how many of them are."""

from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    Bags,
    DataError,
    ParameterNeededError,
    Presets,
    SettingsError,
    WeakLabels,
    senses_of,
)
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedRegime, rate
from bliss_weak_labels.regimes.shares_of_groups import KeepShares
from bliss_weak_labels.regimes.words import refuse_several

WANTED = "a row is 1 where it is known to be positive, and 0 where it is unlabelled"
OF_TWO = ' Where these are two sets with known shares of positives, use regime="unlabelled-unlabelled".'
OF_MANY = (
    ' For classes that may be wrong use regime="noisy-labels", for classes that only some rows have "semi-supervised".'
)


def open_share(_: Any, attribute: Any, value: Any) -> None:
    """Allow None or a number between 0 and 1, both excluded (an attrs validator)."""
    if value is not None and not (isinstance(value, int | float) and 0 < value < 1):
        raise SettingsError(f"{attribute.name} must be a number between 0 and 1, both excluded; got {value!r}.")


@frozen
class PositiveUnlabelled(EstimatedRegime):
    """A row is 1 where it is known to be positive, and 0 where nothing is known (du Plessis et al., NeurIPS 2014).

    With n_p known and n_u unlabelled rows, of which a share pi is positive, P(unlabelled | negative) = 1 and
    P(unlabelled | positive) = pi n_u / (pi n_u + n_p). In a label assignment that share of unlabelled rows is positive.

    Args:
        prior: the share of positives among the unlabelled rows, between 0 and 1.
    """

    presets: ClassVar[Presets] = presets_with("non-negative-pu", relabel_rounds=0)
    binary: ClassVar[bool] = True
    prior: float | None = field(default=None, validator=open_share)

    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Return pi (2 TPR - 1) + P(negative | unlabelled), which is the accuracy on unlabelled rows in the mean."""
        assert self.prior is not None
        negative = rate(predicted == 0, known == 0, 1 - self.prior)
        recall = rate(predicted == 1, known == 1, 1.0)
        return self.prior * (2 * recall - 1) + negative

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Tell known positives from unlabelled rows."""
        if self.prior is None:
            raise ParameterNeededError(
                "How many of the unlabelled rows are positive is not known from the data; a count in a small sample "
                "will do.",
                "regime",
                "positive-unlabelled",
                "prior",
                0.3,
            )
        codes, classes = _codes(weak, bags)
        known = codes == 1
        if known.all() or not known.any():
            raise DataError(f"All {len(codes)} rows are {codes[0]}, and both kinds of rows are needed; {WANTED}.")
        n_known, n_positive = known.sum(), self.prior * (~known).sum()
        hidden = n_positive / (n_positive + n_known)
        evidence = np.where(known[:, None], [0.0, 1.0 - hidden], [1.0, hidden])
        return WeakLabels(codes, classes, of_rows=bags.spread(evidence))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return the prior for unlabelled rows."""
        return np.where(bags.spread(weak.values)[:, None] == 1, [0.0, 1.0], [1.0 - self.prior, self.prior])

    def constraint(self) -> Any:
        """Keep the share of positives among the unlabelled rows of an assignment."""
        return KeepShares(np.array([self.prior, 1.0]))


def _codes(weak: NDArray[Any], bags: Bags) -> tuple[NDArray[np.int8], tuple[Any, ...]]:
    refuse_several(weak, bags, WANTED)
    senses = senses_of(dict.fromkeys(weak.tolist()))
    if senses is None:
        found = sorted(set(map(str, weak.tolist())))
        raise DataError(f"y holds {found[:5]}; {WANTED}.{OF_TWO if len(found) == 2 else OF_MANY}")
    words = {sense: word for word, sense in senses.items()}
    return np.array([senses[one] for one in weak.tolist()], dtype=np.int8), (words.get(0, 0), words.get(1, 1))
