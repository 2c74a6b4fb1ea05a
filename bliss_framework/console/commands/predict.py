"""`bliss predict` and `bliss explain`: what a fitted model says of new bags, and of an instance it was trained on."""

from pathlib import Path
from typing import Any

from attrs import asdict, evolve
from rich.text import Text

from bliss_framework.console.context import data_folders, plugins_for
from bliss_framework.console.drawing.screens import open_screen
from bliss_framework.console.drawing.tables import plain_table
from bliss_framework.errors import DataError, RunError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.inputs import check_unlabelled
from bliss_framework.estimator.persistence import load_model
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.runs.data.find import find_dataset
from bliss_framework.runs.folder.atomic import plain, to_json
from bliss_framework.runs.folder.csv_tables import predicted_bags, write_predictions

MODEL = "model.skops"


def predict_source(
    model: str,
    source: str,
    output: str | None,
    trust: tuple[str, ...],
    data_dir: str | None,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    **reading: Any,
) -> None:
    """Predict the instances and bags of a data set with a saved model."""
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    fitted = load_model(model_file(model), trust)
    loaded = find_dataset(
        source,
        registry=plugins.registry,
        data_dirs=data_folders(data_dir),
        options={key: value for key, value in reading.items() if value is not None},
        needs_labels=False,
    )
    dataset = loaded.dataset
    data, notes = _known_columns(fitted, dataset, loaded.origin)
    ids, labels = predicted_bags(fitted, data)
    scores = fitted.score_bags(data)[1]
    instances = fitted.predict(data)
    for note in (*loaded.notes, *notes):
        screen.note(f"Note: {note}")
    bags = [
        {"bag": bag, "predicted": label, "score": score}
        for bag, label, score in zip(plain(ids), labels, plain(scores), strict=True)
    ]
    if output is not None:
        pairs = enumerate(zip(plain(dataset.bags), plain(instances), strict=True))
        rows = [{"row": row, "bag": bag, "label": label} for row, (bag, label) in pairs]
        write_predictions(Path(output), bags, rows)
        screen.note(f"Written: {Path(output) / 'bags.csv'} and {Path(output) / 'labels.csv'}", style="")
    if as_json:
        screen.document(to_json({"format": 1, "bags": bags, "instances": plain(instances)}))
        return
    table = plain_table(screen.results, "bag", "predicted", "score", title="scores are relative to the bag threshold")
    for one in bags:
        table.add_row(Text(str(one["bag"])), Text(_shown(one["predicted"])), Text(_shown(one["score"])))
    screen.results.print(table)


def _known_columns(fitted: Any, dataset: WeakDataset, origin: str) -> tuple[CheckedData, tuple[str, ...]]:
    """Bring columns into the order of training, by name where both sides have names."""
    names = getattr(fitted, "feature_names_in_", None)
    data = evolve(check_unlabelled(dataset.X, dataset.bags), columns=dataset.feature_names)
    data, notes = data.with_columns_of(None if names is None else names.tolist(), origin)
    n_features, trained_on = data.X.shape[1], getattr(fitted, "n_features_in_", data.X.shape[1])
    if trained_on != n_features:
        raise DataError(f"{origin} has {n_features} features, but the model was trained on {trained_on}.")
    return data, notes


def explain_row(
    run: str, row: int, trust: tuple[str, ...], as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool
) -> None:
    """Say why a training instance got its label."""
    screen = open_screen(quiet, as_json)
    plugins_for(block, strict, screen)
    explanation = load_model(model_file(run), trust).explain(row)
    if as_json:
        document = {"format": 1, "sentence": explanation.sentence(), **asdict(explanation)}
        screen.document(to_json(_renamed(document)))
        return
    screen.results.print(Text(explanation.sentence()))
    arms = plain_table(screen.results, "label", "class", "pulls", "mean reward", title="arms")
    for arm in explanation.arms:
        arms.add_row(*(Text(str(v)) for v in (arm.label, arm.class_, arm.pulls)), Text(_shown(arm.mean_reward)))
    near = plain_table(screen.results, "row", "bag", "weak label", "class", "score", title="nearest in final score")
    for one in explanation.neighbours:
        shown = (one.row, one.bag, one.weak_label, one.class_)
        near.add_row(*(Text(str(value)) for value in shown), Text(_shown(one.score)))
    screen.results.print(*([arms] if explanation.arms else []), near)


def model_file(named: str) -> Path:
    """Find the model that a run directory or a file means.

    Raises:
        RunError: if there is none.
    """
    path = Path(named)
    if path.is_dir():
        path = path / MODEL
    if not path.exists():
        raise RunError(f"There is no model at {path}; give a .skops file or the directory of a finished run.")
    return path


def _renamed(value: Any) -> Any:
    """Drop the underscore that `class` needs in Python."""
    if isinstance(value, dict):
        return {key.rstrip("_"): _renamed(item) for key, item in value.items()}
    return [_renamed(item) for item in value] if isinstance(value, list | tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:.4f}" if isinstance(value, float) else str(value)
