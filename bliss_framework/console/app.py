"""The commands. Each imports what it needs when it runs, so that --help and --version import no plugin."""

from typing import Any

import rich_click as click

from bliss_framework.console.options import data_options, evaluation_options, inference_options, output_options
from bliss_framework.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="bliss", message="%(prog)s %(version)s")
def bliss() -> None:
    """Bandit label inference for weakly supervised learning."""


@bliss.command("run")
@click.argument("source")
@click.option("--only", metavar="NAME", help="Run one [[experiment]] of an experiment file.")
@click.option("--output", metavar="DIR", help="Where results go; by default a new folder in ./bliss-runs.")
@click.option("--resume", is_flag=True, help="Go on with the run in --output; finished pieces are not computed again.")
@evaluation_options
@inference_options
@data_options
@output_options
def run_command(**options: Any) -> None:
    """Infer the labels of SOURCE; with --cv also evaluate beside simple baselines.

    SOURCE is the name of a data set, a data file, or an experiment .toml.
    """
    from bliss_framework.console.running import run_source

    run_source(**options)


@bliss.command("compare")
@click.argument("source")
@click.option(
    "--methods",
    metavar="NAMES",
    help="Comma separated: bliss and names of baselines. [default: bliss and the regime's]",
)
@click.option("--only", metavar="NAME", help="Take one [[experiment]] of an experiment file.")
@evaluation_options
@inference_options
@data_options
@output_options
def compare_command(**options: Any) -> None:
    """Evaluate BLISS beside baselines on the same folds."""
    from bliss_framework.console.comparing import compare_source

    compare_source(**options)


@bliss.command("plugins")
@click.argument("name", required=False)
@output_options
def plugins_command(**options: Any) -> None:
    """List plugins and components, who ships them, and what is broken; with NAME, one plugin."""
    from bliss_framework.console.listing import list_plugins

    list_plugins(**options)


@bliss.command("datasets")
@click.argument("name", required=False)
@data_options
@output_options
def datasets_command(**options: Any) -> None:
    """List data sets, where they come from, their size and licence; with NAME, one of them."""
    from bliss_framework.console.listing import list_datasets

    list_datasets(**options)
