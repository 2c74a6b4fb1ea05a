"""Small files that claim to be large, and damaged ones, are refused by name before they take memory."""

import gzip
import tracemalloc

import numpy as np
import pytest

from bliss_detection.boxes.proposals import BoxFile
from bliss_detection.features.array_cache import Cache
from bliss_detection.features.gradients_and_colours import MOST_PIXELS, GradientsAndColours
from bliss_detection.images.annotations import read_annotation
from bliss_detection.images.image_files import read_image
from bliss_detection.images.voc_folder import read_voc
from bliss_framework import DataError
from bliss_framework.kernel.bags import Bags
from bliss_llp.datasets.labelled_npz import LabelledNpzReader
from bliss_multiclass_mil.datasets.idx import read_idx
from bliss_multiclass_mil.regime.weak_label_sets import LabelSetForm, check_label_sets
from bliss_readers.andrews_svm import AndrewsSvmReader
from bliss_readers.arff.arff_reader import ArffReader
from bliss_readers.mill import MillReader
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.parquet_reader import ParquetReader

CLAIM = "says that it holds"


@pytest.fixture
def refused(tmp_path):
    """A function that reads a file, which must be refused in a sentence that names it, with less than 40 MB."""

    def read(reader, name, content=None, why=CLAIM, **options):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        tracemalloc.start()
        with pytest.raises(DataError) as caught:
            reader(path, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert name in str(caught.value)
        assert why in str(caught.value)
        assert peak < 40_000_000

    return read


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 40, 3), (3, 1, 3), (2, 3, 3)])
def test_images_of_single_pixels_have_no_gradient(shape):
    """An image so small that there is nothing to compare has gradients of 0 along that side, and colours."""
    boxes = np.array([[0, 0, shape[1], shape[0]]], dtype=np.float32)
    described = GradientsAndColours().blocks(np.full(shape, 255, dtype=np.uint8), boxes)
    assert all(np.isfinite(values).all() for values in described.values())
    assert described["box"].max() == pytest.approx(1.0)


def test_indices_beyond_all_columns(refused):
    """One index of two thousand million makes vectors of 16 GB; a dense matrix of a million columns 24 MB a row."""
    svm = "".join(f"i{i}:b{i // 2}:{i // 2 % 2} 1:{i} {{}}:1\n" for i in range(24))
    refused(AndrewsSvmReader().read, "a.svm", svm.replace("{}", "2000000000"))
    refused(AndrewsSvmReader().read, "a.svm", svm.replace("{}", "2000000"), dense=True)
    mill = "".join(f"{i},{i // 2},{i // 2 % 2},1:{i},{{}}:1\n" for i in range(24))
    refused(MillReader().read, "a.data", mill.replace("{}", "2000000000"))
    refused(MillReader().read, "a.data", mill.replace("{}", "2000000"), dense=True)


@pytest.mark.parametrize("n_columns", [2**31 - 2, 2**60])
def test_a_matrix_of_more_columns_than_numbers(refused, tmp_path, n_columns):
    """A CSR matrix of 24 numbers says how many columns it has."""
    parts = {"data": np.ones(24), "indices": np.zeros(24, np.int32), "indptr": np.arange(25, dtype=np.int32)}
    own = {"format": np.array("csr"), "shape": np.array([24, n_columns]), "bag": np.repeat(np.arange(12), 2)}
    np.savez(tmp_path / "a.npz", **parts, **own, y=np.arange(12) % 2)
    refused(NpzReader().read, "a.npz")


def test_archives_of_zeros(refused, tmp_path):
    """What is compressed a thousand times is refused by every reader of archives."""
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((300_000, 1000), dtype=np.uint8), y=np.zeros(300_000, np.int8))
    refused(NpzReader().read, "a.npz")
    refused(LabelledNpzReader().read, "a.npz")
    refused(lambda path: BoxFile(path).boxes_of("X", (8, 8)), "a.npz")


def test_a_gzip_file_of_zeros(refused):
    """An IDX file says in its first bytes how many images there are; no more of it is unpacked."""
    head = bytes([0, 0, 8, 3]) + (400_000).to_bytes(4, "big") + (28).to_bytes(4, "big") * 2
    refused(read_idx, "a.gz", gzip.compress(head + bytes(1000)))
    refused(read_idx, "a", bytes([0, 0, 8, 255]) + bytes(1020), why="255 dimensions")


def test_long_cells(refused):
    """In an array of text every cell is as long as the longest."""
    rows = "".join(f"b{i},{i % 2},{i}\n" for i in range(9000))
    refused(CsvReader().read, "a.csv", f"bag,label,a\n{'z' * 100_000},1,0\n{rows}")


def test_sparse_lines_of_wide_rows(refused):
    """A line {} of ARFF is as many cells as there are attributes."""
    names = "".join(f"@attribute f{i} numeric\n" for i in range(9000))
    head = f"@relation t\n@attribute bag string\n{names}@attribute class {{0,1}}\n@data\n"
    refused(ArffReader().read, "a.arff", head + "{0 b}\n" * 9000)


class TestParquet:
    pa = pytest.importorskip("pyarrow", reason="needs the extra files")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra files")

    def test_many_equal_rows(self, refused, tmp_path):
        """A run length makes millions of rows of a few bytes."""
        n = 3_000_000
        columns = {name: self.pa.array(np.zeros(n, dtype=np.int8)) for name in ("bag", "label", "a", "b")}
        self.pq.write_table(self.pa.table(columns), tmp_path / "a.parquet", compression="zstd")
        refused(ParquetReader().read, "a.parquet")

    def test_a_long_word_in_every_row(self, refused, tmp_path):
        """A word that stands in the file once would be written out in every row."""
        words = self.pa.DictionaryArray.from_arrays(
            self.pa.array(np.zeros(20_000, dtype=np.int32)), self.pa.array(["x" * 100_000])
        )
        columns = {"bag": words, "label": np.zeros(20_000), "a": np.zeros(20_000)}
        self.pq.write_table(self.pa.table(columns), tmp_path / "a.parquet", compression="zstd")
        refused(ParquetReader().read, "a.parquet")


class TestImages:
    pillow = pytest.importorskip("PIL.Image", reason="needs the extra detection")

    def test_too_many_pixels(self, refused, tmp_path):
        """An image of 144 million pixels is refused before it is decoded, and not called a bug."""
        self.pillow.new("1", (12_000, 12_000)).save(tmp_path / "a.png")
        refused(read_image, "a.png", why="has 12000 x 12000 pixels")
        self.pillow.new("1", (20_000, 20_000)).save(tmp_path / "b.png")
        refused(read_image, "b.png", why="b.png")

    def test_other_formats_are_not_opened(self, refused):
        """PostScript would start another program."""
        refused(
            read_image, "a.jpg", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", why="cannot be read as an image"
        )

    def test_images_that_are_left_out(self, tmp_path):
        """A folder with one bomb among its images is read, and the note names the bomb."""
        for name in ("ImageSets/Main", "JPEGImages", "Annotations"):
            (tmp_path / name).mkdir(parents=True)
        box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
        for i in range(6):
            size = (12_000, 12_000) if i == 5 else (24, 16)
            self.pillow.new("1" if i == 5 else "RGB", size).save(tmp_path / "JPEGImages" / f"i{i}.png")
            xml = f"<annotation><object><name>{'dog' if i == 1 else 'cat'}</name>{box}</object></annotation>"
            (tmp_path / "Annotations" / f"i{i}.xml").write_text(xml)
        (tmp_path / "ImageSets/Main/trainval.txt").write_text("\n".join(f"i{i}" for i in range(6)))
        (tmp_path / "ImageSets/Main/test.txt").write_text(f"{'x' * 5000}\n")
        photos = read_voc(tmp_path, ["cat"])
        assert photos.ids == ("i0", "i1", "i2", "i3", "i4")
        assert photos.notes[0].startswith("2 image(s) left out: ")
        assert "12000 x 12000 pixels" in photos.notes[0]

    def test_lists_that_are_no_text(self, tmp_path):
        """A list of images that is no UTF-8 is named."""
        (tmp_path / "ImageSets" / "Main").mkdir(parents=True)
        (tmp_path / "ImageSets" / "Main" / "trainval.txt").write_bytes(b"i1\xff\n")
        with pytest.raises(DataError, match=r"trainval\.txt is not UTF-8 text"):
            read_voc(tmp_path, ["cat"])

    def test_large_images_are_described_at_a_smaller_size(self):
        """A box of an image that is averaged first is described as in the image itself, up to rounding."""
        rng = np.random.default_rng(0)
        blocks = rng.integers(0, 255, (12, 16, 3)).astype(np.uint8)
        small, large = (blocks.repeat(k, axis=0).repeat(k, axis=1) for k in (100, 160))
        assert small.shape[0] * small.shape[1] <= MOST_PIXELS < large.shape[0] * large.shape[1]
        boxes = np.array([[0.1, 0.2, 0.7, 0.9]] * 2, dtype=np.float32)
        found = []
        for image in (small, large):
            height, width = image.shape[:2]
            found.append(GradientsAndColours().blocks(image, boxes * [width, height, width, height]))
        for name in ("box", "ring"):
            assert np.allclose(found[0][name], found[1][name], atol=0.02), name


@pytest.mark.parametrize(
    "content", [b"", b"<a>" * 100_000, b'<?xml version="1.0" encoding="no-such"?><a/>', b"\0\xff", b"<a></b>"]
)
def test_annotations_that_are_no_xml(tmp_path, content):
    """Each is one sentence that names the file."""
    (tmp_path / "a.xml").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.xml"):
        read_annotation(tmp_path / "a.xml")


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'{"format": 1, "inputs": {}, "arrays": 3}', b'{"arrays": {"a": [', b"\xff"]
)
def test_a_cache_that_is_damaged_is_made_again(tmp_path, content):
    """A manifest of any other shape costs no more than the time of what it kept."""
    cache, made = Cache(tmp_path), []

    def make(path):
        made.append(path)
        np.save(path / "a.npy", np.arange(3))

    cache.arrays("x", {}, make)
    (entry,) = tmp_path.iterdir()
    (entry / "manifest.json").write_bytes(content)
    assert cache.arrays("x", {}, make)["a"].tolist() == [0, 1, 2]
    (entry / "a.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': ((")
    assert cache.arrays("x", {}, make)["a"].tolist() == [0, 1, 2]
    assert len(made) == 3


def test_label_sets_that_are_ids():
    """A label for every bag would make a table of instances by labels that fills the memory."""
    names = np.empty(9000, dtype=object)
    names[:] = [frozenset({f"a{i}", f"b{i}"}) for i in range(9000)]
    with pytest.raises(DataError, match=r"18000 labels, .* of 9000 instances.*Is the column of labels one of ids"):
        check_label_sets(names, Bags.from_ids(np.arange(9000)), LabelSetForm())
