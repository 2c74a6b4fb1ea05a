"""Tables of results, plugins and data sets. Every function takes plain documents and returns something to print."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from bliss_framework.console.drawing.findings import (
    comparison_lines,
    finding_lines,
    instance_words,
    interval_words,
    kind_words,
)
from bliss_framework.console.drawing.screens import shows_unicode
from bliss_framework.extension.naming import singular
from bliss_framework.report.wording import (
    best_mean,
    how_tested,
    measure_name,
    percent_value,
    shown_measures,
    shown_value,
)
from bliss_framework.runs.evaluation.measures import measures_of

INTERVAL = "95% interval"
WITH_SUMMARY = 110  # Columns from which on components are listed with what they are.
UNBOUNDED = 10_000  # Columns; more than any table asks for.


class PlainTable(Table):
    """A table under a line of text, to which rich would add spaces; a list where its words are too long for columns."""

    heading: str | None = None

    def fits(self, console: Console) -> bool:
        """Whether no word has to be broken."""
        unbounded = console.options.update(width=UNBOUNDED)
        return bool(super().__rich_measure__(console, unbounded).minimum <= console.options.max_width)

    def fits_in_lines(self, console: Console) -> bool:
        """Whether each row takes one line."""
        unbounded = console.options.update(width=UNBOUNDED)
        return bool(super().__rich_measure__(console, unbounded).maximum <= console.options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the line, then the table or the list."""
        if self.heading is not None:
            yield Text(self.heading)
        unbounded = options.update(width=UNBOUNDED)
        if super().__rich_measure__(console, unbounded).minimum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        columns = [[cell for cell in column.cells if isinstance(cell, Text)] for column in self.columns]
        for number, cells in enumerate(zip(*columns, strict=True)):
            yield Text("\n" if number else "", end="")
            for column, cell in zip(self.columns, cells, strict=True):
                yield Text.assemble(str(column.header), ": ", Text(", ").join(cell.split("\n")), overflow="fold")


def plain_table(console: Console, *columns: str, title: str | None = None) -> PlainTable:
    """Make a table that also prints well where only ASCII can be shown, or in few columns; its cells are of Text."""
    table = PlainTable(box=box.ROUNDED if shows_unicode(console) else box.ASCII)
    table.heading = title
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    return table


def result_view(console: Console, document: Mapping[str, Any], verbose: bool = False) -> RenderableType:
    """Draw one result: who the witnesses are, how good the model is, and where evaluated, BLISS beside its baselines.

    With `verbose` it also says how many pulls there were and what they were rewarded with.
    """
    if "pipeline" in document.get("settings", {}):
        return pipeline_view(console, document)
    parts: list[RenderableType] = [_inference(document, verbose)]
    evaluation = document.get("evaluation", {})
    parts += [Text(line) for line in finding_lines(document)]
    if "repeats" in evaluation:
        rows = [("BLISS", evaluation), *((row["name"], row) for row in evaluation.get("baselines", ()))]
        parts.append(evaluation_table(console, rows))
        parts += comparison_lines(evaluation)
    if "instance_accuracy" in evaluation:
        parts.append(_instances(evaluation["instance_accuracy"]))
    if "kind" in document.get("findings", {}):
        parts.append(Text(kind_words(document["findings"]["kind"])))
    return Group(*parts)


def pipeline_view(console: Console, document: Mapping[str, Any]) -> RenderableType:
    """Draw the methods of a pipeline: overall measures, then each measure that has parts, all in percent."""
    evaluation = document["evaluation"]
    rows = [evaluation, *evaluation["baselines"]]
    repeats = evaluation["repeats"]
    words = [f"{key.removeprefix('n_').replace('_', ' ')} {value}" for key, value in _facts(document["data"])]
    parts: list[RenderableType] = [Text(f"{document['name']}: {', '.join(words)}")]
    measures = measures_of(evaluation)
    overall = [name for name, value in measures.items() if "runs" in value]
    title = f"percent, {repeats} repeat{'s' if repeats != 1 else ''}"
    parts.append(_percent_table(console, title, rows, overall, lambda row, name: row[name], True))
    for measure, value in measures.items():
        if "runs" not in value:
            title = measure_name(measure)
            parts.append(_percent_table(console, title, rows, list(value), lambda row, key, m=measure: row[m][key]))
    return Group(*parts)


def _facts(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in data.items() if isinstance(value, int | float)]


def _percent_table(
    console: Console,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    value_of: Callable[..., Mapping[str, Any]],
    overall: bool = False,
) -> Table:
    """Draw one table of methods. Parts go without deviations, which would not fit; result.json has them."""
    columns = [*map(measure_name, keys), "seconds"] if overall else list(keys)
    table = plain_table(console, "method", *columns, title=title)
    best = {key: max((value_of(row, key)["mean"] for row in rows if not row["ceiling"]), default=None) for key in keys}
    for row in rows:
        cells = [_percent(value_of(row, key), best[key], with_spread=overall) for key in keys]
        spent = [Text(f"{row['seconds']['mean']:.0f}")] if overall else []
        table.add_row(Text(row["name"]), *cells, *spent)
    return table


def _percent(value: Mapping[str, Any], best: float | None, with_spread: bool) -> Text:
    text = percent_value("", value if with_spread else {**value, "runs": value["runs"][:1]})
    return Text(text, style="bold" if value["mean"] == best else "")


def evaluation_table(console: Console, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """Draw the measures of several methods on the same folds; the best of each measure is bold."""
    cells = [(method, shown_measures(evaluation)) for method, evaluation in rows]
    measures = list(dict.fromkeys(name for _, own in cells for name in own))
    with_interval = next((name for name in measures if any("interval" in own.get(name, {}) for _, own in cells)), None)
    heads = [part for name in measures for part in (measure_name(name), *([INTERVAL] if name == with_interval else []))]
    table = plain_table(console, "method", *heads, title=how_tested(rows[0][1]))
    best = {name: best_mean(name, [own[name] for _, own in cells if name in own]) for name in measures}
    for method, own in cells:
        shown_cells = []
        for name in measures:
            shown_cells.append(_cell(name, own.get(name), best[name]))
            if name == with_interval:
                shown_cells.append(Text(interval_words(name, own.get(name, {}).get("interval"))))
        table.add_row(Text(method), *shown_cells)
    return table


def candidate_table(console: Console, candidates: Sequence[Mapping[str, Any]], n_shown: int = 10) -> Table:
    """Draw the best of some candidate settings, with what sets them apart from the others."""
    varied = [name for name in candidates[0]["settings"] if len({str(one["settings"][name]) for one in candidates}) > 1]
    title = f"the best {min(n_shown, len(candidates))} of {len(candidates)} settings, scored on held-out bags"
    table = plain_table(console, *varied, "score", title=title)
    for one in candidates[:n_shown]:
        table.add_row(*(Text(str(one["settings"][name])) for name in varied), Text(f"{one['score']:.4f}"))
    if table.fits(console):
        return table
    table = plain_table(console, "score", "settings", title=title)
    for one in candidates[:n_shown]:
        said = ", ".join(f"{name} {one['settings'][name]}" for name in varied)
        table.add_row(Text(f"{one['score']:.4f}"), Text(said))
    return table


def candidate_words(candidates: Sequence[Mapping[str, Any]]) -> str:
    """Say what the score of candidates is, and whether the best of them has a bandit at all."""
    said = "score: how well held-out bags were predicted, as the regime counts it; larger is better"
    if candidates[0]["settings"].get("inherited_share") != 1:
        return said
    return f"{said}\nno bandit: the best settings have inherited_share = 1, so instances inherit labels from their bags"


def _cell(measure: str, value: Mapping[str, Any] | None, best: float | None) -> Text:
    is_best = value is not None and best is not None and value["mean"] == best
    return Text(shown_value(measure, value), style="bold" if is_best else "")


def _inference(document: Mapping[str, Any], verbose: bool) -> Text:
    data, inference = document["data"], document["inference"]
    counts = ", ".join(f"{count} x {label}" for label, count in inference["label_counts"].items())
    undecided = inference["n_undecided"]
    reward = inference["mean_reward"]
    pulled = f"mean reward {reward:.3f} after {inference['n_pulls']} pulls" if reward is not None else "no pulls"
    lines = [
        f"{document['name']}: {data['n_bags']} bags, {data['n_instances']} instances, {data['n_features']} features",
        f"inferred labels: {counts}" + (f"; {undecided} undecided" if undecided else ""),
        *([pulled] if verbose else [] if reward is not None else ["nothing to infer"]),
    ]
    return Text("\n".join(lines))


def _instances(accuracy: Mapping[str, Any]) -> Text:
    """Say how many instances were right; that of the tests stands in the table beside the baselines'."""
    words = {"inferred": "inferred labels", "train": "final classifier in training"}
    parts = [f"{words[what]} {100 * accuracy[what]['overall']:.1f}%" for what in words if what in accuracy]
    return Text("instance accuracy: " + ", ".join(parts))


def plugin_table(console: Console, plugins: Sequence[Mapping[str, Any]]) -> Table:
    """Draw all plugins with their components; broken ones say at which stage, why, and what to do."""
    table = plain_table(console, "plugin", "distribution", "state", "components, or what broke")
    for one in plugins:
        told = [_component(c, console.width >= WITH_SUMMARY) for c in one["components"]]
        if one["reason"]:
            told.append(f"{one['door']}: {one['reason']}. Hint: {one['remedy']}.")
        style = {"ok": "green", "blocked": "dim", "broken": "red"}[one["state"]]
        who = f"{one['distribution']} {one['version']}"
        table.add_row(Text(one["name"]), Text(who), Text(one["state"], style=style), Text("\n".join(told)))
    return table


def _component(component: Mapping[str, Any], with_summary: bool) -> str:
    called = f"{singular(component['kind'])} {component['name']}"
    return f"{called}: {component['summary']}" if with_summary and component.get("summary") else called


def component_tree(plugin: str, components: Sequence[Mapping[str, Any]]) -> Tree:
    """Draw the components of one plugin with their summaries, and beneath each its parameters."""
    tree = Tree(Text(plugin))
    for one in components:
        branch = tree.add(Text(f"{singular(one['kind'])} {one['name']}: {one['summary']}"))
        for parameter in one["parameters"]:
            branch.add(Text(parameter))
    return tree


def dataset_table(console: Console, datasets: Sequence[Mapping[str, Any]]) -> Table:
    """Draw data sets: where they are, what they are, under which licence."""
    table = plain_table(console, "name", "size", "licence", "source", "found in")
    for one in datasets:
        table.add_row(*(Text(str(one.get(key) or "-")) for key in ("name", "size", "licence", "source", "origin")))
    return table


def verdict_table(console: Console, verdicts: Sequence[Mapping[str, Any]]) -> Table:
    """Draw what the conformance kit says of components."""
    table = plain_table(console, "plugin", "kind", "name", "state", "what the kit says")
    for one in verdicts:
        state = Text(one["state"], style={"passed": "green", "failed": "red", "skipped": "dim"}[one["state"]])
        table.add_row(Text(one["plugin"]), Text(one["kind"]), Text(one["name"]), state, Text(one["reason"]))
    return table


def prediction_table(
    console: Console, bags: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], classes: Sequence[Any]
) -> Table:
    """Draw what is predicted of each bag, and where instances are ranked the strongest one of each.

    Args:
        console: drawn on.
        bags, rows: what is predicted.
        classes: whose shares are predicted, if shares are; of two the share of the second.
    """
    shares = any(_is_share(one["predicted"]) for one in bags)
    keys = ["bag", "predicted", *(key for key in ("score", "probability") if key in bags[0] and not shares)]
    # Of what is carried the first column or two tell rows apart; in a narrow table more would be broken.
    most = 3 if console.width >= WITH_SUMMARY else 1
    strongest = {one["bag"]: instance_words(one, most) for one in rows if one.get("rank") == 1}
    of = classes[1:] if len(classes) == 2 else classes
    title = f"predicted shares of {', '.join(map(str, of))}" if shares else "scores are relative to the bag threshold"
    table = plain_table(console, *keys, *(["strongest instance"] if strongest else []), title=title)
    for one in bags:
        last = [Text(strongest[one["bag"]])] if strongest else []
        table.add_row(*(Text(shown(one[key])) for key in keys), *last)
    return table


def _is_share(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, list) and any(isinstance(one, float) for one in value))


def shown(value: Any) -> str:
    """Write a value of a table: numbers with four digits behind the point, lists with commas."""
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return f"{value:.4f}" if isinstance(value, float) else str(value)
