"""The commands. Each imports what it needs when it runs, so that --help and --version import no plugin."""

from typing import Any

import rich_click as click

from bliss_framework.console.options import (
    ParameterCommand,
    data_dir_option,
    data_options,
    engine_options,
    evaluation_options,
    inference_options,
    output_options,
)
from bliss_framework.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="bliss", message="%(prog)s %(version)s")
def bliss() -> None:
    """Bandit label inference for weakly supervised learning."""


@bliss.command("run", cls=ParameterCommand)
@click.argument("source")
@click.option("--only", metavar="NAME", help="Run one [[experiment]] of an experiment file.")
@click.option("--output", metavar="DIR", help="Where results go. [default: a new folder in ./bliss-runs]")
@click.option("--resume", is_flag=True, help="Go on with the run in --output; what is finished is not computed again.")
@evaluation_options
@inference_options
@engine_options
@data_options
@output_options
def run_command(**options: Any) -> None:
    """Infer the labels of SOURCE; with --cv also evaluate beside simple baselines.

    SOURCE is the name of a data set, a data file, or an experiment .toml.
    """
    from bliss_framework.console.commands.run import run_source

    run_source(**options)


@bliss.command("compare", cls=ParameterCommand)
@click.argument("source")
@click.option(
    "--methods",
    metavar="NAMES",
    help="bliss and names of baselines, with commas. [default: bliss, and the experiment's or the regime's baselines]",
)
@click.option("--only", metavar="NAME", help="Take one [[experiment]] of an experiment file.")
@click.option("--output", metavar="DIR", help="Where the result and finished fits are kept. [default: nothing is kept]")
@click.option("--resume", is_flag=True, help="Go on with the comparison in --output.")
@evaluation_options
@inference_options
@engine_options
@data_options
@output_options
def compare_command(**options: Any) -> None:
    """Evaluate BLISS beside baselines on the same folds, ten unless --cv says otherwise.

    SOURCE is the name of a data set, a data file, or an experiment .toml.
    """
    from bliss_framework.console.commands.compare import compare_source

    compare_source(**options)


@bliss.command("tune", cls=ParameterCommand)
@click.argument("source")
@click.option("--only", metavar="NAME", help="Take one [[experiment]] of an experiment file.")
@click.option("--output", metavar="FILE", help="The .toml file to write. [default: NAME-tuned.toml here]")
@inference_options
@engine_options
@data_options
@output_options
def tune_command(**options: Any) -> None:
    """Choose settings for SOURCE from weak labels alone, print them and save the best as an experiment file.

    Every combination of the regime's grid is scored on held-out bags. What you set yourself stays as it is.
    """
    from bliss_framework.console.commands.tune import tune_source

    tune_source(**options)


@bliss.command("plugins")
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Run the conformance kit on the components that need no parameters.")
@output_options
def plugins_command(check: bool, **options: Any) -> None:
    """List plugins and components, who ships them, and what is broken; with NAME, one plugin."""
    if check:
        from bliss_framework.console.commands.check import check_plugins

        check_plugins(**options)
        return
    from bliss_framework.console.commands.plugins import list_plugins

    list_plugins(**options)


@bliss.command("datasets")
@click.argument("name", required=False)
@data_dir_option
@output_options
def datasets_command(**options: Any) -> None:
    """List data sets, where they come from, their size and licence; with NAME, one of them."""
    from bliss_framework.console.commands.plugins import list_datasets

    list_datasets(**options)


trust_option = click.option(
    "--trust", multiple=True, metavar="TYPE", help="A further type that the model file may hold, by its full name."
)


@bliss.command("predict")
@click.argument("model")
@click.argument("source")
@click.option("--output", metavar="DIR", help="Also write bags.csv and labels.csv there.")
@trust_option
@data_options
@output_options
def predict_command(**options: Any) -> None:
    """Predict new bags: MODEL is a run's directory or a .skops file, SOURCE is data, labelled or not."""
    from bliss_framework.console.commands.predict import predict_source

    predict_source(**options)


@bliss.command("explain")
@click.argument("run")
@click.argument("row", type=int)
@trust_option
@output_options
def explain_command(**options: Any) -> None:
    """Say why instance ROW got its label: its arms, its bag, its neighbours.

    RUN is the directory of a finished run, or a .skops file.
    """
    from bliss_framework.console.commands.predict import explain_row

    explain_row(**options)


@bliss.command("report")
@click.argument("run")
@click.option("--output", metavar="FILE", help="The HTML file to write. [default: report.html in RUN]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def report_command(**options: Any) -> None:
    """Write one self-contained HTML file about a finished run or comparison.

    RUN is its directory, or that of a file with several experiments. Needs the extra `report`.
    """
    from bliss_framework.console.commands.report import report_run

    report_run(**options)


@bliss.command("new")
@click.argument("kind", type=click.Choice(["reward", "regime", "strategy", "classifier", "reader", "baseline"]))
@click.argument("name")
@click.option("--summary", metavar="TEXT", help="What it does, in one line.")
@click.option("--author", metavar="TEXT", help="For the metadata and the licence.")
@click.option("--licence", metavar="NAME", help="BSD-3-Clause, MIT or none.")
@click.option("--output", metavar="DIR", default=".", help="Where the new folder goes. [default: here]")
@click.option("--quiet", is_flag=True, help="Print the next commands only.")
def new_command(**options: Any) -> None:
    """Scaffold a plugin: a complete distribution with a component, tests and a README.

    What is not given is asked, if a person is there.
    """
    from bliss_framework.console.commands.new import make_plugin

    make_plugin(**options)
