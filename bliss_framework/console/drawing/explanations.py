"""Explanations of instances and of bags, drawn from their documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from bliss_framework.console.drawing.tables import PlainTable, plain_table, shown

MOST_WITNESSES = 10
VALUES = {"weights": "weight", "permutation": "fall of the score"}


def explanation_view(console: Console, explanation: Mapping[str, Any]) -> RenderableType:
    """Draw why an instance got its label: a sentence, its arms if it had any, and its nearest instances."""
    near = _beside(
        console, explanation["neighbours"], ("row", "bag", "weak_label", "class", "score"), "nearest in final score"
    )
    own = explanation.get("carried", {})
    said = ", ".join(f"{name} {value}" for name, value in own.items())
    parts = [Text(explanation["sentence"]), *([Text(said)] if said else [])]
    return Group(*parts, *_arms(console, explanation["arms"], "arms"), near)


def bag_view(console: Console, explanation: Mapping[str, Any]) -> RenderableType:
    """Draw why a bag is read as it is: its witnesses, the arms of the strongest, and the features that matter."""
    witnesses = explanation["witnesses"]
    several = len({one["score_of"] for one in witnesses}) > 1
    keys = ("rank", "row", "class", "score", "probability", *(("score_of",) if several else ()))
    more = len(witnesses) - MOST_WITNESSES
    left = f", the first {MOST_WITNESSES} of {len(witnesses)}; --json has all" if more > 0 else ""
    table = _beside(console, witnesses[:MOST_WITNESSES], keys, f"instances, the strongest first{left}")
    strongest = explanation["strongest"]
    arms = _arms(console, strongest["arms"], f"arms of row {strongest['row']}")
    return Group(Text(explanation["sentence"]), table, *arms, *_features(console, explanation["features"]))


def _arms(console: Console, arms: Sequence[Mapping[str, Any]], title: str) -> list[RenderableType]:
    if not arms:
        return []
    table = plain_table(console, "label", "class", "pulls", "mean reward", title=title)
    for arm in arms:
        table.add_row(*(Text(str(arm[key])) for key in ("label", "class", "pulls")), Text(shown(arm["mean_reward"])))
    return [table]


def _features(console: Console, features: Mapping[str, Any]) -> list[RenderableType]:
    if not features["features"]:
        return [Text(features["said"])]
    table = plain_table(console, "feature", VALUES[features["kind"]], title="features that matter")
    for one in features["features"]:
        table.add_row(Text(one["name"]), Text(shown(one["value"])))
    return [table, Text(features["said"])]


def _beside(console: Console, rows: Sequence[Mapping[str, Any]], keys: Sequence[str], title: str) -> PlainTable:
    """Draw rows and what is carried beside them: as many columns of it as fit."""
    carried = list(dict.fromkeys(name for one in rows for name in one.get("carried", {})))
    for n_shown in range(len(carried), -1, -1):
        named = carried[:n_shown]
        table = plain_table(console, *(key.replace("_", " ") for key in keys), *named, title=title)
        for one in rows:
            own = one.get("carried", {})
            table.add_row(*(Text(shown(one[key])) for key in keys), *(Text(str(own.get(name, ""))) for name in named))
        if table.fits_in_lines(console):
            break
    return table
