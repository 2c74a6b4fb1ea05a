"""What commands have in common: plugins, folders of data, where they compute and tell, and how to go on."""

import os
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen
from click import get_current_context

from bliss_framework.compute.engines import check_engine, workers
from bliss_framework.console.drawing.progress import Listener, progress_on
from bliss_framework.console.drawing.screens import Screen, open_screen
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.streams import OutputLost
from bliss_framework.errors import (
    ComputeError,
    FileError,
    MemoryNeededError,
    PluginError,
    RunError,
    SettingsError,
)
from bliss_framework.extension.culprits import culprit_of, naming_plugins
from bliss_framework.extension.imports import trusting
from bliss_framework.extension.loading.isolation import describe
from bliss_framework.extension.loading.plugins import Plugins, active_plugins, load_plugins
from bliss_framework.runs.data.find import default_data_dirs
from bliss_framework.runs.folder.changes import Finished
from bliss_framework.runs.folder.csv_tables import LABELS
from bliss_framework.runs.folder.run_folder import MODEL, RESULT, STATE
from bliss_framework.runs.pipeline_run import PreparedPipeline
from bliss_framework.runs.prepared import Prepared
from bliss_framework.runs.settings.experiment_file import Experiments
from bliss_framework.runs.settings.records import RunSettings

Experiment = Prepared | PreparedPipeline


@frozen(eq=False)
class CommandContext:
    """Where a command that fits models draws, looks and computes.

    Attributes:
        screen: where it draws.
        block: names of plugins to leave out.
        strict: whether the first broken plugin ends it.
        data_dirs: in which named data sets are looked up.
        engine: where its processes run.
        address: of a running cluster, or None.
    """

    screen: Screen = field()
    block: tuple[str, ...] = field()
    strict: bool = field()
    data_dirs: list[Path] = field()
    engine: str = field()
    address: str | None = field()

    def plugins(self) -> Plugins:
        """Load the plugins, and say which of them are broken."""
        return plugins_for(self.block, self.strict, self.screen)

    def processes(self, prepared: Sequence[Experiment]) -> AbstractContextManager[None]:
        """Return a context in which the processes of some experiments run on the engine."""
        return workers(self.engine, self.address, [one.settings.bliss.get("n_jobs") for one in prepared])


def command_context(options: dict[str, Any]) -> CommandContext:
    """Take the options that say how a command works out of all of its options.

    Raises:
        UnknownNameError, SettingsError, MissingExtraError: the engine cannot be used.
    """
    screen = open_screen(options.pop("quiet"), options.pop("as_json"))
    get_current_context().with_resource(trusting(options.pop("trust")))
    engine, address = options.pop("engine"), options.pop("address")
    check_engine(engine, address)
    dirs = data_folders(options.pop("data_dir"))
    return CommandContext(screen, options.pop("block"), options.pop("strict"), dirs, engine, address)


def check_resume(resume: bool, output: str | None) -> None:
    """Refuse to go on with what has no name."""
    if resume and output is None:
        raise SettingsError("--resume needs --output DIR, the directory of the run to go on with.")


def data_folders(data_dir: Sequence[str]) -> list[Path]:
    """Return the folders in which named data sets are looked up, those of `--data-dir` first."""
    return default_data_dirs([Path(folder) for folder in data_dir], os.environ)


def plugins_for(block: tuple[str, ...], strict: bool, screen: Screen) -> Plugins:
    """Load the plugins for a command, for estimators too until it ends, and say which of them are broken.

    Args:
        block: names of plugins to leave out.
        strict: whether the first broken plugin ends the command.
        screen: where it is said.

    Raises:
        PluginError: in strict mode, with the traceback of the first broken plugin.
    """
    try:
        plugins = load_plugins(block=block, strict=strict)
    except PluginError as error:
        if error.__cause__ is not None:
            error.add_note("\n\n" + "".join(traceback.format_exception(error.__cause__)).rstrip())
        raise
    context = get_current_context()
    context.with_resource(plugins.active())
    context.with_resource(naming_plugins(lambda: plugins))  # To the very end of the command.
    for sentence in plugins.problems():
        screen.note(f"Warning: {sentence}")
    return plugins


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
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                listeners.remove(listener)
                culprit = culprit_of(error, active_plugins())
                whose = "" if culprit is None else f" of {culprit.report.origin}"
                screen.note(f"Warning: an observer{whose} was dropped, it raised {describe(error)}.")

    return tell


def only_one(experiments: Experiments, source: str) -> RunSettings:
    """Return the experiment of a command that takes one.

    Raises:
        SettingsError: if there are several.
    """
    rows = experiments.rows
    if len(rows) > 1:
        names = ", ".join(str(one.name) for one in rows)
        raise SettingsError(f"{source} holds {len(rows)} experiments; choose one with --only NAME: {names}.")
    return rows[0]


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


def fitted_model(named: str, trusted: tuple[str, ...], *methods: str) -> Any:
    """Load the model that a run directory or a file means.

    Args:
        named: the directory or the file.
        trusted: full names of further types that the file may hold.
        methods: that the model must have.

    Raises:
        RunError: there is no model, it cannot be read, was never fitted, or lacks a method.
    """
    from bliss_framework.estimator.model_check import is_fitted
    from bliss_framework.estimator.persistence import load_model

    path = model_file(named)
    model = load_model(path, trusted)
    if not is_fitted(model):
        raise RunError(f"{path} holds a model that was never fitted, so it says nothing.")
    missing = [method for method in methods if not callable(getattr(model, method, None))]
    if missing:
        kind = type(model).__name__
        raise RunError(f"{path} holds a {kind}, which has no {' and no '.join(missing)}; take the model of a run.")
    return model


def how_to_go_on(folder: Path, words: Sequence[str]) -> str:
    """Say what to type to go on with an interrupted run.

    Args:
        folder: where its finished pieces are.
        words: of the command that was interrupted, without the program.
    """
    if not folder.exists():
        return f"Interrupted before anything was kept. To start again: bliss {shlex.join(words)}"
    return f"Interrupted. {what_is_kept(folder, words)}"


def what_is_kept(folder: Path, words: Sequence[str]) -> str:
    """Say where the finished pieces of a run are, and what to type to go on; arguments as in `how_to_go_on`."""
    added = [] if any(word.split("=")[0] == "--output" for word in words) else ["--output", str(folder)]
    added += [] if "--resume" in words else ["--resume"]
    # What follows a double dash is no option.
    end = words.index("--") if "--" in words else len(words)
    command = shlex.join([*words[:end], *added, *words[end:]])
    finished = Finished.of(folder / RESULT, folder / STATE)
    is_free = (folder / LABELS).exists() and not finished.decides("bliss.final_classifier", None, None)
    other = ", and labels are inferred, so the run may go on with another --final-classifier" if is_free else ""
    return f"What was finished is kept in {folder}{other}. To go on: bliss {command}"


@contextmanager
def telling_how_to_go_on(folder: Path | None, words: Sequence[str]) -> Iterator[None]:
    """Add to whatever stops a run in a with block what is kept of it, and what to type to go on.

    Args:
        folder: where finished pieces are kept, None where they are not.
        words: of the command, without the program.

    Raises:
        Interrupted: in place of Ctrl-C.
    """
    try:
        with naming_plugins(active_plugins):
            yield
    except KeyboardInterrupt:
        if folder is not None:
            raise Interrupted(how_to_go_on(folder, words)) from None
        start = f"To start again: bliss {shlex.join(words)}"
        raise Interrupted(f"Interrupted. Nothing was kept, since there was no --output DIR. {start}") from None
    except Exception as error:
        if folder is not None and _is_kept(error, folder):
            error.add_note(what_is_kept(folder, words))
        raise


def _is_kept(error: Exception, folder: Path) -> bool:
    """Say whether an error stopped a run in its midst; one that refuses a directory or a setting stopped nothing."""
    in_its_midst = isinstance(error, FileError | ComputeError | MemoryNeededError)
    return folder.exists() and (in_its_midst or not isinstance(error, SettingsError | RunError))


def print_results(screen: Screen, show: Callable[[], None], kept: Callable[[], str]) -> None:
    """Print results, and where standard output does not take them say where else they are.

    Args:
        screen: where they go.
        show: prints them.
        kept: says where they are kept; asked only where they are wanted and could not be printed.

    Raises:
        OutputLost: standard output does not take them.
    """
    try:
        show()
        screen.results.file.flush()
    except OutputLost as lost:
        if not lost.silent:
            lost.add_note(kept())
        raise
