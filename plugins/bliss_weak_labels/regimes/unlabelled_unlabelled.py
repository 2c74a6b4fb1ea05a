"""Two sets of rows without labels, of which the shares of positives differ and are known."""

from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, ParameterNeededError, Presets, SettingsError, WeakLabels
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.regimes.estimated_accuracy import EstimatedRegime, rate
from bliss_weak_labels.regimes.shares_of_groups import KeepShares
from bliss_weak_labels.regimes.words import are_fractions, refuse_several

WANTED = "a row has the name of its set, of which there are two"
OF_CLASSES = ' For classes that may be wrong use regime="noisy-labels".'
OF_SHARES = ' For a share of positives in each of many bags use regime="llp".'


def _two_shares(_: Any, attribute: Any, value: Any) -> None:
    if value is None:
        return
    if len(value) != 2 or not all(0 <= one <= 1 for one in value) or value[0] == value[1]:
        raise SettingsError(
            f"{attribute.name} must be two different numbers from 0 to 1, the share of positives in each of the two "
            f"sets in sorted order of their names; got {value!r}. From equal shares nothing can be learnt."
        )


@frozen
class UnlabelledUnlabelled(EstimatedRegime):
    """A row has the name of one of two sets, of which the shares of positives are known (Lu et al., ICLR 2019).

    With n_k rows and the share p_k in set k, P(set k | positive) = n_k p_k / sum_j n_j p_j, and the same of negatives.
    In a label assignment each set has its share.

    Args:
        shares: of positives in the two sets, in sorted order of their names.
    """

    presets: ClassVar[Presets] = presets_with("unlabelled-risk", relabel_rounds=0)
    binary: ClassVar[bool] = True
    shares: tuple[float, ...] | None = field(
        default=None, converter=lambda value: tuple(value) if isinstance(value, list) else value, validator=_two_shares
    )

    def accuracy(self, predicted: NDArray[Any], known: NDArray[Any], n_classes: int) -> float:
        """Solve share_k TPR + (1 - share_k) FPR = P(predicted positive | set k) for both rates."""
        shares = np.array(self.shares)
        found = [rate(predicted == 1, known == k, share) for k, share in enumerate(shares)]
        recall, false_alarms = np.clip(np.linalg.solve(np.stack([shares, 1 - shares], axis=1), found), 0.0, 1.0)
        prior = float(shares[known].mean())
        return float(prior * recall + (1 - prior) * (1 - false_alarms))

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Tell the sets apart."""
        if self.shares is None:
            raise ParameterNeededError(
                "How many rows of each set are positive is not known from the data.",
                "regime",
                "unlabelled-unlabelled",
                "shares",
                [0.2, 0.7],
            )
        codes = _codes(weak, bags)
        sizes, shares = np.bincount(codes), np.array(self.shares)
        joint = sizes[:, None] * np.stack([1 - shares, shares], axis=1)
        evidence = (joint / joint.sum(axis=0))[codes]
        return WeakLabels(codes, (0, 1), of_rows=bags.spread(evidence))

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Tell the sets of test rows apart, or take the classes 0 and 1 that `predict_bags` returns."""
        if set(weak.tolist()) <= {0, 1}:
            return WeakLabels(weak.astype(np.intp), classes)
        return WeakLabels(_codes(weak, bags), classes)

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return the shares of the set."""
        positive = np.array(self.shares)[bags.spread(weak.values)]
        return np.stack([1 - positive, positive], axis=1)

    def constraint(self) -> Any:
        """Keep the share of positives in each set of an assignment."""
        return KeepShares(np.array(self.shares))


def _codes(weak: NDArray[Any], bags: Bags) -> NDArray[np.intp]:
    """Number the two sets in sorted order of their names."""
    refuse_several(weak, bags, WANTED)
    names, codes = np.unique(weak.astype(str) if weak.dtype == object else weak, return_inverse=True)
    if len(names) != 2:
        hint = OF_SHARES if are_fractions(weak.tolist()) else OF_CLASSES
        raise DataError(f"y names {len(names)} sets, {names.tolist()[:5]}; {WANTED}.{hint}")
    return np.asarray(codes, dtype=np.intp)
