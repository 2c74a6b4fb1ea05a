"""`bliss tune`: settings from weak labels alone, printed and saved."""

import shlex
import sys
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.choosing import experiments_of
from bliss_framework.console.exits import Interrupted
from bliss_framework.console.running import data_folders, observed, plugins_for
from bliss_framework.console.screens import open_screen, results_alone
from bliss_framework.console.tables import candidate_table
from bliss_framework.console.workers import workers
from bliss_framework.engines import check_engine
from bliss_framework.errors import RunError, SettingsError
from bliss_framework.runs.files import to_json, write_text
from bliss_framework.runs.preparation import prepare
from bliss_framework.runs.tuning import tune


def tune_source(
    source: str,
    only: str | None,
    output: str | None,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    data_dir: str | None,
    engine: str,
    address: str | None,
    **options: Any,
) -> None:
    """Choose settings for one data set or one experiment of a file."""
    screen = open_screen(quiet, as_json)
    check_engine(engine, address)
    experiments = experiments_of(source, only, options).rows
    if len(experiments) > 1:
        names = ", ".join(str(one.name) for one in experiments)
        raise SettingsError(f"{source} holds {len(experiments)} experiments; choose one with --only NAME: {names}.")
    plugins = plugins_for(block, strict, screen)
    settings = evolve(experiments[0], bliss={**experiments[0].bliss, "settings": "select"})
    prepared = prepare(settings, plugins, data_folders(data_dir))
    path = Path(output) if output is not None else Path(f"{prepared.name}-tuned.toml")
    if path.exists():
        raise RunError(f"{path} is already there. Choose another file with --output.")
    try:
        n_jobs = [prepared.settings.bliss["n_jobs"]]
        with results_alone(), workers(engine, address, n_jobs), observed(prepared, plugins, screen) as tell:
            result = tune(prepared, tell)
    except KeyboardInterrupt:
        command = shlex.join(sys.argv[1:])
        raise Interrupted(f"Interrupted before anything was kept. To start again: bliss {command}") from None
    write_text(path, result.toml)
    if screen.as_json:
        screen.document(to_json({**result.document, "file": str(path)}))
        return
    screen.results.print(candidate_table(screen.results, result.document["candidates"]))
    screen.results.print(f"best settings: {path}", markup=False, highlight=False, soft_wrap=True)
