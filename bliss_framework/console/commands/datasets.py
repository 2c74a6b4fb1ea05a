"""`bliss datasets`: what data are installed or in the folders of data."""

import rich_click as click

from bliss_framework.console.completion import datasets
from bliss_framework.console.options import data_dir_option, output_options
from bliss_framework.errors import UnknownNameError


@click.command("datasets")
@click.argument("name", required=False, shell_complete=datasets)
@data_dir_option
@output_options
def datasets_command(
    name: str | None, data_dir: str | None, as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool
) -> None:
    """List data sets, where they come from, their size and licence; with NAME, one of them."""
    from bliss_framework.console.context import data_folders, plugins_for
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.console.drawing.tables import dataset_table
    from bliss_framework.extension.naming import did_you_mean
    from bliss_framework.runs.data.find import available_datasets
    from bliss_framework.runs.folder.atomic import to_json

    screen = open_screen(quiet, as_json)
    plugins = plugins_for(block, strict, screen)
    found = available_datasets(plugins.registry, data_folders(data_dir))
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
