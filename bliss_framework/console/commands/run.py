"""`bliss run`: from options to settings to results."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bliss_framework.console.context import Experiment, begin, check_resume, how_to_go_on, observed
from bliss_framework.console.drawing.screens import Screen, results_alone
from bliss_framework.console.drawing.tables import result_view
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.experiments import experiments_of
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.atomic import to_json
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.folder.start import RunResult
from bliss_framework.runs.pipelines import PreparedPipeline, prepare_any, run_pipeline

RUNS = "bliss-runs"


def run_source(source: str, only: str | None, output: str | None, resume: bool, **options: Any) -> None:
    """Run one experiment, or all of an experiment file."""
    work = begin(options)
    check_resume(resume, output)
    experiments = experiments_of(source, only, options)
    plugins = work.plugins()
    prepared = [prepare_any(one, plugins, work.data_dirs) for one in experiments.rows]
    folder = Path(output) if output is not None else _new_folder(source, prepared)
    places = [RunFolder(folder / one.name if experiments.several else folder, resume) for one in prepared]
    _check_places(places, prepared)
    try:
        with results_alone(), work.spread(prepared):
            results = [_run_one(one, place, plugins, work.screen) for one, place in zip(prepared, places, strict=True)]
    except KeyboardInterrupt:
        raise Interrupted(how_to_go_on(folder, sys.argv[1:])) from None
    _report(results, experiments.several, work.screen)


def _new_folder(source: str, prepared: Sequence[Experiment]) -> Path:
    name = prepared[0].name if len(prepared) == 1 else Path(source).stem
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.") or "run"
    stem = Path(RUNS) / f"{safe}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = stem, 1
    while folder.exists():
        number += 1
        folder = stem.with_name(f"{stem.name}-{number}")
    return folder


def _check_places(places: Sequence[RunFolder], prepared: Sequence[Experiment]) -> None:
    """Refuse a directory that is taken before the first experiment, not after an hour of it."""
    for place, one in zip(places, prepared, strict=True):
        if place.path.exists():
            place.check(one.document(), one.record())


def _run_one(prepared: Experiment, folder: RunFolder, plugins: Plugins, screen: Screen) -> RunResult:
    with observed(prepared, plugins, screen) as tell:
        if isinstance(prepared, PreparedPipeline):
            result = run_pipeline(prepared, tell, folder)
        else:
            result = run(prepared, tell, folder)
    for note in result.notes:
        screen.note(f"Note: {note}")
    return result


def _report(results: Sequence[RunResult], several: bool, screen: Screen) -> None:
    documents = [result.document for result in results]
    if screen.as_json:
        for result in results:
            screen.note(f"results: {result.folder}", style="")
        screen.document(to_json({"format": 1, "experiments": documents} if several else documents[0]))
        return
    for result in results:
        screen.results.print(result_view(screen.results, result.document))
        screen.results.print(f"results: {result.folder}", markup=False, highlight=False, soft_wrap=True)
