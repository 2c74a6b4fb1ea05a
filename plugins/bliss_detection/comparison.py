"""All methods side by side on described images: inference, picks, detectors, measures, files."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_detection.described import Described
from bliss_detection.evaluation import Outcome, drawn, judged
from bliss_detection.inference import Inference
from bliss_detection.methods import CEILING, METHODS, NEEDS_INFERENCE, WEAK, Passes, Task, true_boxes
from bliss_detection.pruning import pruned
from bliss_framework.plugin import PipelineReport, SettingsError

Say = Callable[[str], None]


@frozen
class Experiment:
    """What is the same whatever images there are: which methods are compared, and how labels are inferred.

    Attributes:
        methods: names, the first one is what the run is for.
        also: classes that are reported, but are not in the means.
        inference, passes: settings.
        prune: whether a multi-class inference rules boxes out before the binary ones.
    """

    methods: tuple[str, ...] = field()
    also: tuple[str, ...] = field()
    inference: Inference = field()
    passes: Passes = field()
    prune: bool = field()

    def report(self, described: Described, seed: int, say: Say) -> PipelineReport:
        """Run all methods on described images, and draw what the first one did."""
        photos = described.photos
        allowed = pruned(described, seed, say) if self.prune else None
        tasks = [
            Task(described, column, seed, self.inference, self.passes, None if allowed is None else allowed[:, column])
            for column in range(len(photos.classes))
        ]
        leads, spent = self._leads(tasks, say)
        outcomes = []
        for name in self.methods:
            say(name)
            outcomes.append(_outcome(name, tasks, leads, spent))
        say("detectors")
        judgements = [judged(described, outcome, self.also, seed) for outcome in outcomes]
        curves = {report.name: own for report, own in judgements}
        first = next((outcome for outcome in outcomes if outcome.picks is not None), None)
        files, notes = drawn(described, first.picks or {}, curves) if first else ({}, [])
        details = {"n_boxes": len(described.boxes), "n_arms": _n_arms(tasks)}
        return PipelineReport(
            tuple(report for report, _ in judgements), files, details, (*photos.notes, *described.notes, *notes)
        )

    def _leads(self, tasks: Sequence[Task], say: Say) -> tuple[list[Any], float]:
        """Infer labels once for all methods that build on the first inference."""
        if not set(NEEDS_INFERENCE) & set(self.methods):
            return [np.empty(0)] * len(tasks), 0.0
        start = time.perf_counter()
        leads = []
        for task in tasks:
            say(f"label inference, {task.name}")
            leads.append(task.lead(0, task.allowed))
        return leads, time.perf_counter() - start


def _outcome(name: str, tasks: Sequence[Task], leads: Sequence[Any], spent: float) -> Outcome:
    if name == CEILING:
        return Outcome(name, {task.name: true_boxes(task) for task in tasks}, None, 0.0)
    start = time.perf_counter()
    picks = {task.name: WEAK[name](task, lead) for task, lead in zip(tasks, leads, strict=True)}
    seconds = time.perf_counter() - start + (spent if name in NEEDS_INFERENCE else 0.0)
    return Outcome(name, {task.name: task.candidates.boxes(picks[task.name]) for task in tasks}, picks, seconds)


def _n_arms(tasks: Sequence[Task]) -> int:
    """Return the most arms that are held at once: two for each box that has a choice, of one class at a time."""
    counts = []
    for task in tasks:
        own = np.isin(task.described.image, task.candidates.images)
        counts.append(int((own if task.allowed is None else own & task.allowed).sum()))
    return 2 * max(counts)


def known_methods(_: Any, attribute: Any, value: Any) -> None:
    """Allow a list of the methods that there are."""
    unknown = [name for name in value if name not in METHODS]
    if unknown or not value:
        raise SettingsError(f"{attribute.name} must list some of {', '.join(METHODS)}; got {list(value)!r}.")
