"""`bliss predict`: what a fitted model says of new bags."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from bliss_framework.console.completion import sources
from bliss_framework.console.options import data_options, given_options, output_options
from bliss_framework.errors import DataError

if TYPE_CHECKING:
    from bliss_framework.estimator.checked_data import CheckedData
    from bliss_framework.extension.dataset import WeakDataset

trust_option = click.option(
    "--trust", multiple=True, metavar="TYPE", help="A further type that the model file may hold, by its full name."
)


@click.command("predict")
@click.argument("model")
@click.argument("source", shell_complete=sources)
@click.option("--output", metavar="DIR", help="Also write bags.csv and labels.csv there.")
@trust_option
@data_options
@output_options
def predict_command(
    model: str,
    source: str,
    output: str | None,
    trust: tuple[str, ...],
    data_dir: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    **reading: Any,
) -> None:
    """Predict new bags: MODEL is a run's directory or a .skops file, SOURCE is data, labelled or not.

    With --output, labels.csv ranks the instances of each bag by their score.
    """
    from bliss_framework.console.context import data_folders, fitted_model, plugins_for
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.console.drawing.tables import prediction_table
    from bliss_framework.runs.data.find import find_dataset
    from bliss_framework.runs.data.reuse import reading_for_model
    from bliss_framework.runs.folder.atomic import to_json
    from bliss_framework.runs.folder.csv_tables import write_predictions
    from bliss_framework.runs.predictions import prediction_lines

    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    fitted = fitted_model(model, trust, "predict_bags", "score_bags")
    _refuse_own_transformer(model, fitted)
    loaded = find_dataset(
        source,
        registry=plugins.registry,
        data_dirs=data_folders(data_dir),
        options=given_options(reading),
        needs_labels=False,
        rows_are_bags=bool(getattr(getattr(fitted, "regime_", None), "rows_are_bags", False)),
        separator=getattr(getattr(fitted, "regime_", None), "separator", None),
        told=reading_for_model(fitted, Path(model)),
    )
    dataset = loaded.dataset
    data, notes = _known_columns(fitted, dataset, loaded.origin)
    bags, rows = prediction_lines(fitted, data)
    for note in (*loaded.notes, *notes):
        screen.note(f"Note: {note}")
    if output is not None:
        write_predictions(Path(output), bags, rows)
        screen.note(f"Written: {Path(output) / 'bags.csv'} and {Path(output) / 'labels.csv'}", style="")
    if as_json:
        screen.document(to_json({"format": 1, "bags": bags, "instances": [one["label"] for one in rows], "rows": rows}))
        return
    screen.results.print(prediction_table(screen.results, bags, rows, fitted.classes_.tolist()))


def _refuse_own_transformer(model: str, fitted: Any) -> None:
    """Refuse a model whose rows go through a transformer that was given in Python: it takes the table that it knows."""
    from bliss_framework.estimator.preparation import Preparation

    preparation = getattr(fitted, "preparation_", None)
    if preparation is not None and not isinstance(preparation, Preparation):
        raise DataError(
            f"{model} prepares rows by a transformer of its own, {type(preparation).__name__}, which takes a table as "
            f"it was in Python: predict there, load_model(...).predict_bags(table, bags=ids), or fit with "
            f'prepare="auto", which takes files.'
        )


def _known_columns(fitted: Any, dataset: "WeakDataset", origin: str) -> "tuple[CheckedData, tuple[str, ...]]":
    """Bring columns into the order of training, by name where both sides have names."""
    from attrs import evolve

    from bliss_framework.estimator.inputs import check_unlabelled
    from bliss_framework.estimator.prepared_rows import reading_of

    names = getattr(fitted, "feature_names_in_", None)
    data = check_unlabelled(dataset.X, dataset.bags, reading_of(fitted, None))
    data = evolve(data, columns=dataset.feature_names, categories=dataset.categories, carried=dataset.carried)
    data, notes = data.with_columns_of(None if names is None else names.tolist(), origin)
    n_features, trained_on = data.X.shape[1], getattr(fitted, "n_features_in_", data.X.shape[1])
    if trained_on != n_features:
        raise DataError(f"{origin} has {n_features} features, but the model was trained on {trained_on}.")
    preparation = getattr(fitted, "preparation_", None)
    return data, (*notes, *(() if preparation is None else preparation.unknown_words(data)))
