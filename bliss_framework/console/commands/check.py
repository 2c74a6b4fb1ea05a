"""`bliss plugins --check`: the conformance kit on what is installed."""

from attrs import asdict
from rich.text import Text

from bliss_framework.console.context import plugins_for
from bliss_framework.console.drawing.screens import open_screen
from bliss_framework.console.drawing.tables import plain_table
from bliss_framework.errors import PluginError, UnknownNameError
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.runs.folder.atomic import to_json
from bliss_framework.testing.installed import check_installed

STYLES = {"passed": "green", "failed": "red", "skipped": "dim"}


def check_plugins(name: str | None, as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool) -> None:
    """Run the kit on all plugins, or on one.

    Raises:
        PluginError: if a component fails, after everything was checked and shown.
        UnknownNameError: if there is no such plugin.
    """
    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    known = [report.name for report in plugins.reports]
    if name is not None and name not in known:
        raise UnknownNameError(f'No plugin "{name}" is installed.{did_you_mean(name, known)}')
    verdicts = [one for one in check_installed(plugins.registry) if name in (None, one.plugin)]
    if as_json:
        screen.document(to_json({"format": 1, "checks": [asdict(one) for one in verdicts]}))
    else:
        table = plain_table(screen.results, "plugin", "kind", "name", "state", "what the kit says")
        for one in verdicts:
            state = Text(one.state, style=STYLES[one.state])
            table.add_row(Text(one.plugin), Text(one.kind), Text(one.name), state, Text(one.reason))
        screen.results.print(table)
    failed = [f"{one.kind} {one.name}" for one in verdicts if one.state == "failed"]
    if failed:
        raise PluginError(f"{len(failed)} of {len(verdicts)} components fail the kit: {', '.join(failed)}.")
