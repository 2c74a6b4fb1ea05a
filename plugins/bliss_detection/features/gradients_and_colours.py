"""A descriptor of boxes that needs no model: oriented gradients and colours, pooled like maps of a network."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.features.pooling import box_means, grid_means
from bliss_detection.images.image_files import of_most_pixels
from bliss_framework.plugin import at_least

MOST_PIXELS = 4_000_000  # Described in full; a pixel costs about a hundred bytes.

COLOURS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)


@frozen
class GradientsAndColours:
    """Histograms of oriented gradients in a grid (Dalal and Triggs, 2005), and of colours in a box and around it.

    Args:
        n_orientations: bins of the direction of gradients, from 0 to pi.
        n_cells: the box is cut into n x n cells.
        cell: pixels that are averaged before pooling, on each side.
    """

    n_orientations: int = field(default=8, validator=at_least(1))
    n_cells: int = field(default=4, validator=at_least(1))
    cell: int = field(default=2, validator=at_least(1))

    def check(self) -> None:
        """Any values are fine."""

    def blocks(self, image: NDArray[np.uint8], boxes: Boxes) -> dict[str, NDArray[np.floating]]:
        """Describe boxes (m, 4) of an image: (m, d) for each block "box", "ring" and "grid"."""
        small = _averaged(of_most_pixels(image, MOST_PIXELS).astype(np.float64) / 255.0, self.cell)
        scale = np.array([small.shape[1] / image.shape[1], small.shape[0] / image.shape[0]] * 2)
        colours = _colours(small)
        maps = np.concatenate([_gradients(small, self.n_orientations), colours])
        # Of a colour that an image hardly has, sums that were subtracted may leave a little less than nothing.
        inside, around = (np.maximum(one, 0.0) for one in box_means(colours, boxes * scale))
        return {"box": np.sqrt(inside), "ring": np.sqrt(around), "grid": grid_means(maps, boxes * scale, self.n_cells)}


def _averaged(image: NDArray[np.float64], cell: int) -> NDArray[np.float64]:
    high, wide = max(image.shape[0] // cell, 1), max(image.shape[1] // cell, 1)
    rows = np.linspace(0, image.shape[0], high + 1).astype(np.intp)[:-1]
    columns = np.linspace(0, image.shape[1], wide + 1).astype(np.intp)[:-1]
    sums = np.add.reduceat(np.add.reduceat(image, rows, axis=0), columns, axis=1)
    counts = np.outer(np.diff([*rows, image.shape[0]]), np.diff([*columns, image.shape[1]]))
    return np.asarray(sums / counts[:, :, None])


def _gradients(image: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return maps (n, h, w) of the strength of gradients in each direction, shared between the two nearest."""
    down, right = (_slope(image.mean(axis=2), axis) for axis in (0, 1))
    strength = np.hypot(down, right)
    place = np.arctan2(down, right) % np.pi / np.pi * n
    maps = np.maximum(0.0, 1.0 - np.abs((place[None] - np.arange(n)[:, None, None] + n / 2) % n - n / 2))
    return np.asarray(np.sqrt(strength)[None] * maps)


def _slope(grey: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the gradient along an axis; along a single pixel there is none."""
    return np.zeros_like(grey) if grey.shape[axis] == 1 else np.asarray(np.gradient(grey, axis=axis))


def _colours(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return maps (8, h, w): how near each pixel is to each corner of the colour cube, in shares."""
    near = np.prod(1.0 - np.abs(image[None] - COLOURS[:, None, None, :]), axis=3)
    return np.asarray(near)
