"""`bliss compare`: several methods on the same folds."""

import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from bliss_framework.console.completion import methods, sources
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
from bliss_framework.errors import SettingsError

if TYPE_CHECKING:
    from bliss_framework.console.drawing.screens import Screen
    from bliss_framework.runs.settings.records import MethodSettings, RunSettings

DEFAULT_CV = 10
OWN = "bliss"


@click.command("compare", cls=ParameterCommand)
@click.argument("source", shell_complete=sources)
@click.option(
    "--methods",
    metavar="NAMES",
    shell_complete=methods,
    help="bliss and names of baselines, with commas. [default: bliss, and the experiment's or the regime's baselines]",
)
@click.option("--only", metavar="NAME", help="Take one [[experiment]] of an experiment file.")
@click.option("--output", metavar="DIR", help="Where the result and finished fits are kept. [default: nothing is kept]")
@click.option("--resume", is_flag=True, help="Go on with the comparison in --output.")
@version_options
@evaluation_options
@inference_options
@trust_modules_option
@engine_options
@data_options
@output_options
def compare_command(
    source: str,
    methods: str | None,
    only: str | None,
    output: str | None,
    resume: bool,
    accept_versions: bool,
    accept_plugin_versions: bool,
    **options: Any,
) -> None:
    """Evaluate BLISS beside baselines on the same folds, ten unless --cv says otherwise.

    SOURCE is the name of a data set, a data file, or an experiment .toml.
    """
    from bliss_framework.console.context import (
        check_resume,
        command_context,
        observed,
        only_one,
        print_results,
        telling_how_to_go_on,
    )
    from bliss_framework.console.drawing.screens import stdout_to_stderr, waiting
    from bliss_framework.console.experiments import experiments_of
    from bliss_framework.runs.comparison import compare
    from bliss_framework.runs.folder.run_folder import RunFolder
    from bliss_framework.runs.prepared import prepare

    context = command_context(options)
    check_resume(resume, output)
    folder = None if output is None else RunFolder(Path(output), resume, accept_versions, accept_plugin_versions)
    settings, names = _settings(only_one(experiments_of(source, only, options), source), methods)
    plugins = context.plugins()
    with waiting(context.screen, f"reading {source}"):
        prepared = prepare(settings, plugins, context.data_dirs)
    chosen = names or [OWN, *(method.name for method in prepared.baselines)]
    screen = context.screen
    path = None if folder is None else folder.path
    with (
        telling_how_to_go_on(path, sys.argv[1:]),
        stdout_to_stderr(),
        context.processes([prepared]),
        observed(prepared, plugins, screen) as tell,
    ):
        result = compare(prepared, chosen, tell, folder)
    for note in result.notes:
        screen.note(f"Note: {note}")
    print_results(screen, lambda: _show(result.document, path, screen), lambda: _kept(result.document, path))


def _kept(document: "Mapping[str, Any]", path: Path | None) -> str:
    """Say where a comparison is that could not be printed; hours of work that were kept nowhere are kept now."""
    from bliss_framework.errors import FileError
    from bliss_framework.runs.folder.atomic import to_json, write_text

    if path is not None:
        return f"The comparison is complete in {path}."
    name = f"bliss-compare-{datetime.now():%Y%m%d-%H%M%S}.json"
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        with suppress(FileError):
            write_text(folder / name, to_json(document) + "\n")
            return f"The comparison was written to {folder / name}."
    return "The comparison is lost; keep the next one with --output DIR."


def _show(document: "Mapping[str, Any]", path: Path | None, screen: "Screen") -> None:
    from bliss_framework.console.drawing.findings import comparison_lines
    from bliss_framework.console.drawing.tables import evaluation_table
    from bliss_framework.runs.folder.atomic import to_json

    if screen.as_json:
        screen.document(to_json(document))
        return
    rows = [(row["name"], row["evaluation"]) for row in document["methods"]]
    screen.results.print(evaluation_table(screen.results, rows))
    for line in comparison_lines(document):
        screen.results.print(line)
    if path is not None:
        said = f"results: {path}\nnext: bliss report {shlex.quote(str(path))}"
        screen.results.print(said, markup=False, highlight=False, soft_wrap=True)


def _settings(settings: "RunSettings", methods: str | None) -> "tuple[RunSettings, list[str]]":
    from attrs import evolve

    if not settings.evaluation.wanted and settings.data.test is None:
        settings = evolve(settings, evaluation=evolve(settings.evaluation, cv=DEFAULT_CV))
    if methods is None:
        return settings, []
    chosen = [name.strip() for name in methods.split(",") if name.strip()]
    if not chosen:
        raise SettingsError(f'methods must be {OWN} and names of baselines with commas between them; got "{methods}".')
    return evolve(settings, compare=_baselines(settings, chosen)), chosen


def _baselines(settings: "RunSettings", names: Sequence[str]) -> "tuple[MethodSettings, ...]":
    """Keep the parameters that the experiment file gives a baseline."""
    from bliss_framework.runs.settings.records import MethodSettings

    known = {one.name: one for one in settings.compare or ()}
    return tuple(known.get(name, MethodSettings(name)) for name in dict.fromkeys(names) if name != OWN)
