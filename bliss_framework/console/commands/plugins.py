"""`bliss plugins`: what is installed, what is broken and why; with `--check`, what the conformance kit says of it."""

from typing import TYPE_CHECKING

import rich_click as click

from bliss_framework.console import completion
from bliss_framework.console.options import output_options
from bliss_framework.errors import PluginError, UnknownNameError

if TYPE_CHECKING:
    from bliss_framework.console.drawing.screens import Screen
    from bliss_framework.extension.contracts import Presets
    from bliss_framework.extension.loading.plugins import Plugins
    from bliss_framework.extension.loading.reports import PluginReport


@click.command("plugins")
@click.argument("name", required=False, shell_complete=completion.plugins)
@click.option("--check", is_flag=True, help="Run the conformance kit on the components that need no parameters.")
@output_options
def plugins_command(
    name: str | None, check: bool, as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool
) -> None:
    """List plugins and components, who ships them, and what is broken.

    NAME is a plugin or a component; then only that is listed, with its parameters.
    """
    from bliss_framework.console.context import plugins_for
    from bliss_framework.console.drawing.screens import open_screen

    screen = open_screen(quiet, as_json)
    # The table itself says what is broken, so the warnings are left out.
    plugins = plugins_for(block, strict, screen if check else open_screen(True, as_json))
    reports = _reports(plugins, name)
    if check:
        _check(plugins, None if name is None else reports[0].name, screen)
    else:
        _list(plugins, reports, name, screen)


def _reports(plugins: "Plugins", name: str | None) -> "list[PluginReport]":
    from bliss_framework.extension.naming import did_you_mean

    reports = [report for report in plugins.reports if name in (None, report.name)]
    if not reports:
        reports = [one for one in plugins.reports if name in [component.name for _, component in one.components]]
    if name is not None and not reports:
        components = [one.name for report in plugins.reports for _, one in report.components]
        known = [report.name for report in plugins.reports]
        raise UnknownNameError(
            f'No plugin "{name}" is installed.{did_you_mean(name, [*known, *components])} Installed: '
            f"{', '.join(known)}."
        )
    return reports


def _list(plugins: "Plugins", reports: "list[PluginReport]", name: str | None, screen: "Screen") -> None:
    """Print plugins, and the components of one that is named, or a component that is."""
    from attrs import asdict

    from bliss_framework.console.drawing.docstrings import parameters_of
    from bliss_framework.console.drawing.tables import component_tree, plugin_table
    from bliss_framework.runs.folder.atomic import to_json

    documents = [report.as_dict() for report in reports]
    if screen.as_json:
        for report, document in zip(reports, documents, strict=True):
            for (kind, one), told in zip(report.components, document["components"], strict=True):
                told["parameters"] = [asdict(parameter) for parameter in parameters_of(kind, one.factory)]
        screen.document(to_json({"format": 1, "plugins": documents}))
        return
    screen.results.print(plugin_table(screen.results, documents))
    for report in (one for one in reports if one.is_slow):
        screen.note(f"Note: {report.slowness()}")
    if name is None:
        return
    for report in reports:
        named = [(kind, one) for kind, one in report.components if name in (report.name, one.name)]
        rows = [
            {
                "kind": kind,
                "name": one.name,
                "summary": one.summary,
                "parameters": [
                    parameter.line(_advised(plugins, kind, one.name).get(parameter.name))
                    for parameter in parameters_of(kind, one.factory)
                ],
            }
            for kind, one in named
        ]
        if rows:
            screen.results.print(component_tree(report.name, rows))
        for label, address in report.links:
            screen.results.print(f"{label}: {address}", markup=False, highlight=False, soft_wrap=True)


def _advised(plugins: "Plugins", kind: str, name: str) -> dict[str, str]:
    from bliss_framework.estimator.default_words import presets_of

    return advised_parameters(presets_of(plugins.registry).get(name) if kind == "regime" else None)


def advised_parameters(presets: "Presets | None") -> dict[str, str]:
    """Return what a regime advises for its own parameters, in words; nothing where it advises nothing."""
    from bliss_framework.estimator.default_words import advised_words

    own = [] if presets is None else [key for key in presets.defaults if key.startswith("regime.")]
    return {key.removeprefix("regime."): advised_words(key, presets, None) for key in own if presets is not None}


def _check(plugins: "Plugins", name: str | None, screen: "Screen") -> None:
    """Run the kit on all plugins, or on one.

    Raises:
        PluginError: if a component fails, after everything was checked and shown.
    """
    from attrs import asdict

    from bliss_framework.console.drawing.tables import verdict_table
    from bliss_framework.runs.folder.atomic import to_json
    from bliss_framework.testing.installed import check_installed

    verdicts = [asdict(one) for one in check_installed(plugins.registry, name)]
    if screen.as_json:
        screen.document(to_json({"format": 1, "checks": verdicts}))
    else:
        screen.results.print(verdict_table(screen.results, verdicts))
    broken = [one for one in plugins.reports if one.name == name and not one.is_whole]
    if broken:
        raise PluginError(broken[0].sentence())
    failed = [f"{one['kind']} {one['name']}" for one in verdicts if one["state"] == "failed"]
    if failed:
        raise PluginError(f"{len(failed)} of {len(verdicts)} components fail the kit: {', '.join(failed)}.")
