"""What a report says of methods that were evaluated on the same bags."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bliss_framework.estimator.uncertainty import SIGNIFICANT, TESTS
from bliss_framework.report.charts import Dot, Frame, dots_chart
from bliss_framework.report.parts import Cell, Chart, Part, Table, words
from bliss_framework.report.reading import FinishedRun
from bliss_framework.report.tested import Figure, Figures, Method, figures_of
from bliss_framework.report.verdict import Standing, said, standing
from bliss_framework.report.wording import (
    best_mean,
    how_tested,
    is_percent,
    measure_name,
    percent_value,
    shown_value,
)
from bliss_framework.runs.evaluation.measures import measures_of

BLISS = "bliss"
MOST_BOXES = 500
Row = tuple[str, Mapping[str, Any]]  # The name of a method, and what was measured of it.


def methods_of(run: FinishedRun) -> list[Method]:
    """Return the methods of a run or of a comparison with their figures; nothing where none was evaluated."""
    return figures_of(_rows(run.document), run.tests, run.document["data"])


def method_parts(run: FinishedRun, methods: Sequence[Method]) -> list[Part]:
    """Lay out the methods of a run or of a comparison; nothing where none was evaluated."""
    if not methods:
        return []
    measures = list(dict.fromkeys(measure for _, own in methods for measure in own))
    title = f"Methods on the same bags: {how_tested(_rows(run.document)[0][1])}"
    stands = {measure: standing(methods, measure, run.document) for measure in measures}
    leaders = {measure: () if stand is None else stand.leaders for measure, stand in stands.items()}
    rows = tuple((Cell(name), *(_figure_cell(name, own, m, leaders[m]) for m in measures)) for name, own in methods)
    table = Table(title, ("method", *map(measure_name, measures)), rows, _note(methods, leaders))
    return [table, *_chart(methods, measures[0], run.document), *_differences(stands[measures[0]], measures[0])]


def _figure_cell(name: str, own: Figures, measure: str, leaders: Sequence[str]) -> Cell:
    if measure not in own:
        return Cell("-")
    figure = own[measure]
    text = said(measure, figure) if len(figure.value["runs"]) == 1 else shown_value(measure, figure.value)
    if len(figure.value["runs"]) > 1 and figure.interval is not None:
        text += said(measure, figure)[said(measure, figure).index(" (") :]
    return Cell(text, name in leaders)


def _note(methods: Sequence[Method], leaders: Mapping[str, Sequence[str]]) -> str:
    figures = [figure for _, own in methods for figure in own.values()]
    notes = []
    if any(figure.interval is not None for figure in figures):
        ratios = [figure.ratio for figure in figures if figure.ratio is not None]
        notes.append(f"In brackets: the 95 % interval over {ratios[0].unit if ratios else 'bags'}.")
    if any(len(figure.value["runs"]) > 1 for figure in figures):
        notes.append("After +-: the deviation over repeats.")
    if len(methods) > 1 and any(leaders.values()):
        notes.append("Bold: the best of a column, and those that cannot be told from it on the same bags.")
    if len(methods) > 1 and not any(leaders.values()):
        notes.append("None is marked as the best, since the run keeps nothing that says what is beyond noise.")
    return " ".join(notes)


def _chart(methods: Sequence[Method], measure: str, document: Mapping[str, Any]) -> list[Part]:
    known = [(name, own[measure]) for name, own in methods if measure in own]
    factor = 100.0 if is_percent(measure) else 1.0
    dots = [_dot(name, figure, factor) for name, figure in known]
    label = measure_name(measure) + (", percent" if factor > 1 else "")
    # Every measure of bags lies between 0 and 1, and a scale that is cut makes much of little.
    frame = Frame(label, x_ends=(0.0, factor))
    values = ", ".join(f"{name} {said(measure, figure)}" for name, figure in known)
    sure = "the 95 % interval over bags" if known[0][1].interval is not None else "the deviation over repeats"
    title = f"{_sentence(measure_name(measure))} by method"
    return [
        Chart(
            title, dots_chart(dots, frame, every=len(dots)), values, f"Lines show {sure}; the scale is the whole range."
        )
    ]


def _dot(name: str, figure: Figure, factor: float) -> Dot:
    mean, sd = figure.mean, float(figure.value["sd"])
    low, high = (mean - sd, mean + sd) if figure.interval is None else (figure.interval.low, figure.interval.high)
    return Dot(name, factor * mean, factor * low, factor * high)


def _differences(stand: Standing | None, measure: str) -> list[Part]:
    """Lay out by how much the best method leads the others on the same bags."""
    if stand is None or not (stand.beaten or stand.level):
        return []
    factor, digits = (100, 1) if is_percent(measure) else (1, 3)
    rows = tuple(
        (
            Cell(name),
            Cell(f"{factor * one.value:+.{digits}f}"),
            Cell(" to ".join(f"{factor * end:+.{digits}f}" for end in (one.interval.low, one.interval.high))),
            Cell(f"{one.p:.3g}"),
            Cell("beyond noise" if one.beyond_noise else "within noise"),
        )
        for name, one in {**stand.level, **stand.beaten}.items()
    )
    columns = ("compared with", "difference", "95 % interval", "p", "verdict")
    kinds = dict.fromkeys(one.by for one in (*stand.level.values(), *stand.beaten.values()))
    tests = " or ".join(TESTS[by] for by in kinds)
    note = (
        f"On the same bags, each of which counts once however often it was tested. p is of {tests}, multiplied by the "
        f"number of comparisons, {len(rows)}; below {SIGNIFICANT} is beyond noise."
    )
    return [Table(f"By how much {stand.best} leads in {measure_name(measure)}", columns, rows, note)]


def pipeline_parts(evaluation: Mapping[str, Any]) -> list[Part]:
    """Lay out the methods of a pipeline: overall measures, then a table for each measure by class."""
    rows = [(row["name"], row) for row in (evaluation, *evaluation["baselines"])]
    measures = measures_of(evaluation)
    overall = [name for name, value in measures.items() if "runs" in value]
    ceilings = [name for name, row in rows if row["ceiling"]]
    rows.sort(key=lambda row: row[0] in ceilings)  # A ceiling is no baseline, so it stands below the others.
    repeats = evaluation["repeats"]
    title = f"Methods, {repeats} repeat{'s' if repeats != 1 else ''}, percent"
    parts: list[Part] = [_table(title, rows, overall, percent_value, ceilings)]
    parts += [_pipeline_chart(rows, overall[0])] if overall else []
    for name, value in measures.items():
        if "runs" not in value:
            own = [(method, row[name]) for method, row in rows]
            title = f"{measure_name(name)} by class, percent"
            parts.append(_table(title, own, list(value), percent_value, ceilings, heads=list(value)))
            parts.append(_class_chart(name, own))
    return parts


def box_parts(boxes: Sequence[Mapping[str, str]]) -> list[Part]:
    """Lay out the boxes that a pipeline picked."""
    if not boxes:
        return []
    rows = tuple(tuple(Cell(cell) for cell in line.values()) for line in boxes[:MOST_BOXES])
    left = len(boxes) - len(rows)
    note = f"{left} more are in boxes.csv." if left else ""
    return [Table("Boxes that were picked", tuple(map(words, boxes[0])), rows, note)]


def instance_accuracy(document: Mapping[str, Any]) -> list[Part]:
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
    meaning = {
        "inferred": "the labels themselves",
        "train": "the final classifier on the instances that it was trained on",
        "test": "in the tests, on others",
    }
    note = f"{'; '.join(f'{what}: {meaning[what]}' for what, _ in named)}."
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
    heads: Sequence[str] = (),
) -> Table:
    compared = [own for name, own in rows if name not in ceilings]
    best = {measure: best_mean(measure, [own[measure] for own in compared if measure in own]) for measure in measures}
    note = f"{', '.join(ceilings)}: was told more than weak labels say. " if ceilings else ""
    note += "Bold: the highest mean; repeats say how far it varies, not whether other images would agree."
    cells = tuple(
        (Cell(name), *(_cell(measure, own.get(measure), best[measure], shown) for measure in measures))
        for name, own in rows
    )
    return Table(title, ("method", *(heads or map(measure_name, measures))), cells, note)


def _cell(measure: str, value: Mapping[str, Any] | None, best: float | None, shown: Callable[[str, Any], str]) -> Cell:
    return Cell(shown(measure, value), value is not None and best is not None and value["mean"] == best)


def _pipeline_chart(rows: Sequence[Row], measure: str) -> Chart:
    dots = [_dot(name, Figure(row[measure]), 100.0) for name, row in rows]
    values = ", ".join(f"{name} {percent_value(measure, row[measure])}" for name, row in rows)
    frame = Frame(f"{measure_name(measure)}, percent", x_ends=(0.0, 100.0))
    return Chart(
        f"{_sentence(measure_name(measure))} by method",
        dots_chart(dots, frame, every=len(dots)),
        values,
        "Lines show the deviation." if any(len(row[measure]["runs"]) > 1 for _, row in rows) else "",
    )


def _class_chart(measure: str, rows: Sequence[Row]) -> Chart:
    """Draw a measure by class, of the first method as dots and with the others beside it."""
    classes = list(rows[0][1])
    dots = [_dot(f"{name}: {own}", Figure(row[own]), 100.0) for own in classes for name, row in rows]
    values = ", ".join(f"{dot.name} {dot.value:.1f}" for dot in dots)
    frame = Frame(f"{measure_name(measure)}, percent", x_ends=(0.0, 100.0))
    return Chart(f"{measure_name(measure)} by class", dots_chart(dots, frame, every=len(rows)), values)


def _share(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value["mean"]
    return "-" if value is None else f"{100 * value:.1f}%"


def _sentence(words: str) -> str:
    """Begin as a sentence does; "AUC" and "mAP" stay as they are."""
    return words if words[1:2].isupper() else words[:1].upper() + words[1:]
