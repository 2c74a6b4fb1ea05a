"""The settings of a run: frozen records from TOML and options; an error names file, key, value and what is allowed."""

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, fields, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator import BlissClassifier
from bliss_framework.extension.names import did_you_mean
from bliss_framework.validators import at_least, optional

COMPONENTS = ("regime", "classifier", "reward", "strategy", "final_classifier")
PARAMETERS = tuple(name for name in inspect.signature(BlissClassifier).parameters)


@frozen
class DataSettings:
    """Where the data come from: a name or path, and what its reader needs to know."""

    source: str = field()
    options: dict[str, Any] = field(factory=dict)


@frozen
class EvaluationSettings:
    """How a run is evaluated: `cv` folds of whole bags, `repeats` times with other folds; None for no evaluation."""

    cv: int | None = field(default=None, validator=optional(at_least(2)))
    repeats: int = field(default=1, validator=at_least(1))


@frozen
class MethodSettings:
    """A baseline to compare with, and its parameters."""

    method: str = field()
    parameters: dict[str, Any] = field(factory=dict)


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
    """

    data: DataSettings = field()
    bliss: dict[str, Any] = field(factory=dict)
    evaluation: EvaluationSettings = field(factory=EvaluationSettings)
    compare: tuple[MethodSettings, ...] | None = field(default=None)
    name: str | None = field(default=None)
    folder: Path | None = field(default=None)


def read_experiments(path: Path) -> list[RunSettings]:
    """Read an experiment file: one experiment, or one for each `[[experiment]]` table over the shared settings.

    Raises:
        SettingsError: naming the file, the key, its value and what is allowed.
    """
    table = _toml(path)
    try:
        return _experiments(table, path.parent)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def read_bliss(path: Path) -> dict[str, Any]:
    """Read the [bliss] table of a TOML file, for `--settings FILE`; other tables are ignored.

    Raises:
        SettingsError: naming the file, the key and what is allowed.
    """
    table = _toml(path)
    try:
        return checked_parameters(_table(table, "bliss"))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.") from None


def _experiments(table: dict[str, Any], folder: Path) -> list[RunSettings]:
    rows = table.pop("experiment", None)
    if rows is None:
        return [_experiment(table, folder)]
    if not isinstance(rows, list) or not rows:
        raise SettingsError("experiment must be an array of tables: write [[experiment]].")
    settings = [_experiment(_merged(table, row), folder) for row in rows]
    names = [one.name for one in settings]
    for position, name in enumerate(names):
        if not isinstance(name, str) or names.index(name) != position:
            raise SettingsError(f"every [[experiment]] needs a name of its own; number {position + 1} has {name!r}.")
    return settings


def _merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(shared)
    for key, value in own.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _experiment(table: Mapping[str, Any], folder: Path) -> RunSettings:
    _known(table, ("name", "data", "bliss", "evaluation", "compare", "record"), "")
    data = _table(table, "data")  # [record] is what a run noted down about itself; it decides nothing.
    if not isinstance(data.get("source"), str):
        raise SettingsError(f"data.source must be a name or a path; got {data.get('source')!r}.")
    evaluation = _table(table, "evaluation")
    _known(evaluation, tuple(one.name for one in fields(EvaluationSettings)), "evaluation.")
    compare = table.get("compare")
    return RunSettings(
        data=DataSettings(data["source"], {key: value for key, value in data.items() if key != "source"}),
        bliss=checked_parameters(_table(table, "bliss")),
        evaluation=_prefixed("evaluation.", EvaluationSettings, evaluation),
        compare=None if compare is None else tuple(_method(one) for one in compare),
        name=table.get("name"),
        folder=folder,
    )


def _prefixed(prefix: str, record: Any, values: Mapping[str, Any]) -> Any:
    try:
        return record(**values)
    except SettingsError as error:
        raise SettingsError(f"{prefix}{error}") from None


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be a table [{key}]; got {value!r}.")
    return value


def _method(table: Any) -> MethodSettings:
    if not isinstance(table, Mapping) or not isinstance(table.get("method"), str):
        raise SettingsError(f'[[compare]] needs method = "name of a baseline"; got {table!r}.')
    return MethodSettings(table["method"], {key: value for key, value in table.items() if key != "method"})


def _known(table: Mapping[str, Any], allowed: Sequence[str], prefix: str) -> None:
    for key in table:
        if key not in allowed:
            raise SettingsError(
                f'unknown key "{prefix}{key}".{did_you_mean(key, allowed)} Allowed: {", ".join(sorted(allowed))}.'
            )


def checked_parameters(table: Mapping[str, Any]) -> dict[str, Any]:
    """Check the names of parameters of `BlissClassifier`; their values are checked when the estimator is fitted."""
    _known(table, PARAMETERS, "bliss.")
    return dict(table)


def with_options(settings: RunSettings, options: Mapping[str, Any]) -> RunSettings:
    """Lay options over settings: parameters of `BlissClassifier`, `cv` and `repeats`; None leaves a setting alone."""
    given = {key: value for key, value in options.items() if value is not None}
    evaluation = evolve(settings.evaluation, **{key: given.pop(key) for key in ("cv", "repeats") if key in given})
    return evolve(settings, bliss={**settings.bliss, **checked_parameters(given)}, evaluation=evaluation)


def with_component_parameters(settings: RunSettings, assignments: Sequence[str]) -> RunSettings:
    """Set parameters of components, written as `classifier.ridge=0.3`.

    Values are read as TOML where they can be, else as text.

    Raises:
        SettingsError: if one is not of the form component.parameter=value.
    """
    bliss = dict(settings.bliss)
    for assignment in assignments:
        target, equals, text = assignment.partition("=")
        component, dot, parameter = target.strip().partition(".")
        if not (equals and dot and parameter) or component not in COMPONENTS:
            raise SettingsError(
                f"--set takes COMPONENT.PARAMETER=VALUE with a component of {', '.join(COMPONENTS)}; "
                f'got "{assignment}".'
            )
        spec = bliss.get(component, default_of(component, bliss))
        table = dict(spec) if isinstance(spec, Mapping) else {"name": spec}
        bliss[component] = {**table, parameter: _value(text.strip())}
    return evolve(settings, bliss=bliss)


def default_of(component: str, bliss: Mapping[str, Any]) -> Any:
    """Return what is used for a component that the settings do not name."""
    if component != "reward":
        return inspect.signature(BlissClassifier).parameters[component].default
    from bliss_framework.resolve import resolve

    return resolve("regime", bliss.get("regime", default_of("regime", bliss))).default_reward


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
