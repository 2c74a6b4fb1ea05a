"""result.json, read back: what a run, a comparison or a pipeline found out, checked before anybody shows it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bliss_framework.errors import RunError
from bliss_framework.estimator.uncertainty import TESTS
from bliss_framework.runs.evaluation.measures import measures_of
from bliss_framework.runs.shapes import (
    Shape,
    ShapeError,
    anything,
    list_of,
    number,
    optional,
    read_json,
    record,
    share,
    table_of,
    text,
    truth,
    whole,
    word_of,
)

FORMAT = 1


def read_result(path: Path, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read result.json.

    Args:
        path: of the file.
        settings: of the run that it must be the result of; None takes any.

    Raises:
        RunError: the file is damaged, or the result of something else; it is kept.
    """
    try:
        document = read_json(path)
        check_result(document, _kind(document if settings is None else settings))
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from None
    except ShapeError as error:
        raise RunError(f"{path} is damaged ({error}). Delete it, and --resume writes it again.") from None
    return dict(document)


def check_result(document: Any, kind: str) -> None:
    """Refuse a document that is no result of a "run", a "comparison" or a "pipeline" (ShapeError)."""
    record({"format": whole})(document, "")
    if document["format"] != FORMAT:
        raise ShapeError(f"it has format {document['format']}, and this version reads format {FORMAT}")
    RESULTS[kind](document, "")


def _kind(document: Any) -> str:
    if not isinstance(document, Mapping):
        return "run"
    settings = document.get("settings", document)
    if isinstance(settings, Mapping) and "pipeline" in settings:
        return "pipeline"
    return "comparison" if "methods" in document else "run"


_interval = record({"low": optional(number), "high": optional(number), "level": number, "by": text})
_comparison = record(
    {
        "measure": text,
        "better": text,
        "other": text,
        "winner": optional(text),
        "difference": number,
        "p_value": number,
        "by": word_of(TESTS),
    },
)
_strongest = record(
    {"row": whole, "bag": anything, "label": anything, "carried": table_of(anything)},
    {"score": number, "probability": share},
)
_findings = record(
    {},
    {
        "witnesses": record({"of": text, "n": whole, "n_with_witness": whole, "strongest": list_of(_strongest)}),
        "out_of_fold": record(
            {"measure": text, "value": number, "interval": _interval, "n_bags": whole},
            {"reference": record({"name": text, "value": number})},
        ),
        "kind": record({"like": text, "advice": text}, {"witness_share": share}),
    },
)


def _measure(value: Any, at: str) -> None:
    """A mean with its deviation, both null where there was nothing to measure."""
    parts = {"mean": optional(number), "sd": optional(number), "runs": list_of(optional(number), 1)}
    record(parts, {"interval": _interval})(value, at)
    if value["mean"] is not None and value["sd"] is None:
        raise ShapeError(f"{at}.sd is missing where there is a mean")


_known_measure = record({"mean": number, "sd": number, "runs": list_of(number, 1)})
_of_instances = record({"overall": number, "per_class": table_of(number)})
_instances = record(
    {},
    {
        "inferred": _of_instances,
        "train": _of_instances,
        "test": record({"overall": _measure, "per_class": table_of(_measure)}),
    },
)
_areas = record({}, {"inferred": number, "test": _measure})
_confidence = record({"n": list_of(whole, 1), "right": list_of(whole, 1)})


def _evaluation(value: Any, at: str) -> None:
    """What was measured of a method, in folds or on a test set."""
    record(
        {"repeats": whole},
        {
            "cv": whole,
            "test_share": optional(number),
            "instance_accuracy": _instances,
            "instance_auc": _areas,
            "instance_confidence": _confidence,
            "baselines": list_of(_named_evaluation),
            "comparison": _comparison,
        },
    )(value, at)
    table_of(_measure, 1)(measures_of(value), at)


def _named_evaluation(value: Any, at: str) -> None:
    record({"name": text})(value, at)
    _evaluation(value, at)


def _evaluation_of_run(value: Any, at: str) -> None:
    """Without folds and without a test set there may be instances with known labels, and nothing else."""
    shape: Shape = record(
        {}, {"instance_accuracy": _instances, "instance_auc": _areas, "instance_confidence": _confidence}
    )
    (_evaluation if isinstance(value, Mapping) and "repeats" in value else shape)(value, at)


def _of_pipeline(value: Any, at: str) -> None:
    """What a pipeline measured of its methods: the same of each, overall or by class."""
    method = record({"name": text, "ceiling": truth, "seconds": _known_measure})
    record({"repeats": whole, "baselines": list_of(method)})(value, at)
    method(value, at)
    own = measures_of(value)
    shapes = {key: _like(one) for key, one in own.items()}
    table_of(anything, 1)(own, at)
    for row, where in ((value, at), *((one, f"{at}.baselines[{n}]") for n, one in enumerate(value["baselines"]))):
        record(shapes)(row, where)


def _like(measure: Mapping[str, Any]) -> Shape:
    return _known_measure if "runs" in measure else record(dict.fromkeys(measure, _known_measure))


_inference = record(
    {
        "label_counts": table_of(whole),
        "n_undecided": whole,
        "mean_reward": optional(number),
        "n_pulls": whole,
    },
    {"reward_curves": list_of(list_of(number)), "weak_score": table_of(anything)},
)
_shared = {"data": table_of(anything), "notes": list_of(text), "seconds": table_of(number)}
_sizes = record(
    {"name": text, "n_bags": whole, "n_instances": whole, "n_features": whole}, {"classes": list_of(anything)}
)
RESULTS: Mapping[str, Shape] = {
    "run": record(
        {**_shared, "name": text, "settings": table_of(anything), "data": _sizes, "inference": _inference},
        {"evaluation": _evaluation_of_run, "findings": _findings},
    ),
    "comparison": record(
        {
            "data": _sizes,
            "protocol": table_of(anything),
            "methods": list_of(
                record({"name": text, "evaluation": _evaluation, "seconds": number, "settings": table_of(anything)}), 1
            ),
        },
        {"comparison": _comparison},
    ),
    "pipeline": record(
        {
            **_shared,
            "name": text,
            "settings": record({"pipeline": anything}),
            "data": record({"name": text}),
            "inference": table_of(anything),
            "evaluation": _of_pipeline,
        },
        {"files": list_of(text)},
    ),
}
