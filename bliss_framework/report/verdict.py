"""What a run found out, in one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from bliss_framework.estimator.uncertainty import Difference, words_of_test
from bliss_framework.report.tested import Figure, Method, compared
from bliss_framework.report.wording import is_percent, measure_name, smaller_is_better
from bliss_framework.runs.evaluation.measures import measures_of


@frozen(eq=False)
class Standing:
    """Where methods stand in one measure.

    Attributes:
        best: the name of the one with the best mean.
        beaten: names of those that it beats beyond noise, with the difference.
        level: of those that it cannot be told from.
        unknown: of those that it could not be compared with.
    """

    best: str = field()
    beaten: dict[str, Difference] = field()
    level: dict[str, Difference] = field()
    unknown: tuple[str, ...] = field()

    @property
    def leaders(self) -> tuple[str, ...]:
        """Return the best method and those that cannot be told from it; nothing where one is not comparable."""
        return () if self.unknown else (self.best, *self.level)


def standing(methods: Sequence[Method], measure: str, document: Mapping[str, Any] = {}) -> Standing | None:
    """Say which method is best in a measure, and which others it beats beyond noise; None where none has it.

    Args:
        methods: with their figures.
        measure: in which they are compared.
        document: result.json; what that says of two methods stands.
    """
    own = {name: figures[measure] for name, figures in methods if measure in figures}
    if not own:
        return None
    sign = -1 if smaller_is_better(measure) else 1
    best = max(own, key=lambda name: sign * own[name].mean)
    differences = {name: compared(own[best], figure, len(own) - 1) for name, figure in own.items() if name != best}
    known = {name: one for name, one in differences.items() if one is not None}
    told = document.get("comparison", document.get("evaluation", {}).get("comparison")) or {}
    other = {told.get("better"), told.get("other")} - {best}
    if told.get("measure") == measure and len(other) == 1 and (name := other.pop()) in known:
        known[name] = evolve(known[name], p=told["p_value"], by=told["by"])
    return Standing(
        best,
        {name: one for name, one in known.items() if one.beyond_noise},
        {name: one for name, one in known.items() if not one.beyond_noise},
        tuple(name for name, one in differences.items() if one is None),
    )


def verdict(document: Mapping[str, Any], methods: Sequence[Method], out_of_fold: str = "") -> str:
    """Say in one sentence what a run, a comparison or a pipeline found out.

    Args:
        document: result.json.
        methods: with their figures; empty where nothing was tested.
        out_of_fold: half a sentence of what is known all the same.
    """
    if methods:
        return _of_methods(methods, document)
    evaluation = document.get("evaluation", {})
    if "pipeline" in document.get("settings", {}):
        return _of_pipeline(evaluation)
    accuracy = evaluation.get("instance_accuracy", {}).get("inferred", {}).get("overall")
    data = document["data"]
    right = f", of which {100 * accuracy:.1f}% have their true label" if accuracy is not None else ""
    untested = (
        "nothing was tested on bags that were not trained on, so this run does not say how good the model is on new "
        "ones (--cv 10 does)"
    )
    what = f"Labels of {data['n_instances']} instances in {data['n_bags']} bags were inferred{right}"
    return f"{what}; {out_of_fold or untested}."


def _of_methods(methods: Sequence[Method], document: Mapping[str, Any]) -> str:
    measure = next(iter(methods[0][1]))
    own = {name: figures[measure] for name, figures in methods if measure in figures}
    stand = standing(methods, measure, document)
    assert stand is not None
    what, best = measure_name(measure), said(measure, own[stand.best])
    if len(own) == 1:
        return f"On bags that it was not trained on, {stand.best} reaches a {what} of {best}."
    if stand.unknown:
        return (
            f"{stand.best} has the best {what}, {best}, but the run keeps no tests bag by bag (tests.csv) that would "
            f"say whether the difference to {listed(stand.unknown, own, measure)} is beyond noise."
        )
    beaten = listed(stand.beaten, own, measure)
    if not stand.level:
        worst = max(stand.beaten.values(), key=lambda one: one.p)
        p = f" ({words_of_test({'p_value': worst.p, 'by': worst.by})})"
        return f"{stand.best} is the best, beyond noise: its {what} is {best}, against {beaten}{p}."
    better = f"; beyond noise, it is better than {beaten}" if beaten else ""
    ratio = own[stand.best].ratio
    unit = "0 bags" if ratio is None else f"{len(ratio.above)} {ratio.unit}"
    return (
        f"There is no winner: {stand.best} has the best {what}, {best}, but on {unit} it cannot be told from "
        f"{listed(stand.level, own, measure)}{better}."
    )


def _of_pipeline(evaluation: Mapping[str, Any]) -> str:
    rows = [row for row in (evaluation, *evaluation["baselines"]) if not row["ceiling"]]
    measure = next((name for name, one in measures_of(evaluation).items() if "runs" in one), "")
    if not measure:
        return f"{evaluation['name']} was run; its figures by class stand below."
    first, *others = sorted(rows, key=lambda row: -row[measure]["mean"])
    told = ", ".join(f"{row['name']} ({100 * row[measure]['mean']:.1f}%)" for row in others)
    than = f", against {told}" if told else ""
    repeats = evaluation["repeats"]
    caution = (
        "; one repeat does not say whether that is beyond noise"
        if repeats == 1
        else f"; the deviation over {repeats} repeats is {100 * first[measure]['sd']:.1f}"
    )
    return f"{first['name']} has the best {measure_name(measure)}, {100 * first[measure]['mean']:.1f}%{than}{caution}."


def said(measure: str, figure: Figure) -> str:
    """Write a figure with its interval; accuracies and the like in percent."""
    factor, digits, unit = (100, 1, "%") if is_percent(measure) else (1, 3, "")
    text = f"{factor * figure.mean:.{digits}f}{unit}"
    if figure.interval is None:
        return text
    ends = (f"{factor * end:.{digits}f}" for end in (figure.interval.low, figure.interval.high))
    return f"{text} ({' to '.join(ends)})"


def listed(names: Sequence[str] | Mapping[str, Any], own: Mapping[str, Figure], measure: str) -> str:
    """List methods with their means."""
    factor, digits, unit = (100, 1, "%") if is_percent(measure) else (1, 3, "")
    return ", ".join(f"{name} ({factor * own[name].mean:.{digits}f}{unit})" for name in names)
