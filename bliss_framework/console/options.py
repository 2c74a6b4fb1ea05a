"""Options that several commands share. Each is spelt as in TOML and Python, with hyphens for underscores.

The options of label inference are made from the table of parameters, and their defaults from it and from what the
installed regimes advise, which is looked up when --help is asked for.
"""

import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import rich_click as click

from bliss_framework.console.completion import components
from bliss_framework.estimator.parameters import TABLE, Parameter

Command = TypeVar("Command", bound=Callable[..., Any])

PANELS = {
    "rows": "Data",
    "inference": "Label inference",
    "final": "After inference",
    "selection": "Components",
    "run": "Where it runs",
}
SEEDED = "0 in a run"  # A run can be repeated, so it has a seed.
FROM_DATA = "the data set's, else mil"

# Parameters of components that have an option of their own beside --set: its name by component and parameter.
PARAMETER_OPTIONS = {("regime", "positive_label"): "positive_label"}

_components = partial(click.option, panel="Components")
_evaluation = partial(click.option, panel="Evaluation")
_engine = partial(click.option, panel="Where it runs")
_data = partial(click.option, panel="Data")


class ParameterCommand(click.RichCommand):
    """A command whose help says the defaults that a run uses, regime by regime."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Look up what the installed regimes advise, then write the help."""
        from bliss_framework.estimator.default_words import default_words
        from bliss_framework.extension.loading.plugins import active_plugins

        registry = active_plugins().registry
        for option in self.params:
            if option.name in TABLE and isinstance(option, click.Option):
                option.help = _with_default(TABLE[option.name], default_words(option.name, registry))
        super().format_help(ctx, formatter)


def _with_default(row: Parameter, words: str) -> str:
    default = {"regime": FROM_DATA, "random_state": SEEDED, "prepare": "auto"}.get(row.name, words)
    return f"{row.text} [default: {default}]" if default else row.text


def _all(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def parameter_option(row: Parameter) -> Callable[[Command], Command]:
    """Make the option of a parameter."""
    spelt = f"--{row.name.replace('_', '-')}"
    panel = "Components" if row.is_component else PANELS[row.when]
    if row.value_type is bool:
        spelt = f"{spelt}/--no-{spelt.removeprefix('--')}"
    kind = click.Choice(row.choices) if row.choices and row.name != "settings" else row.value_type
    metavar = None if isinstance(kind, click.Choice) or kind is bool else row.shown
    complete = components(row.name) if row.is_component else None
    return click.option(
        spelt,
        row.name,
        type=kind,
        default=None,
        metavar=metavar,
        panel=panel,
        help=row.text,
        shell_complete=complete,
    )


inference_options = _all(
    *(parameter_option(row) for row in TABLE.values() if row.shown or row.choices or row.value_type is bool),
    _components(
        "--set",
        "assignments",
        multiple=True,
        metavar="WHAT=VALUE",
        help="Set a parameter of the component in use, for instance classifier.ridge=0.3; may be repeated. "
        "`bliss plugins NAME` lists parameters.",
    ),
    _components(
        "--positive-label",
        metavar="VALUE",
        help="Which of two weak labels means positive; the same as --set regime.positive_label=VALUE. "
        "[default: 1, or the one that everybody knows, such as yes of yes/no]",
    ),
)


def how_to_set(component: str, parameter: str, value: Any) -> str:
    """Say which option sets a parameter of a component, in the words of the command line.

    >>> how_to_set("regime", "positive_label", "very ill")
    "--positive-label 'very ill' (which is short for --set 'regime.positive_label=very ill')"
    """
    assignment = f"--set {shlex.quote(f'{component}.{parameter}={value}')}"
    option = PARAMETER_OPTIONS.get((component, parameter))
    if option is None:
        return assignment
    return f"--{option.replace('_', '-')} {shlex.quote(str(value))} (which is short for {assignment})"


def how_to_type(name: str, value: Any) -> str:
    """Say how the command line gives a parameter of `BlissClassifier`.

    >>> how_to_type("final_classifier", "same")
    '--final-classifier same'
    """
    return f"--{name.replace('_', '-')} {shlex.quote(str(value))}"


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
    multiple=True,
    help="Where named data sets are looked up, before the folders of BLISS_DATA and the user's data folder; may be "
    "repeated.",
)

data_options = _all(
    data_dir_option,
    _data("--bag", metavar="COLUMN", help="Column of the bag ids in a table. [default: bag]"),
    _data(
        "--label",
        metavar="COLUMN",
        help="Column of the weak labels in a table. [default: label, labels, y or weak_label]",
    ),
    _data(
        "--instance-label",
        metavar="COLUMN",
        help="Column of the true classes in a table; used to evaluate only. [default: instance_label or inst_y]",
    ),
    _data(
        "--group",
        metavar="COLUMN",
        help="Column of what is above bags, such as the patient of a slide; bags of a group are never split.",
    ),
    _data(
        "--labels",
        metavar="FILE",
        help="A second table: a line with the weak label for each bag; of X.npy a line for each row.",
    ),
    *(
        _data(
            f"--{name}", multiple=True, metavar="COLUMN", help=f"{text} May be repeated; a pattern such as 'f*' works."
        )
        for name, text in {
            "features": "A column that is a feature; others are carried. [default: all that can be]",
            "categorical": "A column that is a category. [default: those with few words, each in several bags]",
            "carry": "A column that stays beside the rows as no feature. [default: names, dates and ids]",
            "ignore": "A column to leave out.",
        }.items()
    ),
    _data("--sheet", metavar="NAME", help="Of an Excel workbook. [default: the first]"),
    _data("--delimiter", metavar="CHARACTER", help="Between the columns of a text table. [default: found]"),
    _data("--decimal", metavar="SIGN", help="The sign in numbers of a text table: . or , [default: found]"),
    _data("--encoding", metavar="NAME", help="Of a text table, such as utf-8 or latin-1. [default: found]"),
    _data(
        "--skip-bad",
        is_flag=True,
        default=None,
        help="Of a folder with a file for each bag: leave out those that cannot be used, and say which.",
    ),
)

DATA_OPTIONS = (
    *("bag", "label", "instance_label", "labels", "group", "skip_bad"),
    *("features", "categorical", "carry", "ignore", "sheet", "delimiter", "decimal", "encoding"),
)


def given_options(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a reader that were typed; those that may be repeated as lists."""
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in reading.items()}
    return {name: value for name, value in given.items() if value is not None and value != []}


trust_modules_option = _components(
    "--trust",
    "trust",
    multiple=True,
    metavar="MODULE",
    help="A module that settings may import a classifier from, beside installed packages: importing it runs it.",
)

version_options = _all(
    click.option(
        "--accept-versions",
        is_flag=True,
        help="With --resume: go on although the run was begun with another bliss, numpy, scipy or scikit-learn.",
    ),
    click.option(
        "--accept-plugin-versions",
        is_flag=True,
        help="With --resume: go on although the run was begun with other versions of its plugins.",
    ),
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
