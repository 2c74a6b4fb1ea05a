"""From the options of a command to the settings of experiments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.console.options import PARAMETER_OPTIONS
from bliss_framework.errors import SettingsError, UnknownNameError
from bliss_framework.estimator.parameters import SETTINGS, TABLE
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.runs.settings.experiment_file import Experiments, read_bliss, read_experiments
from bliss_framework.runs.settings.records import (
    DataSettings,
    RunSettings,
    with_component_parameter,
    with_component_parameters,
    with_options,
)

DATA_OPTIONS = ("bag", "label", "instance_label", "labels", "group", "skip_bad")


def experiments_of(source: str, only: str | None, options: Mapping[str, Any]) -> Experiments:
    """Read the experiments that a source means, and lay options over each of them.

    Args:
        source: an experiment file, which ends in .toml; or what names data.
        only: the name of the one experiment to keep, or None for all.
        options: those of data, evaluation and inference, None where they were not given.

    Raises:
        SettingsError: the file or an option has a value that is not allowed.
        UnknownNameError: the file has no experiment of that name.
    """
    if source.endswith(".toml"):
        found = read_experiments(Path(source))
    else:
        found = Experiments((RunSettings(DataSettings(source)),))
    rows = found.rows if only is None else (_only(found, only, source),)
    return Experiments(tuple(_with(one, dict(options)) for one in rows), found.several)


def _only(experiments: Experiments, only: str, source: str) -> RunSettings:
    named = {one.name: one for one in experiments.rows if one.name is not None}
    if only in named:
        return named[only]
    if not named:
        raise UnknownNameError(f"--only chooses an [[experiment]] of an experiment file; {source} has none.")
    raise UnknownNameError(
        f'{source} has no experiment "{only}".{did_you_mean(only, named)} It has: {", ".join(named)}.'
    )


def _with(settings: RunSettings, options: dict[str, Any]) -> RunSettings:
    assignments = options.pop("assignments")
    named = {place: options.pop(option) for place, option in PARAMETER_OPTIONS.items() if option in options}
    chosen = options.pop("settings")
    reading = {key: options.pop(key) for key in DATA_OPTIONS}
    reading = {key: value for key, value in reading.items() if value is not None}
    settings = evolve(settings, data=evolve(settings.data, options={**settings.data.options, **reading}))
    settings = evolve(settings, bliss={**settings.bliss, **_chosen_settings(chosen)})
    options = {name: TABLE[name].read(value) if name in TABLE else value for name, value in options.items()}
    settings = with_component_parameters(with_options(settings, options), assignments)
    for (component, parameter), value in named.items():
        if value is not None:
            settings = with_component_parameter(settings, component, parameter, value)
    return settings


def _chosen_settings(chosen: str | None) -> dict[str, Any]:
    if chosen is None:
        return {}
    if chosen.endswith(".toml"):
        return read_bliss(Path(chosen))
    if chosen not in SETTINGS:
        raise SettingsError(
            f'settings must be "default", "select", "paper", or the path of a .toml file with a [bliss] table; got '
            f'"{chosen}".'
        )
    return {"settings": chosen}
