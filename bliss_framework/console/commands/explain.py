"""`bliss explain`: why an instance of the training data got its label, and why a bag is read as it is."""

from pathlib import Path
from typing import Any

import rich_click as click

from bliss_framework.console.commands.predict import trust_option
from bliss_framework.console.options import data_dir_option, output_options

KINDS = ("row", "instance", "bag")


@click.command("explain")
@click.argument("run")
@click.argument("what")
@click.option(
    "--as",
    "kind",
    type=click.Choice(KINDS),
    help="What WHAT is, where it could be several: a row number, an instance by a carried column, or a bag.",
)
@trust_option
@data_dir_option
@output_options
def explain_command(
    run: str,
    what: str,
    kind: str | None,
    trust: tuple[str, ...],
    data_dir: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
) -> None:
    """Say why an instance got its label, or why a bag is read as it is.

    RUN is the directory of a finished run, or a .skops file. WHAT is the number of a row, a value of a carried column
    such as the id of an instance, or the id of a bag. Of an instance it shows arms and neighbours; of a bag its
    witnesses, what would change its label, and the features that matter.
    """
    from bliss_framework.console.context import data_folders, fitted_model, plugins_for
    from bliss_framework.console.drawing.explanations import bag_view, explanation_view
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.runs.explained import features_of, lines_of, meanings, plain_document
    from bliss_framework.runs.folder.atomic import to_json

    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    model = fitted_model(run, trust, "explain", "explain_bag")
    lines = lines_of(Path(run), model)
    chosen, value = _chosen(meanings(model, lines, what), what, kind, screen)
    document: dict[str, Any]
    if chosen == "bag":
        found = model.explain_bag(value)
        features = features_of(Path(run), model, plugins, data_folders(data_dir), value, found.witnesses[0].score_of)
        document = plain_document(found, features=plain_features(features))
        _add_carried(document["witnesses"], lines)
        _add_carried([document["strongest"]], lines)
        view = bag_view
    else:
        document = plain_document(model.explain(value))
        _add_carried([document, *document["neighbours"]], lines)
        view = explanation_view
    if as_json:
        screen.document(to_json(document))
        return
    screen.results.print(view(screen.results, document))


def plain_features(features: Any) -> dict[str, Any]:
    """Turn what is said of features into a document."""
    from attrs import asdict

    return asdict(features)


def _chosen(found: dict[str, Any], what: str, kind: str | None, screen: Any) -> tuple[str, Any]:
    """Take the meaning that is asked for, or the likeliest one, and say where there are others.

    Raises:
        DataError: it has not the meaning that is asked for.
    """
    from bliss_framework.errors import DataError

    if kind is not None:
        if kind not in found:
            raise DataError(f"{what!r} is no {kind} of the training data, but a {' and a '.join(found)}.")
        return kind, found[kind]
    first = next(iter(found))
    # A row and an instance are the same where their numbers are; a bag is always something else.
    others = [one for one in found if one != first and (one == "bag" or found[one] != found[first])]
    if others:
        screen.note(f"Note: {what!r} is taken for a {first}; it is a {' and a '.join(others)}, too: --as {others[0]}.")
    return first, found[first]


def _add_carried(documents: list[dict[str, Any]], lines: Any) -> None:
    """Add to what is said of rows what is carried beside them, under "carried"."""
    from bliss_framework.runs.folder.csv_tables import carried_of

    for one in documents:
        if lines:
            one["carried"] = carried_of(lines[one["row"]])
