"""Options that several commands share. Each is spelt as in TOML and Python, with hyphens for underscores."""

from collections.abc import Callable
from typing import Any, TypeVar

import rich_click as click

Command = TypeVar("Command", bound=Callable[..., Any])


def _all(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


inference_options = _all(
    click.option("--regime", metavar="NAME", help="What the weak labels mean. [default: the data set's, else mil]"),
    click.option("--classifier", metavar="NAME", help="Pulled in label inference: a name or an import path."),
    click.option("--reward", metavar="NAME", help="How well weak labels are met. [default: the regime's]"),
    click.option("--strategy", metavar="NAME", help="Bandit strategy: cucb or kl-ucb."),
    click.option("--n-rounds", type=int, help="Rounds after the initial sweep."),
    click.option("--n-folds", type=int, help="Folds of whole bags in label inference."),
    click.option("--train-on", type=click.Choice(["one", "rest"]), help="Train on one fold (the paper) or the rest."),
    click.option("--n-inferences", type=int, help="Inferences with other random draws, averaged."),
    click.option("--n-passes", type=int, help="Passes of the bootstrapping procedure."),
    click.option("--pass-share", type=float, help="Share of confident instances that join later passes."),
    click.option("--n-parallel", type=int, help="Assignments chosen before any of them is pulled."),
    click.option("--n-neighbors", type=int, help="Held-out neighbours k of the reward."),
    click.option("--n-first-draws", type=int, help="Draws from the regime's prior instead of the initial sweep."),
    click.option("--class-balance", type=float, help="Exponent of class weights in every pull."),
    click.option("--scaling", metavar="MODE", help="auto, standard, standard-unit, unit or none."),
    click.option("--final-classifier", metavar="NAME", help="Trained on the inferred labels."),
    click.option("--confidence-weights/--no-confidence-weights", default=None, help="Weight it by confidence scores."),
    click.option("--bag-threshold", metavar="VALUE", help="out-of-fold, or a number."),
    click.option("--random-state", type=int, help="Seed; the same seed gives the same bits. [default: 0]"),
    click.option("--n-jobs", type=int, help="Processes; -1 for all cores."),
    click.option("--settings", metavar="NAME", help="default, or a .toml file with a [bliss] table."),
    click.option(
        "--set",
        "assignments",
        multiple=True,
        metavar="COMPONENT.PARAMETER=VALUE",
        help="Set a parameter of a component.",
    ),
)

evaluation_options = _all(
    click.option("--cv", type=int, help="Evaluate by this many folds of whole bags."),
    click.option("--repeats", type=int, help="Repeat the evaluation with other folds."),
)

data_options = _all(
    click.option("--data-dir", metavar="DIR", help="Where named data sets are looked up, before BLISS_DATA."),
    click.option("--bag", metavar="COLUMN", help="Column of the bag ids in a table."),
    click.option("--label", metavar="COLUMN", help="Column of the weak labels in a table."),
    click.option("--instance-label", metavar="COLUMN", help="Column of true instance labels in a table."),
    click.option("--labels", metavar="FILE", help="A second table with one weak label for each bag."),
)

output_options = _all(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output."),
    click.option("--quiet", is_flag=True, help="No progress and no notes."),
    click.option("--block-plugin", "block", multiple=True, metavar="NAME", help="Leave a plugin or distribution out."),
    click.option("--strict-plugins", "strict", is_flag=True, help="Stop at the first broken plugin."),
)
