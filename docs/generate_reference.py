"""Writes what the reference can know from the code: `python docs/generate_reference.py`.

The pages of hooks and contracts come from their docstrings. In the page of settings, what stands between markers comes
from the table of parameters, from the presets of the built-in regimes, from the signatures of the built-in components
and from the options of the commands.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import evolve

import bliss_framework
from bliss_framework import plugin
from bliss_framework.console.app import bliss
from bliss_framework.estimator.configure import arguments_of
from bliss_framework.estimator.default_words import advised_words, default_words, presets_of, value_words
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.extension import contracts, hookspecs
from bliss_framework.extension.contracts import Presets
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.extension.naming import is_own
from bliss_framework.extension.registry import Registry

REFERENCE = Path(__file__).parent / "reference"
CONTRACTS = (
    contracts.Reward,
    contracts.RewardFunction,
    contracts.BlockReward,
    contracts.Strategy,
    contracts.Classifier,
    contracts.PreparedClassifier,
    contracts.SumsEstimator,
    contracts.LeaveOutEstimator,
    contracts.Regime,
    contracts.BagReading,
    contracts.BagHead,
    contracts.FittedBagHead,
    contracts.Reader,
    contracts.Pipeline,
    contracts.Baseline,
    contracts.Observer,
)
INTRODUCTION = """\
A plugin implements any of these functions, marked with `@hookimpl` from `bliss_framework.plugin`. An implementation may
take fewer arguments than listed. Hooks are called one plugin at a time, so that one that raises costs only itself. The
entry point: group `bliss_framework`, value a module or an object with hook methods, never a class.
"""
FOR_USERS = """\
What `import bliss_framework` gives you. The settings of `BlissClassifier` with their defaults for each regime are in
[settings](settings.md), the meaning of each error in [errors](errors.md). Signatures and docstrings are drawn in when
the site is built: `mkdocs serve`.
"""
FOR_AUTHORS = """\
What `from bliss_framework.plugin import ...` gives you beside the [contracts](contracts.md) and what
[users](python.md) have. Built-in plugins use nothing else. Signatures and docstrings are drawn in when the site is
built: `mkdocs serve`.
"""
PACKAGES = {
    "kernel": "Rows, bags, labels, pulls",
    "rewards": "Rewards",
    "readings": "Readings of bags",
    "primal": "Linear algebra in passes over rows",
    "networks": "Networks",
    "estimator": "Input, scaling, final classifiers",
    "extension": "Data sets, files, components",
    "compute": "Processes",
    "validators": "Checks of parameters",
}
STAGES = {
    "rows": "before it",
    "inference": "label inference",
    "final": "after it",
    "selection": "choice of settings",
    "run": "how it runs",
}
KINDS = ("regime", "reward", "strategy", "classifier", "baseline", "dataset", "reader", "pipeline")
HEAD = "<!-- Written by docs/generate_reference.py from the docstrings; change those. -->\n"


def hooks_page() -> str:
    """Return docs/reference/hooks.md."""
    parts = [
        HEAD,
        "# Hooks\n",
        INTRODUCTION,
    ]
    for name, hook in vars(hookspecs).items():
        if name.startswith("bliss_") and inspect.isfunction(hook):
            arguments = ", ".join(inspect.signature(hook).parameters)
            parts.append(f"## `{name}({arguments})`\n\n{_as_text(hook)}\n")
    return "\n".join(parts)


def contract_page(contract: type) -> str:
    """Return the page of one contract: its own text, then each method with its text."""
    parts = [HEAD, f"# `{contract.__name__}`\n", f"{_as_text(contract)}\n"]
    for name, member in _members(contract):
        kind = "implement this" if getattr(member, "__isabstractmethod__", False) else "may be left as it is"
        if getattr(contract, "_is_protocol", False):
            kind = "no base class is needed"
        parts.append(f"## `{name}{_arguments(member)}`\n\n*{kind}*\n\n{_as_text(member)}\n")
    return "\n".join(parts)


def _members(contract: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(contract).items():
        if isinstance(member, property) or (
            inspect.isfunction(member) and (not name.startswith("_") or name == "__call__")
        ):
            yield name, member


def _arguments(member: Any) -> str:
    if isinstance(member, property):
        return ""
    return "(" + ", ".join(name for name in inspect.signature(member).parameters if name != "self") + ")"


def _as_text(documented: Any) -> str:
    """Turn a docstring into Markdown: sections become headings of their own, their entries a list."""
    lines = []
    listing = False
    for line in (inspect.getdoc(documented) or "").splitlines():
        if line in ("Args:", "Returns:", "Raises:", "Attributes:"):
            lines.append(f"**{line[:-1]}**\n")
            listing = True
        elif listing and line.startswith("        "):
            lines[-1] += f" {line.strip()}"
        elif listing and line.startswith("    "):
            lines.append(f"* {line.strip()}")
        else:
            listing = listing and not line.strip()
            lines.append(line)
    return "\n".join(lines)


def settings_page() -> str:
    """Return docs/reference/settings.md with what stands between its markers written anew."""
    text = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    registry = built_in()
    parts = {
        "parameters": parameter_table(registry),
        "regimes": regime_table(registry),
        "kinds": kind_table(registry),
        "components": component_table(registry),
        "options": option_table(),
    }
    for name, table in parts.items():
        start, end = f"<!-- generated: {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n{table}\n\n{end}{rest.split(end)[1]}"
    return text


def built_in() -> Registry:
    """Return the registry without the components of other distributions that happen to be installed."""
    registry = default_plugins().registry
    return evolve(registry, registrations=tuple(one for one in registry.registrations if is_own(one.distribution)))


def parameter_table(registry: Registry) -> str:
    """Return the table of the parameters of `BlissClassifier`."""
    rows = [
        (
            f"`{name}`",
            default_words(name, registry) or "none",
            paper_words(name, registry) if row.when in ("inference", "final") else "",
            STAGES[row.when],
            row.text,
        )
        for name, row in TABLE.items()
    ]
    return _table(("parameter", "default", "paper", "matters in", "meaning"), rows)


def paper_words(name: str, registry: Registry) -> str:
    """Say the value of a parameter in the paper, and of which regimes it is another."""
    row = TABLE[name]
    general = row.default if row.paper is None else row.paper
    usual = value_words(general)
    others = [
        f"{words} with {regime}"
        for regime, presets in presets_of(registry).items()
        if (words := advised_words(name, Presets(presets.paper), general)) != usual
    ]
    return ", ".join([*others, *([f"{usual} elsewhere" if others else usual] if usual else [])]) or "none"


def regime_table(registry: Registry) -> str:
    """Return the table of what regimes advise beyond defaults of parameters: their own parameters, grids, baselines."""
    rows = [
        (
            f"`{name}`",
            _by_case(_assigned(_own(presets.defaults)), {c.when.words(): _own(c.defaults) for c in presets.cases}),
            _assigned(_own(presets.paper)),
            "; ".join(
                [_choices(presets.grid), *(f"{c.when.words()}: {_choices(c.grid)}" for c in presets.cases if c.grid)]
            ),
            ", ".join(f"`{one}`" for one in presets.baselines),
            _assigned(presets.control),
        )
        for name, presets in presets_of(registry).items()
    ]
    head = ("regime", "own parameters", "in the paper", "grid of `select`", "baselines", "the control differs in")
    return _table(head, rows)


def kind_table(registry: Registry) -> str:
    """Return the table of the kinds of bags on which regimes were measured, and of what was found."""
    rows = [
        (f"`{name}`", kind.like, kind.words(), kind.advice)
        for name, presets in presets_of(registry).items()
        for kind in presets.kinds
    ]
    return _table(("regime", "your bags look like", "those are", "what was measured"), rows)


def _own(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if "." in name}


def _by_case(usual: str, cases: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join([usual, *(f"{when}: {_assigned(values)}" for when, values in cases.items() if values)])


def _assigned(values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{key}` {value_words(value)}" for key, value in values.items()) or "none"


def _choices(grid: Mapping[str, Sequence[Any]]) -> str:
    return ", ".join(f"`{key}` {' / '.join(map(value_words, values))}" for key, values in grid.items())


def component_table(registry: Registry) -> str:
    """Return the table of the parameters of the built-in components, from the signatures of their factories."""
    rows = [
        (f"{kind} `{name}`", _parameters(kind, name, registry), registry.get(kind, name).summary)
        for kind in KINDS
        for name in registry.names(kind)
    ]
    return _table(("component", "parameters", "what it is"), rows)


def _parameters(kind: str, name: str, registry: Registry) -> str:
    arguments: Mapping[str, inspect.Parameter] = arguments_of(kind, name, registry)
    if kind == "reader":
        arguments = dict(inspect.signature(registry.create(kind, name).read).parameters)
        arguments.pop("path", None)
    return ", ".join(map(_parameter, arguments.values())) or "none"


def _parameter(argument: inspect.Parameter) -> str:
    if argument.kind is inspect.Parameter.VAR_KEYWORD:
        return "and its own"
    if argument.default is inspect.Parameter.empty:
        return f"`{argument.name}` (required)"
    return f"`{argument.name}`{_default_of(argument.default)}"


def _default_of(value: Any) -> str:
    if isinstance(value, tuple | list):
        words = ", ".join(map(str, value))
    else:
        words = f"{value:.4g}" if isinstance(value, float) else value_words(value)
    return f" ({words})" if words else ""


def option_table() -> str:
    """Return the table of the options that are no parameters of `BlissClassifier`."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, command in bliss.commands.items():
        for option in command.params:
            if isinstance(option, click.Option) and option.name not in TABLE:
                found.setdefault((option.opts[0], option.help or ""), []).append(name)
    rows = [(f"`{name}`", ", ".join(commands), text) for (name, text), commands in found.items()]
    return _table(("option", "commands", "meaning"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def python_page() -> str:
    """Return the page of what users import: directives that mkdocstrings turns into signatures and docstrings."""
    blocks = [
        f"::: {_home(getattr(bliss_framework, name))}" for name in bliss_framework.__all__ if name != "__version__"
    ]
    return "\n\n".join([HEAD, "# Python: for users", FOR_USERS, *blocks]) + "\n"


def blocks_page() -> str:
    """Return the page of what authors of plugins import beside contracts, by the package that it comes from."""
    of_users = {id(getattr(bliss_framework, name)) for name in bliss_framework.__all__}
    homes: dict[str, list[str]] = {package: [] for package in PACKAGES}
    for name in dir(plugin):
        one = getattr(plugin, name)
        if name.startswith("_") or id(one) in of_users or not (inspect.isclass(one) or inspect.isfunction(one)):
            continue
        package = one.__module__.split(".")[1] if one.__module__.startswith("bliss_framework.") else ""
        if package in homes and not one.__module__.startswith(contracts.__name__):
            homes[package].append(f"::: {_home(one)}")
    blocks = [part for package, found in homes.items() for part in (f"## {PACKAGES[package]}", *found)]
    return "\n\n".join([HEAD, "# Python: building blocks of plugins", FOR_AUTHORS, *blocks]) + "\n"


def _home(one: Any) -> str:
    return f"{one.__module__}.{one.__name__}"


def pages() -> dict[Path, str]:
    """Return every generated page with its text."""
    written = {REFERENCE / "hooks.md": hooks_page(), REFERENCE / "settings.md": settings_page()}
    written |= {REFERENCE / "python.md": python_page(), REFERENCE / "building-blocks.md": blocks_page()}
    for contract in CONTRACTS:
        written[REFERENCE / "contracts" / f"{contract.__name__.lower()}.md"] = contract_page(contract)
    return written


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
