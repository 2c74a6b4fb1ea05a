"""Images as bags of described boxes: proposals and features of a whole set, kept on disk."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
from attrs import asdict, evolve, field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.boxes.proposals import BoxFile
from bliss_detection.features.array_cache import Arrays, Cache, writable
from bliss_detection.features.reduction import Reduction
from bliss_detection.images.photos import Photos

VERSION = 1  # Of what is computed here; a change makes old entries useless.
Say = Callable[[str], None]


class Proposer(Protocol):
    """Proposes boxes of an image."""

    def boxes(self, image: NDArray[np.uint8]) -> Boxes:
        """Return (m, 4) boxes."""


class Describer(Protocol):
    """Describes boxes of an image."""

    def check(self) -> None:
        """Refuse what cannot work."""

    def blocks(self, image: NDArray[np.uint8], boxes: Boxes) -> dict[str, NDArray[np.floating]]:
        """Return features (m, d) by the name of their block."""


@frozen(eq=False)
class Described:
    """The boxes of all images with their features.

    Attributes:
        photos: the images.
        boxes: (N, 4) of all images, one after the other.
        starts: (I + 1,) where the boxes of each image start.
        X: (N, d) float32 features, rows of length 1.
        notes: sentences, such as how much of the variance is kept.
        cache: where more can be kept that does not depend on a seed; None keeps nothing.
        key: what decides the boxes and features.
    """

    photos: Photos = field()
    boxes: NDArray[np.float32] = field()
    starts: NDArray[np.intp] = field()
    X: NDArray[np.float32] = field()
    notes: tuple[str, ...] = field(default=())
    cache: Cache | None = field(default=None)
    key: Mapping[str, Any] = field(factory=dict)

    @property
    def image(self) -> NDArray[np.intp]:
        """(N,) the image of each box."""
        return np.repeat(np.arange(self.photos.n_images), np.diff(self.starts))

    def of(self, image: int) -> slice:
        """Return where the boxes of an image are."""
        return slice(int(self.starts[image]), int(self.starts[image + 1]))

    def kept(self, what: str, inputs: Mapping[str, Any], make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return an array that depends on boxes, features, labels and some inputs alone, from the cache if it can."""
        if self.cache is None:
            return make()
        labels = hashlib.sha256(np.ascontiguousarray(self.photos.labels).data).hexdigest()
        key = {**self.key, "labels": labels, **inputs}
        return self.cache.arrays(what, key, lambda path: np.save(path / "kept.npy", make()))["kept"]


def describe_once(
    photos: Photos, proposer: Proposer | BoxFile, describer: Describer, reduction: Reduction, say: Say
) -> Described:
    """Do the same as `describe`, and keep nothing on disk."""
    with TemporaryDirectory() as folder:
        found = describe(photos, proposer, describer, reduction, Cache(Path(folder)), say)
        return evolve(
            found, boxes=np.array(found.boxes), starts=np.array(found.starts), X=np.array(found.X), cache=None
        )


def describe(
    photos: Photos, proposer: Proposer | BoxFile, describer: Describer, reduction: Reduction, cache: Cache, say: Say
) -> Described:
    """Propose boxes of all images, describe them, and reduce the features; what is in the cache is not made again.

    Args:
        photos: the images.
        proposer: makes boxes.
        describer: makes features.
        reduction: of the features.
        cache: where arrays are kept.
        say: is told of progress.
    """
    describer.check()
    known = {"version": VERSION, "images": photos.image_digest(), "boxes": _inputs(proposer)}
    say("box proposals")
    found = cache.arrays("boxes", known, lambda path: _write_boxes(path, photos, proposer, say))
    boxes, starts = np.asarray(found["boxes"]), np.asarray(found["starts"])
    say("features")
    known["features"] = _inputs(describer)
    blocks = cache.arrays("features", known, lambda path: _write_blocks(path, photos, boxes, starts, describer, say))
    say("reduction of features")
    known |= {"reduction": asdict(reduction), "train": photos.train.tolist()}
    of_box = np.repeat(photos.train, np.diff(starts))
    sizes = np.repeat(photos.sizes, np.diff(starts), axis=0)
    reduced = cache.arrays("reduced", known, lambda path: reduction.write(path, blocks, boxes, sizes, of_box))
    share = float(reduced["share"][0])
    notes = (f"{reduced['X'].shape[1]} features keep {share:.0%} of the variance.",) if share < 1 else ()
    return Described(photos, boxes, starts, np.asarray(reduced["X"]), notes, cache, known)


def _inputs(maker: Any) -> dict[str, Any]:
    """Return what decides the output of a proposer or a describer, with digests of the files that it reads."""
    own: dict[str, Any] = {"kind": type(maker).__name__}
    for name, value in asdict(maker).items():
        is_file = isinstance(value, Path)
        own[name] = hashlib.sha256(value.read_bytes()).hexdigest() if is_file and value.is_file() else value
    return own


def _write_boxes(path: Path, photos: Photos, proposer: Proposer | BoxFile, say: Say) -> None:
    parts = []
    for image in range(photos.n_images):
        parts.append(_proposed(photos, proposer, image))
        _tell(say, "box proposals", image, photos.n_images)
    np.save(path / "boxes.npy", np.concatenate(parts).astype(np.float32))
    np.save(path / "starts.npy", np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64))


def _proposed(photos: Photos, proposer: Proposer | BoxFile, image: int) -> Boxes:
    if isinstance(proposer, BoxFile):
        return proposer.boxes_of(photos.ids[image], tuple(photos.sizes[image]))
    return proposer.boxes(photos.image(image))


def _write_blocks(
    path: Path, photos: Photos, boxes: Boxes, starts: NDArray[np.intp], describer: Describer, say: Say
) -> None:
    arrays: Arrays = {}
    for image in range(photos.n_images):
        own = slice(starts[image], starts[image + 1])
        for name, values in describer.blocks(photos.image(image), boxes[own]).items():
            if name not in arrays:
                arrays[name] = writable(path, name, (len(boxes), values.shape[1]), np.float16)
            arrays[name][own] = values
        _tell(say, "features", image, photos.n_images)
    for array in arrays.values():
        array.flush()  # type: ignore[attr-defined]


def _tell(say: Say, what: str, image: int, n_images: int) -> None:
    if (image + 1) % 50 == 0:
        say(f"{what}: {image + 1} of {n_images} images")
