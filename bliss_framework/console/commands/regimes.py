"""`bliss regimes`: the kinds of weak labels that can be learnt from, for a user who asks which of them is theirs."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rich_click as click

from bliss_framework.console import completion
from bliss_framework.console.options import output_options

if TYPE_CHECKING:
    from bliss_framework.console.drawing.screens import Screen
    from bliss_framework.extension.contracts import Kind, Presets
    from bliss_framework.extension.registry import Registration, Registry

WITH_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
BETWEEN_SENTENCES = re.compile(r"(?<=\.)\s+(?=[A-Z])")


@click.command("regimes")
@click.argument("name", required=False, shell_complete=completion.components("regime"))
@output_options
def regimes_command(name: str | None, as_json: bool, quiet: bool, block: tuple[str, ...], strict: bool) -> None:
    """List the kinds of weak labels: what you have, what it is called, and the regime that learns from it.

    NAME is a regime, or words of its name or of what the literature calls it, such as "crowds"; where it is one alone,
    everything is told of it.
    """
    from bliss_framework.console.context import plugins_for
    from bliss_framework.console.drawing.screens import open_screen

    screen = open_screen(quiet, as_json)
    registry = plugins_for(block, strict, screen).registry
    _show(_chosen(registry, name), name is not None, registry, screen)


def _chosen(registry: "Registry", name: str | None) -> "list[Registration]":
    """Return the regime of a name; else those with these words in their name or in what they are called.

    Raises:
        UnknownNameError: there is none; it offers the nearest name, and lists them.
    """
    every = [registry.registration("regime", one) for one in registry.names("regime")]
    if name is None:
        return every
    found = [one for one in every if name.lower() in f"{one.component.name}, {_details(one).get('called')}".lower()]
    if name in registry.names("regime") or not found:
        return [registry.registration("regime", name)]
    return found


def _details(registration: "Registration") -> Mapping[str, Any]:
    details = registration.component.details
    return details if isinstance(details, Mapping) else {}


def _show(chosen: "list[Registration]", named: bool, registry: "Registry", screen: "Screen") -> None:
    from bliss_framework.console.drawing.regimes import regime_tables, regime_view
    from bliss_framework.estimator.default_words import presets_of
    from bliss_framework.runs.folder.atomic import to_json

    presets = presets_of(registry)
    documents = [_document(one, presets.get(one.component.name)) for one in chosen]
    if screen.as_json:
        screen.document(to_json({"format": 1, "regimes": documents}))
    elif named and len(documents) == 1:
        lines = _parameter_lines(chosen[0], presets.get(chosen[0].component.name))
        screen.results.print(regime_view(screen.results, documents[0], lines))
    elif documents:
        screen.results.print(regime_tables(screen.results, documents))
        screen.note("`bliss regimes NAME` says everything of one of them.", style="dim")
    else:
        screen.note("No regime is installed; `bliss plugins` says what is, and what broke.")


def _document(registration: "Registration", presets: "Presets | None") -> dict[str, Any]:
    """Say all that is known of a regime; null is what nobody has said."""
    from attrs import asdict

    from bliss_framework.console.drawing.docstrings import parameters_of
    from bliss_framework.estimator.default_words import advised_words
    from bliss_framework.estimator.parameters import TABLE

    component, details = registration.component, _details(registration)

    def said(key: str) -> str | None:
        return str(details[key]) if details.get(key) else None

    def advised(parameter: str) -> str | None:
        return None if presets is None else advised_words(parameter, presets, TABLE[parameter].default)

    return {
        "name": component.name,
        "plugin": registration.plugin,
        "summary": component.summary,
        "called": said("called"),
        "weak_label": said("weak label"),
        "example": said("example"),
        "rows_are_bags": bool(getattr(component.factory, "rows_are_bags", False)),
        "binary": bool(getattr(component.factory, "binary", False)),
        "parameters": [asdict(one) for one in parameters_of("regime", component.factory)],
        "reward": advised("reward"),
        "n_rounds": advised("n_rounds"),
        "baselines": [] if presets is None else list(presets.baselines),
        "datasets": [one.strip() for one in (said("data sets") or "").split(",") if one.strip()],
        "source": source_sentence(component.factory),
        "results": said("results"),
        "kinds": [] if presets is None else [_kind(one) for one in presets.kinds],
    }


def _kind(kind: "Kind") -> dict[str, str]:
    return {"like": kind.like, "when": kind.words(), "advice": kind.advice}


def _parameter_lines(registration: "Registration", presets: "Presets | None") -> list[str]:
    from bliss_framework.console.commands.plugins import advised_parameters
    from bliss_framework.console.drawing.docstrings import parameters_of

    advised = advised_parameters(presets)
    lines = []
    for one in parameters_of("regime", registration.component.factory):
        of_type = "" if one.choices else one.type.replace("typing.", "").replace("collections.abc.", "")
        lines.append(one.line(advised.get(one.name)) + (f" ({of_type})" if of_type not in ("", "Any") else ""))
    return lines


def source_sentence(factory: Any) -> str | None:
    """Return the first sentence of a docstring that names a year, which is where it says what it is out of.

    >>> def made(): "Pairs that are alike. Source: Hsu et al., ICLR 2019."
    >>> source_sentence(made)
    'Hsu et al., ICLR 2019.'
    """
    import inspect

    text = (inspect.getdoc(factory) or "").partition("\nArgs:")[0]
    sentences = BETWEEN_SENTENCES.split(" ".join(text.split()))
    return next((one.removeprefix("Source: ") for one in sentences if WITH_YEAR.search(one)), None)
