"""What a report says of a run: plain records that the page lays out."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.report.bag_pictures import ranks_of, tested_parts
from bliss_framework.report.inferred import inferred_parts
from bliss_framework.report.method_tables import box_parts, instance_accuracy, method_parts, methods_of, pipeline_parts
from bliss_framework.report.parts import Part, words
from bliss_framework.report.reading import FinishedRun
from bliss_framework.report.verdict import verdict
from bliss_framework.report.weak_bags import weak_bags


@frozen(eq=False)
class Section:
    """One run in a report.

    Attributes:
        name: of the run.
        verdict: what it found out, in one sentence.
        facts: of the data and of the inference, as name and value.
        notes: that a reader should know.
        parts: tables and charts in their order.
        settings: the text of run.toml.
        again: the command that runs it again.
        run: what the run left behind.
    """

    name: str = field()
    verdict: str = field()
    facts: tuple[tuple[str, str], ...] = field()
    notes: tuple[str, ...] = field()
    parts: tuple[Part, ...] = field()
    settings: str = field()
    again: str = field()
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
    parts: list[Part]
    if "pipeline" in document.get("settings", {}):
        said, parts = verdict(document, ()), [*pipeline_parts(document["evaluation"]), *box_parts(run.boxes)]
    else:
        methods, weak = methods_of(run), weak_bags(run)
        said = verdict(document, methods, ranks_of(weak))
        parts = [*method_parts(run, methods), *tested_parts(run, weak), *instance_accuracy(document)]
        parts += inferred_parts(run, weak)
    return Section(name, said, tuple(_facts(document)), notes, tuple(parts), run.settings, again_of(run), run)


def again_of(run: FinishedRun) -> str:
    """Return the command that runs it again."""
    where = f"{run.folder.name}/run.toml"
    if "methods" not in run.document:
        return f"bliss run {where} --output NEW"
    return f"bliss compare {where} --methods {','.join(row['name'] for row in run.document['methods'])} --output NEW"


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
