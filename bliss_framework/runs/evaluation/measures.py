"""From the pieces of a cross-validation to the figures of a result."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import SettingsError
from bliss_framework.readings.ranking import roc_auc
from bliss_framework.runs.evaluation.fits import Pieces, pooled_measures
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.settings.records import EvaluationSettings

CONFIDENCE_STEPS = 10


def summary(values: Sequence[float]) -> dict[str, Any]:
    """Return mean, standard deviation (over runs; 0 for a single one) and the runs themselves.

    >>> summary([80.0, 90.0])
    {'mean': 85.0, 'sd': 5.0, 'runs': [80.0, 90.0]}
    """
    return {"mean": float(np.mean(values)), "sd": float(np.std(values)), "runs": [float(v) for v in values]}


def evaluation_of(problem: Problem, method: str, pieces: Pieces, evaluation: EvaluationSettings) -> dict[str, Any]:
    """Summarise one method: every measure of the regime over repeats, and instance accuracy where truth is known."""
    repeats = [_of_repeat(pieces, method, repeat) for repeat in range(evaluation.repeats)]
    by_repeat = [pooled_measures(problem, own) for own in repeats]
    document: dict[str, Any] = {**_parts(problem, len(repeats[0]), evaluation), "repeats": evaluation.repeats}
    for name in by_repeat[0]:
        document[name] = summary([measures.get(name, np.nan) for measures in by_repeat])
    if problem.tested.truth is not None and (problem.tested.truth >= 0).any():
        document["instance_accuracy"] = {"test": _instances(problem, repeats)}
        aucs = [_auc_of_repeat(problem, own) for own in repeats]
        if None not in aucs:
            document["instance_auc"] = {"test": summary([auc for auc in aucs if auc is not None])}
    return document


def _parts(problem: Problem, n_folds: int, evaluation: EvaluationSettings) -> dict[str, Any]:
    if problem.test is not None:
        return {}
    return {"test_share": evaluation.test_share} if evaluation.cv is None else {"cv": n_folds}


def seconds_of(pieces: Pieces, method: str) -> float:
    """Add up the seconds of a method's fits."""
    return float(sum(piece["seconds"] for (name, _, _), piece in pieces.items() if name == method))


def notes_of(pieces: Pieces, method: str) -> list[str]:
    """Say once each what a method warned of, and in how many of its fits."""
    own = [piece for (name, _, _), piece in pieces.items() if name == method]
    notes = sorted({note for piece in own for note in piece["notes"]})
    return [f"{note} ({sum(note in piece['notes'] for piece in own)} of {len(own)} fits)" for note in notes]


def _of_repeat(pieces: Pieces, method: str, repeat: int) -> list[dict[str, Any]]:
    own = {fold: piece for (name, which, fold), piece in pieces.items() if name == method and which == repeat}
    return [own[fold] for fold in sorted(own)]


def _instances(problem: Problem, repeats: list[list[dict[str, Any]]]) -> dict[str, Any]:
    truth = np.asarray(problem.tested.truth)
    accuracies = []
    for pieces in repeats:
        rows = np.concatenate([np.asarray(piece["rows"], dtype=np.intp) for piece in pieces])
        predicted = np.concatenate([np.asarray(piece["instance_classes"]) for piece in pieces])
        accuracies.append(instance_accuracy(predicted, truth[rows], problem.weak.classes))
    names = dict.fromkeys(name for one in accuracies for name in one["per_class"])
    return {
        "overall": summary([one["overall"] for one in accuracies]),
        "per_class": {name: summary([one["per_class"].get(name, np.nan) for one in accuracies]) for name in names},
    }


def _auc_of_repeat(problem: Problem, pieces: list[dict[str, Any]]) -> float | None:
    """Average over folds: scores of different fits are not on one scale."""
    truth = np.asarray(problem.tested.truth)
    own = [_auc_of_piece(truth, piece) for piece in pieces if piece["instance_scores"] is not None]
    found = [auc for auc in own if auc is not None]
    return float(np.mean(found)) if found else None


def _auc_of_piece(truth: NDArray[Any], piece: dict[str, Any]) -> float | None:
    free = np.asarray(piece["free"], dtype=bool)
    scores, rows = np.asarray(piece["instance_scores"]), np.asarray(piece["rows"], dtype=np.intp)
    return instance_auc(scores[free], truth[rows[free]])


def instance_auc(scores: NDArray[Any], truth: NDArray[np.intp]) -> float | None:
    """Return the area under the ROC curve of instances whose label the bag leaves open; None without two classes.

    Args:
        scores: (n,) larger where class 1 is likelier.
        truth: (n,) positions in the classes, -1 where the class is not known; class 1 counts as positive.
    """
    known = truth >= 0
    if not np.array_equal(np.unique(truth[known]), [0, 1]):
        return None
    return roc_auc(truth[known], scores[known])


def instance_accuracy(predicted: NDArray[np.intp], truth: NDArray[np.intp], classes: tuple[Any, ...]) -> dict[str, Any]:
    """Compare instance predictions with the truth, overall and for each true class.

    Args:
        predicted: (n,) positions in the classes.
        truth: (n,) the same, -1 where the class is not known.
        classes: the user's own value of each class.
    """
    known = truth >= 0
    right = predicted[known] == truth[known]
    present = np.unique(truth[known]).tolist()
    per_class = {str(classes[one]): float(right[truth[known] == one].mean()) for one in present}
    return {"overall": float(right.mean()), "per_class": per_class}


def by_confidence(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, list[int]]:
    """Count inferred labels, and those that are right, in ten steps of their confidence from 0 to 1.

    Args:
        confidence: (n,) in [0, 1].
        right: (n,) whether the label is the true one.

    >>> by_confidence(np.array([0.05, 0.09, 1.0]), np.array([True, False, True]))["n"]
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    step = np.minimum((confidence * CONFIDENCE_STEPS).astype(np.intp), CONFIDENCE_STEPS - 1)
    counted = (np.bincount(step, of, CONFIDENCE_STEPS) for of in (np.ones(len(step)), right))
    n, n_right = ([int(count) for count in counts] for counts in counted)
    return {"n": n, "right": n_right}


def main_measure(evaluation: Mapping[str, Any]) -> str:
    """Return the name of the first measure of the regime."""
    for name, value in evaluation.items():
        if isinstance(value, Mapping) and "runs" in value:
            return name
    raise SettingsError("The regime returned no measure of bags, so nothing can be compared.")
