"""What a report says of methods that were evaluated on the same bags."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bliss_framework.report.charts import methods_chart
from bliss_framework.report.parts import Cell, Chart, Table
from bliss_framework.report.wording import (
    best_mean,
    how_tested,
    is_percent,
    measure_name,
    percent_value,
    shown_measures,
    shown_value,
)

BLISS = "bliss"
Row = tuple[str, Mapping[str, Any]]  # The name of a method, and what was measured of it.


def method_parts(document: Mapping[str, Any]) -> list[Table | Chart]:
    """Lay out the methods of a run or of a comparison; nothing where none was evaluated."""
    rows = [(name, shown_measures(evaluation)) for name, evaluation in _rows(document)]
    if not rows:
        return []
    measures = list(dict.fromkeys(measure for _, own in rows for measure in own))
    title = f"Methods on the same bags: {how_tested(_rows(document)[0][1])}"
    table = _table(title, rows, measures, shown_value)
    return [table, *_chart(rows, measures[0], is_percent(measures[0]))]


def pipeline_parts(evaluation: Mapping[str, Any]) -> list[Table | Chart]:
    """Lay out the methods of a pipeline: overall measures, then a table for each measure by class."""
    rows = [(row["name"], row) for row in (evaluation, *evaluation["baselines"])]
    measures = {k: v for k, v in evaluation.items() if isinstance(v, Mapping) and k not in ("baseline", "seconds")}
    overall = [name for name, value in measures.items() if "runs" in value]
    ceilings = [name for name, row in rows if row["ceiling"]]
    rows.sort(key=lambda row: row[0] in ceilings)  # A ceiling is no baseline, so it stands below the others.
    repeats = evaluation["repeats"]
    title = f"Methods, {repeats} repeat{'s' if repeats != 1 else ''}, percent"
    parts: list[Table | Chart] = [_table(title, rows, overall, percent_value, ceilings)]
    parts += _chart(rows, overall[0], percent=True) if overall else []
    for name, value in measures.items():
        if "runs" not in value:
            own = [(method, row[name]) for method, row in rows]
            parts.append(_table(f"{measure_name(name)} by class, percent", own, list(value), percent_value, ceilings))
    return parts


def instance_accuracy(document: Mapping[str, Any]) -> list[Table]:
    """Lay out how many instances got their true label, where truth is known."""
    accuracy = document.get("evaluation", {}).get("instance_accuracy", {})
    named = [(what, accuracy[what]) for what in ("inferred", "train", "test") if what in accuracy]
    if not named:
        return []
    classes = list(named[0][1]["per_class"])
    rows = tuple(
        (Cell(what), *(Cell(_share(value)) for value in (one["overall"], *(one["per_class"].get(c) for c in classes))))
        for what, one in named
    )
    note = "inferred: the labels themselves; train: the final classifier on training instances; test: in the tests."
    return [Table("Instances that got their true label", ("", "overall", *classes), rows, note)]


def _rows(document: Mapping[str, Any]) -> list[Row]:
    """Return the methods of a run or of a comparison with what was measured of each."""
    if "methods" in document:
        return [(row["name"], row["evaluation"]) for row in document["methods"]]
    evaluation = document.get("evaluation", {})
    if "repeats" not in evaluation:
        return []
    return [(BLISS, evaluation), *((row["name"], row) for row in evaluation.get("baselines", ()))]


def _table(
    title: str,
    rows: Sequence[Row],
    measures: Sequence[str],
    shown: Callable[[str, Any], str],
    ceilings: Sequence[str] = (),
) -> Table:
    compared = [own for name, own in rows if name not in ceilings]
    best = {measure: best_mean(measure, [own[measure] for own in compared if measure in own]) for measure in measures}
    note = f"{', '.join(ceilings)}: was told more than weak labels say." if ceilings else ""
    cells = tuple(
        (Cell(name), *(_cell(measure, own.get(measure), best[measure], shown) for measure in measures))
        for name, own in rows
    )
    return Table(title, ("method", *map(measure_name, measures)), cells, note)


def _cell(measure: str, value: Mapping[str, Any] | None, best: float | None, shown: Callable[[str, Any], str]) -> Cell:
    return Cell(shown(measure, value), value is not None and best is not None and value["mean"] == best)


def _chart(rows: Sequence[Row], measure: str, percent: bool) -> list[Chart]:
    known = [(name, own[measure]) for name, own in rows if measure in own and own[measure]["mean"] is not None]
    if len(known) < 2:
        return []
    factor = 100.0 if percent else 1.0
    means, sds = ([factor * value[key] for _, value in known] for key in ("mean", "sd"))
    label = measure_name(measure) + (", percent" if percent else "")
    return [Chart(f"{measure_name(measure)} by method", methods_chart([name for name, _ in known], means, sds, label))]


def _share(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value["mean"]
    return "-" if value is None else f"{100 * value:.1f}%"
