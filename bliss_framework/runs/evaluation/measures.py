"""From the pieces of a cross-validation to the figures of a result."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.uncertainty import SIGNIFICANT, Judged, interval_of, paired_p_value
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.readings.ranking import roc_auc
from bliss_framework.runs.evaluation.fits import Pieces, pooled_measures
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.settings.records import EvaluationSettings

CONFIDENCE_STEPS = 10
# What else stands in an evaluation and is a table.
NOT_MEASURED = (
    *("baseline", "baselines", "seconds", "instance_accuracy", "instance_auc"),
    *("instance_confidence", "comparison"),
)


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
    main = main_measure(document)
    document[main]["interval"] = interval_of(judged(problem, method, pieces, evaluation), main)
    if problem.tested.truth is not None and (problem.tested.truth >= 0).any():
        document["instance_accuracy"] = {"test": _instances(problem, repeats)}
        aucs = [_auc_of_repeat(problem, own) for own in repeats]
        if None not in aucs:
            document["instance_auc"] = {"test": summary([auc for auc in aucs if auc is not None])}
    return document


def judged(problem: Problem, method: str, pieces: Pieces, evaluation: EvaluationSettings) -> Judged:
    """Put what a method predicted of the bags of each repeat in one order."""
    bags = np.empty(0, dtype=np.intp)
    found: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
    for repeat in range(evaluation.repeats):
        own = _of_repeat(pieces, method, repeat)
        places = np.concatenate([np.asarray(piece["bags"], dtype=np.intp) for piece in own])
        order = np.argsort(places, kind="stable")
        predicted = np.concatenate([np.asarray(piece["predicted"]) for piece in own])[order]
        scores = np.concatenate([np.asarray(piece["scores"], dtype=np.float64) for piece in own])[order]
        if repeat and not np.array_equal(bags, places[order]):
            # With a test part each repeat has other bags: a bag of any repeat counts once.
            return Judged(problem.regime.reading, *_of_bags(problem, bags), found[:1])
        bags = places[order]
        found.append((predicted, scores))
    return Judged(problem.regime.reading, *_of_bags(problem, bags), found)


def _of_bags(problem: Problem, bags: NDArray[np.intp]) -> tuple[WeakLabels, NDArray[np.intp] | None]:
    tested = problem.tested
    weak, groups = tested.weak.take(bags, tested.bags.rows_of(bags)), tested.bags.groups
    return weak, None if groups is None else groups[bags]


def comparison_of(
    problem: Problem,
    pieces: Pieces,
    evaluation: EvaluationSettings,
    documents: Mapping[str, Mapping[str, Any]],
    own: str | None = None,
) -> dict[str, Any] | None:
    """Say whether the best of several methods is better than another one beyond noise.

    Args:
        problem, pieces, evaluation: as in `evaluation_of`.
        documents: what that returned of each method, two or more.
        own: the method that is held against the best of the others; None holds the best one against the second.

    Returns:
        The names of the two (`better`, `other`), the `measure`, its `difference`, `p_value` (multiplied by the number
        of comparisons that could have been made) and test (`by`), and `winner`: the better one, or None where the
        difference is not beyond noise. None where there are not two methods.
    """
    if len(documents) < 2:
        return None
    measure = main_measure(next(iter(documents.values())))
    means = {name: one[measure]["mean"] for name, one in documents.items()}
    ranked = sorted(means, key=lambda name: -means[name])
    first, second = ranked[:2]
    if own is not None:
        best = next(name for name in ranked if name != own)
        first, second = (own, best) if means[own] >= means[best] else (best, own)
    pair = [judged(problem, name, pieces, evaluation) for name in (first, second)]
    p_value, by = paired_p_value(pair[0], pair[1], measure)
    p_value = min(1.0, p_value * (len(documents) - 1))
    difference = float(means[first] - means[second])
    winner = first if p_value < SIGNIFICANT and difference > 0 else None
    return {
        "measure": measure,
        "better": first,
        "other": second,
        "difference": difference,
        "p_value": p_value,
        "by": by,
        "winner": winner,
    }


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


def measures_of(evaluation: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Pick the measures of the regime, or of a pipeline, from what else an evaluation holds."""
    return {name: one for name, one in evaluation.items() if isinstance(one, Mapping) and name not in NOT_MEASURED}


def main_measure(evaluation: Mapping[str, Any]) -> str:
    """Return the name of the first measure of the regime."""
    for name, value in measures_of(evaluation).items():
        if "runs" in value:
            return name
    raise SettingsError("The regime returned no measure of bags, so nothing can be compared.")
