"""What a fitted model predicts with: one final classifier, or several with scores on one scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bliss_framework.compute.processes import one_blas_thread
from bliss_framework.errors import SettingsError
from bliss_framework.extension.contracts import BagReading, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.row_view import RowView, as_rows
from bliss_framework.kernel.rows import Rows


class Member(BaseEstimator):  # type: ignore[misc]
    """A final classifier of an ensemble, with the scaling of its rows.

    Args:
        scaling: fitted.
        final: a fitted `FinalClassifier`.
        regime: what names the regime that makes bag scores of its scores.
        instance_unit: what instance scores are divided by.
        bag_unit: what bag scores are divided by.
    """

    def __init__(
        self, scaling: Any, final: Any, regime: Any, instance_unit: float = 1.0, bag_unit: float = 1.0
    ) -> None:
        self.scaling = scaling
        self.final = final
        self.regime = regime
        self.instance_unit = instance_unit
        self.bag_unit = bag_unit

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for two classes, else (n, C); in the classifier's own units."""
        rows = as_rows(X)
        if isinstance(rows, Rows):
            if rows.is_sparse:
                return np.asarray(self.final.decision(self.scaling.transform(rows.array)))
            rows = RowView.of(rows)
        return np.asarray(self.final.decision(self.scaling.view(rows)))


Ensemble = Sequence[tuple[Member, Regime]]


@one_blas_thread()
def instance_scores(members: Sequence[Member], X: Any) -> NDArray[np.float64]:
    """Average the instance scores of all members, each in its own units: (n,) or (n, C)."""
    return _mean([member.scores(X) / member.instance_unit for member in members])


@one_blas_thread()
def bag_scores(ensemble: Ensemble, X: Any, bags: Bags) -> NDArray[np.float64]:
    """Average the bag scores of all members, each by its own regime and in its own units: (B,) or (B, C)."""
    return _mean(
        [np.asarray(regime.reading.bag_scores(one.scores(X), bags)) / one.bag_unit for one, regime in ensemble]
    )


@one_blas_thread()
def bag_labels(ensemble: Ensemble, X: Any, bags: Bags, threshold: float) -> NDArray[Any]:
    """Predict the weak label of each bag; the threshold is in bag units."""
    first, regime = ensemble[0]
    if len(ensemble) == 1:
        return np.asarray(regime.reading.bag_labels(first.scores(X), bags, threshold * first.bag_unit))
    return regime.reading.labels_of_bag_scores(bag_scores(ensemble, X, bags), threshold)


def measures(
    reading: BagReading,
    predicted: NDArray[Any],
    scores: NDArray[np.float64],
    weak: WeakLabels,
    weights: NDArray[np.float64] | None,
) -> dict[str, float]:
    """Return the measures of a reading; arguments as in `BagReading.evaluate`.

    Raises:
        SettingsError: there are weights, and the reading takes none.
    """
    if weights is None:
        return dict(reading.evaluate(predicted, scores, weak))
    if not reading.takes_weights:
        raise SettingsError(
            f"The measures of {type(reading).__name__} take no weights, so score takes no sample_weight; pass None."
        )
    return dict(reading.evaluate(predicted, scores, weak, weights))  # type: ignore[call-arg]


def _mean(scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return scores[0] if len(scores) == 1 else np.asarray(np.mean(scores, axis=0))
