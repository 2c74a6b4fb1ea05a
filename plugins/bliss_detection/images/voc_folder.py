"""A folder in the layout of PASCAL VOC: JPEGImages, Annotations, ImageSets/Main."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.images.annotations import Annotation, read_annotation
from bliss_detection.images.image_files import SWAPPED, stored_form, whole_size
from bliss_detection.images.photos import Photos
from bliss_framework import DataError

SUFFIXES = (".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG")
PARTS = ("trainval", "test")
N_SHOWN = 3
WRONG_SIZE = "annotation(s) state another size than the image has, and boxes were taken as pixels of the image"


@frozen(eq=False)
class _Entry:
    """One image that can be used."""

    id: str = field()
    path: Path = field()
    annotation: Annotation = field()
    size: tuple[int, int] = field()
    train: bool = field()
    size_note: str | None = field(default=None)


def read_voc(folder: Path, classes: Sequence[str], base: int = 1, limit: int | None = None) -> Photos:
    """Read the images, image-level labels and true boxes of a VOC folder.

    The label of an image and a class is what `ImageSets/Main/<class>_<part>.txt` says; where there is no such file, or
    the image is not in it, the annotation decides. An image all of whose objects of a class are difficult counts
    neither for nor against it. An image that cannot be used is left out and named in the notes.

    Where an annotation states another size than the image has, the notes say so. Where it is that of the image before
    its EXIF orientation turns it upright, the boxes are turned, too.

    Args:
        folder: the folder.
        classes: the categories that are wanted.
        base: where coordinates start, see `read_annotation`.
        limit: use only that many images of the training part, in their order; None for all.

    Raises:
        DataError: if the folder is not in this layout, or no training image has one of the classes.
    """
    if not (folder / "ImageSets" / "Main").is_dir():
        raise DataError(
            f"{folder} is no folder in VOC layout: it lacks ImageSets/Main. Where a table or a COCO "
            f"file says what each image shows, name it with labels."
        )
    entries: list[_Entry] = []
    notes: list[str] = []
    skipped: list[str] = []
    sizes: list[str] = []
    for part in PARTS:
        ids = _ids(folder, part)
        for one in ids[:limit] if part == "trainval" else ids:
            try:
                entry = _entry(folder, one, base, part == "trainval")
            except DataError as error:
                skipped.append(str(error))
                continue
            entries.append(entry)
            notes += entry.annotation.notes
            sizes += [] if entry.size_note is None else [entry.size_note]
    if not any(entry.train for entry in entries):
        raise DataError(f"{folder} has no training image that can be used. {' '.join(skipped[:N_SHOWN])}".rstrip())
    labels, disagreements = _image_labels(folder, entries, classes)
    _check_classes(folder, labels, entries, classes)
    return Photos(
        name=folder.name,
        classes=tuple(classes),
        ids=tuple(entry.id for entry in entries),
        sources=tuple(entry.path for entry in entries),
        sizes=np.array([entry.size for entry in entries], dtype=np.float32),
        labels=labels,
        train=np.array([entry.train for entry in entries], dtype=bool),
        truth=tuple(entry.annotation for entry in entries),
        notes=(
            *_summary("image(s) left out", skipped),
            *_summary("annotation(s) mended", notes),
            *_summary(WRONG_SIZE, sizes),
            *disagreements,
        ),
    )


def _ids(folder: Path, part: str) -> list[str]:
    path = folder / "ImageSets" / "Main" / f"{part}.txt"
    return [line.split()[0] for line in _lines(path) if line.strip()]


def _lines(path: Path) -> list[str]:
    """Read a list of ImageSets."""
    try:
        return _text(path).splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None


def _text(path: Path) -> str:
    try:
        # The byte order mark that editors of Windows write would become a part of the first image's name.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from None


def _entry(folder: Path, one: str, base: int, train: bool) -> _Entry:
    path = next((p for s in SUFFIXES if os.path.isfile(p := folder / "JPEGImages" / f"{one}{s}")), None)
    if path is None:
        raise DataError(f"{folder / 'JPEGImages' / one}.jpg is missing.")
    xml = folder / "Annotations" / f"{one}.xml"
    annotation = read_annotation(xml, base)
    size = whole_size(path)
    annotation = _upright(annotation, size, path, xml)
    return _Entry(one, path, annotation.fitted(size, xml), size, train, annotation.size_note(size, xml))


def _upright(annotation: Annotation, size: tuple[int, int], path: Path, xml: Path) -> Annotation:
    """Turn the boxes with the image where the annotation states the size that the image has before it is turned."""
    if annotation.size in (None, size) or annotation.size != size[::-1]:
        return annotation
    orientation = stored_form(path)[1]
    return annotation.turned(orientation, xml) if orientation in SWAPPED else annotation


def _image_labels(
    folder: Path, entries: list[_Entry], classes: Sequence[str]
) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Return 1 (present), -1 (absent) or 0 (says nothing) for each image and class, and where the files disagree."""
    labels = np.stack([_own_labels(entry.annotation, classes) for entry in entries])
    wrong: list[str] = []
    for column, name in enumerate(classes):
        listed = {**_listed(folder, name, "trainval"), **_listed(folder, name, "test")}
        for row, entry in enumerate(entries):
            said = listed.get(entry.id, labels[row, column])
            if said != labels[row, column]:
                wrong.append(f"{entry.id} and {name}: {said} in the list, {labels[row, column]} in the annotation.")
            labels[row, column] = said
    return labels, _summary("label(s) of ImageSets disagree with the annotation, and were taken", wrong)


def _own_labels(annotation: Annotation, classes: Sequence[str]) -> NDArray[np.int8]:
    found = np.full(len(classes), -1, dtype=np.int8)
    for column, name in enumerate(classes):
        own = np.array([one == name for one in annotation.names], dtype=bool)
        if own.any():
            found[column] = 1 if (own & ~annotation.difficult).any() else 0
    return found


def _listed(folder: Path, name: str, part: str) -> dict[str, int]:
    path = folder / "ImageSets" / "Main" / f"{name}_{part}.txt"
    if not os.path.isfile(path):
        return {}
    found = {}
    for number, line in enumerate(_lines(path), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2 or words[1] not in ("1", "-1", "0"):
            raise DataError(f'{path}, line {number}: allowed is an image and 1, -1 or 0; got "{line}".')
        found[words[0]] = int(words[1])
    return found


def _check_classes(folder: Path, labels: NDArray[np.int8], entries: list[_Entry], classes: Sequence[str]) -> None:
    train = np.array([entry.train for entry in entries], dtype=bool)
    known = sorted({name for entry in entries for name in entry.annotation.names})
    for column, name in enumerate(classes):
        if (labels[train, column] == 1).sum() < 2 or not (labels[train, column] == -1).any():
            raise DataError(
                f'{folder}: the class "{name}" needs two training images that show it and one that does not. '
                f"Classes of the annotations: {', '.join(known) or 'none'}."
            )


def _summary(what: str, sentences: list[str]) -> tuple[str, ...]:
    if not sentences:
        return ()
    more = f" (and {len(sentences) - N_SHOWN} more)" if len(sentences) > N_SHOWN else ""
    return (f"{len(sentences)} {what}: {' '.join(sentences[:N_SHOWN])}{more}",)
