"""`bliss run`: from options to settings to results."""

import os
import shlex
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from bliss_framework.console.choosing import experiments_of
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.progress import Listener, progress_on
from bliss_framework.console.screens import Screen, open_screen, results_alone
from bliss_framework.console.tables import result_view
from bliss_framework.console.workers import workers
from bliss_framework.engines import check_engine
from bliss_framework.errors import PluginError, SettingsError
from bliss_framework.extension.manager import Plugins, load_plugins
from bliss_framework.runs.data import default_data_dirs
from bliss_framework.runs.experiment import run
from bliss_framework.runs.files import to_json
from bliss_framework.runs.pipelines import PreparedPipeline, prepare_any, run_pipeline
from bliss_framework.runs.prepared import Prepared
from bliss_framework.runs.results import RunFolder
from bliss_framework.runs.starting import RunResult

RUNS = "bliss-runs"
Experiment = Prepared | PreparedPipeline


def run_source(
    source: str,
    only: str | None,
    output: str | None,
    resume: bool,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    data_dir: str | None,
    engine: str,
    address: str | None,
    **options: Any,
) -> None:
    """Run one experiment, or all of an experiment file."""
    screen = open_screen(quiet, as_json)
    check_engine(engine, address)
    if resume and output is None:
        raise SettingsError("--resume needs --output DIR, the directory of the run to go on with.")
    experiments = experiments_of(source, only, options)
    plugins = plugins_for(block, strict, screen)
    dirs = data_folders(data_dir)
    prepared = [prepare_any(one, plugins, dirs) for one in experiments.rows]
    folder = Path(output) if output is not None else _new_folder(source, prepared)
    places = [RunFolder(folder / one.name if experiments.several else folder, resume) for one in prepared]
    _check_places(places, prepared)
    try:
        n_jobs = [one.settings.bliss.get("n_jobs") for one in prepared]
        with results_alone(), workers(engine, address, n_jobs):
            results = [_run_one(one, place, plugins, screen) for one, place in zip(prepared, places, strict=True)]
    except KeyboardInterrupt:
        raise Interrupted(how_to_go_on(folder, sys.argv[1:])) from None
    _report(results, experiments.several, screen)


def data_folders(data_dir: str | None) -> list[Path]:
    """Return the folders in which named data sets are looked up, that of `--data-dir` first."""
    return default_data_dirs(None if data_dir is None else Path(data_dir), os.environ)


def plugins_for(block: tuple[str, ...], strict: bool, screen: Screen) -> Plugins:
    """Load the plugins for a command, and say which of them are broken.

    Raises:
        PluginError: in strict mode, with the traceback of the first broken plugin.
    """
    if block:
        # Worker processes and estimators look here too.
        already = os.environ.get("BLISS_BLOCK_PLUGINS", "")
        os.environ["BLISS_BLOCK_PLUGINS"] = ",".join([*filter(None, [already]), *block])
    try:
        plugins = load_plugins(strict=strict)
    except PluginError as error:
        if error.__cause__ is not None:
            error.add_note("\n\n" + "".join(traceback.format_exception(error.__cause__)).rstrip())
        raise
    for sentence in plugins.problems():
        screen.note(f"Warning: {sentence}")
    return plugins


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


@contextmanager
def observed(prepared: Experiment, plugins: Plugins, screen: Screen) -> Iterator[Listener]:
    """Show progress, and tell the observers of plugins, for the length of a with block."""
    listeners: list[Listener] = [observer.notify for observer in plugins.observers(prepared.settings)]
    if screen.quiet:
        yield _teller(listeners, screen)
        return
    with progress_on(screen.messages) as show:
        yield _teller([*listeners, show], screen)


def _teller(listeners: list[Listener], screen: Screen) -> Listener:
    def tell(event: Any) -> None:
        for listener in list(listeners):
            try:
                listener(event)
            except Exception as error:
                listeners.remove(listener)
                screen.note(f"Warning: an observer was dropped, it raised {type(error).__name__}: {error}")

    return tell


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


def how_to_go_on(folder: Path, words: Sequence[str]) -> str:
    """Say what to type to go on with an interrupted run.

    Args:
        folder: where its finished pieces are.
        words: of the command that was interrupted, without the program.
    """
    if not folder.exists():
        return f"Interrupted before anything was kept. To start again: bliss {shlex.join(words)}"
    added = [] if any(word.split("=")[0] == "--output" for word in words) else ["--output", str(folder)]
    added += [] if "--resume" in words else ["--resume"]
    # What follows a double dash is no option.
    end = words.index("--") if "--" in words else len(words)
    command = shlex.join([*words[:end], *added, *words[end:]])
    return f"Interrupted. What was finished is kept in {folder}. To go on: bliss {command}"
