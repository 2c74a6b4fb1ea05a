"""`bliss new`: asks what it needs when a person is there, and scaffolds a plugin."""

import sys
from pathlib import Path

import rich_click as click

from bliss_framework.console.context import plugins_for
from bliss_framework.console.drawing.screens import open_screen
from bliss_framework.errors import SettingsError
from bliss_framework.extension.scaffold import LICENCES, SUMMARIES, Blueprint, check_blueprint, how_to_use, scaffold


def make_plugin(
    kind: str, name: str, summary: str | None, author: str | None, licence: str | None, output: str, quiet: bool
) -> None:
    """Scaffold a plugin of a kind under a name.

    Raises:
        click.UsageError: if the name or another option breaks a rule; nothing is written.
    """
    screen = open_screen(quiet, False)
    registry = plugins_for((), False, screen).registry
    blueprint = Blueprint(kind, name, Path(output), SUMMARIES[kind])
    try:
        # A wrong name is refused before anybody is asked anything.
        check_blueprint(blueprint, registry)
        blueprint = _completed(blueprint, summary, author, licence)
        written = scaffold(blueprint, registry)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    for path in written:
        screen.note(str(path), style="")
    commands = (
        f"cd {blueprint.target}",
        'python -m pip install -e ".[test]" && python -m pytest',
        how_to_use(kind, name),
    )
    for command in commands:
        screen.results.print(command, markup=False, highlight=False, soft_wrap=True)


def _completed(blueprint: Blueprint, summary: str | None, author: str | None, licence: str | None) -> Blueprint:
    there = sys.stdin.isatty() and sys.stderr.isatty()

    def asked(given: str | None, question: str, default: str) -> str:
        if given is not None or not there:
            return default if given is None else given
        return str(click.prompt(question, default=default, err=True))

    return Blueprint(
        blueprint.kind,
        blueprint.name,
        blueprint.folder,
        asked(summary, "What does it do, in one line?", blueprint.summary),
        asked(author, "Who is the author?", blueprint.author),
        asked(licence, f"Which licence ({', '.join(LICENCES)})?", blueprint.licence),
    )
