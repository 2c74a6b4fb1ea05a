"""`bliss datasets`: what data are installed or in the folders of data, and what was understood of a file."""

import os
from typing import TYPE_CHECKING, Any

import rich_click as click

from bliss_framework.console.completion import datasets
from bliss_framework.console.options import data_options, given_options, output_options
from bliss_framework.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from bliss_framework.console.drawing.screens import Screen
    from bliss_framework.extension.registry import Registry
    from bliss_framework.runs.data.find import LoadedData


@click.command("datasets")
@click.argument("name", required=False, shell_complete=datasets)
@data_options
@output_options
def datasets_command(
    name: str | None,
    data_dir: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    block: tuple[str, ...],
    strict: bool,
    **reading: Any,
) -> None:
    """List data sets, where they come from, their size and licence; with NAME, one of them.

    Where NAME is a file, say what was understood of it before anything runs: columns and their roles, bags, classes,
    empty cells, the first rows.
    """
    from bliss_framework.console.context import data_folders, plugins_for
    from bliss_framework.console.drawing.screens import open_screen

    screen = open_screen(quiet, as_json)
    registry = plugins_for(block, strict, screen).registry
    is_folder = name is not None and os.path.isdir(os.path.expanduser(name))
    # A folder is listed by --data-dir, unless some reader takes it for one data set.
    if name is not None and (os.path.isfile(os.path.expanduser(name)) or (is_folder and _is_read(name, registry))):
        _show_file(name, given_options(reading), registry, screen)
        return
    _list(name, registry, data_folders(data_dir), screen)


def _is_read(name: str, registry: "Registry") -> bool:
    from pathlib import Path

    from bliss_framework.runs.data.files import FileReaders

    return FileReaders.of(registry).recognise(Path(name).expanduser())


def _list(name: str | None, registry: "Registry", folders: list[Any], screen: "Screen") -> None:
    from bliss_framework.console.drawing.tables import dataset_table
    from bliss_framework.extension.naming import did_you_mean
    from bliss_framework.runs.data.find import available_datasets
    from bliss_framework.runs.folder.atomic import to_json

    found = available_datasets(registry, folders)
    rows = [{"name": one.name, "origin": one.origin, **one.details} for one in found]
    chosen = [row for row in rows if name in (None, row["name"])]
    if name is not None and not chosen:
        known = [row["name"] for row in rows]
        raise UnknownNameError(
            f'No data set "{name}" was found.{did_you_mean(name, known)} Known: {", ".join(known) or "none"}.'
        )
    if screen.as_json:
        screen.document(to_json({"format": 1, "datasets": chosen}))
        return
    if not chosen:
        screen.note("No data set is installed; --data-dir and BLISS_DATA name folders with data files.")
        return
    screen.results.print(dataset_table(screen.results, chosen))


def _show_file(name: str, options: dict[str, Any], registry: "Registry", screen: "Screen") -> None:
    from bliss_framework.console.drawing.understood import understood_view
    from bliss_framework.runs.data.described import described
    from bliss_framework.runs.folder.atomic import plain, to_json

    loaded, notes = _read(name, options, registry)
    document = plain({"format": 1, **described(loaded), "notes": [*notes, *loaded.notes]})
    if screen.as_json:
        screen.document(to_json(document))
        return
    for note in document["notes"]:
        screen.note(f"Note: {note}")
    screen.results.print(understood_view(screen.results, document))


def _read(name: str, options: dict[str, Any], registry: "Registry") -> "tuple[LoadedData, list[str]]":
    """Read a file; where nobody has said which column holds the bags, show its columns all the same."""
    from bliss_framework.runs.data.find import find_dataset

    asked: dict[str, Any] = {"registry": registry, "data_dirs": (), "options": options, "needs_labels": False}
    try:
        return find_dataset(name, **asked), []
    except DataError as error:
        if "bag" in options:
            raise
        try:
            loaded = find_dataset(name, rows_are_bags=True, **asked)
        except DataError:
            raise error from None
        return loaded, [
            f"no column is known to hold the bags, so each row is shown as one; name it with --bag ({error})"
        ]
