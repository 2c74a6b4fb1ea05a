"""Tables of results, plugins and data sets. Every function takes plain documents and returns something to print."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

NAMES = {"bag_accuracy": "bag accuracy", "bag_auc": "bag AUC"}
PERCENT = ("accuracy", "precision", "recall")


def plain_table(console: Console, *columns: str, title: str | None = None) -> Table:
    """Make a table that also prints well where only ASCII can be shown."""
    ascii_only = not (console.encoding or "ascii").lower().startswith("utf")
    table = Table(title=title, box=box.ASCII if ascii_only else box.ROUNDED, title_justify="left", show_lines=False)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    return table


def result_view(console: Console, document: Mapping[str, Any]) -> RenderableType:
    """Draw one result: what was inferred, and where evaluated, BLISS beside its baselines."""
    parts: list[RenderableType] = [_inference(document)]
    evaluation = document.get("evaluation", {})
    if "cv" in evaluation:
        rows = [("BLISS", evaluation), *((row["name"], row) for row in evaluation.get("baselines", ()))]
        parts.append(evaluation_table(console, rows))
    if "instance_accuracy" in evaluation:
        parts.append(_instances(evaluation["instance_accuracy"]))
    return Group(*parts)


def evaluation_table(console: Console, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """Draw the measures of several methods on the same folds; the best of each measure is bold."""
    measures = [name for name, value in rows[0][1].items() if isinstance(value, Mapping) and "runs" in value]
    first = rows[0][1]
    title = f"{first['cv']} folds of whole bags, {first['repeats']} repeat{'s' if first['repeats'] != 1 else ''}"
    table = plain_table(console, "method", *(NAMES.get(name, name.replace("_", " ")) for name in measures), title=title)
    best = {name: max(row[name]["mean"] for _, row in rows if name in row) for name in measures}
    for method, row in rows:
        table.add_row(Text(method), *(_cell(name, row.get(name), best[name]) for name in measures))
    return table


def _cell(name: str, value: Mapping[str, Any] | None, best: float) -> Text:
    if value is None:
        return Text("-")
    percent = any(word in name for word in PERCENT)
    mean, sd = (value["mean"], value["sd"]) if not percent else (100 * value["mean"], 100 * value["sd"])
    digits = 1 if percent else 3
    spread = f" +- {sd:.{digits}f}" if len(value["runs"]) > 1 else ""
    return Text(f"{mean:.{digits}f}{spread}", style="bold" if value["mean"] >= best else "")


def _inference(document: Mapping[str, Any]) -> Text:
    data, inference = document["data"], document["inference"]
    counts = ", ".join(f"{count} x {label}" for label, count in inference["label_counts"].items())
    undecided = inference["n_undecided"]
    reward = inference["mean_reward"]
    lines = [
        f"{document['name']}: {data['n_bags']} bags, {data['n_instances']} instances, {data['n_features']} features",
        f"inferred labels: {counts}" + (f"; {undecided} undecided" if undecided else ""),
        f"mean reward {reward:.3f} after {inference['n_pulls']} pulls" if reward is not None else "nothing to infer",
    ]
    return Text("\n".join(lines))


def _instances(accuracy: Mapping[str, Any]) -> Text:
    parts = []
    for what, value in accuracy.items():
        overall = value["overall"]
        mean = overall["mean"] if isinstance(overall, Mapping) else overall
        parts.append(f"{what} {100 * mean:.1f}")
    return Text("instance accuracy: " + ", ".join(parts))


def plugin_table(console: Console, plugins: Sequence[Mapping[str, Any]]) -> Table:
    """Draw all plugins with their components; broken ones say at which door, why, and what to do."""
    table = plain_table(console, "plugin", "distribution", "state", "components, or what broke")
    for one in plugins:
        told = [f"{c['kind']} {c['name']}" for c in one["components"]]
        if one["reason"]:
            told.append(f"door {one['door']}: {one['reason']} Remedy: {one['remedy']}")
        style = {"ok": "green", "blocked": "dim", "broken": "red"}[one["state"]]
        who = f"{one['distribution']} {one['version']}"
        table.add_row(Text(one["name"]), Text(who), Text(one["state"], style=style), Text("\n".join(told)))
    return table


def component_table(console: Console, components: Sequence[Mapping[str, Any]]) -> Table:
    """Draw the components of one plugin with their summaries and parameters."""
    table = plain_table(console, "kind", "name", "summary", "parameters")
    for one in components:
        table.add_row(Text(one["kind"]), Text(one["name"]), Text(one["summary"]), Text(one.get("parameters", "")))
    return table


def dataset_table(console: Console, datasets: Sequence[Mapping[str, Any]]) -> Table:
    """Draw data sets: where they are, what they are, under which licence."""
    table = plain_table(console, "name", "size", "licence", "source", "found in")
    for one in datasets:
        table.add_row(*(Text(str(one.get(key) or "-")) for key in ("name", "size", "licence", "source", "origin")))
    return table
