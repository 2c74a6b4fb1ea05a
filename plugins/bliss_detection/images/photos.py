"""Photos: images with image-level labels, and the true boxes that only evaluation looks at."""

import hashlib
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.images.annotations import Annotation
from bliss_detection.images.image_files import read_image

Pixels = NDArray[np.uint8]


@frozen(eq=False)
class Photos:
    """A set of images for weakly supervised detection.

    Attributes:
        name: of the set.
        classes: (C,) categories.
        ids: (I,) of the images.
        sources: (I,) the image files, or the images themselves (height, width, 3) where they were generated.
        sizes: (I, 2) width and height in pixels.
        labels: (I, C) 1 where an image shows a class, -1 where it does not, 0 where it says nothing.
        train: (I,) bool, images to learn from; the others are tested on.
        truth: (I,) the true objects; label inference never sees them.
        notes: sentences about what was left out or mended.
        has_truth: (I,) bool, images whose objects are known; None where all are.
    """

    name: str = field()
    classes: tuple[str, ...] = field()
    ids: tuple[str, ...] = field()
    sources: tuple[Path | Pixels, ...] = field()
    sizes: NDArray[np.float32] = field()
    labels: NDArray[np.int8] = field()
    train: NDArray[np.bool_] = field()
    truth: tuple[Annotation, ...] = field()
    notes: tuple[str, ...] = field(default=())
    has_truth: NDArray[np.bool_] | None = field(default=None)

    def knows(self, image: int) -> bool:
        """Say whether the objects of an image are known."""
        return self.has_truth is None or bool(self.has_truth[image])

    @property
    def can_be_tested(self) -> bool:
        """Whether the objects of all images that are tested on are known, and there are such images."""
        tests = np.flatnonzero(~self.train)
        return self.has_truth is None or bool(len(tests) and self.has_truth[tests].all() and self.has_truth.all())

    @property
    def n_images(self) -> int:
        """The number of images I."""
        return len(self.ids)

    def image(self, image: int) -> Pixels:
        """Read an image: (height, width, 3) uint8 RGB."""
        source = self.sources[image]
        return read_image(source) if isinstance(source, Path) else source

    def image_digest(self) -> str:
        """Digest the images alone."""
        digest = hashlib.sha256()
        for source in self.sources:
            digest.update(source.read_bytes() if isinstance(source, Path) else np.ascontiguousarray(source).data)
        return digest.hexdigest()

    def objects(self, image: int, name: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the true boxes (k, 4) of a class in an image, and which of them are difficult (k,)."""
        truth = self.truth[image]
        own = np.array([one == name for one in truth.names], dtype=bool)
        return truth.boxes[own], truth.difficult[own]

    def sha256(self) -> str:
        """Digest the image files, the labels and the true boxes."""
        digest = hashlib.sha256(repr((self.classes, self.ids, self.train.tolist())).encode())
        digest.update(np.ascontiguousarray(self.labels).data)
        digest.update(self.image_digest().encode())
        for truth in self.truth:
            digest.update(repr((truth.names, truth.boxes.tolist(), truth.difficult.tolist())).encode())
        return digest.hexdigest()
