"""`bliss run`: from options to settings to results."""

import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.progress import Listener, progress_on
from bliss_framework.console.screens import Screen, open_screen
from bliss_framework.console.tables import result_view
from bliss_framework.errors import SettingsError, UnknownNameError
from bliss_framework.extension.manager import Plugins, load_plugins
from bliss_framework.extension.names import did_you_mean
from bliss_framework.runs.data import default_data_dirs
from bliss_framework.runs.experiment import Prepared, RunResult, prepare, run
from bliss_framework.runs.files import to_json
from bliss_framework.runs.results import RunFolder
from bliss_framework.runs.settings import (
    DataSettings,
    RunSettings,
    read_bliss,
    read_experiments,
    with_component_parameters,
    with_options,
)

DATA_OPTIONS = ("bag", "label", "instance_label", "labels")
RUNS = "bliss-runs"


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
    **options: Any,
) -> None:
    """Run one experiment, or all of an experiment file."""
    screen = open_screen(quiet, as_json)
    if resume and output is None:
        raise SettingsError("--resume needs --output DIR, the directory of the run to go on with.")
    plugins = plugins_for(block, strict, screen)
    several, experiments = experiments_of(source, only, options)
    dirs = default_data_dirs(None if data_dir is None else Path(data_dir), os.environ)
    prepared = [prepare(one, plugins, dirs) for one in experiments]
    folder = Path(output) if output is not None else _new_folder(source, prepared)
    results = []
    try:
        for one in prepared:
            where = RunFolder(folder / one.name if several else folder, resume)
            results.append(_run_one(one, where, plugins, screen))
    except KeyboardInterrupt as interrupt:
        interrupt.message = how_to_go_on(folder)  # type: ignore[attr-defined]
        raise
    _report(results, several, screen)


def plugins_for(block: tuple[str, ...], strict: bool, screen: Screen) -> Plugins:
    """Load the plugins for a command, and say which of them are broken."""
    if block:
        # Worker processes and estimators look here too.
        already = os.environ.get("BLISS_BLOCK_PLUGINS", "")
        os.environ["BLISS_BLOCK_PLUGINS"] = ",".join([*filter(None, [already]), *block])
    plugins = load_plugins(strict=strict)
    for sentence in plugins.problems():
        screen.note(f"Warning: {sentence}")
    return plugins


def experiments_of(source: str, only: str | None, options: dict[str, Any]) -> tuple[bool, list[RunSettings]]:
    """Read the experiments that a source means, with options laid over them; and whether it is a file of several."""
    several = False
    if source.endswith(".toml"):
        experiments = read_experiments(Path(source))
        several = experiments[0].name is not None and len(experiments) >= 1
    else:
        experiments = [RunSettings(DataSettings(source))]
    if only is not None:
        experiments = _only(experiments, only, source)
    return several, [_with(one, dict(options)) for one in experiments]


def _only(experiments: list[RunSettings], only: str, source: str) -> list[RunSettings]:
    names = [one.name or one.data.source for one in experiments]
    if only not in names:
        raise UnknownNameError(
            f'{source} has no experiment "{only}".{did_you_mean(only, names)} It has: {", ".join(names)}.'
        )
    return [one for one, name in zip(experiments, names, strict=True) if name == only]


def _with(settings: RunSettings, options: dict[str, Any]) -> RunSettings:
    assignments = options.pop("assignments")
    chosen = options.pop("settings")
    reading = {key: options.pop(key) for key in DATA_OPTIONS}
    reading = {key: value for key, value in reading.items() if value is not None}
    settings = evolve(settings, data=evolve(settings.data, options={**settings.data.options, **reading}))
    if chosen not in (None, "default"):
        settings = evolve(settings, bliss={**settings.bliss, **read_bliss(Path(chosen))})
    if options.get("bag_threshold") not in (None, "out-of-fold"):
        options["bag_threshold"] = _number(options["bag_threshold"])
    return with_component_parameters(with_options(settings, options), assignments)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _new_folder(source: str, prepared: list[Prepared]) -> Path:
    name = prepared[0].name if len(prepared) == 1 else Path(source).stem
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    stem = Path(RUNS) / f"{safe}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = stem, 1
    while folder.exists():
        number += 1
        folder = stem.with_name(f"{stem.name}-{number}")
    return folder


def _run_one(prepared: Prepared, folder: RunFolder, plugins: Plugins, screen: Screen) -> RunResult:
    with observed(prepared, plugins, screen) as tell:

        def tell_and_log(event: Any) -> None:
            folder.log(event)
            tell(event)

        result = run(prepared, tell_and_log, folder)
    for note in result.notes:
        screen.note(f"Note: {note}")
    return result


def observed(prepared: Prepared, plugins: Plugins, screen: Screen) -> Any:
    """Show progress, and tell the observers of plugins, for the length of a with block."""
    from contextlib import contextmanager

    @contextmanager
    def telling() -> Any:
        listeners: list[Listener] = [observer.notify for observer in plugins.observers(prepared.settings)]
        if screen.quiet:
            yield _teller(listeners, screen)
            return
        with progress_on(screen.messages) as show:
            yield _teller([*listeners, show], screen)

    return telling()


def _teller(listeners: list[Listener], screen: Screen) -> Listener:
    def tell(event: Any) -> None:
        for listener in list(listeners):
            try:
                listener(event)
            except Exception as error:
                listeners.remove(listener)
                screen.note(f"Warning: an observer was dropped, it raised {type(error).__name__}: {error}")

    return tell


def _report(results: list[RunResult], several: bool, screen: Screen) -> None:
    documents = [result.document for result in results]
    if screen.as_json:
        screen.document(to_json({"format": 1, "experiments": documents} if several else documents[0]))
        return
    for result in results:
        screen.results.print(result_view(screen.results, result.document))
        screen.results.print(f"results: {result.folder}", markup=False, highlight=False, soft_wrap=True)


def how_to_go_on(folder: Path) -> str:
    """Say what to type to go on with an interrupted run."""
    words = sys.argv[1:]
    if "--output" not in words and not any(word.startswith("--output=") for word in words):
        words = [*words, "--output", str(folder)]
    if "--resume" not in words:
        words = [*words, "--resume"]
    return f"Interrupted. What was finished is kept in {folder}. To go on: bliss {shlex.join(words)}"
