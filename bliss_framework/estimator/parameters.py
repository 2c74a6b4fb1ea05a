"""The one table of the parameters of `BlissClassifier`.

A row says of a parameter everything that is known before any data are, see `Parameter`. The constructor, its checks
and its docstring, the settings of label inference, the options of the command line, the table in the documentation and
the rules of selection are made from it. A new parameter is one row here and its use.
"""

from collections.abc import Iterator, Mapping
from inspect import Parameter as Argument, Signature
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from attrs import evolve

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.parameter import COMPONENTS as COMPONENTS, Parameter as Parameter, When
from bliss_framework.estimator.row_settings import SCALINGS, ScalingMode, preparation, scaling_mode
from bliss_framework.validators import (
    anything,
    at_least,
    between,
    memory_size,
    number_or,
    one_of,
    optional,
    processes,
    seed_or_generator,
    true_or_false,
)

SEED = "random_state"
SAME = "same"  # The final classifier that is the classifier of label inference.
Settings = Literal["default", "select", "paper"]
SETTINGS = get_args(Settings)
TrainOn = Literal["one", "rest"]


class Parameters(TypedDict, total=False):
    """The table: the type of each parameter, and its row."""

    regime: Annotated[
        Any,
        Parameter(
            "inference",
            "mil",
            anything,
            'What the weak labels mean: a name, a table {"name": ..., parameters}, or a `Regime`.',
            "NAME",
        ),
    ]
    classifier: Annotated[
        Any,
        Parameter(
            "inference",
            "kernel-ridge",
            anything,
            "Trained on each assignment that is pulled: a name, a table, a `Classifier`, or any scikit-learn "
            "classifier or its import path.",
            "NAME",
            paper="svm-rbf",
        ),
    ]
    reward: Annotated[
        Any,
        Parameter(
            "inference", None, anything, "Says how well weak labels are met: a name, a table, or a `Reward`.", "NAME"
        ),
    ]
    strategy: Annotated[
        Any,
        Parameter(
            "inference",
            "cucb",
            anything,
            "Bounds the mean reward of each arm; a name, a table, a `Strategy`.",
            "NAME",
        ),
    ]
    n_rounds: Annotated[int | None, Parameter("inference", 100, at_least(1), "Rounds N after the initial sweep.", "N")]
    n_folds: Annotated[int | None, Parameter("inference", 5, at_least(2), "K folds of whole bags.", "K")]
    train_on: Annotated[
        TrainOn | None,
        Parameter(
            "inference",
            "one",
            one_of(*get_args(TrainOn)),
            "Train on one fold and hold out the rest (the paper), or the other way round.",
        ),
    ]
    n_inferences: Annotated[
        int | None,
        Parameter("inference", 3, at_least(1), "Inferences of a fold with other random draws, averaged.", "N", paper=1),
    ]
    n_passes: Annotated[
        int | None,
        Parameter("inference", 1, at_least(1), "Passes of the bootstrapping procedure; 1 means none.", "N"),
    ]
    n_parallel: Annotated[
        int | None, Parameter("inference", 1, at_least(1), "Assignments chosen before any of them is pulled.", "P")
    ]
    n_neighbors: Annotated[
        int | None,
        Parameter("inference", 10, at_least(1), "Held-out neighbours of an instance in classifier output.", "K"),
    ]
    final_classifier: Annotated[
        Any,
        Parameter(
            "final",
            "svm-rbf",
            anything,
            'Trained once on the inferred labels; named like `classifier`, and "same" for the same one.',
            "NAME",
        ),
    ]
    pass_share: Annotated[
        float | None,
        Parameter(
            "inference",
            0.2,
            between(0.0, 1.0),
            "Share of the instances outside a fold, most confident first, that join its training data in later passes.",
            "X",
        ),
    ]
    n_first_draws: Annotated[
        int | None,
        Parameter(
            "inference",
            None,
            optional(at_least(1)),
            "Draws from the regime's prior, instead of the initial sweep of Algorithm 1.",
            "N",
        ),
    ]
    class_balance: Annotated[
        float | None,
        Parameter(
            "inference", 0.0, between(0.0, 10.0), "Exponent of the class weights in every pull; 0 means none.", "X"
        ),
    ]
    relabel_rounds: Annotated[
        int | None,
        Parameter(
            "inference",
            0,
            at_least(0),
            "Rounds after inference in which each bag is labelled anew by a classifier that has not seen it, until "
            "labels settle; 0 means none.",
            "N",
        ),
    ]
    scaling: Annotated[
        ScalingMode | None,
        Parameter(
            "inference",
            "auto",
            scaling_mode,
            f"How rows are scaled, learnt on the rows passed to `fit`: {', '.join(SCALINGS)}.",
            "MODE",
            paper="standard",
        ),
    ]
    confidence_weights: Annotated[
        bool | None,
        Parameter(
            "final",
            True,
            true_or_false,
            "Whether confidence scores are sample weights of the final classifier, or soft labels where it learns from "
            "those.",
            paper=False,
        ),
    ]
    inherited_share: Annotated[
        float | str | None,
        Parameter(
            "final",
            0.0,
            between(0.0, 1.0, "out-of-fold"),
            "How much the final classifier learns of what instances inherit from their bag: 0 is the paper, 1 the "
            "control without a bandit, which infers nothing, and out-of-fold lets the regime choose it.",
            "X",
        ),
    ]
    bag_threshold: Annotated[
        float | str | None,
        Parameter(
            "final",
            "out-of-fold",
            number_or("out-of-fold"),
            "A bag that scores above it is positive: a number, or out-of-fold to choose it on out-of-fold "
            "scores of the training bags.",
            "X",
            paper=0.0,
            in_grid=False,
        ),
    ]
    instance_threshold: Annotated[
        float | str | None,
        Parameter(
            "final",
            "auto",
            number_or("auto", "out-of-fold"),
            "An instance that scores above it is of the second of two classes: a number, out-of-fold to let the regime "
            "choose it, or auto to do so only where the inherited share is not 0.",
            "X",
            paper=0.0,
            in_grid=False,
        ),
    ]
    self_training: Annotated[
        int | None,
        Parameter(
            "final",
            0,
            at_least(0),
            "Rounds in which the final classifier labels its training instances anew, by scores of classifiers that "
            "were not trained on their bags, and learns from that as well.",
            "N",
            in_grid=False,
        ),
    ]
    settings: Annotated[
        Settings,
        Parameter(
            "selection",
            "default",
            one_of(*SETTINGS),
            "What is done about parameters that are not given: default takes what the regime advises, paper what the "
            "paper says, and select chooses from a grid, on held-out bags of the training data, and averages the best.",
            "HOW",
        ),
    ]
    grid: Annotated[
        Mapping[str, Any] | None,
        Parameter(
            "selection",
            None,
            anything,
            'Values to select from, by parameter or "component.parameter", such as {"classifier.width": [0.5, 2.0]}; '
            "None for the regime's own.",
        ),
    ]
    n_members: Annotated[
        int, Parameter("selection", 5, at_least(1), "How many of the best settings select averages.", "N")
    ]
    prepare: Annotated[
        Any,
        Parameter(
            "rows",
            None,
            optional(preparation),
            "How rows are prepared, learnt on the rows passed to `fit`: auto fills empty cells with medians and makes "
            "columns of categories, none refuses both; or a table, or an unfitted transformer of scikit-learn.",
            "HOW",
            in_grid=False,
        ),
    ]
    random_state: Annotated[
        int | object | None,
        Parameter(
            "run",
            None,
            seed_or_generator,
            "Seed; the same seed gives the same bits, whatever the number of processes and the order of rows.",
            "SEED",
        ),
    ]
    n_jobs: Annotated[
        int | None,
        Parameter("run", None, processes, "Processes; -1 for all cores. The bits stay the same.", "N"),
    ]
    max_memory: Annotated[
        str | int | None,
        Parameter(
            "run",
            None,
            optional(memory_size),
            "Memory that all processes may take, such as 4GB; a fit that needs more is refused before it starts. None "
            "for what there is.",
            "SIZE",
        ),
    ]


def _rows() -> Iterator[tuple[str, Parameter]]:
    for name, hint in get_type_hints(Parameters, include_extras=True).items():
        type_, row = get_args(hint)
        yield name, evolve(row, name=name, type=type_)


TABLE: dict[str, Parameter] = dict(_rows())


def named(*when: When) -> tuple[str, ...]:
    """Return the names of the parameters that matter in some stages, in the order of the table."""
    return tuple(name for name, row in TABLE.items() if row.when in when)


# What a fit is configured by; the others say how settings are chosen and where work runs.
CONFIGURED = named("inference", "final")


def not_given(name: str) -> Any:
    """Return the constructor's default: None where the regime has a say."""
    return None if name in CONFIGURED and name != "regime" else TABLE[name].default


def signature() -> Signature:
    """Return the signature of the constructor of `BlissClassifier`."""
    kind = Argument.POSITIONAL_OR_KEYWORD
    rows = [Argument(name, kind, default=not_given(name), annotation=row.type) for name, row in TABLE.items()]
    return Signature([Argument("self", kind), *rows])


def check_values(values: Mapping[str, Any]) -> None:
    """Refuse parameters and combinations that cannot be used.

    Args:
        values: by parameter; None is left to the regime.

    Raises:
        SettingsError: naming the parameter, its value and what is allowed.
    """
    for name, value in values.items():
        TABLE[name].check(value)
    if values.get("settings") == "select" and values.get("self_training"):
        raise SettingsError(
            f'self_training must be 0 where settings is "select", because candidates are scored without it; got '
            f"{values['self_training']!r}. Choose settings with `bliss tune` first, and add it to what is chosen."
        )


def generator(random_state: Any) -> Any:
    """Return the numpy RandomState that a random state means."""
    from sklearn.utils import check_random_state

    TABLE["random_state"].check(random_state)
    return check_random_state(random_state)
