"""`bliss new`: asks what it needs when a person is there, and scaffolds a plugin."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from bliss_framework.errors import SettingsError
from bliss_framework.extension.naming import SCAFFOLDS

if TYPE_CHECKING:
    from bliss_framework.extension.scaffold import Blueprint


@click.command("new")
@click.argument("kind", type=click.Choice(SCAFFOLDS))
@click.argument("name")
@click.option("--summary", metavar="TEXT", help="What it does, in one line.")
@click.option("--author", metavar="TEXT", help="For the metadata and the licence.")
@click.option("--licence", metavar="NAME", help="BSD-3-Clause, MIT or none.")
@click.option("--output", metavar="DIR", default=".", help="Where the new folder goes. [default: here]")
@click.option("--quiet", is_flag=True, help="Print the next commands only.")
def new_command(
    kind: str, name: str, summary: str | None, author: str | None, licence: str | None, output: str, quiet: bool
) -> None:
    """Scaffold a plugin: a complete distribution with a component, tests and a README.

    What is not given is asked, if a person is there.
    """
    from bliss_framework.console.context import plugins_for
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.extension.scaffold import SUMMARIES, Blueprint, check_blueprint, how_to_use, scaffold

    screen = open_screen(quiet, False)
    registry = plugins_for((), False, screen).registry
    blueprint = Blueprint(kind, name, Path(output), SUMMARIES[kind])
    try:
        # A wrong name is refused before anybody is asked anything.
        check_blueprint(blueprint, registry)
        blueprint = _with_answers(blueprint, summary, author, licence)
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


def _in_utf8(text: str) -> str:
    """Read letters that the locale does not know, and that Python has kept as they came, as UTF-8 if they are."""
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return text


def _with_answers(blueprint: "Blueprint", summary: str | None, author: str | None, licence: str | None) -> "Blueprint":
    from attrs import evolve

    from bliss_framework.extension.scaffold import LICENCES

    there = sys.stdin.isatty() and sys.stderr.isatty()

    def answer(given: str | None, question: str, default: str) -> str:
        if given is not None or not there:
            return default if given is None else _in_utf8(given)
        return _in_utf8(str(click.prompt(question, default=default, err=True)))

    return evolve(
        blueprint,
        summary=answer(summary, "What does it do, in one line?", blueprint.summary),
        author=answer(author, "Who is the author?", blueprint.author),
        licence=answer(licence, f"Which licence ({', '.join(LICENCES)})?", blueprint.licence),
    )
