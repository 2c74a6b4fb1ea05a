"""Pictures for the run directory: boxes drawn on images, and precision-recall curves."""

import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import overlaps
from bliss_detection.detector.average_precision import CORRECT, Curve, detect, is_correct
from bliss_detection.features.described_boxes import Described
from bliss_detection.images.image_packages import image_package
from bliss_detection.inference.picks import Picks

# Of a picked box that is right, wrong, or of which that is not known.
COLOURS = {True: (40, 200, 60), False: (230, 40, 40), None: (60, 140, 250)}
MISSED_COLOUR = (250, 210, 30)
TILE, COLUMNS = 220, 6


def sheet(described: Described, name: str, picks: Picks, n_each: int = 12) -> bytes:
    """Draw a contact sheet of picked boxes as JPEG: rows of correct images first, then of wrong ones.

    The picked box is green where it overlaps a true object of the class by half or more, else red; blue where no true
    objects are known. True objects that no
    pick has found are yellow.

    Args:
        described: all boxes.
        name: of the class.
        picks: the box of each image.
        n_each: how many correct and how many wrong images are shown, spread evenly over all of them.

    Raises:
        MissingExtraError: without pillow.
    """
    right = {
        i: is_correct(described, name, i, pick) if described.photos.knows(i) else None for i, pick in picks.items()
    }
    rows: list[Any] = []
    for wanted in (True, False, None):
        own = _spread([i for i, correct in right.items() if correct is wanted], n_each)
        tiles = [_tile(described, name, i, picks[i], wanted) for i in own]
        rows += [tiles[start : start + COLUMNS] for start in range(0, len(tiles), COLUMNS)]
    return _joined(rows)


def _spread(items: Sequence[int], n: int) -> list[int]:
    return [items[place] for place in np.linspace(0, len(items) - 1, min(n, len(items))).astype(int)]


def _tile(described: Described, name: str, image: int, pick: int, correct: bool | None) -> Any:
    pillow, drawing = image_package("PIL.Image"), image_package("PIL.ImageDraw")
    picture = pillow.fromarray(described.photos.image(image))
    scale = TILE / max(picture.size)
    picture = picture.resize([max(round(side * scale), 1) for side in picture.size])
    draw = drawing.Draw(picture)
    truth, _ = described.photos.objects(image, name)
    box = described.boxes[pick : pick + 1]
    missed = truth[overlaps(truth, box)[:, 0] < CORRECT] if len(truth) else truth
    for one in missed:
        draw.rectangle((one * scale).tolist(), outline=MISSED_COLOUR, width=2)
    draw.rectangle((box[0] * scale).tolist(), outline=COLOURS[correct], width=3)
    return picture


def _joined(rows: Sequence[Sequence[Any]]) -> bytes:
    pillow = image_package("PIL.Image")
    canvas = pillow.new("RGB", (COLUMNS * TILE, max(len(rows), 1) * TILE), (30, 30, 30))
    for y, row in enumerate(rows):
        for x, tile in enumerate(row):
            canvas.paste(tile, (x * TILE + (TILE - tile.width) // 2, y * TILE + (TILE - tile.height) // 2))
    content = io.BytesIO()
    canvas.save(content, "JPEG", quality=85)
    return content.getvalue()


def curves_csv(curves: Mapping[str, Mapping[str, Curve]]) -> str:
    """Return a table of precision at each recall: method, class, recall, precision."""
    lines = ["method,class,recall,precision"]
    for method, by_class in curves.items():
        for name, curve in by_class.items():
            recall, precision = _corners(curve)
            lines += [f"{method},{name},{r:.4f},{p:.4f}" for r, p in zip(recall, precision, strict=True)]
    return "\n".join(lines) + "\n"


def _corners(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the places where recall grows: between them precision only falls."""
    grows = np.diff(curve.recall, prepend=0.0) > 0
    return curve.recall[grows], curve.precision[grows]


def curves_png(curves: Mapping[str, Mapping[str, Curve]]) -> bytes | None:
    """Draw the precision-recall curves, one panel for each class; None without matplotlib (the extra `report`)."""
    try:
        figure_of = import_module("matplotlib.figure").Figure
    except ImportError:
        return None
    names = list(next(iter(curves.values())))
    figure = figure_of(figsize=(4 * len(names), 3.6), layout="constrained")
    for axis, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for method, by_class in curves.items():
            axis.plot(*_corners(by_class[name]), label=method)
        axis.set(title=name, xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize="small")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=90)
    return content.getvalue()


def boxes_csv(described: Described, picks: Mapping[str, Picks]) -> str:
    """Return the picked boxes as a table: class, image, sides in pixels, and whether the box is correct."""
    lines = ["class,image,x0,y0,x1,y1,correct"]
    for name, own in picks.items():
        for i, pick in own.items():
            sides = ",".join(f"{side:.1f}" for side in described.boxes[pick])
            correct = int(is_correct(described, name, i, pick)) if described.photos.knows(i) else ""
            lines.append(f"{name},{_cell(described.photos.ids[i])},{sides},{correct}")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return a cell of a CSV table; quoted where it has to be."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def boxes_coco(described: Described, picks: Mapping[str, Picks], scores: Mapping[str, NDArray[np.floating]]) -> str:
    """Return boxes in the form of COCO: the picked box of each training image, and what the detector finds in others.

    Of each of these the best box is there, and any other one with a score above 0.

    A bbox is x, y, width and height in pixels; the score is that of the detector.
    """
    photos = described.photos
    annotations: list[dict[str, Any]] = []
    for number, name in enumerate(picks, start=1):
        found = detect(described, scores[name])
        chosen = [(i, described.boxes[pick], scores[name][pick]) for i, pick in picks[name].items()]
        # The detections of an image stand best first.
        best = np.unique(found.image, return_index=True)[1]
        kept = np.union1d(best, np.flatnonzero(found.scores > 0))
        chosen += [(int(found.image[at]), found.boxes[at], found.scores[at]) for at in kept]
        for i, box, score in chosen:
            x0, y0, x1, y1 = (round(float(side), 1) for side in box)
            size = [round(x1 - x0, 1), round(y1 - y0, 1)]
            own = {"image_id": i + 1, "category_id": number, "bbox": [x0, y0, *size], "area": size[0] * size[1]}
            annotations.append({"id": len(annotations) + 1, **own, "iscrowd": 0, "score": round(float(score), 6)})
    images = [
        {"id": i + 1, "file_name": str(one), "width": int(photos.sizes[i, 0]), "height": int(photos.sizes[i, 1])}
        for i, one in enumerate(photos.ids)
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(picks, start=1)]
    return json.dumps({"images": images, "categories": categories, "annotations": annotations}, indent=1) + "\n"
