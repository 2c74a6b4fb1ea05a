"""The defaults of parameters in words, with what each installed regime advises, as help texts say them."""

from collections.abc import Callable, Mapping
from textwrap import wrap
from typing import Any

from bliss_framework.errors import BlissError
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.extension.contracts import Presets
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.extension.registry import Registry

MANY, MOST = 5, "most regimes"  # So many are not named one by one.


def default_words(name: str, registry: Registry) -> str:
    """Say the default of a parameter, regime by regime, such as "80 with llp, 60 with most regimes, 100 elsewhere".

    A value that many regimes advise is that of "most regimes", and all others are named then.

    Args:
        name: of the parameter.
        registry: knows the installed regimes.

    Returns:
        Empty where nothing is the default anywhere.
    """
    general = TABLE[name].default
    regimes: dict[str, list[str]] = {}
    for regime, presets in presets_of(registry).items():
        regimes.setdefault(advised_words(name, presets, general), []).append(regime)
    elsewhere = value_words(general)
    advised = {value: names for value, names in regimes.items() if value != elsewhere}
    most = max(advised, key=lambda value: len(advised[value]), default="")
    if advised and len(advised[most]) >= MANY:
        advised = {value or "none": names for value, names in regimes.items() if value != most} | {most: [MOST]}
    parts = [f"{value} with {_and(names)}" for value, names in advised.items()]
    if not parts:
        return elsewhere
    return ", ".join([*parts, f"{elsewhere} elsewhere"] if elsewhere else parts)


def presets_of(registry: Registry) -> dict[str, Presets]:
    """Return what each installed regime advises; one that cannot be made by name alone is left out."""
    found: dict[str, Presets] = {}
    for name in registry.names("regime"):
        try:
            presets = getattr(registry.create("regime", name), "presets", None)
        except BlissError:
            continue
        if isinstance(presets, Presets):
            found[name] = presets
    return found


def advised_words(name: str, presets: Presets, general: Any) -> str:
    """Say what a regime advises for a parameter, and for which data it advises something else.

    >>> from bliss_framework.extension.contracts import Case, When
    >>> advised_words("n_folds", Presets({"n_folds": 3}, cases=(Case(When(rows_above=5000), {"n_folds": 10}),)), 5)
    '3 (10 above 5,000 rows)'
    """
    usual = value_words(presets.defaults.get(name, general))
    others = [
        f"{value_words(case.defaults[name])} {case.when.words()}" for case in presets.cases if name in case.defaults
    ]
    return f"{usual} ({'; '.join(others)})" if others else usual


def value_words(value: Any) -> str:
    """Say a value as it is typed.

    >>> value_words({"name": "svm-rbf", "C": 1.0, "width": 0.25})
    'svm-rbf(C=1.0, width=0.25)'
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        own = ", ".join(f"{key}={one}" for key, one in value.items() if key != "name")
        return f"{value['name']}({own})" if own else str(value["name"])
    return str(value)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def argument_section(words_of: Callable[[str], str], indent: str = "    ") -> str:
    """Return the section `Args:` of the docstring of `BlissClassifier`, with defaults in brackets.

    Args:
        words_of: says the default of a parameter.
        indent: of the section.
    """
    lines = [f"{indent}Args:"]
    for name, row in TABLE.items():
        shown = f" [{words}]" if (words := words_of(name)) else ""
        lines += wrap(
            f"{name}: {row.text}{shown}", 120, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}        "
        )
    return "\n".join(lines)


class DocumentedDefaults:
    """A docstring with the defaults of every parameter, which depend on the regimes that are installed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: Any) -> str:
        registry = active_plugins().registry
        section = argument_section(lambda name: default_words(name, registry))
        return self.text.replace("    @ARGUMENTS@", section)
