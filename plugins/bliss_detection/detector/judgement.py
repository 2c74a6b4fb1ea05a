"""From picked boxes to measures: a detector is trained on them and tested; and what is drawn of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.detector.average_precision import Curve, corloc, detect, precision_recall
from bliss_detection.detector.mined_svm import Detector
from bliss_detection.detector.pictures import boxes_coco, boxes_csv, curves_csv, curves_png, sheet
from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.picks import Picks
from bliss_framework.plugin import MethodReport, MissingExtraError, needed

Scores = NDArray[np.float64]
_NOT_TESTED = (
    "No true boxes are known, so average precision was not computed; image_auc says how well the best box of an image "
    "tells whether it shows the class, of test images where there are any, else of those that were learnt from."
)


@frozen(eq=False)
class MethodBoxes:
    """What a method did.

    Attributes:
        name: of the method.
        boxes: for each class, the boxes that its detector learns from, by image.
        picks: for each class, the picked box of each image; None for the ceiling, which is told the true ones.
        seconds: until the boxes were picked.
    """

    name: str = field()
    boxes: Mapping[str, Mapping[int, Boxes]] = field()
    picks: Mapping[str, Picks] | None = field()
    seconds: float = field()


def method_report(
    described: Described, outcome: MethodBoxes, also: Sequence[str], seed: int
) -> tuple[MethodReport, dict[str, Curve], dict[str, Scores]]:
    """Train the detector on a method's boxes, and measure CorLoc and average precision.

    Where true boxes are not known, it is measured how well images are told apart, see `image_measures`.

    Args:
        described: all boxes.
        outcome: of the method.
        also: classes that are reported, but are not in the means.
        seed: of the detector.

    Returns:
        The measures, the curves by class, and the scores (N,) of all boxes by class.
    """
    photos, detector = described.photos, Detector()
    scores = {
        name: detector.scores(described, column, outcome.boxes[name], seed)
        for column, name in enumerate(photos.classes)
    }
    if not photos.can_be_tested:
        return MethodReport(outcome.name, image_measures(described, scores, also), outcome.seconds), {}, scores
    curves = {name: precision_recall(photos, name, detect(described, scores[name])) for name in photos.classes}
    corlocs = {name: 1.0 if outcome.picks is None else corloc(described, name, outcome.picks[name]) for name in curves}
    ap = {name: curve.average_2007() for name, curve in curves.items()}
    counted = [name for name in curves if name not in also]
    measures: dict[str, Any] = {
        "map": sum(ap[name] for name in counted) / len(counted),
        "map_all_points": sum(curves[name].average() for name in counted) / len(counted),
        "mean_corloc": sum(corlocs[name] for name in counted) / len(counted),
        "ap": ap,
        "corloc": corlocs,
    }
    return MethodReport(outcome.name, measures, outcome.seconds, outcome.picks is None), curves, scores


def image_measures(described: Described, scores: Mapping[str, Scores], also: Sequence[str]) -> dict[str, Any]:
    """Measure how well the best box of an image tells whether it shows a class, where no true boxes are known.

    Test images are ranked where there are some with and some without the class, else training images.
    """
    photos = described.photos
    found = {}
    for column, name in enumerate(photos.classes):
        best = np.array([scores[name][described.of(i)].max(initial=-np.inf) for i in range(photos.n_images)])
        labels = photos.labels[:, column]
        places = [of & (labels != 0) for of in (~photos.train, photos.train)]
        chosen = next(one for one in places if len(set(labels[one].tolist())) == 2)
        found[name] = float(roc_auc_score(labels[chosen] == 1, best[chosen]))
    counted = [found[name] for name in found if name not in also]
    return {"mean_image_auc": sum(counted) / len(counted), "image_auc": found}


def run_files(
    described: Described,
    picks: Mapping[str, Picks],
    curves: Mapping[str, Mapping[str, Curve]],
    scores: Mapping[str, Scores],
) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the files of a run by name, and sentences about those that could not be made."""
    files: dict[str, str | bytes] = {
        "boxes.csv": boxes_csv(described, picks),
        "boxes.json": boxes_coco(described, picks, scores),
    }
    notes = [] if described.photos.can_be_tested else [_NOT_TESTED]
    figure = curves_png(curves) if described.photos.can_be_tested else b""
    if described.photos.can_be_tested:
        files["curves.csv"] = curves_csv(curves)
    if figure is None:
        notes.append(_why_no_curves())
    elif figure:
        files["curves.png"] = figure
    try:
        files |= {f"pictures/{name}.jpg": sheet(described, name, own) for name, own in picks.items()}
    except MissingExtraError as error:
        notes.append(f"No boxes were drawn. {error}")
    return files, notes


def _why_no_curves() -> str:
    try:
        needed("matplotlib", "report", "No curves were drawn: they need")
    except MissingExtraError as error:
        return str(error)
    return "No curves were drawn."
