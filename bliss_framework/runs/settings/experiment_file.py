"""Experiment files: TOML to settings; an error names file, key, value and what is allowed."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import field, fields, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.extension.naming import as_on_disk
from bliss_framework.runs.settings.records import (
    DataSettings,
    EvaluationSettings,
    MethodSettings,
    RunSettings,
    check_keys,
    checked_parameters,
)
from bliss_framework.runs.settings.toml_text import parse_toml
from bliss_framework.runs.shapes import ShapeError, record, text

Read = TypeVar("Read")
ORIGIN = record({"plugin": text, "distribution": text, "version": text})
LABEL = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@frozen
class Experiments:
    """What an experiment file holds.

    Attributes:
        rows: the settings of each experiment.
        several: whether they stand in `[[experiment]]` tables, so that each has a name and a result of its own.
    """

    rows: tuple[RunSettings, ...] = field()
    several: bool = field(default=False)


def read_experiments(path: Path) -> Experiments:
    """Read an experiment file: one experiment, or one for each `[[experiment]]` table over the shared settings.

    Raises:
        SettingsError: naming the file, the key, its value and what is allowed.
    """
    table = _toml(path)
    return _at_place(str(path), partial(_experiments, table, path.parent))


def read_bliss(path: Path) -> dict[str, Any]:
    """Read the [bliss] table of a TOML file, for `--settings FILE`; other tables are ignored.

    Raises:
        SettingsError: naming the file, the key, its value and what is allowed.
    """
    table = _toml(path)
    if "bliss" not in table:
        raise SettingsError(f"{path} has no table [bliss], from which settings are taken.")
    return _at_place(str(path), partial(_bliss, table))


def _at_place(where: str, read: Callable[[], Read]) -> Read:
    """Say in an error of reading where the setting stands."""
    try:
        return read()
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(_utf8(path, path.read_bytes()))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from None
    except SettingsError:
        raise
    except ValueError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.") from None


def _utf8(path: Path, raw: bytes) -> str:
    """Return the text of a TOML file, which is UTF-8; editors of Windows write a byte order mark before it."""
    if raw.startswith(UTF16_MARKS) or b"\0" in raw:
        raise SettingsError(f"{path} is not valid TOML: it is text in UTF-16; save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: it is no UTF-8 text ({error}); save it as UTF-8.") from None


def _experiments(table: dict[str, Any], folder: Path) -> Experiments:
    tables = table.pop("experiment", None)
    if tables is None:
        return Experiments((_experiment(table, folder),))
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise SettingsError("experiment must be an array of tables: write [[experiment]].")
    names = [_name_of_row(one, number) for number, one in enumerate(tables, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(f'two [[experiment]] tables have the name "{twice[0]}"; each needs one of its own.')
    rows = [
        _at_place(f'experiment "{name}"', partial(_experiment, _with_shared(table, one), folder))
        for name, one in zip(names, tables, strict=True)
    ]
    return Experiments(tuple(rows), several=True)


def _name_of_row(table: Mapping[str, Any], number: int) -> str:
    """Return the name of an [[experiment]], which is also that of its folder in --output."""
    name = table.get("name")
    if not isinstance(name, str) or not name.isprintable() or not name or name[0] == "." or set(name) & set("/\\"):
        raise SettingsError(
            f"[[experiment]] number {number} has the name {name!r}; its folder is called so, and allowed is text that "
            f"can be printed, holds no slash and does not begin with a dot."
        )
    return name


def _with_shared(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(shared)
    for key, value in own.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _experiment(table: Mapping[str, Any], folder: Path) -> RunSettings:
    # [record] is what a run noted down about itself, and methods what a comparison did; they decide nothing.
    known = ("name", "data", "prepare", "bliss", "evaluation", "compare", "record", "methods", "pipeline")
    check_keys(table, known, "")
    name = table.get("name")
    if not isinstance(name, str | None):
        raise SettingsError(f"name must be text; got {name!r}.")
    if "pipeline" in table:
        return _pipeline(table, name, folder)
    data = _table(table, "data")
    if not isinstance(data.get("source"), str):
        raise SettingsError(f"data.source must be a name or a path; got {data.get('source')!r}.")
    evaluation = _table(table, "evaluation")
    check_keys(evaluation, tuple(one.name for one in fields(EvaluationSettings)), "evaluation.")
    return RunSettings(
        data=_data(data),
        bliss=_bliss(table),
        evaluation=_prefix_paths("evaluation.", EvaluationSettings, evaluation),
        compare=_methods(table.get("compare")),
        name=name,
        folder=folder,
        recorded=recorded_components(table),
    )


def recorded_components(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return where components came from when a run wrote its settings down; nothing where it did not say."""
    record = table.get("record")
    components = record.get("components") if isinstance(record, Mapping) else None
    if not isinstance(components, Mapping):
        return {}
    return {str(name): dict(origin) for name, origin in components.items() if _is_origin(origin)}


def _is_origin(origin: Any) -> bool:
    try:
        ORIGIN(origin, "")
    except ShapeError:
        return False
    return True


def _pipeline(table: Mapping[str, Any], name: str | None, folder: Path) -> RunSettings:
    for key in ("data", "prepare", "bliss", "compare"):
        if key in table:
            raise SettingsError(f"a pipeline has data, settings and methods of its own; move what {key} says to it.")
    evaluation = _table(table, "evaluation")
    check_keys(evaluation, ("repeats", "random_state"), "evaluation.")
    return RunSettings(
        data=DataSettings(""),
        bliss={key: value for key, value in evaluation.items() if key == "random_state"},
        evaluation=_prefix_paths("evaluation.", EvaluationSettings, {"repeats": evaluation.get("repeats", 1)}),
        name=name,
        folder=folder,
        pipeline=table["pipeline"],
    )


def _data(table: Mapping[str, Any]) -> DataSettings:
    test = None if "test" not in table else _table(table, "test")
    if test is not None and not isinstance(test.get("source", ""), str):
        raise SettingsError(f"data.test.source must be a name or a path; got {test['source']!r}.")
    options = {key: value for key, value in table.items() if key not in ("source", "test")}
    return DataSettings(as_on_disk(table["source"]), _files(options), None if test is None else _files(test))


def _files(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with names of files as they are on the disk, whatever bytes are in them."""
    return {key: as_on_disk(value) if isinstance(value, str) else value for key, value in options.items()}


def _bliss(table: Mapping[str, Any]) -> dict[str, Any]:
    """Check the [bliss] table as far as that goes without plugins, while it is known which file it stands in."""
    bliss = checked_parameters(_table(table, "bliss"))
    if "prepare" in table:
        if "prepare" in bliss:
            raise SettingsError("prepare stands in both [prepare] and [bliss]; leave one of them out.")
        bliss["prepare"] = table["prepare"]
    if isinstance(bliss.get("grid"), Mapping):
        bliss["grid"] = _flat_grid(bliss["grid"])
    for name, value in bliss.items():
        _prefix_paths("bliss.", TABLE[name].check, {"value": value})
    return bliss


def _flat_grid(grid: Mapping[str, Any]) -> dict[str, Any]:
    """Read `classifier.width = [...]` in a table [bliss.grid], which TOML takes for a table in a table."""
    flat: dict[str, Any] = {}
    for name, values in grid.items():
        flat |= {f"{name}.{key}": own for key, own in values.items()} if isinstance(values, Mapping) else {name: values}
    return flat


def _prefix_paths(prefix: str, record: Any, values: Mapping[str, Any]) -> Any:
    try:
        return record(**values)
    except SettingsError as error:
        raise SettingsError(f"{prefix}{error}") from None


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be a table [{key}]; got {value!r}.")
    return value


def _methods(tables: Any) -> tuple[MethodSettings, ...] | None:
    if tables is None:
        return None
    if not isinstance(tables, list):
        raise SettingsError("compare must be an array of tables: write [[compare]].")
    methods = [_method(one) for one in tables]
    names = [one.name for one in methods]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(
            f'[[compare]] names the method "{twice[0]}" twice, and results are told apart by name; give one of them a '
            f"label."
        )
    return tuple(methods)


def _method(table: Any) -> MethodSettings:
    if not isinstance(table, Mapping) or not isinstance(table.get("method"), str):
        raise SettingsError(f'[[compare]] needs method = "name of a baseline"; got {table!r}.')
    label = table.get("label")
    if label is not None and (not isinstance(label, str) or not LABEL.fullmatch(label) or label == "bliss"):
        raise SettingsError(
            f"[[compare]] label must be lower-case letters, digits and hyphens, and not bliss; got {label!r}."
        )
    parameters = {key: value for key, value in table.items() if key not in ("method", "label")}
    return MethodSettings(table["method"], parameters, label)
