"""CorLoc and average precision, in the manner of VOC 2007 (11 points) and in the later one (all points)."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import overlaps, suppressed
from bliss_detection.features.described_boxes import Described
from bliss_detection.images.photos import Photos
from bliss_detection.inference.picks import Picks

CORRECT = 0.5
N_DETECTIONS = 100
POINTS = np.linspace(0.0, 1.0, 11)


@frozen(eq=False)
class Curve:
    """Precision and recall of a ranking of detections.

    Attributes:
        recall, precision: (n,) after each detection, best first.
        n_objects: true objects that are not difficult.
    """

    recall: NDArray[np.float64] = field()
    precision: NDArray[np.float64] = field()
    n_objects: int = field()

    def average_2007(self) -> float:
        """Return the mean of the best precision at recall 0, 0.1, ..., 1 or more (VOC 2007).

        >>> round(Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 2 / 3]), 2).average_2007(), 4)
        0.8485
        """
        reached = self.recall[None, :] >= POINTS[:, None] - 1e-12
        return float(np.where(reached, self.precision[None, :], 0.0).max(axis=1, initial=0.0).mean())

    def average(self) -> float:
        """Return the area under the curve after precision was made to fall (VOC from 2010 on).

        >>> round(Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 2 / 3]), 2).average(), 4)
        0.8333
        """
        falling = np.maximum.accumulate(self.precision[::-1])[::-1]
        return float((falling * np.diff(self.recall, prepend=0.0)).sum())


@frozen(eq=False)
class Detections:
    """Boxes that a detector found, over all test images.

    Attributes:
        image: (n,) of each.
        boxes: (n, 4).
        scores: (n,).
    """

    image: NDArray[np.intp] = field()
    boxes: NDArray[np.floating] = field()
    scores: NDArray[np.floating] = field()


def detect(described: Described, scores: NDArray[np.floating], most: float = 0.3) -> Detections:
    """Keep the best boxes of each test image that overlap no better one by more than `most`."""
    rows: list[int] = []
    for i in np.flatnonzero(~described.photos.train).tolist():
        own = described.of(i)
        order = np.argsort(-scores[own], kind="stable")[:N_DETECTIONS]
        boxes = described.boxes[own][order]
        kept = suppressed(overlaps(boxes, boxes), scores[own][order], most, N_DETECTIONS)
        rows += (own.start + order[kept]).tolist()
    chosen = np.array(rows, dtype=np.intp)
    return Detections(described.image[chosen], described.boxes[chosen], scores[chosen])


def precision_recall(photos: Photos, name: str, found: Detections) -> Curve:
    """Match detections to the true objects of a class, best first, each object once (overlap of one half or more).

    A second detection of an object is wrong. One whose best object is difficult counts neither way.
    """
    order = np.argsort(-found.scores, kind="stable")
    right, wrong = np.zeros(len(order)), np.zeros(len(order))
    tests = np.flatnonzero(~photos.train)
    truth = {int(i): photos.objects(int(i), name) for i in tests}
    seen = {i: np.zeros(len(boxes), dtype=bool) for i, (boxes, _) in truth.items()}
    for place, row in enumerate(order):
        image = int(found.image[row])
        boxes, difficult = truth[image]
        overlap = overlaps(found.boxes[row : row + 1], boxes)[0] if len(boxes) else np.zeros(1)
        best = int(overlap.argmax())
        if overlap[best] < CORRECT:
            wrong[place] = 1
        elif not difficult[best]:
            right[place], wrong[place] = (0, 1) if seen[image][best] else (1, 0)
            seen[image][best] = True
    n_objects = int(sum((~difficult).sum() for _, difficult in truth.values()))
    hits, misses = np.cumsum(right), np.cumsum(wrong)
    return Curve(hits / max(n_objects, 1), hits / np.maximum(hits + misses, 1), n_objects)


def corloc(described: Described, name: str, picks: Picks) -> float:
    """Return the share of images whose picked box overlaps a true object of the class by one half or more."""
    return float(np.mean([is_correct(described, name, i, pick) for i, pick in picks.items()]))


def is_correct(described: Described, name: str, image: int, pick: int) -> bool:
    """Say whether a picked box is right."""
    boxes, _ = described.photos.objects(image, name)
    return bool(len(boxes) and overlaps(described.boxes[pick : pick + 1], boxes).max() >= CORRECT)
