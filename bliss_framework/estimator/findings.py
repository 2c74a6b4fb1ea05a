"""What a run found out about the training bags, for a reader who asks: who are the witnesses, and how good is it?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.estimator.instance_ranks import ranks_of
from bliss_framework.estimator.uncertainty import Judged, interval_of
from bliss_framework.extension.contracts import Profile, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.words import positions_of
from bliss_framework.readings.binary import BinaryReading
from bliss_framework.readings.label_sets import LabelSetReading
from bliss_framework.readings.shares import ShareReading

STRONGEST = 3
TOO_FEW = "Fewer than five bags leave none to score out of fold, so the cells of out-of-fold scores are empty."


def findings_of(
    model: Any, bags: Bags, weak: WeakLabels, carried: Mapping[str, NDArray[Any]] | None = None
) -> dict[str, Any]:
    """Say what was found out about the training bags, as `result.json` does under "findings".

    Args:
        model: a fitted `BlissClassifier`.
        bags: of the training data.
        weak: their weak labels, as its regime reads them.
        carried: (n, ...) arrays by name that are said of the strongest instances.

    Returns:
        "witnesses" where bags have some, and "out_of_fold" where there are enough bags.
    """
    found: dict[str, Any] = {}
    witnesses = _witnesses(model, bags, weak, carried or {})
    if witnesses is not None:
        found["witnesses"] = witnesses
    if model.out_of_fold_bags_ is not None:
        found["out_of_fold"] = _out_of_fold(model, bags, weak)
    return found


def kind_of_bags(
    regime: Regime, bags: Bags, weak: WeakLabels, scores: NDArray[np.float64] | None, sparse: bool
) -> dict[str, Any] | None:
    """Say what the training bags look like, as `result.json` does under "findings"; None where the regime says nothing.

    Args:
        regime: has the kinds of bags that were measured.
        bags: of the training data.
        weak: their weak labels.
        scores: (n,) out-of-fold scores, positive for class 1, or (n, C), or None where there are none.
        sparse: whether rows are sparse.
    """
    share = None if scores is None else _witness_share(regime, bags, weak, scores)
    kind = regime.presets.kind_of(Profile.of(bags, sparse), share)
    if kind is None:
        return None
    return {"like": kind.like, "advice": kind.advice, **({} if share is None else {"witness_share": share})}


def _witness_share(regime: Regime, bags: Bags, weak: WeakLabels, scores: NDArray[np.float64]) -> float | None:
    """Return the share of instances of positive bags that score as positive."""
    there = None if scores.ndim > 1 or regime.rows_are_bags else _labels_there(weak, regime)
    if there is None or there.shape[1] != 1 or not there.any():
        return None
    return float((scores[bags.spread(there[:, 0])] > 0).mean())


def _witnesses(model: Any, bags: Bags, weak: WeakLabels, carried: Mapping[str, NDArray[Any]]) -> dict[str, Any] | None:
    """Count the positive bags, or the labels of bags, that some instance was inferred to have; name the strongest."""
    regime = model.regime_
    there = _labels_there(weak, regime)
    if there is None or regime.rows_are_bags:
        return None
    classes = np.arange(1, 1 + there.shape[1])
    inferred = model.class_indices_[:, None] == classes
    found = bags.any(inferred) & there
    rows = np.flatnonzero((inferred & bags.spread(there)).any(axis=1))
    return {
        "of": "positive bags" if isinstance(regime.reading, BinaryReading) else "labels of bags",
        "n": int(there.sum()),
        "n_with_witness": int(found.sum()),
        "strongest": _strongest(model, bags, rows, carried),
    }


def _labels_there(weak: WeakLabels, regime: Regime) -> NDArray[np.bool_] | None:
    """Return (B, C) bool, which labels each bag has, where a label is there because some instance has it."""
    if isinstance(regime.reading, BinaryReading) and weak.values.ndim == 1:
        return np.asarray(weak.values == 1)[:, None]
    if isinstance(regime.reading, LabelSetReading) and weak.values.ndim == 2:
        return np.asarray(weak.values == 1)
    return None


def _strongest(
    model: Any, bags: Bags, rows: NDArray[np.intp], carried: Mapping[str, NDArray[Any]]
) -> list[dict[str, Any]]:
    """Name the instances among some rows that score highest out of fold, else those with the surest labels."""
    ranks = ranks_of(model, model.out_of_fold_scores_, bags.index)
    values = model.confidence_ if ranks is None else ranks.scores
    chosen = rows[np.argsort(-values[rows], kind="stable")[:STRONGEST]]
    beside = {name: np.asarray(cells)[chosen].tolist() for name, cells in carried.items()}
    return [
        {
            "row": int(row),
            "bag": bags.ids[bags.index[row]],
            "label": model.labels_[row],
            "confidence": float(model.confidence_[row]),
            **({} if ranks is None else {"score": ranks.scores[row], "probability": ranks.probabilities[row]}),
            "carried": {name: cells[place] for name, cells in beside.items()},
        }
        for place, row in enumerate(chosen.tolist())
    ]


def _out_of_fold(model: Any, bags: Bags, weak: WeakLabels) -> dict[str, Any]:
    """Judge the training bags by classifiers that were not trained on them, beside what is there without features."""
    regime = model.regime_
    predicted = _codes(model.out_of_fold_bags_, weak)
    judged = Judged(regime.reading, weak, bags.groups, [(predicted, model.out_of_fold_bag_scores_)])
    every = np.arange(judged.n_bags)
    measures = regime.reading.evaluate(predicted, model.out_of_fold_bag_scores_, weak)
    measure = "proportion_error" if "proportion_error" in measures else next(iter(measures))
    reference = _reference(regime, weak, measure)
    return {
        "measure": measure,
        "value": judged.value(measure, every),
        "interval": interval_of(judged, measure),
        "n_bags": judged.n_bags,
        **({} if reference is None else {"reference": reference}),
    }


def _codes(predicted: NDArray[Any], weak: WeakLabels) -> NDArray[Any]:
    """Turn predicted weak labels from the user's values into the codes of the regime; numbers and tables are codes."""
    if predicted.ndim > 1 or weak.values.dtype.kind == "f":
        return predicted
    values = predicted.tolist()
    codes = positions_of(dict.fromkeys(values), weak.bag_words) or {}
    return np.array([codes[value] for value in values])


def _reference(regime: Regime, weak: WeakLabels, measure: str) -> Mapping[str, Any] | None:
    """Return what needs no features: the share of the commonest label, or the error of the mean shares."""
    if isinstance(regime.reading, ShareReading):
        constant = np.tile(weak.values.mean(axis=0), (len(weak.values), 1))
        shares = constant[:, 1] if constant.shape[1] == 2 else constant
        error = regime.reading.evaluate(shares, shares, weak)["proportion_error"]
        return {"name": "constant", "value": float(error)}
    if measure == "bag_accuracy" and weak.values.ndim == 1 and weak.values.dtype.kind in "biu":
        return {"name": "majority", "value": float(np.bincount(weak.values.astype(np.intp)).max() / len(weak.values))}
    return None
