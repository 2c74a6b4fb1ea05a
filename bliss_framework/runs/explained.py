"""What a finished run says of a bag or an instance: which of them is meant, what is carried beside it, its features."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict

from bliss_framework.errors import BlissError, DataError, RunError
from bliss_framework.estimator.bag_explanation import bag_place
from bliss_framework.estimator.features_that_matter import FeaturesReport, linear_features, permuted_features
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.naming import as_count, did_you_mean
from bliss_framework.kernel.words import listed_words
from bliss_framework.runs.folder.csv_tables import LABELS, carried_of, read_labels
from bliss_framework.runs.folder.run_folder import RUN
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments
from bliss_framework.runs.settings.toml_text import parse_toml

Lines = Sequence[Mapping[str, str]]
KINDS = ROW, INSTANCE, BAG = "row", "instance", "bag"


def lines_of(run: Path, model: Any) -> Lines:
    """Return the lines of labels.csv of a run; none where there is no run but a model alone.

    Raises:
        RunError: the table is damaged, or of another model.
    """
    lines = read_labels(run / LABELS) if run.is_dir() else []
    if lines and len(lines) != len(model.labels_):
        raise RunError(f"{run / LABELS} has {len(lines)} lines, and the model learnt {len(model.labels_)} rows.")
    return lines


def meanings(model: Any, lines: Lines, what: str) -> dict[str, Any]:
    """Return everything that a word may mean: "row" and "instance" with a row, "bag" with an id; the likeliest first.

    Args:
        model: a fitted `BlissClassifier`.
        lines: of labels.csv.
        what: a row number, a value of a carried column, or the id of a bag.

    Raises:
        DataError: it means nothing, or several instances.
    """
    found: dict[str, Any] = {}
    n = len(model.labels_)
    row = as_count(what)
    if row is not None and row < n:
        found[ROW] = row
    rows = [row for row, line in enumerate(lines) if what in carried_of(line).values()]
    if len(rows) == 1:
        found[INSTANCE] = rows[0]
    ids = [str(one) for one in model.bag_ids_.tolist()]
    if what in ids:
        found[BAG] = model.bag_ids_[bag_place(model, what)].item() if model.bag_ids_.dtype != object else what
    if BAG in found and what != str(found.get(ROW, what)):
        found = {BAG: found.pop(BAG), **found}  # Nobody writes a row as 007.
    if found:
        return found
    if len(rows) > 1:
        raise DataError(f"{what!r} stands beside {len(rows)} instances, of the rows {listed_words(rows, 5)}; give one.")
    if what.lstrip("-").isdecimal():
        raise DataError(f"There is no training row {what}; rows are 0 to {n - 1}.")
    known = [*ids, *(value for line in lines[:10_000] for value in carried_of(line).values())]
    raise DataError(
        f"No bag and no instance of the training data is called {what!r}.{did_you_mean(what, known)} Give a row "
        f"number, a bag id, or a value of a carried column of labels.csv."
    )


def features_of(run: Path, model: Any, plugins: Plugins, data_dirs: Sequence[Path], bag: Any, class_: Any) -> Any:
    """Say which features the score of a bag hangs on: by weights, else with the data of the run.

    Args:
        run: its directory, or the file of a model.
        model: a fitted `BlissClassifier`.
        plugins, data_dirs: where named data are found.
        bag: its id.
        class_: the class whose score is looked at.
    """
    place = bag_place(model, bag)
    which = model.classes_.tolist().index(class_)
    linear = linear_features(model, which)
    if linear is not None:
        return linear
    if not (run / RUN).exists():
        return FeaturesReport("none", "Features are permuted in the training data, which the directory of a run names.")
    try:
        settings = read_experiments(run / RUN).rows[0]
        data = prepare(settings, plugins, data_dirs).problem
        recorded = parse_toml((run / RUN).read_text(encoding="utf-8"))["record"]["data_sha256"]
    except (BlissError, OSError, ValueError, KeyError) as error:
        return FeaturesReport("none", f"The training data cannot be read, so no feature is tried: {error}")
    if data.dataset.sha256() != recorded:
        return FeaturesReport("none", "The training data have changed since the run, so no feature is tried.")
    return permuted_features(model, data.data, place, which)


def plain_document(record: Any, **more: Any) -> dict[str, Any]:
    """Turn a record of an explanation into a document; `class_` and the like lose the underscore of Python."""
    found = _without_underscores({"format": 1, "sentence": record.sentence(), **asdict(record), **more})
    assert isinstance(found, dict)
    return found


def _without_underscores(value: Any) -> Any:
    if isinstance(value, dict):
        return {key.rstrip("_"): _without_underscores(item) for key, item in value.items()}
    return [_without_underscores(item) for item in value] if isinstance(value, list | tuple) else value
