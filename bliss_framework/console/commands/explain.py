"""`bliss explain`: why an instance of the training data got its label."""

from typing import Any

import rich_click as click

from bliss_framework.console.commands.predict import trust_option
from bliss_framework.console.options import output_options


@click.command("explain")
@click.argument("run")
@click.argument("row", type=int)
@trust_option
@output_options
def explain_command(
    run: str, row: int, trust: tuple[str, ...], as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool
) -> None:
    """Say why instance ROW got its label: its arms, its bag, its neighbours.

    RUN is the directory of a finished run, or a .skops file.
    """
    from attrs import asdict

    from bliss_framework.console.context import fitted_model, plugins_for
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.console.drawing.tables import explanation_view
    from bliss_framework.runs.folder.atomic import to_json

    screen = open_screen(quiet, as_json)
    plugins_for(block, strict, screen)
    explanation = fitted_model(run, trust, "explain").explain(row)
    document = _without_underscores({"format": 1, "sentence": explanation.sentence(), **asdict(explanation)})
    if as_json:
        screen.document(to_json(document))
        return
    screen.results.print(explanation_view(screen.results, document))


def _without_underscores(value: Any) -> Any:
    """Drop the underscore that `class` needs in Python."""
    if isinstance(value, dict):
        return {key.rstrip("_"): _without_underscores(item) for key, item in value.items()}
    return [_without_underscores(item) for item in value] if isinstance(value, list | tuple) else value
