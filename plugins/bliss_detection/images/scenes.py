"""Generated scenes: shapes on clutter, so that the whole pipeline runs without data, model or OpenCV."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.images.annotations import Annotation
from bliss_detection.images.photos import Photos, Pixels
from bliss_framework.plugin import at_least, between

SHAPES = ("disc", "cross", "triangle")
COLOURS = np.array([[0.8, 0.25, 0.25], [0.25, 0.7, 0.25], [0.25, 0.3, 0.85]])


@frozen
class Scenes:
    """Images of one or two shapes of random size and place on grey clutter.

    Discs are red, crosses green, triangles blue. A third of the images holds each, some of them another one beside it.

    Args:
        n_train, n_test: images to learn from, and to test on.
        side: of an image, in pixels.
        n_strokes: of clutter in each image.
        second: share of images with a second shape of another class.
        seed: the same seed makes the same images.
    """

    n_train: int = field(default=90, validator=at_least(12))
    n_test: int = field(default=60, validator=at_least(6))
    side: int = field(default=96, validator=at_least(32))
    n_strokes: int = field(default=25, validator=at_least(0))
    second: float = field(default=0.25, validator=between(0.0, 1.0))
    seed: int = field(default=0, validator=at_least(0))

    def photos(self) -> Photos:
        """Make the images."""
        rng = np.random.default_rng(self.seed)
        n = self.n_train + self.n_test
        made = [self._scene(number % len(SHAPES), rng) for number in range(n)]
        truth = tuple(annotation for _, annotation in made)
        labels = np.array([[1 if name in one.names else -1 for name in SHAPES] for one in truth], dtype=np.int8)
        return Photos(
            name="shapes",
            classes=SHAPES,
            ids=tuple(f"scene-{number}" for number in range(n)),
            sources=tuple(image for image, _ in made),
            sizes=np.full((n, 2), self.side, dtype=np.float32),
            labels=labels,
            train=np.arange(n) < self.n_train,
            truth=truth,
        )

    def _scene(self, shape: int, rng: np.random.Generator) -> tuple[Pixels, Annotation]:
        image = self._background(rng)
        shapes = [shape]
        if rng.random() < self.second:
            shapes.append((shape + int(rng.integers(1, len(SHAPES)))) % len(SHAPES))
        boxes: list[NDArray[np.float32]] = []
        for one in shapes:
            box = self._place(boxes, rng)
            image[inside(one, *_within(box, self.side))] = COLOURS[one] + rng.uniform(-0.15, 0.15, 3)
            boxes.append(box)
        noisy = np.clip(image + rng.normal(0.0, 0.03, image.shape), 0.0, 1.0)
        names = tuple(SHAPES[one] for one in shapes)
        annotation = Annotation(names, np.array(boxes, dtype=np.float32), np.zeros(len(names), dtype=bool))
        return (255 * noisy).astype(np.uint8), annotation

    def _background(self, rng: np.random.Generator) -> NDArray[np.float64]:
        image = np.full((self.side, self.side, 3), rng.uniform(0.2, 0.8))
        y, x = np.mgrid[: self.side, : self.side]
        for _ in range(self.n_strokes):
            (y0, x0), angle = rng.uniform(0, self.side, 2), rng.uniform(0, np.pi)
            along = (x - x0) * np.cos(angle) + (y - y0) * np.sin(angle)
            across = (y - y0) * np.cos(angle) - (x - x0) * np.sin(angle)
            stroke = (np.abs(along) < rng.uniform(3, 14)) & (np.abs(across) < rng.uniform(0.5, 2.5))
            image[stroke] = rng.uniform(0.2, 0.8) + rng.uniform(-0.15, 0.15, 3)
        return image

    def _place(self, taken: list[NDArray[np.float32]], rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw a square box; where there is another one, in the half of the image that it leaves free."""
        size = rng.uniform(0.35, 0.45 if taken else 0.6) * self.side
        x0, y0 = rng.uniform(0, self.side - size, 2)
        if taken:
            left = taken[0][[0, 2]].mean() > self.side / 2
            x0 = 0.0 if left else self.side - size
        return np.round(np.array([x0, y0, x0 + size, y0 + size])).astype(np.float32)


def _within(box: NDArray[np.float32], side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where each pixel lies in a box: x and y, from -1 to 1 inside."""
    y, x = np.mgrid[:side, :side] + 0.5
    half = (box[2:] - box[:2]) / 2
    return (x - box[0] - half[0]) / half[0], (y - box[1] - half[1]) / half[1]


def inside(shape: int, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which points belong to a shape that fills the square from -1 to 1."""
    square = (np.abs(x) <= 1) & (np.abs(y) <= 1)
    if SHAPES[shape] == "disc":
        return np.asarray(x**2 + y**2 <= 1)
    if SHAPES[shape] == "cross":
        return np.asarray(square & ((np.abs(x) < 0.35) | (np.abs(y) < 0.35)))
    return np.asarray(square & (np.abs(x) <= (y + 1) / 2))
