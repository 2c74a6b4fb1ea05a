"""A folder of images, and a table or COCO file that says which classes each of them shows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen

from bliss_detection.images.annotations import Annotation
from bliss_detection.images.image_files import whole_size
from bliss_detection.images.image_labels import ImageLabels, file_of, read_image_labels
from bliss_detection.images.photos import Photos
from bliss_detection.images.voc_folder import N_SHOWN, SUFFIXES
from bliss_framework import DataError


@frozen(eq=False)
class _Image:
    """One image that can be used."""

    said: ImageLabels = field()
    path: Path = field()
    size: tuple[int, int] = field()
    truth: Annotation = field()


def read_image_folder(
    folder: Path, labels: Path, classes: Sequence[str], limit: int | None = None, skip_bad: bool = False
) -> Photos:
    """Read images and their labels.

    Args:
        folder: of the images.
        labels: a CSV table or COCO file, see `read_image_labels`.
        classes: that are wanted.
        limit: use only that many training images, in the order of the labels; None for all.
        skip_bad: leave out images that are missing, damaged or without labels, and say so, instead of refusing all.

    Raises:
        DataError: images and labels do not fit together, or no training image has one of the classes.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name the folder of the images.")
    told = read_image_labels(labels, classes)
    if limit is not None:
        train = [one for one in told if one.train][:limit]
        told = train + [one for one in told if not one.train]
    images, bad = _opened(folder, told)
    if limit is None:
        known = {one.path for one in images} | {file_of(folder, one.name, SUFFIXES) for one in told}
        spare = sorted(one for one in folder.iterdir() if one.suffix in SUFFIXES and one not in known)
        bad += [f"{one.name} has no line in {labels.name}." for one in spare]
    if bad and not skip_bad:
        raise DataError(
            f"{folder}: {len(bad)} image(s) cannot be used, so none was. {_first(bad)} Mend them, or set skip_bad = "
            f"true, and they are left out."
        )
    _check_classes(folder, images, classes)
    return Photos(
        name=folder.name,
        classes=tuple(classes),
        ids=tuple(str(one.path.relative_to(folder)) for one in images),
        sources=tuple(one.path for one in images),
        sizes=np.array([one.size for one in images], dtype=np.float32),
        labels=np.stack([one.said.labels for one in images]),
        train=np.array([one.said.train for one in images], dtype=bool),
        truth=tuple(one.truth for one in images),
        notes=(f"{len(bad)} image(s) left out, as skip_bad says: {_first(bad)}",) if bad else (),
        has_truth=np.array([one.said.truth is not None for one in images], dtype=bool),
    )


def _opened(folder: Path, told: Sequence[ImageLabels]) -> tuple[list[_Image], list[str]]:
    images, bad = [], []
    for one in told:
        path = file_of(folder, one.name, SUFFIXES)
        if path is None:
            bad.append(f"{one.name!r} is no image in the folder.")
            continue
        try:
            size = whole_size(path)
        except DataError as error:
            bad.append(str(error))
            continue
        truth = one.truth or Annotation((), np.zeros((0, 4), dtype=np.float32), np.zeros(0, dtype=bool))
        images.append(_Image(one, path, size, truth.fitted(size, path)))
    return images, bad


def _check_classes(folder: Path, images: Sequence[_Image], classes: Sequence[str]) -> None:
    for column, name in enumerate(classes):
        labels = np.array([one.said.labels[column] for one in images if one.said.train], dtype=np.int8)
        if (labels == 1).sum() < 2 or not (labels == -1).any():
            raise DataError(
                f'{folder}: the class "{name}" needs two training images that show it and one that does not; it has '
                f"{int((labels == 1).sum())} and {int((labels == -1).sum())}."
            )


def _first(bad: Sequence[str]) -> str:
    more = len(bad) - N_SHOWN
    return " ".join(bad[:N_SHOWN]) + (f" And {more} more." if more > 0 else "")
