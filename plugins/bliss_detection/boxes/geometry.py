"""Boxes: overlap, suppression, clipping. A box is x0, y0, x1, y1 in pixels, the far sides excluded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.floating]


def areas(boxes: Boxes) -> NDArray[np.floating]:
    """Return the area of each box: (n, 4) -> (n,) square pixels."""
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def overlaps(boxes: Boxes, others: Boxes) -> NDArray[np.floating]:
    """Return intersection over union of each pair: (n, 4) and (m, 4) -> (n, m) in [0, 1].

    >>> overlaps(np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 3.0, 2.0]])).round(4).tolist()
    [[0.3333]]
    """
    sides = np.minimum(boxes[:, None, 2:], others[None, :, 2:]) - np.maximum(boxes[:, None, :2], others[None, :, :2])
    shared = np.clip(sides, 0, None).prod(axis=2)
    union = areas(boxes)[:, None] + areas(others)[None, :] - shared
    return np.asarray(shared / np.maximum(union, 1e-9))


def clipped(boxes: Boxes, size: Sequence[float]) -> Boxes:
    """Cut boxes off at the edges of an image of a size (width, height)."""
    limits = np.array([size[0], size[1], size[0], size[1]], dtype=boxes.dtype)
    return np.clip(boxes, 0, limits)


def suppressed(overlap: NDArray[np.floating], scores: NDArray[np.floating], most: float, n: int) -> list[int]:
    """Keep the boxes that overlap no better one: non-maximum suppression.

    Args:
        overlap: (m, m) of the boxes.
        scores: (m,).
        most: overlap that a kept box may have with a better kept one.
        n: how many of the best boxes are looked at.

    Returns:
        Positions, best first.
    """
    order = np.argsort(-scores, kind="stable")[:n]
    kept: list[int] = []
    while len(order):
        best, rest = order[0], order[1:]
        kept.append(int(best))
        order = rest[overlap[best, rest] <= most]
    return kept


def distinct(boxes: Boxes, size: Sequence[float], smallest: float, most: float, n: int) -> Boxes:
    """Put the whole image first, then the proposals that are large enough and not much like an earlier one.

    Args:
        boxes: (m, 4) proposals, likeliest first.
        size: (width, height) of the image.
        smallest: side of the smallest box, in pixels.
        most: overlap that a box may have with an earlier one.
        n: how many boxes are kept.
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    large = boxes[(sides >= smallest).all(axis=1)]
    all_boxes = np.concatenate([[[0, 0, size[0], size[1]]], large]).astype(np.float32)
    overlap = overlaps(all_boxes, all_boxes)
    # Earlier boxes are better ones, so suppression is that of falling scores.
    kept = suppressed(overlap, -np.arange(len(all_boxes), dtype=np.float64), most, len(all_boxes))
    return all_boxes[kept[:n]]
