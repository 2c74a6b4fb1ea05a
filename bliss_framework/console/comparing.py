"""`bliss compare`: several methods on the same folds."""

import os
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.running import experiments_of, observed, plugins_for
from bliss_framework.console.screens import open_screen
from bliss_framework.console.tables import evaluation_table
from bliss_framework.errors import SettingsError
from bliss_framework.runs.data import default_data_dirs
from bliss_framework.runs.experiment import compare, prepare
from bliss_framework.runs.files import to_json
from bliss_framework.runs.settings import EvaluationSettings, MethodSettings, RunSettings

DEFAULT_CV = 10


def compare_source(
    source: str,
    methods: str | None,
    only: str | None,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    data_dir: str | None,
    **options: Any,
) -> None:
    """Compare methods on one data set or one experiment of a file."""
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    _, experiments = experiments_of(source, only, options)
    if len(experiments) > 1:
        raise SettingsError(f"{source} holds {len(experiments)} experiments; choose one with --only NAME.")
    settings = _with_cv(experiments[0])
    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    if names is not None:
        settings = evolve(settings, compare=_chosen(settings, names))
    dirs = default_data_dirs(None if data_dir is None else Path(data_dir), os.environ)
    prepared = prepare(settings, plugins, dirs)
    with observed(prepared, plugins, screen) as tell:
        result = compare(prepared, names or ["bliss", *(method.name for method in prepared.baselines)], tell)
    for note in result.notes:
        screen.note(f"Note: {note}")
    if screen.as_json:
        screen.document(to_json(result.document))
        return
    rows = [(row["name"], row["evaluation"]) for row in result.document["methods"]]
    screen.results.print(evaluation_table(screen.results, rows))


def _with_cv(settings: RunSettings) -> RunSettings:
    if settings.evaluation.cv is not None:
        return settings
    return evolve(settings, evaluation=EvaluationSettings(DEFAULT_CV, settings.evaluation.repeats))


def _chosen(settings: RunSettings, names: list[str]) -> tuple[MethodSettings, ...]:
    """Keep the parameters that the experiment file gives a baseline."""
    known = {one.method: one for one in settings.compare or ()}
    return tuple(known.get(name, MethodSettings(name)) for name in names if name != "bliss")
