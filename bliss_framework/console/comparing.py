"""`bliss compare`: several methods on the same folds."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from bliss_framework.console.choosing import experiments_of
from bliss_framework.console.exits import Interrupted, deaf_workers
from bliss_framework.console.running import data_folders, observed, plugins_for
from bliss_framework.console.screens import open_screen, results_alone
from bliss_framework.console.tables import evaluation_table
from bliss_framework.errors import SettingsError
from bliss_framework.runs.experiment import compare
from bliss_framework.runs.files import to_json
from bliss_framework.runs.preparation import prepare
from bliss_framework.runs.settings import MethodSettings, RunSettings

DEFAULT_CV = 10
OWN = "bliss"


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
    settings, names = _settings(source, methods, only, options)
    plugins = plugins_for(block, strict, screen)
    dirs = data_folders(data_dir)
    prepared = prepare(settings, plugins, dirs)
    chosen = names or [OWN, *(method.name for method in prepared.baselines)]
    try:
        n_jobs = prepared.settings.bliss["n_jobs"]
        with results_alone(), deaf_workers(n_jobs), observed(prepared, plugins, screen) as tell:
            result = compare(prepared, chosen, tell)
    except KeyboardInterrupt:
        command = shlex.join(sys.argv[1:])
        raise Interrupted(f"Interrupted. A comparison keeps nothing; to start again: bliss {command}") from None
    for note in result.notes:
        screen.note(f"Note: {note}")
    if screen.as_json:
        screen.document(to_json(result.document))
        return
    rows = [(row["name"], row["evaluation"]) for row in result.document["methods"]]
    screen.results.print(evaluation_table(screen.results, rows))


def _settings(
    source: str, methods: str | None, only: str | None, options: dict[str, Any]
) -> tuple[RunSettings, list[str]]:
    experiments = experiments_of(source, only, options).rows
    if len(experiments) > 1:
        names = ", ".join(str(one.name) for one in experiments)
        raise SettingsError(f"{source} holds {len(experiments)} experiments; choose one with --only NAME: {names}.")
    (settings,) = experiments
    if not settings.evaluation.wanted and settings.data.test is None:
        settings = evolve(settings, evaluation=evolve(settings.evaluation, cv=DEFAULT_CV))
    if methods is None:
        return settings, []
    chosen = [name.strip() for name in methods.split(",") if name.strip()]
    if not chosen:
        raise SettingsError(f'methods must be {OWN} and names of baselines with commas between them; got "{methods}".')
    return evolve(settings, compare=_baselines(settings, chosen)), chosen


def _baselines(settings: RunSettings, names: Sequence[str]) -> tuple[MethodSettings, ...]:
    """Keep the parameters that the experiment file gives a baseline."""
    known = {one.name: one for one in settings.compare or ()}
    return tuple(known.get(name, MethodSettings(name)) for name in dict.fromkeys(names) if name != OWN)
