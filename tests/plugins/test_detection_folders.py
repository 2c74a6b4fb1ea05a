"""Folders of images with a table or a COCO file of labels, and boxes in the form of COCO."""

import json

import numpy as np
import pytest

from bliss_detection.images.image_folder import read_image_folder
from bliss_detection.pipeline import Detection
from bliss_framework import DataError

CLASSES = ("cat", "dog")
COLOURS = {"": None, "cat": (255, 40, 40), "dog": (40, 40, 255)}
SHOWN = ["", "cat", "dog"] * 3


@pytest.fixture
def images(tmp_path):
    """Write nine images, the last three to test on, a table and a COCO file; return the folder that holds all."""
    pillow = pytest.importorskip("PIL.Image", reason="needs the extra detection")
    rng = np.random.default_rng(0)
    (tmp_path / "images").mkdir()
    lines, coco = ["image,label,part"], {"images": [], "annotations": [], "categories": []}
    coco["categories"] = [{"id": 7, "name": "cat"}, {"id": 8, "name": "dog"}]
    for number, name in enumerate(SHOWN):
        pixels = rng.integers(0, 60, (40, 60, 3)).astype(np.uint8)
        if name:
            pixels[10:30, 20:45] = COLOURS[name]
        pillow.fromarray(pixels).save(tmp_path / "images" / f"i, {number}.png")
        part = "train" if number < 6 else "test"
        lines.append(f'"i, {number}",{name},{part}')
        coco["images"].append({"id": number, "file_name": f"i, {number}.png", "split": part})
        if name:
            place = {"image_id": number, "category_id": 7 if name == "cat" else 8, "bbox": [20, 10, 25, 20]}
            coco["annotations"].append(place)
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    return tmp_path


def read(place, labels, **options):
    """Read the folder with one of the files of labels."""
    return read_image_folder(place / "images", place / labels, CLASSES, **options)


class TestReading:
    def test_a_table_and_a_coco_file_say_the_same(self, images):
        """Labels, parts and sizes are those that were written; only COCO knows where objects are."""
        table, coco = read(images, "labels.csv"), read(images, "coco.json")
        wanted = [[1 if shown == name else -1 for name in CLASSES] for shown in SHOWN]
        for one in (table, coco):
            assert one.labels.tolist() == wanted
            assert one.train.tolist() == [True] * 6 + [False] * 3
            assert one.sizes.tolist() == [[60, 40]] * 9
            assert one.ids[0] == "i, 0.png"
        assert (table.can_be_tested, coco.can_be_tested) == (False, True)
        assert coco.objects(4, "cat")[0].tolist() == [[20, 10, 45, 30]]

    def test_sets_and_columns_of_classes(self, images):
        """Names between bars are several classes; columns of 0 and 1 are, too, and an empty cell says nothing."""
        rows = ["cat|dog", "cat", "dog", "", "dog;cat", "cat"] + [""] * 3
        (images / "labels.csv").write_text(
            "file;classes\n" + "".join(f'"i, {i}.png";"{c}"\n' for i, c in enumerate(rows))
        )
        assert read(images, "labels.csv").labels[:5].tolist() == [[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1]]
        cells = ["1,1", "1,0", "0,1", ",1", "0,0"] + ["0,0"] * 4
        (images / "labels.csv").write_text("file,cat,dog\n" + "".join(f'"i, {i}",{c}\n' for i, c in enumerate(cells)))
        assert read(images, "labels.csv").labels[:5].tolist() == [[1, 1], [1, -1], [-1, 1], [0, 1], [-1, -1]]

    def test_what_does_not_fit_is_named_or_left_out(self, images):
        """A damaged image, one without a line and a line without an image are counted; skip_bad leaves them out."""
        (images / "images" / "i, 8.png").write_bytes(b"\x89PNG")
        (images / "images" / "more.png").write_bytes((images / "images" / "i, 0.png").read_bytes())
        with (images / "labels.csv").open("a") as file:
            file.write("\n../../secret,cat,train\n")
        words = r"3 image\(s\) cannot be used, so none was\..*i, 8\.png cannot be read.*secret.*more\.png has no line"
        with pytest.raises(DataError, match=words):
            read(images, "labels.csv")
        photos = read(images, "labels.csv", skip_bad=True)
        assert photos.n_images == 8
        assert photos.notes[0].startswith("3 image(s) left out")

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("labels.csv", "image,what\ni,cat\n", 'has no column "label"'),
            ("labels.csv", "image,label\n", "has no lines"),
            ("labels.csv", "image,label\na,b,c\n", "line 2: 3 cells, but there are 2 columns"),
            ("labels.csv", "image,cat,dog\na,1,x\n", "line 2, column \"dog\": 'x'; allowed"),
            ("labels.csv", "image,label,part\na,cat,x\n", "column \"part\": 'x'; allowed"),
            ("labels.csv", "image,label\na,cat\na,cat\n", "speaks of the image 'a' twice"),
            ("coco.json", "{", "is no COCO file"),
            ("coco.json", '{"images": []}', "lacks 'categories'"),
            ("coco.json", "[" * 100000, "is no COCO file"),
        ],
    )
    def test_files_of_labels_that_are_wrong(self, images, name, text, words):
        """The message names the file and the place in it."""
        (images / name).write_text(text)
        with pytest.raises(DataError, match=words):
            read(images, name)

    def test_a_class_needs_images(self, images):
        """A class that no training image shows is refused with the counts."""
        with pytest.raises(DataError, match=r'"bird" needs two training images .* it has 0 and 6'):
            read_image_folder(images / "images", images / "labels.csv", ("bird",))


def detection(place, labels):
    """Return a short run of the pipeline."""
    given = {"proposals": "windows", "n_components": 8, "n_rounds": 1, "n_folds": 2, "n_inferences": 1, "n_passes": 1}
    given |= {"cache": place / "cache", "methods": ("bliss", "supervised")}
    return Detection(place / "images", CLASSES, labels=place / labels, **given).run(0, lambda stage: None)


class TestRunning:
    def test_boxes_come_without_any_true_box(self, images):
        """Each positive image has a box in both files; the ceiling is left out; images are told apart."""
        report = detection(images, "labels.csv")
        assert [one.name for one in report.methods] == ["bliss"]
        assert set(report.methods[0].measures) == {"mean_image_auc", "image_auc"}
        assert any("No true boxes are known" in note for note in report.notes)
        lines = report.files["boxes.csv"].splitlines()
        assert lines[0] == "class,image,x0,y0,x1,y1,correct"
        assert [line.split('"')[1] for line in lines[1:]] == ["i, 1.png", "i, 4.png", "i, 2.png", "i, 5.png"]
        assert all(line.endswith(",") for line in lines[1:])
        coco = json.loads(report.files["boxes.json"])
        assert [one["file_name"] for one in coco["images"]] == [f"i, {number}.png" for number in range(9)]
        picked = [(one["image_id"], one["category_id"]) for one in coco["annotations"] if one["image_id"] <= 6]
        assert picked == [(2, 1), (5, 1), (3, 2), (6, 2)]
        sides = [float(side) for side in lines[1].rsplit(",", 5)[1:5]]
        x, y, width, height = coco["annotations"][0]["bbox"]
        assert np.allclose([x, y, x + width, y + height], sides)
        assert {one["image_id"] for one in coco["annotations"]} >= {7, 8, 9}

    def test_true_boxes_of_coco_are_tested_on(self, images):
        """With bboxes there is average precision, and the ceiling that is told them."""
        report = detection(images, "coco.json")
        assert [one.name for one in report.methods] == ["bliss", "supervised"]
        assert "map" in report.methods[0].measures
        assert report.files["boxes.csv"].splitlines()[1][-2:] in (",0", ",1")
