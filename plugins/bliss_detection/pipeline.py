"""Weakly supervised detection as a pipeline: images, boxes, features, label inference, detector, average precision."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from bliss_detection.boxes.grid_windows import GridWindows
from bliss_detection.boxes.proposals import BoxFile, SelectiveSearch
from bliss_detection.detector.side_by_side import Comparison, Say, known_methods
from bliss_detection.features.array_cache import Cache, default_folder
from bliss_detection.features.described_boxes import Describer, Proposer, describe, describe_once
from bliss_detection.features.gradients_and_colours import GradientsAndColours
from bliss_detection.features.network_features import NetworkFeatures
from bliss_detection.features.reduction import Reduction
from bliss_detection.images.image_folder import read_image_folder
from bliss_detection.images.photos import Photos
from bliss_detection.images.scenes import Scenes
from bliss_detection.images.voc_folder import read_voc
from bliss_detection.inference.box_labels import Inference
from bliss_detection.inference.picking_methods import METHODS, RULES, Passes
from bliss_framework.plugin import (
    DataError,
    Pipeline,
    PipelineReport,
    SettingsError,
    at_least,
    between,
    one_of,
    optional,
    positive,
)

WINDOWS = GridWindows(n_sizes=4, smallest=0.33, largest=0.65, step=0.3)


def _path(value: Any) -> Path | None:
    return None if value is None else Path(value).expanduser()


@frozen
class Detection(Pipeline):
    """Weakly supervised detection on a folder of images (paper, "MIL with Domain-Specific Prior").

    Args:
        data: the folder, in VOC layout where `labels` is none.
        classes: categories to learn.
        labels: a CSV table, or a COCO file (.json), that says of each image in the folder what it shows; looked for in
            the folder, too.
        skip_bad: leave out images that do not fit the labels or are damaged, and say so.
        model: an ONNX network; none takes gradients and colours, which need no model.
        proposals: "selective-search", "windows", or an .npz file with the boxes of each image id.
        n_boxes: most boxes of an image.
        side: longer side of the image in the network, in pixels.
        n_components: features that are kept.
        geometry: weight of box geometry among the features.
        base: 1 where coordinates in annotations start at 1, else 0.
        limit: use only the first training images; none for all.
        methods: that are compared, the first one is what the run is for.
        also: classes that are reported, but are not in the means.
        prune: rule boxes out by a multi-class inference first.
        prior: multiply the reward by the detection prior.
        n_passes: 1 for the vote of one inference, more for narrowing passes.
        rule: "vote" in every pass, or "alternate": a vote weighted by confidence, the best box, a vote, in turn.
        near: overlap with the last pick from which on a box may be positive in the next pass.
        n_rounds: rounds of each inference.
        n_folds: folds of whole images.
        n_inferences: inferences with other random draws, averaged.
        n_neighbors: k of the neighbourhood in classifier output.
        strategy: of the bandit.
        alpha: recall from which on precision counts in the MIL reward.
        ridge: of the classifier in the first pass.
        pass_ridge: of the classifier in later passes.
        recall: share of held-out positive images that the threshold of the classifier lets be found; 0 for half way.
        cache: folder for boxes and features; none for the user's cache folder.
    """

    data: Path = field(converter=_path)
    classes: tuple[str, ...] = field(converter=tuple)
    labels: Path | None = field(default=None, converter=_path)
    skip_bad: bool = field(default=False, validator=one_of(True, False))
    model: Path | None = field(default=None, converter=_path)
    proposals: str = field(default="selective-search")
    n_boxes: int = field(default=500, validator=at_least(1))
    side: int = field(default=640, validator=at_least(64))
    n_components: int = field(default=512, validator=at_least(1))
    geometry: float = field(default=0.0, validator=between(0.0, 10.0))
    base: int = field(default=1, validator=one_of(0, 1))
    limit: int | None = field(default=None, validator=optional(at_least(2)))
    methods: tuple[str, ...] = field(default=METHODS, converter=tuple, validator=known_methods)
    also: tuple[str, ...] = field(default=(), converter=tuple)
    prune: bool = field(default=False, validator=one_of(True, False))
    prior: bool = field(default=True, validator=one_of(True, False))
    n_passes: int = field(default=3, validator=at_least(1))
    rule: str = field(default="vote", validator=one_of(*RULES))
    near: float = field(default=0.3, validator=between(0.0, 1.0))
    n_rounds: int = field(default=20, validator=at_least(1))
    n_folds: int = field(default=3, validator=at_least(2))
    n_inferences: int = field(default=3, validator=at_least(1))
    n_neighbors: int = field(default=50, validator=at_least(1))
    strategy: str = field(default="cucb")
    alpha: float = field(default=0.9, validator=between(0.0, 1.0))
    ridge: float = field(default=1.0, validator=positive)
    pass_ridge: float = field(default=0.01, validator=positive)
    recall: float = field(default=0.0, validator=between(0.0, 1.0))
    cache: Path | None = field(default=None, converter=_path)

    def located(self, folder: Path) -> "Detection":
        """Let paths start at the folder of the experiment file."""
        moved = {name: getattr(self, name) for name in ("data", "labels", "model", "cache")}
        found = {name: folder / path for name, path in moved.items() if path is not None}
        if self.proposals not in ("selective-search", "windows"):
            found["proposals"] = str(folder / Path(self.proposals).expanduser())
        return evolve(self, **found)

    def check(self) -> Mapping[str, Any]:
        """Read all images and annotations, and refuse a model that does not fit."""
        unknown = [name for name in self.also if name not in self.classes]
        if unknown or len(self.also) == len(self.classes):
            raise SettingsError(f"also must list some of the classes, not all; got {list(self.also)!r}.")
        self._describer().check()
        self._proposer()
        return described_data(self._photos())

    def run(self, seed: int, say: Say) -> PipelineReport:
        """Run all stages; boxes and features are made once and kept in the cache."""
        cache = Cache(self.cache or default_folder())
        reduction = Reduction(n_components=self.n_components, geometry=self.geometry)
        described = describe(self._photos(), self._proposer(), self._describer(), reduction, cache, say)
        return self._experiment().report(described, seed, say)

    def _photos(self) -> Photos:
        if self.labels is None:
            return read_voc(self.data, self.classes, self.base, self.limit)
        within = self.data / self.labels.name
        labels = within if within.is_file() and not self.labels.is_file() else self.labels
        return read_image_folder(self.data, labels, self.classes, self.limit, self.skip_bad)

    def _proposer(self) -> Proposer | BoxFile:
        if self.proposals == "selective-search":
            return SelectiveSearch(n_boxes=self.n_boxes)
        if self.proposals == "windows":
            return GridWindows(n_boxes=self.n_boxes)
        if not Path(self.proposals).is_file():
            raise DataError(
                f'{self.proposals} is no file; proposals must be "selective-search", "windows" or an .npz file.'
            )
        return BoxFile(Path(self.proposals), n_boxes=self.n_boxes)

    def _describer(self) -> Describer:
        return GradientsAndColours() if self.model is None else NetworkFeatures(self.model, side=self.side)

    def _experiment(self) -> Comparison:
        inference = Inference(
            self.n_rounds,
            self.n_folds,
            self.n_inferences,
            self.n_neighbors,
            self.strategy,
            self.alpha,
            self.ridge,
            self.recall,
            self.prior,
        )
        passes = Passes(self.n_passes, self.near, self.pass_ridge, self.rule)
        return Comparison(self.methods, self.also, inference, passes, self.prune)


@frozen
class ShapesDetection(Pipeline):
    """The same on generated scenes, which need no data, no model and no OpenCV.

    Args:
        n_train: images to learn from.
        n_test: images to test on.
        methods: that are compared, the first one is what the run is for.
        n_rounds: rounds of each inference.
        n_inferences: inferences with other random draws, averaged.
        n_passes: 1 for the vote of one inference, more for narrowing passes.
    """

    n_train: int = field(default=90, validator=at_least(12))
    n_test: int = field(default=60, validator=at_least(6))
    methods: tuple[str, ...] = field(default=METHODS, converter=tuple, validator=known_methods)
    n_rounds: int = field(default=20, validator=at_least(1))
    n_inferences: int = field(default=1, validator=at_least(1))
    n_passes: int = field(default=3, validator=at_least(1))

    def check(self) -> Mapping[str, Any]:
        """Make the scenes, and say what they are."""
        return described_data(self._photos())

    def run(self, seed: int, say: Say) -> PipelineReport:
        """Run all stages; nothing is kept."""
        described = describe_once(self._photos(), WINDOWS, GradientsAndColours(), Reduction(n_components=64), say)
        inference = Inference(n_rounds=self.n_rounds, n_inferences=self.n_inferences)
        experiment = Comparison(self.methods, (), inference, Passes(self.n_passes), False)
        return experiment.report(described, seed, say)

    def _photos(self) -> Photos:
        return Scenes(self.n_train, self.n_test).photos()


def described_data(photos: Photos) -> dict[str, Any]:
    """Return what result.json says of the images."""
    return {
        "name": photos.name,
        "n_images": photos.n_images,
        "n_training_images": int(photos.train.sum()),
        "classes": list(photos.classes),
        "n_positive_images": {
            name: int((photos.labels[photos.train, column] == 1).sum()) for column, name in enumerate(photos.classes)
        },
        "sha256": photos.sha256(),
    }
