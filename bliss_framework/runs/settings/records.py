"""The settings of a run: frozen records, and the options of a command laid over them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, fields, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.parameters import COMPONENTS, TABLE
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.runs.settings.toml_text import parse_toml
from bliss_framework.validators import at_least, between, optional

SETTABLE = (*COMPONENTS, "pipeline")
PARAMETERS = tuple(TABLE)


@frozen
class DataSettings:
    """Where the data come from.

    Attributes:
        source: a name or path.
        options: what its reader needs to know.
        test: the same of a test set, "source" and options that are laid over those of the training data; or None.
    """

    source: str = field()
    options: dict[str, Any] = field(factory=dict)
    test: dict[str, Any] | None = field(default=None)

    @property
    def of_test(self) -> "DataSettings | None":
        """Where the test set comes from, or None."""
        if self.test is None:
            return None
        options = {**self.options, **self.test}
        return DataSettings(options.pop("source", self.source), options)


@frozen
class EvaluationSettings:
    """How a run is evaluated: by folds of whole bags, or on a share of the bags; by neither for no evaluation.

    Attributes:
        cv: folds of whole bags.
        repeats: times, with other folds, or another share.
        test_share: share of the bags to test on, from 0.01 to 0.99, instead of folds.
    """

    cv: int | None = field(default=None, validator=optional(at_least(2)))
    repeats: int = field(default=1, validator=at_least(1))
    test_share: float | None = field(default=None, validator=optional(between(0.01, 0.99)))

    def __attrs_post_init__(self) -> None:
        if self.cv is not None and self.test_share is not None:
            raise SettingsError(
                f"cv is {self.cv} and test_share is {self.test_share:g}, but an evaluation has either folds or one "
                f"test part; leave one of them out."
            )

    @property
    def wanted(self) -> bool:
        """Whether there is anything to evaluate."""
        return self.cv is not None or self.test_share is not None


@frozen
class MethodSettings:
    """A baseline to compare with, its parameters, and what results call it where that is not its own name."""

    method: str = field()
    parameters: dict[str, Any] = field(factory=dict)
    label: str | None = field(default=None)

    @property
    def name(self) -> str:
        """What results call it."""
        return self.method if self.label is None else self.label


@frozen
class RunSettings:
    """All settings of one experiment.

    Attributes:
        data: where the data come from.
        bliss: parameters of `BlissClassifier` that differ from its defaults.
        evaluation: folds and repeats.
        compare: baselines; None for those that the regime names.
        name: of the row in a file of several experiments, or None.
        folder: where relative paths start.
        pipeline: a pipeline instead of data and a fit of BLISS, as the user names it, or None.
        recorded: where components came from when a run wrote these settings down, as `Registry.record` has it.
    """

    data: DataSettings = field()
    bliss: dict[str, Any] = field(factory=dict)
    evaluation: EvaluationSettings = field(factory=EvaluationSettings)
    compare: tuple[MethodSettings, ...] | None = field(default=None)
    name: str | None = field(default=None)
    folder: Path | None = field(default=None)
    pipeline: Any = field(default=None)
    recorded: dict[str, Any] = field(factory=dict)


EVALUATION = tuple(one.name for one in fields(EvaluationSettings))


def checked_parameters(table: Mapping[str, Any]) -> dict[str, Any]:
    """Check the names of parameters of `BlissClassifier`; their values are checked when the estimator is fitted."""
    check_keys(table, PARAMETERS, "bliss.")
    return dict(table)


def check_keys(table: Mapping[str, Any], allowed: Sequence[str], prefix: str) -> None:
    """Refuse a key that is not allowed; `prefix` says in which table it stands.

    Raises:
        SettingsError: with the nearest key and all that are allowed.
    """
    for key in table:
        if key not in allowed:
            raise SettingsError(
                f'unknown key "{prefix}{key}".{did_you_mean(key, allowed)} Allowed: {", ".join(sorted(allowed))}.'
            )


def with_options(settings: RunSettings, options: Mapping[str, Any]) -> RunSettings:
    """Lay options over settings: parameters of `BlissClassifier` and of `[evaluation]`; None leaves a setting alone."""
    given = {key: value for key, value in options.items() if value is not None}
    evaluation = evolve(settings.evaluation, **{key: given.pop(key) for key in EVALUATION if key in given})
    return evolve(settings, bliss={**settings.bliss, **checked_parameters(given)}, evaluation=evaluation)


def with_component_parameters(settings: RunSettings, assignments: Sequence[str]) -> RunSettings:
    """Set parameters of components, written as `classifier.ridge=0.3`.

    Values are read as TOML where they can be, else as text. A table without a name speaks of the component in use,
    which is known when the data are.

    Raises:
        SettingsError: if one is not of the form component.parameter=value.
    """
    for assignment in assignments:
        target, equals, text = assignment.partition("=")
        component, dot, parameter = target.strip().partition(".")
        if not (equals and dot and parameter) or component not in SETTABLE:
            raise SettingsError(
                f'--set takes COMPONENT.PARAMETER=VALUE; got "{assignment}".{did_you_mean(component, SETTABLE)} '
                f"Components: {', '.join(SETTABLE)}."
            )
        settings = with_component_parameter(settings, component, parameter, _value(text.strip()))
    return settings


def with_component_parameter(settings: RunSettings, component: str, parameter: str, value: Any) -> RunSettings:
    """Set one parameter of a component, whatever its name."""
    spec = settings.pipeline if component == "pipeline" else settings.bliss.get(component)
    table = dict(spec) if isinstance(spec, Mapping) else {} if spec is None else {"name": spec}
    table[parameter] = value
    if component == "pipeline":
        return evolve(settings, pipeline=table)
    return evolve(settings, bliss={**settings.bliss, component: table})


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}")["value"]
    except ValueError:
        return text
