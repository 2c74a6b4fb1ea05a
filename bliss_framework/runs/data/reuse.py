"""What a model and its run know of the file that they were made from, for reading other files alike."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bliss_framework.errors import RunError
from bliss_framework.estimator.preparation import Preparation
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.runs.folder.result_file import read_result
from bliss_framework.runs.folder.run_folder import RESULT

# Which a model says itself, or which are of labels, that new rows need not have.
NOT_REUSED = (
    *("source", "test", "features", "categorical", "carry", "sheet"),
    *("label", "labels", "instance_label", "label_sets", "group", "regime"),
)


def reading_for_model(model: Any, run: Path) -> dict[str, Any]:
    """Return what the reader of new rows is told: columns of the model, and how its run read the training data.

    Args:
        model: fitted.
        run: the directory of the run; any other path says nothing.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return {**_of_run(run), "labelled": False}
    preparation = getattr(model, "preparation_", None)
    words = preparation.words_ if isinstance(preparation, Preparation) else {}
    return {**_of_run(run), "trained_on": [str(name) for name in names], "categorical": list(words), "labelled": False}


def reading_for_test_set(training: WeakDataset) -> dict[str, Any]:
    """Return what the reader of a test set is told; nothing where the training data are no table."""
    if not training.table:
        return {}
    return {"trained_on": list(training.feature_names or ()), "categorical": list(training.categories)}


def without_roles(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a reader but those that say which columns are features."""
    return {name: value for name, value in options.items() if name not in ("features", "categorical", "carry")}


def _of_run(run: Path) -> dict[str, Any]:
    """Return the options by which a run read its data; nothing where there is no result that says them."""
    if not (run / RESULT).is_file():
        return {}
    try:
        result = read_result(run / RESULT)
    except RunError:
        return {}
    settings = result.get("settings", {})
    data = settings.get("data", {}) if isinstance(settings, Mapping) else {}
    given = {name: value for name, value in data.items() if name not in NOT_REUSED and value is not None}
    reader = result["data"].get("reader")
    return {**({"reader": reader} if isinstance(reader, str) else {}), **given}
