"""`bliss run`: from options to settings to results."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from attrs import evolve

from bliss_framework.console.completion import sources
from bliss_framework.console.options import (
    ParameterCommand,
    data_options,
    engine_options,
    evaluation_options,
    inference_options,
    output_options,
    trust_modules_option,
    version_options,
)

if TYPE_CHECKING:
    from bliss_framework.console.context import CommandContext, Experiment
    from bliss_framework.extension.loading.plugins import Plugins
    from bliss_framework.runs.folder.run_folder import RunFolder
    from bliss_framework.runs.folder.start import RunResult
    from bliss_framework.runs.settings.records import RunSettings

RUNS = "bliss-runs"


@click.command("run", cls=ParameterCommand)
@click.argument("source", shell_complete=sources)
@click.option("--only", metavar="NAME", help="Run one [[experiment]] of an experiment file.")
@click.option("--output", metavar="DIR", help="Where results go. [default: a new folder in ./bliss-runs]")
@click.option("--resume", is_flag=True, help="Go on with the run in --output; what is finished is not computed again.")
@click.option("--verbose", is_flag=True, help="Also say how many pulls there were, and their mean reward.")
@version_options
@evaluation_options
@inference_options
@trust_modules_option
@engine_options
@data_options
@output_options
def run_command(
    source: str,
    only: str | None,
    output: str | None,
    resume: bool,
    verbose: bool,
    accept_versions: bool,
    accept_plugin_versions: bool,
    **options: Any,
) -> None:
    """Infer the labels of SOURCE; with --cv also evaluate beside simple baselines.

    SOURCE is the name of a data set, a data file, or an experiment .toml.
    """
    from bliss_framework.console.context import check_resume, command_context, print_results, telling_how_to_go_on
    from bliss_framework.console.drawing.screens import stdout_to_stderr, waiting
    from bliss_framework.console.experiments import experiments_of
    from bliss_framework.runs.folder.run_folder import RunFolder
    from bliss_framework.runs.pipeline_run import prepare_any

    context = command_context(options)
    check_resume(resume, output)
    experiments = experiments_of(source, only, options)
    plugins = context.plugins()
    rows = [_with_records(one, output, experiments.several) if resume else one for one in experiments.rows]
    with waiting(context.screen, f"reading {source}"):
        prepared = [prepare_any(one, plugins, context.data_dirs) for one in rows]
    folder = Path(output) if output is not None else _new_folder(source, prepared)
    paths = [folder / one.name if experiments.several else folder for one in prepared]
    places = [RunFolder(path, resume, accept_versions, accept_plugin_versions) for path in paths]
    _check_places(places, prepared)
    results = []
    with (
        telling_how_to_go_on(folder, sys.argv[1:]),
        _lock_of_all(folder, places, experiments.several),
        stdout_to_stderr(),
        context.processes(prepared),
    ):
        for one, place in zip(prepared, places, strict=True):
            results.append(_run(one, place, plugins, context))
    show = partial(_show, results, experiments.several, verbose, context)
    print_results(context.screen, show, lambda: f"The results are complete in {folder}.")


@contextmanager
def _lock_of_all(folder: Path, places: "Sequence[RunFolder]", several: bool) -> Iterator[None]:
    """Lock the directory of several experiments; if all are finished, and only to be shown, it may be read-only."""
    from bliss_framework.errors import FileError
    from bliss_framework.runs.folder.run_folder import RESULT, RunFolder

    with ExitStack() as stack:
        if several:
            try:
                stack.enter_context(RunFolder(folder).at_work())
            except FileError:
                if not all((place.path / RESULT).exists() for place in places):
                    raise
        yield


def _with_records(settings: "RunSettings", output: str | None, several: bool) -> "RunSettings":
    """Add what the run that goes on wrote down of its components, for messages about those that are gone."""
    from bliss_framework.runs.folder.run_folder import RunFolder

    folder = Path(output or "")
    place = RunFolder(folder / str(settings.name) if several else folder)
    return evolve(settings, recorded={**settings.recorded, **place.recorded()})


def _new_folder(source: str, prepared: "Sequence[Experiment]") -> Path:
    name = prepared[0].name if len(prepared) == 1 else Path(source).stem
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.") or "run"
    stem = Path(RUNS) / f"{safe}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = stem, 1
    while folder.exists():
        number += 1
        folder = stem.with_name(f"{stem.name}-{number}")
    return folder


def _check_places(places: "Sequence[RunFolder]", prepared: "Sequence[Experiment]") -> None:
    """Refuse a directory that is taken before the first experiment, not after an hour of it."""
    for place, one in zip(places, prepared, strict=True):
        if place.path.exists() or place.path.is_symlink():
            place.check(one.document(place.path), one.record())


def _run(prepared: "Experiment", folder: "RunFolder", plugins: "Plugins", context: "CommandContext") -> "RunResult":
    from bliss_framework.console.context import observed
    from bliss_framework.runs.experiment import run
    from bliss_framework.runs.pipeline_run import PreparedPipeline, run_pipeline

    with observed(prepared, plugins, context.screen) as tell:
        if isinstance(prepared, PreparedPipeline):
            result = run_pipeline(prepared, tell, folder)
        else:
            result = run(prepared, tell, folder)
    for note in result.notes:
        context.screen.note(f"Note: {note}")
    return result


def _show(results: "Sequence[RunResult]", several: bool, verbose: bool, context: "CommandContext") -> None:
    from bliss_framework.console.drawing.findings import next_words
    from bliss_framework.console.drawing.tables import result_view
    from bliss_framework.runs.folder.atomic import to_json

    screen = context.screen
    documents = [result.document for result in results]
    if screen.as_json:
        for result in results:
            screen.note(f"results: {result.folder}", style="")
        screen.document(to_json({"format": 1, "experiments": documents} if several else documents[0]))
        return
    for result in results:
        screen.results.print(result_view(screen.results, result.document, verbose))
        screen.results.print(f"results: {result.folder}", markup=False, highlight=False, soft_wrap=True)
        if result.folder is not None and "pipeline" not in result.document.get("settings", {}):
            screen.note(next_words(result.folder), style="")
