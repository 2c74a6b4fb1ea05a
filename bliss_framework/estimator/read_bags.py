"""Bags of a fitted model: their scores and labels, by its head, its members, or the classes of instances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.compute.processes import one_blas_thread
from bliss_framework.estimator.ensemble import Ensemble, bag_labels, bag_scores, instance_scores
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.kernel.bags import Bags


def regimes_of(model: Any) -> tuple[Regime, ...]:
    """Return the regime of each member of a model: looked up once, and not written into files."""
    if not hasattr(model, "_regimes_in_hand"):
        registry = active_plugins().registry
        model._regimes_in_hand = tuple(
            resolve("regime", member.regime, registry, model.plugins_) for member in model.members_
        )
    return tuple(model._regimes_in_hand)


def ensemble_of(model: Any) -> Ensemble:
    """Return the members of a model with their regimes."""
    return list(zip(model.members_, regimes_of(model), strict=True))


@one_blas_thread()
def read_instances(model: Any, rows: Any) -> NDArray[np.float64]:
    """Score instances (n,) or (n, C), relative to the instance threshold.

    A head knows which members have learnt what was inferred, and may have learnt something of instances itself.
    """
    scores = instance_scores(model.members_, rows) if model.head_ is None else model.head_.instance_scores(rows)
    return np.asarray(scores - model.instance_threshold_)


@one_blas_thread()
def read_scores(model: Any, rows: Any, bags: Bags) -> NDArray[np.float64]:
    """Score bags (B,) or (B, C), not relative to the bag threshold.

    Args:
        model: a fitted `BlissClassifier`.
        rows: (n, d), prepared.
        bags: of the rows.
    """
    if model.head_ is not None:
        return np.asarray(model.head_.score(rows, bags, ensemble_of(model)))
    reading = regimes_of(model)[0].reading
    if reading.from_instances:
        return reading.bag_scores(read_instances(model, rows), bags)
    return bag_scores(ensemble_of(model), rows, bags)


@one_blas_thread()
def read_labels(model: Any, rows: Any, bags: Bags) -> NDArray[Any]:
    """Predict the weak label of each bag; arguments as in `read_scores`."""
    reading = regimes_of(model)[0].reading
    if model.head_ is not None:
        return reading.labels_of_bag_scores(read_scores(model, rows, bags), model.bag_threshold_)
    if reading.from_instances:
        return reading.bag_labels(read_instances(model, rows), bags, model.bag_threshold_)
    return bag_labels(ensemble_of(model), rows, bags, model.bag_threshold_)
