"""What a report says of the labels that were inferred, and of the bags that they were inferred from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.estimator.uncertainty import interval_of_share
from bliss_framework.report.bag_table import bag_table
from bliss_framework.report.charts import Dot, Frame, dots_chart, histogram, lines_chart
from bliss_framework.report.instances import Instances, instances_of
from bliss_framework.report.maps import map_parts
from bliss_framework.report.parts import Cell, Chart, Part, Table, percent
from bliss_framework.report.reading import FinishedRun
from bliss_framework.report.violations import violation_parts
from bliss_framework.report.weak_bags import WeakBags
from bliss_framework.report.witnesses import witness_parts

MOST_INSTANCES = 500
MOST_ARMS = 6  # With a column each.
UNIT = (0.0, 1.0)


def inferred_parts(run: FinishedRun, weak: WeakBags) -> list[Part]:
    """Lay out witnesses, bags, confidences and instances; nothing where a run inferred no labels."""
    instances = instances_of(run)
    parts = [*witness_parts(weak, instances), *map_parts(weak, instances)]
    if run.bags:
        parts.append(bag_table(run.bags, weak))
    parts += [*violation_parts(weak, instances), *_confidences(instances), *_correctness(run.document)]
    return [*parts, *_curves(run.document), *_arms(run.document, instances)]


def _confidences(instances: Instances) -> list[Part]:
    confidence = instances.confidence[instances.free]
    if not len(confidence):
        return []
    low, middle, high = np.quantile(confidence, [0.25, 0.5, 0.75])
    values = f"{len(confidence)} instances, median {middle:.3f}, the middle half from {low:.3f} to {high:.3f}"
    chart = histogram({"instances": confidence.tolist()}, Frame("confidence", "instances", UNIT))
    return [
        Chart("Confidence of inferred labels", chart, values, "Of the instances whose label their bag leaves open.")
    ]


def _correctness(document: Mapping[str, Any]) -> list[Part]:
    """Draw how many labels of each confidence are right, where truth is known."""
    counted = document.get("evaluation", {}).get("instance_confidence")
    if not counted or not sum(counted["n"]) or len(counted["n"]) != len(counted["right"]):
        return []
    n_steps = len(counted["n"])
    steps = [(step, n, right) for step, (n, right) in enumerate(zip(counted["n"], counted["right"], strict=True)) if n]
    dots = [_right(f"{step / n_steps:.1f} to {(step + 1) / n_steps:.1f} ({n})", right, n) for step, n, right in steps]
    values = ", ".join(f"{dot.name}: {percent(dot.value)} ({percent(dot.low)} to {percent(dot.high)})" for dot in dots)
    chart = dots_chart(dots, Frame("share that is right", x_ends=UNIT))
    note = (
        "Of the inferred labels whose bag leaves them open and whose truth is known, by their confidence; in brackets "
        "how many there are. Lines show the 95 % interval."
    )
    return [Chart("Confidence against correctness", chart, values, note)]


def _right(name: str, right: int, n: int) -> Dot:
    share = min(right / n, 1.0)
    ends = interval_of_share(share * n, n)
    return Dot(name, share, ends.low, ends.high)


def _curves(document: Mapping[str, Any]) -> list[Part]:
    """Draw how the mean reward grew in each fold."""
    curves = [curve for curve in document.get("inference", {}).get("reward_curves", ()) if len(curve) > 1]
    if not curves:
        return []
    lines = [
        (f"fold {number}", np.linspace(0, 100, len(curve)), np.asarray(curve, dtype=np.float64))
        for number, curve in enumerate(curves, start=1)
    ]
    frame = Frame("rounds, percent", "mean reward", (0.0, 100.0), UNIT)
    values = ", ".join(f"{name} from {y[0]:.3f} to {y[-1]:.3f}" for name, _, y in lines)
    note = "The mean reward of the assignments that each fold tried, averaged over parts of its rounds."
    return [Chart("Reward while labels were inferred, by fold", lines_chart([(frame, lines)]), values, note)]


def _arms(document: Mapping[str, Any], instances: Instances) -> list[Part]:
    """Lay out the arms of instances, those with the least confident labels first."""
    free = np.flatnonzero(instances.free)
    if not len(free):
        return []
    names = _arm_names(document, instances.rewards.shape[1])
    ranked = free[np.argsort(instances.confidence[free], kind="stable")][:MOST_INSTANCES]
    rows = tuple(
        (
            *instances.cells(row),
            *(Cell(str(column[row])) for column in (instances.bags, instances.labels)),
            Cell(f"{instances.confidence[row]:.4g}"),
            *_arm_cells(instances.rewards[row], names),
        )
        for row in ranked.tolist()
    )
    arms = [f"reward of {name}" for name in names] if len(names) <= MOST_ARMS else ["reward of each label"]
    columns = (*instances.named, "bag", "label", "confidence", *arms)
    left = len(free) - len(rows)
    more = f" {left} more are in labels.csv." if left else ""
    note = f"Bars are the mean rewards of each label. `bliss explain RUN ROW` says more of one instance.{more}"
    return [Table("Arms of instances, those with the least confident labels first", columns, rows, note)]


def _arm_cells(means: NDArray[np.float64], names: Sequence[str]) -> list[Cell]:
    """Write the mean reward of each arm, or where there are many of those that were pulled, the best first."""
    if len(names) <= MOST_ARMS:
        return [_arm(float(mean)) for mean in means]
    best = [place for place in np.argsort(-means, kind="stable") if not np.isnan(means[place])]
    return [Cell(", ".join(f"{names[place]} {means[place]:.3g}" for place in best))]


def _arm(mean: float) -> Cell:
    return Cell("-") if np.isnan(mean) else Cell(f"{mean:.4g}", level=float(np.clip(mean, 0, 1)))


def _arm_names(document: Mapping[str, Any], n_labels: int) -> list[str]:
    """Name arms by their class where there is one for each."""
    classes = document["data"].get("classes", ())
    if len(classes) == n_labels:
        return list(map(str, classes))
    return [str(number) for number in range(n_labels)]
