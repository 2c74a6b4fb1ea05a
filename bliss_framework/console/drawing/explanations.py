"""Explanations of instances and of bags, drawn from their documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from bliss_framework.console.drawing.tables import plain_table, shown

MOST_WITNESSES = 10
VALUES = {"weights": "weight", "permutation": "fall of the score"}


def explanation_view(console: Console, explanation: Mapping[str, Any]) -> RenderableType:
    """Draw why an instance got its label: a sentence, its arms if it had any, and its nearest instances."""
    columns = _carried_columns(explanation["neighbours"])
    near = plain_table(console, "row", "bag", "weak label", "class", "score", *columns, title="nearest in final score")
    for one in explanation["neighbours"]:
        cells = (Text(str(one[key])) for key in ("row", "bag", "weak_label", "class"))
        near.add_row(*cells, Text(shown(one["score"])), *_carried(one, columns))
    own = explanation.get("carried", {})
    said = ", ".join(f"{name} {value}" for name, value in own.items())
    parts = [Text(explanation["sentence"]), *([Text(said)] if said else [])]
    return Group(*parts, *_arms(console, explanation["arms"], "arms"), near)


def bag_view(console: Console, explanation: Mapping[str, Any]) -> RenderableType:
    """Draw why a bag is read as it is: its witnesses, the arms of the strongest, and the features that matter."""
    witnesses = explanation["witnesses"]
    columns = _carried_columns(witnesses)
    several = len({one["score_of"] for one in witnesses}) > 1
    heads = ["rank", "row", "class", "score", "probability", *(["score of"] if several else []), *columns]
    more = len(witnesses) - MOST_WITNESSES
    left = f", the first {MOST_WITNESSES} of {len(witnesses)}; --json has all" if more > 0 else ""
    table = plain_table(console, *heads, title=f"instances, the strongest first{left}")
    for one in witnesses[:MOST_WITNESSES]:
        keys = ("rank", "row", "class", "score", "probability", *(("score_of",) if several else ()))
        table.add_row(*(Text(shown(one[key])) for key in keys), *_carried(one, columns))
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


def _carried_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for one in rows for name in one.get("carried", {})))


def _carried(row: Mapping[str, Any], columns: Sequence[str]) -> list[Text]:
    return [Text(str(row.get("carried", {}).get(name, ""))) for name in columns]
