"""Box proposals: selective search, or boxes that somebody else made."""

from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes, areas, clipped, distinct
from bliss_detection.images.image_files import scaled
from bliss_detection.images.image_packages import image_package
from bliss_framework import DataError
from bliss_framework.plugin import at_least, between, open_npz, positive


@frozen
class SelectiveSearch:
    """Proposals by selective search (Uijlings et al., 2013) as OpenCV has it, "fast" mode.

    Args:
        side: the longer side of the image while boxes are searched, in pixels.
        n_boxes: most boxes of an image; the first of them is the whole image.
        smallest: side of the smallest box, in pixels of the original image.
        duplicate: overlap from which on a later box is left out.
        seed: of the order in which boxes are kept.
    """

    side: int = field(default=300, validator=at_least(32))
    n_boxes: int = field(default=500, validator=at_least(1))
    smallest: float = field(default=20.0, validator=positive)
    duplicate: float = field(default=0.9, validator=between(0.0, 1.0))
    seed: int = field(default=0, validator=at_least(0))

    def boxes(self, image: NDArray[np.uint8]) -> Boxes:
        """Propose boxes of an image (height, width, 3): (m, 4) float32, the whole image first."""
        height, width = image.shape[:2]
        scale = min(1.0, self.side / max(height, width))
        small = scaled(image, max(round(width * scale), 1), max(round(height * scale), 1))
        corners = self._searched(np.ascontiguousarray(small[:, :, ::-1]))
        ratio = np.array([width / small.shape[1], height / small.shape[0]] * 2, dtype=np.float32)
        return distinct(
            clipped(corners * ratio, (width, height)), (width, height), self.smallest, self.duplicate, self.n_boxes
        )

    def _searched(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        cv2: Any = image_package("cv2")
        cv2.setNumThreads(1)
        search = cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
        search.setBaseImage(image)
        search.switchToSelectiveSearchFast()
        found = np.asarray(search.process(), dtype=np.float32).reshape(-1, 4)
        return self._ordered(np.concatenate([found[:, :2], found[:, :2] + found[:, 2:]], axis=1))

    def _ordered(self, boxes: Boxes) -> Boxes:
        """Put boxes into the order of their rank by area times a random number, the largest most likely first.

        OpenCV returns the same boxes every time, but orders them by the generator of the C library, which no seed of
        its own reaches.
        """
        order = np.lexsort([*boxes.T, -areas(boxes)])
        lots = np.random.default_rng(self.seed).random(len(boxes)) * np.arange(1, len(boxes) + 1)
        return boxes[order[np.argsort(lots, kind="stable")]]


@frozen
class BoxFile:
    """Boxes from elsewhere: an .npz file with one array (m, 4) for each image id, likeliest first.

    Args:
        path: of the file.
        n_boxes, smallest, duplicate: as in `SelectiveSearch`.
    """

    path: Path = field(converter=Path)
    n_boxes: int = field(default=500, validator=at_least(1))
    smallest: float = field(default=20.0, validator=positive)
    duplicate: float = field(default=0.9, validator=between(0.0, 1.0))

    def boxes_of(self, image: str, size: tuple[float, float]) -> Boxes:
        """Return the boxes of an image: (m, 4) float32, the whole image first.

        Raises:
            DataError: naming the file and the image, if there are none or they are no boxes.
        """
        with open_npz(self.path) as stored:
            if image not in stored:
                raise DataError(f"{self.path} has no boxes of the image {image}.")
            found = stored.array(image)
        if found.dtype.kind not in "iuf":
            raise DataError(f"{self.path}: the boxes of {image} are of type {found.dtype}; allowed are numbers.")
        with np.errstate(over="ignore"):  # What float32 cannot hold is infinite, and refused as such.
            corners = found.astype(np.float32)
        if corners.ndim != 2 or corners.shape[1] != 4 or not np.isfinite(corners).all():
            raise DataError(f"{self.path}: the boxes of {image} have shape {corners.shape}; allowed is (m, 4), finite.")
        return distinct(clipped(corners, size), size, self.smallest, self.duplicate, self.n_boxes)
