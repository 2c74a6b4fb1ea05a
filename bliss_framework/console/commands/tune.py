"""`bliss tune`: settings from weak labels alone, printed and saved."""

import shlex
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from bliss_framework.console.completion import sources
from bliss_framework.console.options import (
    ParameterCommand,
    data_options,
    engine_options,
    inference_options,
    output_options,
    trust_modules_option,
)

if TYPE_CHECKING:
    from bliss_framework.console.drawing.screens import Screen


@click.command("tune", cls=ParameterCommand)
@click.argument("source", shell_complete=sources)
@click.option("--only", metavar="NAME", help="Take one [[experiment]] of an experiment file.")
@click.option("--output", metavar="FILE", help="The .toml file to write. [default: NAME-tuned.toml here]")
@inference_options
@trust_modules_option
@engine_options
@data_options
@output_options
def tune_command(source: str, only: str | None, output: str | None, **options: Any) -> None:
    """Choose settings for SOURCE from weak labels alone, print them and save the best as an experiment file.

    Every combination of the regime's grid is scored on held-out bags. What you set yourself stays as it is.
    """
    from attrs import evolve

    from bliss_framework.console.context import command_context, observed, only_one, print_results
    from bliss_framework.console.drawing.screens import stdout_to_stderr, waiting
    from bliss_framework.console.exits import Interrupted
    from bliss_framework.console.experiments import experiments_of
    from bliss_framework.runs.folder.atomic import write_text
    from bliss_framework.runs.folder.lock import reserved
    from bliss_framework.runs.prepared import prepare
    from bliss_framework.runs.tuning import tune

    context = command_context(options)
    settings = only_one(experiments_of(source, only, options), source)
    plugins = context.plugins()
    settings = evolve(settings, bliss={**settings.bliss, "settings": "select"})
    with waiting(context.screen, f"reading {source}"):
        prepared = prepare(settings, plugins, context.data_dirs)
    path = Path(output) if output is not None else Path(f"{prepared.name}-tuned.toml")
    screen = context.screen
    for note in prepared.notes:
        screen.note(f"Note: {note}")
    with reserved(path) as notes, stdout_to_stderr(), context.processes([prepared]):
        for note in notes:
            screen.note(f"Note: {note}")
        try:
            with observed(prepared, plugins, screen) as tell:
                result = tune(prepared, tell, path.parent)
        except KeyboardInterrupt:
            command = shlex.join(sys.argv[1:])
            raise Interrupted(f"Interrupted before anything was kept. To start again: bliss {command}") from None
        write_text(path, result.toml)
    show = partial(_show, {**result.document, "file": str(path)}, screen)
    print_results(screen, show, lambda: f"The best settings are complete in {path}.")


def _show(document: "Mapping[str, Any]", screen: "Screen") -> None:
    from bliss_framework.console.drawing.findings import kind_words
    from bliss_framework.console.drawing.tables import candidate_table, candidate_words
    from bliss_framework.runs.folder.atomic import to_json

    if screen.as_json:
        screen.document(to_json(document))
        return
    screen.results.print(candidate_table(screen.results, document["candidates"]))
    said = candidate_words(document["candidates"])
    if "kind" in document:
        said += f"\n{kind_words(document['kind'])}"
    screen.results.print(said, markup=False, highlight=False, soft_wrap=not screen.results.is_terminal)
    screen.results.print(f"best settings: {document['file']}", markup=False, highlight=False, soft_wrap=True)
