"""One VOC annotation: an XML file with the objects of an image, read with all the oddities that are met in the wild."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import clipped
from bliss_framework import DataError

SIDES = ("xmin", "ymin", "xmax", "ymax")


@frozen(eq=False)
class Annotation:
    """The objects of one image.

    Attributes:
        names: (k,) the class of each object.
        boxes: (k, 4) float32, x0, y0, x1, y1 in pixels from 0 on, the far sides excluded.
        difficult: (k,) bool, objects that count neither for nor against anything.
        size: (width, height) as the file says, or None.
        notes: sentences about what was mended, each naming the file.
    """

    names: tuple[str, ...] = field()
    boxes: NDArray[np.float32] = field()
    difficult: NDArray[np.bool_] = field()
    size: tuple[float, float] | None = field(default=None)
    notes: tuple[str, ...] = field(default=())

    def fitted(self, size: tuple[int, int], path: Path) -> "Annotation":
        """Cut boxes off at the edges of the image that is really there, and drop those of which nothing is left."""
        boxes = clipped(self.boxes, size)
        kept = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
        notes = list(self.notes)
        if (np.abs(boxes - self.boxes) > 1).any():
            notes.append(f"{path}: a box reaches beyond the image and was cut off.")
        if not kept.all():
            notes.append(f"{path}: {int((~kept).sum())} box(es) without any area in the image were dropped.")
        names = tuple(name for name, keep in zip(self.names, kept, strict=True) if keep)
        return evolve(self, names=names, boxes=boxes[kept], difficult=self.difficult[kept], notes=tuple(notes))

    def turned(self, orientation: int, path: Path) -> "Annotation":
        """Turn boxes as the EXIF orientation of the image turns the image, where the file states its size as stored.

        Args:
            orientation: 5 to 8, those that swap width and height.
            path: of the annotation, for the note.
        """
        width, height = self.size or (0.0, 0.0)
        x, y = self.boxes[:, [0, 2]], self.boxes[:, [1, 3]]
        across = y if orientation in (5, 8) else height - y
        down = x if orientation in (5, 6) else width - x
        boxes = np.stack([across.min(axis=1), down.min(axis=1), across.max(axis=1), down.max(axis=1)], axis=1)
        note = f"{path}: its boxes lie in the image as it is stored, and were turned upright with it."
        return evolve(self, boxes=boxes.astype(np.float32), size=(height, width), notes=(*self.notes, note))

    def size_note(self, size: tuple[int, int], path: Path) -> str | None:
        """Return a sentence where the file states another size than the image has, else None."""
        if self.size is None or not all(self.size) or self.size == size:
            return None
        stated = " x ".join(f"{side:g}" for side in self.size)
        return f"{path} says {stated}, and the image is {size[0]} x {size[1]}."


def read_annotation(path: Path, base: int = 1) -> Annotation:
    """Read a VOC annotation.

    Coordinates count from `base`: from 1 on with the last pixel included, as in VOC, so that a box that spans a
    32 x 20 image is 1, 1, 32, 20; or from 0 on, and they are taken as they are. Floats are fine, swapped sides are
    swapped back, and a box below 0 starts at 0.

    Args:
        path: the XML file.
        base: 1 or 0.

    Raises:
        DataError: naming the file, if it is missing, no XML, or an object lacks its name or a side of its box.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        raise DataError(f"{path} is missing.") from None
    except (OSError, ElementTree.ParseError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise DataError(f"{path} is no XML that can be read: {error}.") from None
    objects = list(root.iter("object"))
    corners = np.array([_corners(one, path) for one in objects], dtype=np.float32).reshape(-1, 4)
    boxes, notes = _mended(corners, base, path)
    names = tuple(_text(one, "name", path) for one in objects)
    difficult = np.array([(one.findtext("difficult") or "0").strip() == "1" for one in objects], dtype=bool)
    return Annotation(names, boxes, difficult, _size(root), notes)


def _mended(corners: NDArray[np.float32], base: int, path: Path) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    notes = []
    low, high = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])
    if (corners[:, :2] > corners[:, 2:]).any():
        notes.append(f"{path}: the sides of a box were swapped; they were swapped back.")
    low = low - base
    if (low < 0).any():
        hint = " It seems to count from 0: set base = 0." if base == 1 and (low == -1).any() else ""
        notes.append(f"{path}: a box starts before the image and was cut off.{hint}")
    return np.maximum(np.concatenate([low, high], axis=1), 0).astype(np.float32), tuple(notes)


def _corners(one: ElementTree.Element, path: Path) -> list[float]:
    box = one.find("bndbox")
    if box is None:
        raise DataError(f"{path}: an object has no bndbox.")
    return [_number(_text(box, side, path), side, path) for side in SIDES]


def _number(text: str, side: str, path: Path) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise DataError(f"{path}: {side} of a box is {text!r}; it must be a number of pixels.")
    return value


def _text(element: ElementTree.Element, key: str, path: Path) -> str:
    text = (element.findtext(key) or "").strip()
    if not text:
        raise DataError(f"{path}: a {element.tag} has no {key}.")
    return text


def _size(root: ElementTree.Element) -> tuple[float, float] | None:
    try:
        width, height = (float(root.findtext(f"size/{side}") or "nan") for side in ("width", "height"))
    except ValueError:
        return None
    return (width, height) if np.isfinite([width, height]).all() else None
