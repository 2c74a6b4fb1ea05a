"""What a table or a COCO file says of the images of a folder: which classes each shows, and perhaps where."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.images.annotations import Annotation
from bliss_framework import DataError

LABEL_COLUMNS = ("label", "labels", "class", "classes")
PART_COLUMNS = ("part", "split", "set")
PARTS = {"train": True, "trainval": True, "training": True, "test": False, "val": False, "validation": False}
SEPARATORS = ("|", ";")
_SAYS = {"1": 1, "true": 1, "0": -1, "-1": -1, "false": -1, "": 0}


@frozen(eq=False)
class ImageLabels:
    """What is said of one image.

    Attributes:
        name: of the file, from the folder, with or without its suffix.
        labels: (C,) 1 where it shows a class, -1 where it does not, 0 where it says nothing.
        train: whether it is learnt from.
        truth: its objects, where they are known.
    """

    name: str = field()
    labels: NDArray[np.int8] = field()
    train: bool = field(default=True)
    truth: Annotation | None = field(default=None)


def read_image_labels(path: Path, classes: Sequence[str]) -> list[ImageLabels]:
    """Read the labels of images: a CSV table, or a COCO file (.json) with images, categories and annotations.

    A table has the name of an image in its first column, and the classes that it shows in a column "label" or the like,
    with "|" or ";" between several; or a column of 0 and 1 for each class. A column "part" may say train or test.

    Args:
        path: of the file.
        classes: that are wanted.

    Raises:
        DataError: naming the file, the place in it, what was found and what is allowed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from None
    found = _of_coco(path, text, classes) if path.suffix.lower() == ".json" else _of_table(path, text, classes)
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise DataError(f"{path} speaks of the image {twice!r} twice; leave one of them out.")
    return found


def _of_table(path: Path, text: str, classes: Sequence[str]) -> list[ImageLabels]:
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)] or [[]]
    except csv.Error as error:
        raise DataError(f"{path} is no table that can be read: {error}.") from None
    header = [name.strip() for name in header]
    label = next((at for at, name in enumerate(header) if name.casefold() in LABEL_COLUMNS), None)
    if label is None and not set(classes) <= set(header):
        raise DataError(
            f'{path} has no column "label" with the classes of each image, and no column for each of '
            f"{', '.join(classes)}. It has: {', '.join(header) or 'none'}."
        )
    if not rows:
        raise DataError(f"{path} has no lines below the column names.")
    found = []
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise DataError(f"{path}, line {line}: {len(row)} cells, but there are {len(header)} columns.")
        cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
        place = f"{path}, line {line}"
        shown = _indicated(place, cells, classes) if label is None else _named(row[label].strip(), classes)
        found.append(ImageLabels(row[0].strip(), shown, _is_training(place, cells)))
    return found


def _indicated(place: str, cells: Mapping[str, str], classes: Sequence[str]) -> NDArray[np.int8]:
    wrong = next((name for name in classes if cells[name].casefold() not in _SAYS), None)
    if wrong is not None:
        raise DataError(f'{place}, column "{wrong}": {cells[wrong]!r}; allowed are 1, 0, -1 and nothing.')
    return np.array([_SAYS[cells[name].casefold()] for name in classes], dtype=np.int8)


def _named(cell: str, classes: Sequence[str]) -> NDArray[np.int8]:
    separator = next((one for one in SEPARATORS if one in cell), None)
    names = {name.strip() for name in ([cell] if separator is None else cell.split(separator))}
    return np.array([1 if name in names else -1 for name in classes], dtype=np.int8)


def _is_training(place: str, cells: Mapping[str, str]) -> bool:
    column = next((name for name in cells if name.casefold() in PART_COLUMNS), None)
    part = "train" if column is None else cells[column].casefold()
    if part not in PARTS:
        raise DataError(f'{place}, column "{column}": {part!r}; allowed are {", ".join(PARTS)}.')
    return PARTS[part]


def _of_coco(path: Path, text: str, classes: Sequence[str]) -> list[ImageLabels]:
    try:
        document = json.loads(text)
        categories = {one["id"]: str(one["name"]) for one in document["categories"]}
        objects: dict[Any, list[Mapping[str, Any]]] = {one["id"]: [] for one in document["images"]}
        for one in document["annotations"]:
            objects[one["image_id"]].append({**one, "name": categories[one["category_id"]]})
        return [_of_coco_image(one, objects[one["id"]], classes) for one in document["images"]]
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        said = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"{path} is no COCO file that can be read ({said}); it needs images (id, file_name), categories (id, name) "
            f"and annotations (image_id, category_id, perhaps bbox)."
        ) from None


def _of_coco_image(image: Mapping[str, Any], own: Sequence[Mapping[str, Any]], classes: Sequence[str]) -> ImageLabels:
    names = [str(one["name"]) for one in own]
    labels = np.array([1 if name in names else -1 for name in classes], dtype=np.int8)
    boxed = [one for one in own if one.get("bbox") is not None]
    sides = np.array([one["bbox"] for one in boxed], dtype=np.float64).reshape(-1, 4)
    if not np.isfinite(sides).all():
        raise ValueError("a bbox holds what is no number of pixels")
    corners = np.concatenate([sides[:, :2], sides[:, :2] + sides[:, 2:]], axis=1).astype(np.float32)
    crowd = np.array([one.get("iscrowd", 0) == 1 for one in boxed], dtype=bool)
    truth = Annotation(tuple(str(one["name"]) for one in boxed), corners, crowd) if boxed or not own else None
    train = PARTS.get(str(image.get("split", "train")).casefold(), True)
    return ImageLabels(str(image["file_name"]), labels, train, truth)


def file_of(folder: Path, name: str, suffixes: Sequence[str]) -> Path | None:
    """Return the image that a name means, with or without its suffix; None where there is none in the folder."""
    parts = PurePosixPath(name.replace("\\", "/"))
    # A table from elsewhere must not read what lies outside of the folder.
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or "\0" in name:
        return None
    whole = folder / parts
    if whole.is_file() and whole.suffix in suffixes:
        return whole
    return next((one for one in (folder / f"{parts}{suffix}" for suffix in suffixes) if one.is_file()), None)
