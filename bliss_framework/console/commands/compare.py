"""`bliss compare`: several methods on the same folds."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.context import begin, check_resume, how_to_go_on, observed
from bliss_framework.console.drawing.screens import results_alone
from bliss_framework.console.drawing.tables import evaluation_table
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.experiments import experiments_of
from bliss_framework.errors import SettingsError
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.folder.atomic import to_json
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.records import MethodSettings, RunSettings

DEFAULT_CV = 10
OWN = "bliss"


def compare_source(
    source: str, methods: str | None, only: str | None, output: str | None, resume: bool, **options: Any
) -> None:
    """Compare methods on one data set or one experiment of a file."""
    work = begin(options)
    check_resume(resume, output)
    folder = None if output is None else RunFolder(Path(output), resume)
    settings, names = _settings(source, methods, only, options)
    plugins = work.plugins()
    prepared = prepare(settings, plugins, work.data_dirs)
    chosen = names or [OWN, *(method.name for method in prepared.baselines)]
    try:
        with results_alone(), work.spread([prepared]), observed(prepared, plugins, work.screen) as tell:
            result = compare(prepared, chosen, tell, folder)
    except KeyboardInterrupt:
        raise Interrupted(_what_is_left(folder, sys.argv[1:])) from None
    for note in result.notes:
        work.screen.note(f"Note: {note}")
    if work.screen.as_json:
        work.screen.document(to_json(result.document))
        return
    rows = [(row["name"], row["evaluation"]) for row in result.document["methods"]]
    work.screen.results.print(evaluation_table(work.screen.results, rows))
    if output is not None:
        work.screen.results.print(f"results: {output}", markup=False, highlight=False, soft_wrap=True)


def _what_is_left(folder: RunFolder | None, words: Sequence[str]) -> str:
    """Say what to type after an interruption."""
    if folder is not None:
        return how_to_go_on(folder.path, words)
    return f"Interrupted. Nothing was kept, since there was no --output DIR. To start again: bliss {shlex.join(words)}"


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
