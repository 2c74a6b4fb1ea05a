"""`bliss plugins` and `bliss datasets`."""

import inspect
import json
from typing import Any

from bliss_framework.console.context import data_folders, plugins_for
from bliss_framework.console.drawing.docstrings import parameter_texts
from bliss_framework.console.drawing.screens import open_screen
from bliss_framework.console.drawing.tables import component_tree, dataset_table, plugin_table
from bliss_framework.errors import UnknownNameError
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.runs.data.find import available_datasets
from bliss_framework.runs.folder.atomic import to_json


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
    components = [(kind, one) for report in reports for kind, one in report.components]
    if name is not None and components:
        rows = [
            {"kind": kind, "name": one.name, "summary": one.summary, "parameters": _parameters(one.factory)}
            for kind, one in components
        ]
        screen.results.print(component_tree(name, rows))


def _parameters(factory: Any) -> list[str]:
    """List the parameters of a component as an experiment file spells them, and what its docstring says of each."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return []
    texts = parameter_texts(factory)
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [_signed(p) + (f": {texts[p.name]}" if p.name in texts else "") for p in named]


def _signed(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name} = {_default(parameter.default)}"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(value) if isinstance(value, str) else repr(value)


def list_datasets(
    name: str | None,
    data_dir: str | None,
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
) -> None:
    """Print all data sets, or one."""
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    dirs = data_folders(data_dir)
    found = available_datasets(plugins.registry, dirs)
    rows = [{"name": one.name, "origin": one.origin, **one.details} for one in found]
    chosen = [row for row in rows if name in (None, row["name"])]
    if name is not None and not chosen:
        known = [row["name"] for row in rows]
        raise UnknownNameError(
            f'No data set "{name}" was found.{did_you_mean(name, known)} Known: {", ".join(known) or "none"}.'
        )
    if as_json:
        screen.document(to_json({"format": 1, "datasets": chosen}))
        return
    if not chosen:
        screen.note("No data set is installed; --data-dir and BLISS_DATA name folders with data files.")
        return
    screen.results.print(dataset_table(screen.results, chosen))
