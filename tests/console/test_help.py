"""`--help`: every option has a sentence, is spelt as in Python, and shows the default that a run uses."""

import re

import pytest


def help_defaults(text):
    """Read the defaults of all options from a help text, whatever box is drawn around it."""
    flat = " ".join(re.sub("[│╭╮╰╯─|]", " ", text).split())
    found = re.findall(r"--([a-z-]+)(?:/--no-[a-z-]+)? (?:(?!--).)*?\[default: ([^\]]+)\]", flat)
    return {name.replace("-", "_"): words for name, words in found}


def told_of(words, regime):
    """Return what a default in words says of a regime, for data of no special kind."""
    by_regime, value = {}, ""
    *parts, last = re.split(r", (?![^(]*\))", words)
    for part in [*parts, last] if " with " in last else parts:
        value, names = part.rsplit(" with ", 1) if " with " in part else (value, part)
        by_regime |= dict.fromkeys(names.split(" and "), re.sub(r" \(.*\)$", "", value).replace("none", ""))
    elsewhere = "" if " with " in last else last.removesuffix(" elsewhere")
    return by_regime.get(regime, by_regime.get("most regimes", elsewhere))


@pytest.mark.parametrize("command", ["run", "compare", "tune", "plugins", "datasets"])
def test_every_option_has_a_help_text(command):
    """No option and no command is left without a sentence."""
    from bliss_framework.console.app import bliss

    assert bliss.commands[command].help
    options = [one for one in bliss.commands[command].params if one.param_type_name == "option"]
    assert [one.name for one in options if not one.help or not one.help.endswith((".", "]"))] == []


@pytest.mark.parametrize("source", ["musk1", "breast-cancer-llp", "digits-multiclass"])
def test_help_says_what_a_run_uses(cli, source):
    """Each default that --help tells of a built-in regime is what run.toml of a run with it holds."""
    from bliss_framework.estimator.parameters import CONFIGURED
    from bliss_framework.extension.loading.plugins import default_plugins
    from bliss_framework.runs.prepared import prepare
    from bliss_framework.runs.settings.records import DataSettings, RunSettings

    document = prepare(RunSettings(DataSettings(source)), default_plugins(), []).document()["bliss"]
    told = help_defaults(cli("run", "--help").out)
    for name in set(CONFIGURED) - {"regime"}:
        words, value = told_of(told.get(name, ""), document["regime"]["name"]), document[name]
        if isinstance(value, dict):
            component, _, own = words.partition("(")
            assert component == value["name"], name
            pairs = [one.split("=") for one in own.rstrip(")").split(", ") if one]
            assert {key: str(value[key]) for key, _ in pairs} == dict(pairs), name
        else:
            shown = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            assert words == shown, name


def test_modes_of_scaling_are_listed():
    """--help names every mode of scaling."""
    from bliss_framework.console.app import bliss
    from bliss_framework.estimator.parameters import SCALINGS

    (scaling,) = [option for option in bliss.commands["run"].params if option.name == "scaling"]
    assert ", ".join(SCALINGS) in scaling.help


def test_options_are_spelt_as_in_python():
    """Each parameter of the estimator is an option of `run`, `compare` and `tune`; a grid is a table of a file."""
    import inspect

    from bliss_framework import BlissClassifier
    from bliss_framework.console.app import bliss

    for command in ("run", "compare", "tune"):
        spelt = {name for option in bliss.commands[command].params for name in option.opts}
        wanted = {f"--{name.replace('_', '-')}" for name in inspect.signature(BlissClassifier).parameters}
        assert wanted - spelt == {"--grid"}
