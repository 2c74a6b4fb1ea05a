"""One box for each image that shows a class: the most confident one, or the one that the others vote for."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes, overlaps
from bliss_detection.features.described_boxes import Described

Picks = dict[int, int]


@frozen(eq=False)
class Candidates:
    """The training images that show one class.

    Attributes:
        described: all boxes.
        images: the images.
    """

    described: Described = field()
    images: NDArray[np.intp] = field()

    @classmethod
    def of(cls, described: Described, column: int) -> "Candidates":
        """Take the training images that show the class of a column."""
        photos = described.photos
        return cls(described, np.flatnonzero(photos.train & (photos.labels[:, column] == 1)))

    def best(self, scores: NDArray[np.floating]) -> Picks:
        """Pick the box with the highest score (N,) in each image; NaN is lowest, the first of equals wins."""
        picks = {}
        for i in self.images.tolist():
            own = self.described.of(i)
            picks[i] = own.start + int(np.nan_to_num(scores[own], nan=-np.inf).argmax())
        return picks

    def voted(self, weights: NDArray[np.floating]) -> Picks:
        """Pick the box that overlaps most with the boxes that have weight: the sum of overlap times weight.

        Args:
            weights: (N,) of all boxes; below 0 and NaN count as 0. Where an image has none, all count alike.
        """
        picks = {}
        for i in self.images.tolist():
            own = self.described.of(i)
            weight = np.clip(np.nan_to_num(weights[own]), 0.0, None)
            weight = weight if weight.any() else np.ones(len(weight))
            counted = np.flatnonzero(weight)
            boxes = self.described.boxes[own]
            picks[i] = own.start + int((overlaps(boxes, boxes[counted]) @ weight[counted]).argmax())
        return picks

    def near(self, picks: Picks, least: float) -> NDArray[np.bool_]:
        """Say of all boxes (N,) whether they overlap the pick of their image by at least so much."""
        found = np.zeros(len(self.described.boxes), dtype=bool)
        for i, pick in picks.items():
            own = self.described.of(i)
            found[own] = overlaps(self.described.boxes[own], self.described.boxes[pick : pick + 1])[:, 0] >= least
        return found

    def boxes(self, picks: Picks) -> dict[int, Boxes]:
        """Return the picked box (1, 4) of each image."""
        return {i: self.described.boxes[pick : pick + 1] for i, pick in picks.items()}
