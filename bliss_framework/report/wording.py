"""How measures are named, ordered and rounded wherever a person reads them: on the console and in reports."""

from collections.abc import Mapping, Sequence
from typing import Any

from bliss_framework.runs.evaluation.measures import measures_of

# How the field writes words of which the names of measures are made.
WRITTEN = {"auc": "AUC", "f1": "F1", "map": "mAP", "ap": "AP", "corloc": "CorLoc"}
PERCENT = ("accuracy", "precision", "recall")
SMALLER_IS_BETTER = "error"
DETAIL = "/"  # In the name of a measure that would make a table too wide, such as one for each label.


def measure_name(measure: str) -> str:
    """Return what a person calls a measure.

    >>> measure_name("bag_auc"), measure_name("proportion_error")
    ('bag AUC', 'proportion error')
    """
    return " ".join(WRITTEN.get(word, word) for word in measure.split("_"))


def how_tested(evaluation: Mapping[str, Any]) -> str:
    """Say on what an evaluation was made, and how often.

    >>> how_tested({"cv": 10, "repeats": 3})
    '10 folds of whole bags, 3 repeats'
    """
    repeats = evaluation["repeats"]
    return f"{_parts(evaluation)}, {repeats} repeat{'s' if repeats != 1 else ''}"


def _parts(evaluation: Mapping[str, Any]) -> str:
    if "cv" in evaluation:
        return f"{evaluation['cv']} folds of whole bags"
    share = evaluation.get("test_share")
    return "a test set" if share is None else f"a test part of {share:.0%} of the bags"


def shown_measures(evaluation: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Pick what was measured in every repeat, but for details; of instances, the accuracy in the tests."""
    own = {name: one for name, one in measures_of(evaluation).items() if "runs" in one and DETAIL not in name}
    tested = evaluation.get("instance_accuracy", {}).get("test")
    if tested is None:
        return own
    auc = evaluation.get("instance_auc", {}).get("test")
    return {**own, "instance_accuracy": tested["overall"], **({} if auc is None else {"instance_auc": auc})}


def best_mean(measure: str, values: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the best mean of several methods; None where none of them has one."""
    means = [value["mean"] for value in values if value["mean"] is not None]
    return (min if smaller_is_better(measure) else max)(means, default=None)


def smaller_is_better(measure: str) -> bool:
    """Whether a measure is an error.

    >>> smaller_is_better("proportion_error"), smaller_is_better("bag_auc")
    (True, False)
    """
    return measure.endswith(SMALLER_IS_BETTER)


def is_percent(measure: str) -> bool:
    """Whether a measure is written in percent.

    >>> is_percent("label_recall"), is_percent("bag_auc")
    (True, False)
    """
    return any(word in measure for word in PERCENT)


def shown_value(measure: str, value: Mapping[str, Any] | None) -> str:
    """Write a mean, and over several repeats its deviation; accuracies and the like in percent.

    >>> shown_value("bag_accuracy", {"mean": 0.85, "sd": 0.02, "runs": [0.83, 0.87]})
    '85.0% +- 2.0'
    """
    if value is None or value["mean"] is None:
        return "-"
    percent = is_percent(measure)
    factor, digits = (100, 1) if percent else (1, 3)
    spread = f" +- {factor * value['sd']:.{digits}f}" if len(value["runs"]) > 1 else ""
    return f"{factor * value['mean']:.{digits}f}{'%' if percent else ''}{spread}"


def percent_value(measure: str, value: Mapping[str, Any] | None) -> str:
    """Write a measure of a pipeline, all of which are in percent.

    >>> percent_value("map", {"mean": 0.408, "sd": 0.004, "runs": [0.404, 0.412]})
    '40.8 +- 0.4'
    """
    if value is None or value["mean"] is None:
        return "-"
    spread = f" +- {100 * value['sd']:.1f}" if len(value["runs"]) > 1 else ""
    return f"{100 * value['mean']:.1f}{spread}"
