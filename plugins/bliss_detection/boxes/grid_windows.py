"""Proposals that need neither a model nor OpenCV: windows of several sizes and shapes, laid out in a grid."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes, clipped, distinct
from bliss_framework.plugin import at_least, between

SHAPES = ((1.0, 1.0), (1.0, 0.6), (0.6, 1.0))


@frozen
class GridWindows:
    """GridWindows whose longer side is a share of the shorter side of the image, each shifted by a part of itself.

    Args:
        n_sizes: how many sizes, from `smallest` to `largest` in equal ratios.
        smallest, largest: the longer side of a window, as a share of the shorter side of the image.
        step: shift between neighbours, as a share of a window.
        n_boxes: most boxes of an image; the first of them is the whole image.
    """

    n_sizes: int = field(default=4, validator=at_least(1))
    smallest: float = field(default=0.25, validator=between(0.01, 1.0))
    largest: float = field(default=0.8, validator=between(0.01, 1.0))
    step: float = field(default=0.35, validator=between(0.05, 1.0))
    n_boxes: int = field(default=500, validator=at_least(1))

    def boxes(self, image: NDArray[np.uint8]) -> Boxes:
        """Propose boxes of an image (height, width, 3): (m, 4) float32, the whole image first, then the largest."""
        height, width = image.shape[:2]
        sides = np.geomspace(self.largest, self.smallest, self.n_sizes) * min(height, width)
        parts = [self._laid(width, height, side * wide, side * high) for side in sides for wide, high in SHAPES]
        found = clipped(np.concatenate(parts), (width, height))
        return distinct(found, (width, height), 1.0, 0.9, self.n_boxes)

    def _laid(self, width: int, height: int, wide: float, high: float) -> Boxes:
        across = _starts(width - wide, wide * self.step)
        down = _starts(height - high, high * self.step)
        x, y = (grid.ravel() for grid in np.meshgrid(across, down))
        return np.stack([x, y, x + wide, y + high], axis=1).astype(np.float32)


def _starts(room: float, step: float) -> NDArray[np.float64]:
    return np.linspace(0.0, max(room, 0.0), int(max(room, 0.0) / step) + 2 if room > 0 else 1)
