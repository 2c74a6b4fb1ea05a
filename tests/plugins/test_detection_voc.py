"""VOC folders, annotations and image files with the oddities that are met in the wild."""

from types import SimpleNamespace

import numpy as np
import pytest

from bliss_detection.boxes.proposals import BoxFile
from bliss_detection.features.network_features import NetworkFeatures
from bliss_detection.images.annotations import read_annotation
from bliss_detection.images.image_files import read_image
from bliss_detection.images.voc_folder import read_voc
from bliss_framework import DataError

BOX = "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>"


def xml(*objects):
    """An annotation of a 32 x 20 image; an object is a name, its sides, and whether it is difficult."""
    inner = "".join(
        f"<object><name>{name}</name><difficult>{int(hard)}</difficult>{BOX.format(*sides)}</object>"
        for name, sides, hard in objects
    )
    return f"<annotation><size><width>32</width><height>20</height></size>{inner}</annotation>"


@pytest.fixture
def annotated(tmp_path):
    """A function that writes an annotation and reads it."""

    def read(*objects, **options):
        path = tmp_path / "a.xml"
        path.write_text(xml(*objects))
        return read_annotation(path, **options)

    return read


class TestAnnotations:
    def test_a_box_from_1_on_spans_the_image(self, annotated):
        """1, 1, 32, 20 is all of a 32 x 20 image."""
        found = annotated(("cat", (1, 1, 32, 20), False))
        assert (found.names, found.boxes.tolist(), found.notes) == (("cat",), [[0, 0, 32, 20]], ())

    def test_k54_boxes_from_0_on(self, shared):
        """K54: with base 1 one note names the file and the box starts at 0; with base 0 boxes are as they are."""
        path = shared / "cases" / "files" / "voc_zero_based.xml"
        found = read_annotation(path)
        assert found.boxes[:, :2].tolist() == [[0, 0], [0, 3]]
        assert found.boxes.dtype == np.float32
        assert len(found.notes) == 1
        assert str(path) in found.notes[0]
        assert "base = 0" in found.notes[0]
        plain = read_annotation(path, base=0)
        assert plain.boxes.tolist() == [[0, 0, 31, 19], [0, 4, 10, 12]]
        assert plain.notes == ()

    def test_k56_no_object_and_only_difficult_ones(self, shared):
        """K56: no object gives no box, (0, 4); a difficult object is marked."""
        files = shared / "cases" / "files"
        nothing = read_annotation(files / "voc_no_object.xml")
        assert (nothing.names, nothing.boxes.shape) == ((), (0, 4))
        assert read_annotation(files / "voc_only_difficult.xml").difficult.tolist() == [True]

    def test_floats_and_swapped_sides(self, annotated):
        """Sides may be fractions; swapped ones are swapped back, with a note."""
        found = annotated(("cat", (20.5, 3, 4.5, 9), False))
        assert found.boxes.tolist() == [[3.5, 2, 20.5, 9]]
        assert "swapped" in found.notes[0]

    def test_boxes_beyond_the_image(self, annotated, tmp_path):
        """A box is cut off at the edges; one that lies outside is dropped; both are said."""
        found = annotated(("cat", (5, 5, 90, 15), False), ("dog", (40, 5, 60, 15), False))
        fitted = found.fitted((32, 20), tmp_path / "a.xml")
        assert (fitted.names, fitted.boxes.tolist()) == (("cat",), [[4, 4, 32, 15]])
        assert any("cut off" in note for note in fitted.notes)
        assert any("dropped" in note for note in fitted.notes)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (xml(("cat", ("x", 1, 2, 3), False)), ["xmin", "'x'"]),
            (xml(("cat", ("nan", 1, 2, 3), False)), ["xmin", "nan"]),
            (xml(("", (1, 1, 2, 3), False)), ["name"]),
            ("<annotation><object><name>cat</name></object></annotation>", ["bndbox"]),
            ("<annotation>", ["XML"]),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path, text, words):
        """The error names the file and what is wrong in it."""
        path = tmp_path / "broken.xml"
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            read_annotation(path)
        assert all(word in str(caught.value) for word in [str(path), *words])

    def test_a_missing_annotation(self, tmp_path):
        """The error names the file."""
        with pytest.raises(DataError, match=r"gone\.xml is missing"):
            read_annotation(tmp_path / "gone.xml")


class TestBoxFiles:
    def test_boxes_from_elsewhere(self, tmp_path):
        """The boxes of an image are cut off at its edges, and the whole image comes first."""
        np.savez(tmp_path / "boxes.npz", one=np.array([[5.0, 5.0, 60.0, 18.0]]))
        found = BoxFile(tmp_path / "boxes.npz", smallest=2.0).boxes_of("one", (32, 20))
        assert found.tolist() == [[0, 0, 32, 20], [5, 5, 32, 18]]

    def test_what_is_wrong_with_them(self, tmp_path):
        """A missing image, another shape and a file that is none are refused with the file's name."""
        np.savez(tmp_path / "boxes.npz", one=np.zeros((2, 3)))
        file = BoxFile(tmp_path / "boxes.npz")
        with pytest.raises(DataError, match=r"boxes\.npz has no boxes of the image two"):
            file.boxes_of("two", (32, 20))
        with pytest.raises(DataError, match=r"one have shape \(2, 3\)"):
            file.boxes_of("one", (32, 20))
        (tmp_path / "text.npz").write_text("no archive")
        with pytest.raises(DataError, match=r"text\.npz is damaged or no .npz archive"):
            BoxFile(tmp_path / "text.npz").boxes_of("one", (32, 20))


try:
    from PIL import Image as pillow
except ImportError:
    pillow = None
needs_pillow = pytest.mark.skipif(pillow is None, reason="pillow is not installed; it is part of the extra detection")


@needs_pillow
@pytest.mark.parametrize("name", ["gray_24x16.jpg", "cmyk_24x16.jpg", "rgba_24x16.png", "palette_24x16.png"])
def test_k57_every_mode_becomes_rgb(shared, name):
    """K57: grey, CMYK, RGBA and palette images are uint8 (16, 24, 3)."""
    found = read_image(shared / "cases" / "files" / name)
    assert (found.shape, found.dtype) == ((16, 24, 3), np.uint8)


@needs_pillow
def test_k57_a_truncated_image_is_named(shared):
    """K57: a file that was cut off is an error that names it."""
    with pytest.raises(DataError, match=r"truncated_24x16\.jpg cannot be read"):
        read_image(shared / "cases" / "files" / "truncated_24x16.jpg")


@pytest.fixture
def voc(tmp_path):
    """A function that writes a VOC folder: six training and two test images, cats in the even ones."""
    root = tmp_path / "set"

    def write(name, text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    for number in range(8):
        cat = [("cat", (3, 3, 12, 12), False)] if number % 2 == 0 else [("dog", (3, 3, 12, 12), False)]
        write(f"Annotations/{number}.xml", xml(*cat))
        path = root / "JPEGImages" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        pillow.new("RGB", (32, 20), (number, 0, 0)).save(path)
    write("ImageSets/Main/trainval.txt", "".join(f"{n}\n" for n in range(6)))
    write("ImageSets/Main/test.txt", "6\n7\n")
    return root


def turn(voc, orientation, white=None):
    """Give image 0 an EXIF orientation, and a white rectangle in the frame in which it is stored."""
    exif = pillow.Exif()
    exif[0x0112] = orientation
    image = pillow.new("RGB", (32, 20))
    if white is not None:
        image.paste((255, 255, 255), white)
    (voc / "JPEGImages" / "0.jpg").unlink()
    image.save(voc / "JPEGImages" / "0.png", exif=exif)


@needs_pillow
class TestVocFolders:
    def test_a_sound_folder(self, voc):
        """Images, labels, parts and true boxes are read."""
        photos = read_voc(voc, ["cat"])
        assert photos.ids == tuple("01234567")
        assert photos.labels[:, 0].tolist() == [1, -1] * 4
        assert photos.train.tolist() == [True] * 6 + [False] * 2
        assert photos.sizes[0].tolist() == [32, 20]
        assert photos.objects(0, "cat")[0].tolist() == [[2, 2, 12, 12]]
        assert photos.notes == ()

    def test_images_that_cannot_be_used_are_left_out_and_counted(self, voc):
        """A missing image, a missing annotation and a truncated image cost only themselves."""
        (voc / "JPEGImages" / "0.jpg").unlink()
        (voc / "Annotations" / "1.xml").unlink()
        image = voc / "JPEGImages" / "7.jpg"
        image.write_bytes(image.read_bytes()[:-40])
        photos = read_voc(voc, ["cat"])
        assert photos.ids == tuple("23456")
        (note,) = photos.notes
        assert note.startswith("3 image(s) left out")
        assert all(name in note for name in ("0.jpg", "1.xml", "7.jpg"))

    def test_lists_come_before_annotations(self, voc):
        """Where the list of a class disagrees with the XML it is taken, and the disagreements are counted."""
        (voc / "ImageSets/Main/cat_trainval.txt").write_text("0 1\n1  1\n2 -1\n3 0\n")
        photos = read_voc(voc, ["cat"])
        assert photos.labels[:6, 0].tolist() == [1, 1, -1, 0, 1, -1]
        assert photos.notes[0].startswith("3 label(s) of ImageSets disagree")

    def test_difficult_objects_say_nothing(self, voc):
        """An image whose only cat is difficult is neither positive nor negative."""
        (voc / "Annotations" / "1.xml").write_text(xml(("cat", (3, 3, 12, 12), True)))
        assert read_voc(voc, ["cat"]).labels[1, 0] == 0

    def test_boxes_lie_in_the_rotated_frame(self, voc):
        """An image with an EXIF orientation is turned upright, and its size is that of the turned one."""
        turn(voc, 6)
        photos = read_voc(voc, ["cat"])
        assert photos.sizes[0].tolist() == [20, 32]
        assert photos.image(0).shape == (32, 20, 3)

    @pytest.mark.parametrize("orientation", [5, 6, 7, 8])
    def test_boxes_turn_with_an_image_of_the_stated_size(self, voc, orientation):
        """Where the annotation has the size of the image before it is turned, its box still spans what it spanned."""
        turn(voc, orientation, white=(2, 2, 12, 7))
        (voc / "Annotations" / "0.xml").write_text(xml(("cat", (3, 3, 12, 7), False)))
        photos = read_voc(voc, ["cat"])
        rows, columns = np.nonzero(photos.image(0)[:, :, 0] > 128)
        spanned = np.array([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]])
        assert photos.objects(0, "cat")[0].tolist() == spanned.tolist()
        assert len(photos.notes) == 1
        assert photos.notes[0].startswith("1 annotation(s) mended")
        assert "turned upright with it" in photos.notes[0]

    def test_boxes_of_the_turned_image_stay(self, voc):
        """Where the annotation has the size of the upright image, nothing is turned and nothing is said."""
        turn(voc, 6)
        upright = xml(("cat", (3, 3, 12, 7), False)).replace("32", "20!").replace("<height>20", "<height>32")
        (voc / "Annotations" / "0.xml").write_text(upright.replace("20!", "20"))
        photos = read_voc(voc, ["cat"])
        assert photos.objects(0, "cat")[0].tolist() == [[2, 2, 12, 7]]
        assert photos.notes == ()

    def test_stated_sizes_that_are_wrong_are_counted(self, voc):
        """Annotations of images in another size are said once with their number; a size of 0 says nothing."""
        for number, size in enumerate([(64, 40), (20, 32), (33, 20), (16, 10), (0, 0)]):
            path = voc / "Annotations" / f"{number}.xml"
            width, height = size
            text = path.read_text().replace("<width>32", f"<width>{width}").replace("<height>20", f"<height>{height}")
            path.write_text(text)
        photos = read_voc(voc, ["cat"])
        assert photos.objects(0, "cat")[0].tolist() == [[2, 2, 12, 12]]
        (note,) = photos.notes
        assert note.startswith("4 annotation(s) state another size than the image has, and boxes were taken as pixels")
        assert "0.xml says 64 x 40, and the image is 32 x 20." in note
        assert note.endswith("(and 1 more)")

    def test_lists_with_a_byte_order_mark(self, voc):
        """The mark that editors of Windows write is no part of the first image's name, in neither list."""
        for name, text in (("trainval", "".join(f"{n}\n" for n in range(6))), ("cat_trainval", "0 1\n1 -1\n")):
            (voc / f"ImageSets/Main/{name}.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
        photos = read_voc(voc, ["cat"])
        assert (photos.ids, photos.notes) == (tuple("01234567"), ())
        (voc / "ImageSets/Main/test.txt").write_bytes("größe\n".encode("latin-1"))
        with pytest.raises(DataError, match=r"test\.txt is not UTF-8 text"):
            read_voc(voc, ["cat"])

    def test_classes_that_are_not_there(self, voc):
        """A class without two positive images is refused with the classes that there are."""
        with pytest.raises(DataError, match=r'"cow" needs two training images.*cat, dog'):
            read_voc(voc, ["cow"])

    def test_a_folder_in_another_layout(self, tmp_path):
        """What is missing is said."""
        with pytest.raises(DataError, match="ImageSets/Main"):
            read_voc(tmp_path, ["cat"])


def test_a_network_with_other_inputs_is_refused(tmp_path):
    """A model file that is missing or none is named."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; it is part of the extra detection")
    with pytest.raises(DataError, match=r"gone\.onnx is missing"):
        NetworkFeatures(tmp_path / "gone.onnx").check()
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(DataError, match=r"text\.onnx is no ONNX model"):
        NetworkFeatures(tmp_path / "text.onnx").check()


class Session:
    """Stands for a model: the shapes of its inputs and outputs."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs

    def get_inputs(self):
        return [SimpleNamespace(name=f"in{i}", shape=shape) for i, shape in enumerate(self.inputs)]

    def get_outputs(self):
        return [SimpleNamespace(name=f"out{i}", shape=shape) for i, shape in enumerate(self.outputs)]


MAPS = [["n", 8, "h", "w"], ["n", 16, "h", "w"]]


@pytest.mark.parametrize(
    ("inputs", "outputs", "words"),
    [
        ([["n", 1, "h", "w"]], MAPS, "allowed is one input n x 3 x height x width"),
        ([["n", 3, 224, 224]], MAPS, "224"),
        ([["n", 3, "h", "w"], ["n", 3, "h", "w"]], MAPS, "allowed is one input"),
        ([["n", 10]], MAPS, "allowed is one input"),
        ([["n", 3, "h", "w"]], [["n", 1000]], "must put out feature maps"),
    ],
)
def test_what_a_network_must_take_and_give(inputs, outputs, words):
    """One input of any height and width and feature maps are allowed; anything else is refused with the file's name."""
    network = NetworkFeatures("model.onnx")
    network.__dict__["_session"] = Session(inputs, outputs)
    with pytest.raises(DataError, match=rf"model\.onnx .*{words}"):
        network.check()
    network.__dict__["_session"] = Session([["n", 3, "h", "w"]], MAPS)
    network.check()


@needs_pillow
def test_features_of_the_whole_image_are_means_of_its_maps(shared):
    """With the shared network: the whole image has the mean of the coarse map, its quarters those of the fine one."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; it is part of the extra detection")
    network = NetworkFeatures(shared / "data/detection/_models/efficientnet_lite0_c4_c5.onnx", side=128)
    network.check()
    image = np.random.default_rng(0).integers(0, 256, (64, 96, 3)).astype(np.uint8)
    found = network.blocks(image, np.array([[0.0, 0.0, 96.0, 64.0], [10.0, 10.0, 40.0, 40.0]]))
    fine, coarse = network._maps(image)
    assert coarse.shape == (1280, 3, 4)
    assert found["box"][0] == pytest.approx(coarse.mean(axis=(1, 2)), abs=1e-5)
    assert found["grid"].shape == (2, 4 * 112)
    assert found["grid"][0, :112] == pytest.approx(fine[:, :3, :4].mean(axis=(1, 2)), abs=1e-5)
