"""`bliss tune`: settings from weak labels alone, printed and saved."""

import shlex
import sys
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.context import begin, observed
from bliss_framework.console.drawing.screens import results_alone
from bliss_framework.console.drawing.tables import candidate_table
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.experiments import experiments_of
from bliss_framework.errors import RunError, SettingsError
from bliss_framework.runs.folder.atomic import to_json, write_text
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.tuning import tune


def tune_source(source: str, only: str | None, output: str | None, **options: Any) -> None:
    """Choose settings for one data set or one experiment of a file."""
    work = begin(options)
    experiments = experiments_of(source, only, options).rows
    if len(experiments) > 1:
        names = ", ".join(str(one.name) for one in experiments)
        raise SettingsError(f"{source} holds {len(experiments)} experiments; choose one with --only NAME: {names}.")
    plugins = work.plugins()
    settings = evolve(experiments[0], bliss={**experiments[0].bliss, "settings": "select"})
    prepared = prepare(settings, plugins, work.data_dirs)
    path = Path(output) if output is not None else Path(f"{prepared.name}-tuned.toml")
    if path.exists():
        raise RunError(f"{path} is already there. Choose another file with --output.")
    try:
        with results_alone(), work.spread([prepared]), observed(prepared, plugins, work.screen) as tell:
            result = tune(prepared, tell)
    except KeyboardInterrupt:
        command = shlex.join(sys.argv[1:])
        raise Interrupted(f"Interrupted before anything was kept. To start again: bliss {command}") from None
    write_text(path, result.toml)
    if work.screen.as_json:
        work.screen.document(to_json({**result.document, "file": str(path)}))
        return
    work.screen.results.print(candidate_table(work.screen.results, result.document["candidates"]))
    work.screen.results.print(f"best settings: {path}", markup=False, highlight=False, soft_wrap=True)
