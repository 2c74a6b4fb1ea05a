"""`bliss plugins` and `bliss datasets`."""

import inspect
import os
from pathlib import Path
from typing import Any

from bliss_framework.console.running import plugins_for
from bliss_framework.console.screens import open_screen
from bliss_framework.console.tables import component_table, dataset_table, plugin_table
from bliss_framework.errors import UnknownNameError
from bliss_framework.extension.names import did_you_mean
from bliss_framework.runs.data import available_datasets, default_data_dirs
from bliss_framework.runs.files import to_json


def list_plugins(name: str | None, as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool) -> None:
    """Print all plugins, or the components of one."""
    # The table itself says what is broken, so the warnings are left out.
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, open_screen(True, as_json))
    reports = [report for report in plugins.reports if name in (None, report.name)]
    if name is not None and not reports:
        known = [report.name for report in plugins.reports]
        raise UnknownNameError(
            f'No plugin "{name}" is installed.{did_you_mean(name, known)} Installed: {", ".join(known)}.'
        )
    documents = [report.as_dict() for report in reports]
    if as_json:
        screen.document(to_json({"format": 1, "plugins": documents}))
        return
    screen.results.print(plugin_table(screen.results, documents))
    if name is not None:
        parameters = [_parameters(component.factory) for report in reports for _, component in report.components]
        rows = [one for document in documents for one in document["components"]]
        shown = [{**row, "parameters": text} for row, text in zip(rows, parameters, strict=True)]
        screen.results.print(component_table(screen.results, shown))


def _parameters(factory: Any) -> str:
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return ""
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in named)


def list_datasets(
    name: str | None,
    data_dir: str | None,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    **reading: Any,
) -> None:
    """Print all data sets, or one."""
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    dirs = default_data_dirs(None if data_dir is None else Path(data_dir), os.environ)
    found = available_datasets(plugins.registry, dirs)
    rows = [{"name": one.name, "origin": one.origin, **one.details} for one in found]
    chosen = [row for row in rows if name in (None, row["name"])]
    if not chosen:
        known = [row["name"] for row in rows]
        raise UnknownNameError(
            f'No data set "{name}" was found.{did_you_mean(name or "", known)} Known: {", ".join(known)}.'
        )
    if as_json:
        screen.document(to_json({"format": 1, "datasets": chosen}))
        return
    screen.results.print(dataset_table(screen.results, chosen))
