"""Options that several commands share. Each is spelt as in TOML and Python, with hyphens for underscores."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import rich_click as click

Command = TypeVar("Command", bound=Callable[..., Any])

# Where --help shows an option. A default is written out, because reading it from the estimator would import numpy.
_inference = partial(click.option, panel="Label inference")
_final = partial(click.option, panel="After inference")
_components = partial(click.option, panel="Components")
_evaluation = partial(click.option, panel="Evaluation")
_engine = partial(click.option, panel="Where it runs")
_data = partial(click.option, panel="Data")


def _all(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


inference_options = _all(
    _components("--regime", metavar="NAME", help="What the weak labels mean. [default: the data set's, else mil]"),
    _components(
        "--classifier",
        metavar="NAME",
        help="Trained on each assignment that is pulled: a component or the import path of a scikit-learn class. "
        "[default: kernel-ridge]",
    ),
    _components("--reward", metavar="NAME", help="Says how well weak labels are met. [default: the regime's]"),
    _components("--strategy", metavar="NAME", help="Bounds the mean reward of each arm. [default: cucb]"),
    _components(
        "--final-classifier",
        metavar="NAME",
        help="Trained once on the inferred labels; same means the classifier of label inference. [default: svm-rbf]",
    ),
    _components(
        "--set",
        "assignments",
        multiple=True,
        metavar="WHAT=VALUE",
        help="Set a parameter of one of these components, for instance classifier.ridge=0.3; may be repeated. "
        "`bliss plugins NAME` lists parameters.",
    ),
    _components(
        "--settings",
        metavar="HOW",
        help="default: the regime's own where none are given; as-given: all as they are; select: choose those that are "
        "not given on held-out bags of the training data; or the path of a .toml file with a [bliss] table, over which "
        "other options go. "
        "[default: default]",
    ),
    _components(
        "--n-members", metavar="N", type=int, help="How many of the best settings `select` averages. [default: 5]"
    ),
    _inference("--n-rounds", metavar="N", type=int, help="Rounds after the initial sweep. [default: 100]"),
    _inference("--n-folds", metavar="K", type=int, help="Folds of whole bags. [default: 5]"),
    _inference(
        "--train-on",
        type=click.Choice(["one", "rest"]),
        help="Train on one fold (the paper) or on the rest. [default: one]",
    ),
    _inference(
        "--n-inferences", metavar="N", type=int, help="Inferences with other random draws, averaged. [default: 3]"
    ),
    _inference("--n-passes", metavar="N", type=int, help="Passes of the bootstrapping procedure. [default: 1]"),
    _inference(
        "--pass-share",
        metavar="X",
        type=float,
        help="Share of the instances outside a fold, most confident first, that join a later pass. [default: 0.2]",
    ),
    _inference(
        "--n-parallel", metavar="P", type=int, help="Assignments chosen before any of them is pulled. [default: 1]"
    ),
    _inference("--n-neighbors", metavar="K", type=int, help="Held-out neighbours of the reward. [default: 10]"),
    _inference(
        "--n-first-draws", metavar="N", type=int, help="Draws from the regime's prior, instead of the initial sweep."
    ),
    _inference(
        "--class-balance", metavar="X", type=float, help="Exponent of class weights in every pull. [default: 0.0]"
    ),
    _inference(
        "--scaling",
        metavar="MODE",
        help="auto, clipped, standard, standard-unit, unit or none; learnt on training rows. [default: auto]",
    ),
    _final(
        "--confidence-weights/--no-confidence-weights",
        default=None,
        help="Weight the final classifier's instances by confidence. [default: confidence-weights]",
    ),
    _final(
        "--inherited-share",
        metavar="X",
        type=float,
        help="How much the final classifier learns of what instances inherit from their bag: 0 is the paper, 1 the "
        "control without a bandit. [default: 0.0]",
    ),
    _final(
        "--bag-threshold",
        metavar="X",
        help="A bag that scores above it is positive: a number, or out-of-fold to choose it. [default: out-of-fold]",
    ),
    _final(
        "--instance-threshold",
        metavar="X",
        help="An instance that scores above it is of the second of two classes: a number, out-of-fold to let the "
        "regime choose it, or auto to do so only where the inherited share is not 0. [default: auto]",
    ),
    _final(
        "--self-training",
        metavar="N",
        type=int,
        help="Rounds in which the final classifier labels its training instances anew and learns from that as well. "
        "[default: 0]",
    ),
    _inference(
        "--random-state", metavar="SEED", type=int, help="The same seed gives the same bits. [default: 0 in a run]"
    ),
    _inference("--n-jobs", metavar="N", type=int, help="Processes; -1 for all cores. The bits stay the same."),
)

evaluation_options = _all(
    _evaluation("--cv", metavar="K", type=int, help="Evaluate by K folds of whole bags, beside simple baselines."),
    _evaluation("--repeats", metavar="N", type=int, help="Repeat the evaluation with other folds. [default: 1]"),
    _evaluation(
        "--test-share", metavar="X", type=float, help="Evaluate on a share of the bags, say 0.3, instead of K folds."
    ),
)

engine_options = _all(
    _engine(
        "--engine",
        metavar="NAME",
        default="local",
        help="Where processes run: local, dask or ray; the last two need an extra. The bits stay the same. "
        "[default: local]",
    ),
    _engine("--address", metavar="URL", help="A running cluster. [default: one on this machine]"),
)

data_dir_option = _data(
    "--data-dir",
    metavar="DIR",
    help="Where named data sets are looked up, before the folders of BLISS_DATA and the user's data folder.",
)

data_options = _all(
    data_dir_option,
    _data("--bag", metavar="COLUMN", help="Column of the bag ids in a table. [default: bag]"),
    _data("--label", metavar="COLUMN", help="Column of the weak labels in a table. [default: label, labels or y]"),
    _data(
        "--instance-label",
        metavar="COLUMN",
        help="Column of the true classes in a table; used to evaluate only. [default: instance_label or inst_y]",
    ),
    _data("--labels", metavar="FILE", help="A second table that has one line with the weak label for each bag."),
)

output_options = _all(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output."),
    click.option("--quiet", is_flag=True, help="No progress and no notes."),
    click.option(
        "--block-plugin",
        "block",
        multiple=True,
        metavar="NAME",
        help="Leave out a plugin, or all of a distribution; may be repeated.",
    ),
    click.option(
        "--strict-plugins", "strict", is_flag=True, help="Stop at the first broken plugin, with its traceback."
    ),
)
