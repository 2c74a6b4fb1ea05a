"""Average pooling of feature maps in boxes, exact in area: sums over boxes are differences of an integral map."""

import numpy as np
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes, areas

Map = NDArray[np.floating]
RING = 1.6


def integral(values: Map) -> NDArray[np.float64]:
    """Return sums over all cells above and to the left: (channels, h, w) -> (h + 1, w + 1, channels)."""
    channels, height, width = values.shape
    sums = np.zeros((height + 1, width + 1, channels))
    # Channels last, so that the values of a corner lie side by side.
    sums[1:, 1:] = values.transpose(1, 2, 0).astype(np.float64).cumsum(axis=0).cumsum(axis=1)
    return sums


def box_sums(sums: NDArray[np.float64], boxes: Boxes) -> NDArray[np.float64]:
    """Return the integral over each box: (m, 4) in cells, with fractions -> (m, channels).

    >>> box_sums(integral(np.ones((1, 2, 2))), np.array([[0.5, 0.0, 2.0, 1.0]])).tolist()
    [[1.5]]
    """
    x0, y0, x1, y1 = boxes.T
    return np.asarray(_at(sums, y1, x1) - _at(sums, y0, x1) - _at(sums, y1, x0) + _at(sums, y0, x0))


def _at(sums: NDArray[np.float64], y: NDArray[np.floating], x: NDArray[np.floating]) -> NDArray[np.float64]:
    """Read the integral map between its cells: there it is bilinear."""
    y, x = np.clip(y, 0, sums.shape[0] - 1), np.clip(x, 0, sums.shape[1] - 1)
    top = np.minimum(y.astype(np.intp), sums.shape[0] - 2)
    left = np.minimum(x.astype(np.intp), sums.shape[1] - 2)
    down, right = (y - top)[:, None], (x - left)[:, None]
    above = sums[top, left] * (1 - right) + sums[top, left + 1] * right
    below = sums[top + 1, left] * (1 - right) + sums[top + 1, left + 1] * right
    return np.asarray(above * (1 - down) + below * down)


def box_means(values: Map, boxes: Boxes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean in each box, and in the ring around it up to 1.6 times its sides.

    Args:
        values: (channels, h, w).
        boxes: (m, 4) in cells.

    Returns:
        (m, channels) twice.
    """
    sums, size = integral(values), areas(boxes)[:, None]
    inside = box_sums(sums, boxes)
    wider = _widened(boxes, values.shape[2], values.shape[1])
    around = (box_sums(sums, wider) - inside) / np.maximum(areas(wider)[:, None] - size, 1e-3)
    return inside / np.maximum(size, 1e-9), around


def _widened(boxes: Boxes, width: int, height: int) -> Boxes:
    centre, half = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]) * RING / 2
    limits = np.array([width, height], dtype=boxes.dtype)
    return np.concatenate([np.maximum(centre - half, 0), np.minimum(centre + half, limits)], axis=1)


def grid_means(values: Map, boxes: Boxes, n: int = 2) -> NDArray[np.float64]:
    """Return the means in the n x n parts of each box: (m, n * n * channels)."""
    sums = integral(values)
    step = (boxes[:, 2:] - boxes[:, :2]) / n
    parts = []
    for row in range(n):
        for column in range(n):
            corner = boxes[:, :2] + step * np.array([column, row])
            part = np.concatenate([corner, corner + step], axis=1)
            parts.append(box_sums(sums, part) / np.maximum(areas(part)[:, None], 1e-9))
    return np.concatenate(parts, axis=1)
