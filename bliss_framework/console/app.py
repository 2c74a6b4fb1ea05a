"""The command line: a group of commands, each from the file of its name."""

import rich_click as click

from bliss_framework.console.commands.compare import compare_command
from bliss_framework.console.commands.datasets import datasets_command
from bliss_framework.console.commands.explain import explain_command
from bliss_framework.console.commands.new import new_command
from bliss_framework.console.commands.plugins import plugins_command
from bliss_framework.console.commands.predict import predict_command
from bliss_framework.console.commands.regimes import regimes_command
from bliss_framework.console.commands.report import report_command
from bliss_framework.console.commands.run import run_command
from bliss_framework.console.commands.tune import tune_command
from bliss_framework.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="bliss", message="%(prog)s %(version)s")
def bliss() -> None:
    """Bandit label inference for weakly supervised learning."""


for command in (
    run_command,
    compare_command,
    tune_command,
    plugins_command,
    regimes_command,
    datasets_command,
    predict_command,
    explain_command,
    report_command,
    new_command,
):
    bliss.add_command(command)
