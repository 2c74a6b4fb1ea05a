"""The methods that are compared: each picks boxes in the training images that show a class."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.box_labels import Inference, infer_boxes, inferred_scores
from bliss_detection.inference.latent_svm import SmoothedLatentSvm
from bliss_detection.inference.max_cover import MaxCover
from bliss_detection.inference.mi_alternation import Alternation, fitted_scores, negative_rows
from bliss_detection.inference.picks import Candidates, Picks
from bliss_framework.plugin import one_of

RULES = ("vote", "alternate")
POWER = 2  # Of the output in a vote: a few good boxes count more than many doubtful ones.


@frozen
class Passes:
    """Passes beyond the paper: boxes that may be positive are those near the last pick.

    Attributes:
        n_passes: 1 picks by vote after one inference; each further pass infers again among the boxes near the pick.
        near: overlap with the last pick from which on a box may be positive.
        ridge: of the classifier in later passes, and of the one that ranks the boxes.
        rule: "vote" gives each inferred positive of the first pass one vote, and every later pass votes by the square
            of its scores; "alternate" weights the first vote by squared confidence, and takes the best box in the
            second pass, votes in the third, and so on in turn.
    """

    n_passes: int = field(default=3)
    near: float = field(default=0.3)
    ridge: float = field(default=0.01)
    rule: str = field(default="vote", validator=one_of(*RULES))


@frozen(eq=False, slots=False)
class Task:
    """One class in one repeat.

    Attributes:
        described: all boxes.
        column: of the class.
        seed: of the repeat.
        inference: settings of label inference.
        passes: settings of the passes.
        allowed: (N,) boxes that may be positive in the first pass; None for all.
    """

    described: Described = field()
    column: int = field()
    seed: int = field()
    inference: Inference = field()
    passes: Passes = field()
    allowed: NDArray[np.bool_] | None = field(default=None)

    @property
    def name(self) -> str:
        """The class."""
        return self.described.photos.classes[self.column]

    @property
    def candidates(self) -> Candidates:
        """The images that show the class."""
        return Candidates.of(self.described, self.column)

    @cached_property
    def first_lead(self) -> NDArray[np.float64]:
        """Infer labels in the first pass, once: (N,) by how much the positive label leads."""
        return infer_boxes(self.described, self.column, self.allowed, self.inference, self.seed)

    def later_lead(self, number: int, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Infer labels in a later pass, 1 or more, among the boxes (N,) that may be positive there."""
        inference = evolve(self.inference, ridge=self.passes.ridge)
        return infer_boxes(self.described, self.column, allowed, inference, self.seed + 1000 * number)


Find = Callable[[Task], Picks]


def bliss(task: Task) -> Picks:
    """Label inference and a vote of the inferred positives, then narrowing passes.

    By the rule "vote" each inferred positive has one vote, however sure: the surest boxes show the part that tells the
    class best, a face. In later passes the classifier that learns the inferred labels scores the boxes.
    """
    lead = task.first_lead

    def scores(number: int, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        return inferred_scores(task.described, task.column, task.later_lead(number, allowed), task.passes.ridge)

    alike = (np.nan_to_num(lead) > 0).astype(np.float64)
    return _narrowed(task, task.candidates.voted(alike if task.passes.rule == "vote" else _weights(lead)), scores)


def paper(task: Task) -> Picks:
    """The paper as written: the most confident positive instance of each image after one inference."""
    return task.candidates.best(task.first_lead)


def no_bandit(task: Task) -> Picks:
    """The same steps without a bandit: every box that may be positive is taken for positive."""
    negatives = negative_rows(task.described, task.column)

    def scores(number: int, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        own = np.isin(task.described.image, task.candidates.images)
        ridge = task.inference.ridge if number == 0 else task.passes.ridge
        others = np.union1d(negatives, np.flatnonzero(own & ~allowed))
        found = fitted_scores(task.described, np.flatnonzero(own & allowed), others, ridge)
        return np.where(own & allowed, found, np.nan)

    everything = np.ones(len(task.described.boxes), dtype=bool) if task.allowed is None else task.allowed
    return _narrowed(task, task.candidates.voted(_weights(scores(0, everything))), scores)


def _narrowed(task: Task, picks: Picks, scores: Callable[[int, NDArray[np.bool_]], NDArray[np.float64]]) -> Picks:
    """Go through the passes after the first: score the boxes near the last pick, and let them vote."""
    candidates = task.candidates
    for number in range(1, task.passes.n_passes):
        found = scores(number, candidates.near(picks, task.passes.near))
        best = task.passes.rule == "alternate" and number % 2 == 1
        picks = candidates.best(found) if best else candidates.voted(_weights(found))
    return picks


def _weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.clip(np.nan_to_num(scores), 0.0, None) ** POWER)


def vote(task: Task) -> Picks:
    """Nothing is learnt: the box that overlaps most with all other boxes."""
    return task.candidates.voted(np.ones(len(task.described.boxes)))


def whole_image(task: Task) -> Picks:
    """The whole image, which is the first box."""
    return {int(i): int(task.described.starts[i]) for i in task.candidates.images}


def mi_svm(task: Task) -> Picks:
    """MI-SVM from the whole image."""
    return Alternation().svm(task.candidates, task.column, task.seed)


def mi_ridge(task: Task) -> Picks:
    """MI with class-balanced least squares, from the whole image."""
    return Alternation().least_squares(task.candidates, task.column)


def max_cover(task: Task) -> Picks:
    """MaxCover and a smoothed latent SVM (Song et al., 2014)."""
    candidates = task.candidates
    covered = MaxCover().picks(candidates, task.column)
    start = SmoothedLatentSvm().start(task.described, task.column, covered)
    return candidates.best(SmoothedLatentSvm().scores(task.described, task.column, *start))


WEAK: Mapping[str, Find] = {
    "bliss": bliss,
    "paper": paper,
    "no-bandit": no_bandit,
    "vote": vote,
    "whole-image": whole_image,
    "mi-svm": mi_svm,
    "mi-ridge": mi_ridge,
    "max-cover-slsvm": max_cover,
}
NEEDS_INFERENCE = ("bliss", "paper")
CEILING = "supervised"
METHODS = (*WEAK, CEILING)


def true_boxes(task: Task) -> dict[int, Boxes]:
    """Return the true boxes of the class, on which the ceiling is trained; difficult ones are left out."""
    found: dict[int, Any] = {}
    for i in task.candidates.images.tolist():
        boxes, difficult = task.described.photos.objects(i, task.name)
        found[i] = boxes[~difficult]
    return found
