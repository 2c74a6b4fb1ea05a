"""What a report says of a run: plain records that the page lays out."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.report.inferred import inferred_parts, words
from bliss_framework.report.method_tables import instance_accuracy, method_parts, pipeline_parts
from bliss_framework.report.parts import Chart, Table
from bliss_framework.report.reading import FinishedRun


@frozen(eq=False)
class Section:
    """One run in a report.

    Attributes:
        name: of the run.
        facts: of the data and of the inference, as name and value.
        notes: that a reader should know.
        parts: tables and charts in their order.
        settings: the text of run.toml.
        run: what the run left behind.
    """

    name: str = field()
    facts: tuple[tuple[str, str], ...] = field()
    notes: tuple[str, ...] = field()
    parts: tuple[Table | Chart, ...] = field()
    settings: str = field()
    run: FinishedRun = field()


def section_of(run: FinishedRun) -> Section:
    """Say what a run found out.

    Args:
        run: its files.

    Raises:
        MissingExtraError: matplotlib is not there.
    """
    document = run.document
    name = str(document.get("name", document["data"]["name"]))
    notes = tuple(document.get("notes", ()))
    if "pipeline" in document.get("settings", {}):
        parts = pipeline_parts(document["evaluation"])
    else:
        parts = [*method_parts(document), *instance_accuracy(document), *inferred_parts(run)]
    return Section(name, tuple(_facts(document)), notes, tuple(parts), run.settings, run)


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    data = {key: value for key, value in document["data"].items() if not isinstance(value, Mapping | list)}
    facts = [(words(key), str(value)) for key, value in data.items()]
    inference = document.get("inference", {})
    if "label_counts" not in inference:
        return facts
    counts = ", ".join(f"{count} x {label}" for label, count in inference["label_counts"].items())
    facts += [("inferred labels", counts), ("undecided instances", str(inference["n_undecided"]))]
    if inference["mean_reward"] is not None:
        facts += [("mean reward", f"{inference['mean_reward']:.3f}"), ("pulls", str(inference["n_pulls"]))]
    return facts
