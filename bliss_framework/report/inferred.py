"""What a report says of the labels that were inferred, and of the bags that they were inferred from."""

from collections.abc import Mapping, Sequence

from bliss_framework.report.charts import confidence_chart
from bliss_framework.report.parts import Cell, Chart, Table
from bliss_framework.report.reading import FinishedRun

MOST_BAGS = 100
MOST_INSTANCES = 30


def inferred_parts(run: FinishedRun) -> list[Table | Chart]:
    """Lay out confidences, bags and instances; nothing where a run inferred no labels."""
    parts: list[Table | Chart] = []
    free = [row for row in run.instances if _is_free(row)]
    if free:
        parts.append(Chart("Confidence of inferred labels", confidence_chart([float(r["confidence"]) for r in free])))
    if run.bags:
        parts.append(_bags(run.bags))
    if free:
        parts.append(_instances(free))
    return parts


def _is_free(row: Mapping[str, str]) -> bool:
    """Whether the bag left a label to infer: then more than one label was pulled."""
    return sum(bool(value) for key, value in row.items() if key.startswith("mean_reward_")) > 1


def _bags(bags: Sequence[Mapping[str, str]]) -> Table:
    ranked = sorted(bags, key=_disagreement, reverse=True)
    columns = ("bag", "n_instances", "weak_label", "predicted", "score")
    rows = tuple(tuple(Cell(_shortened(row[column])) for column in columns) for row in ranked[:MOST_BAGS])
    title = "Bags, those that the model sees otherwise than their weak label first"
    left = f" {len(bags) - MOST_BAGS} more are in bags.csv." if len(bags) > MOST_BAGS else ""
    note = f"The model was trained on these bags; the tests above are what it does on others.{left}"
    return Table(title, tuple(map(words, columns)), rows, note)


def _disagreement(row: Mapping[str, str]) -> float:
    """Return by how much a prediction differs from the weak label: numbers by their distance, others by 0 or 1."""
    try:
        return abs(float(row["weak_label"]) - float(row["predicted"]))
    except ValueError:
        return float(row["weak_label"] != row["predicted"])


def _instances(free: Sequence[Mapping[str, str]]) -> Table:
    ranked = sorted(free, key=lambda row: float(row["confidence"]))
    columns = ("row", "bag", "label", "confidence", *(key for key in free[0] if key.startswith("mean_reward_")))
    rows = tuple(tuple(Cell(_shortened(row[column])) for column in columns) for row in ranked[:MOST_INSTANCES])
    left = len(free) - len(rows)
    more = f" {left} more are in labels.csv." if left else ""
    note = f"`bliss explain RUN ROW` says why an instance got its label.{more}"
    return Table("Instances with the least confident labels", tuple(map(words, columns)), rows, note)


def _shortened(text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number.is_integer() else f"{number:.4g}"


def words(key: str) -> str:
    """Return the words of a column or a key."""
    return key.removeprefix("n_").replace("_", " ")
