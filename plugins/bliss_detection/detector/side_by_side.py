"""All methods side by side on described images: inference, picks, detectors, measures, files."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_detection.detector.judgement import MethodBoxes, method_report, run_files
from bliss_detection.features.described_boxes import Described
from bliss_detection.images.photos import Photos
from bliss_detection.inference.box_labels import Inference
from bliss_detection.inference.picking_methods import CEILING, METHODS, NEEDS_INFERENCE, WEAK, Passes, Task, true_boxes
from bliss_detection.inference.pruning import pruned
from bliss_framework.plugin import PipelineReport, SettingsError

Say = Callable[[str], None]


@frozen
class Comparison:
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
        spent = self._infer(tasks, say)
        found = []
        for name in self._possible(photos):
            say(name)
            found.append(_boxes_of(name, tasks, spent))
        say("detectors")
        reports = [method_report(described, own, self.also, seed) for own in found]
        curves = {report.name: own for report, own, _ in reports}
        first = next((at for at, own in enumerate(found) if own.picks is not None), None)
        picks = {} if first is None else found[first].picks or {}
        files, notes = ({}, []) if first is None else run_files(described, picks, curves, reports[first][2])
        details = {"n_boxes": len(described.boxes), "n_arms": _n_arms(tasks)}
        return PipelineReport(
            tuple(report for report, _, _ in reports), files, details, (*photos.notes, *described.notes, *notes)
        )

    def _possible(self, photos: Photos) -> list[str]:
        """Return the methods that can be run: the ceiling needs true boxes."""
        possible = [name for name in self.methods if photos.can_be_tested or name != CEILING]
        if not possible:
            raise SettingsError(f'methods lists "{CEILING}" alone, which needs the true boxes of all images.')
        return possible

    def _infer(self, tasks: Sequence[Task], say: Say) -> float:
        """Infer labels once for all methods that build on the first inference, and return the seconds it took."""
        if not set(NEEDS_INFERENCE) & set(self.methods):
            return 0.0
        start = time.perf_counter()
        for task in tasks:
            say(f"label inference, {task.name}")
            _ = task.first_lead
        return time.perf_counter() - start


def _boxes_of(name: str, tasks: Sequence[Task], spent: float) -> MethodBoxes:
    if name == CEILING:
        return MethodBoxes(name, {task.name: true_boxes(task) for task in tasks}, None, 0.0)
    start = time.perf_counter()
    picks = {task.name: WEAK[name](task) for task in tasks}
    seconds = time.perf_counter() - start + (spent if name in NEEDS_INFERENCE else 0.0)
    return MethodBoxes(name, {task.name: task.candidates.boxes(picks[task.name]) for task in tasks}, picks, seconds)


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
