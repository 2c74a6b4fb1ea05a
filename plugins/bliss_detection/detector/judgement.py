"""From picked boxes to measures: a detector is trained on them and tested; and what is drawn of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.detector.average_precision import Curve, corloc, detect, precision_recall
from bliss_detection.detector.mined_svm import Detector
from bliss_detection.detector.pictures import boxes_csv, curves_csv, curves_png, sheet
from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.picks import Picks
from bliss_framework.plugin import MethodReport, MissingExtraError, needed


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
) -> tuple[MethodReport, dict[str, Curve]]:
    """Train the detector on a method's boxes, and measure CorLoc and average precision.

    Args:
        described: all boxes.
        outcome: of the method.
        also: classes that are reported, but are not in the means.
        seed: of the detector.
    """
    photos, detector = described.photos, Detector()
    curves = {}
    for column, name in enumerate(photos.classes):
        scores = detector.scores(described, column, outcome.boxes[name], seed)
        curves[name] = precision_recall(photos, name, detect(described, scores))
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
    return MethodReport(outcome.name, measures, outcome.seconds, outcome.picks is None), curves


def run_files(
    described: Described, picks: Mapping[str, Picks], curves: Mapping[str, Mapping[str, Curve]]
) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the files of a run by name, and sentences about those that could not be made."""
    files: dict[str, str | bytes] = {"boxes.csv": boxes_csv(described, picks), "curves.csv": curves_csv(curves)}
    notes = []
    figure = curves_png(curves)
    if figure is None:
        notes.append(_why_no_curves())
    else:
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
