"""The built-in readers: what they read, and what they say about files that they refuse."""

import csv
import gzip
import re
import sys
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import Bags, DataError, SettingsError, WeakDataset
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.runs.data.find import find_dataset
from bliss_readers.andrews_svm import AndrewsSvmReader
from bliss_readers.arff.arff_reader import ArffReader
from bliss_readers.bag_files.bag_files_reader import BagFilesReader
from bliss_readers.c45 import C45Reader
from bliss_readers.hooks import bliss_readers
from bliss_readers.mat.mat_reader import MatReader
from bliss_readers.mill import MillReader
from bliss_readers.npy.npy_reader import NpyReader
from bliss_readers.npz import npz_archive
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.excel_reader import ExcelReader
from bliss_readers.tables.parquet_reader import ParquetReader
from bliss_readers.zarr_store import ZarrReader

BAG = np.array([4, 4, -1])
X = np.array([[1.0, 0.0], [0.0, 2.5], [0.0, 0.0]])


@pytest.fixture
def npz(tmp_path):
    """Write an archive of the given arrays; None leaves out one of the usual ones."""

    def write(**arrays) -> Path:
        chosen = {"X": X, "bag": BAG, "y": np.array([1, 0]), **arrays}
        path = tmp_path / "toy.npz"
        np.savez(path, **{key: value for key, value in chosen.items() if value is not None})
        return path

    return write


@pytest.fixture
def table(tmp_path):
    """Write a text file."""

    def write(text: str, name: str = "toy.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


@pytest.fixture(params=["pyarrow", "csv"])
def both_ways(request, monkeypatch):
    """Read text tables with pyarrow where it is, and without it: both say the same."""
    if request.param == "csv":
        monkeypatch.setitem(sys.modules, "pyarrow.csv", None)


def csr_parts(matrix: sp.csr_matrix) -> dict[str, np.ndarray]:
    return {
        "X": None,
        "format": np.array("csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }


def read_csv(path: Path, **options) -> WeakDataset:
    return CsvReader().read(path, **options)


def refusal(path: Path, **options) -> str:
    """Return what the reader of this suffix says when it refuses the file."""
    reader = NpzReader() if path.suffix == ".npz" else CsvReader()
    with pytest.raises(DataError) as caught:
        reader.read(path, **options)
    return str(caught.value)


def test_all_readers_are_registered():
    """The plugin registers one component for each reader, under its name."""
    registered = {one.name: one.factory for one in bliss_readers()}
    assert registered == {
        "csv": CsvReader,
        "npz": NpzReader,
        "npy": NpyReader,
        "parquet": ParquetReader,
        "excel": ExcelReader,
        "zarr": ZarrReader,
        "arff": ArffReader,
        "c45": C45Reader,
        "mill": MillReader,
        "andrews-svm": AndrewsSvmReader,
        "bag-files": BagFilesReader,
        "mat": MatReader,
    }


class TestNpz:
    def test_dense_rows_come_back(self, npz):
        """Dense rows, ids, weak labels and names are as they were written."""
        names, inst_y = np.array(["f1", "f2"]), np.array([0, 1, 0])
        data = NpzReader().read(npz(X=X, feature_names=names, inst_y=inst_y))
        assert data.X.tolist() == X.tolist()
        assert (data.name, data.regime, data.feature_names) == ("toy", "mil", ("f1", "f2"))
        assert data.bags.tolist() == BAG.tolist()
        assert data.weak.tolist() == [1, 0]
        assert data.instance_labels.tolist() == [0, 1, 0]

    @pytest.mark.parametrize(
        ("stored", "read"),
        [("<f4", "<f4"), (">f4", "<f4"), ("<f8", "<f8"), (">f8", "<f8"), ("<f2", "<f4"), ("i1", "<f8"), ("?", "<f8")],
    )
    def test_rows_have_the_precision_of_the_file(self, npz, stored, read):
        """Floats stay as precise as they are, float16 becomes float32, integers and truth become float64."""
        data = NpzReader().read(npz(X=X.astype(stored)))
        assert data.X.dtype == np.dtype(read)
        assert data.X.dtype.isnative
        assert data.X.tolist() == X.astype(stored).astype(float).tolist()

    def test_large_rows_that_are_not_compressed_are_mapped(self, npz, monkeypatch):
        """They are read where they are used; compressed ones are read at once, and both are the same data."""
        small = NpzReader().read(npz())
        assert not isinstance(small.X, np.memmap)
        monkeypatch.setattr(npz_archive, "FEWEST_MAPPED", X.nbytes)
        mapped = NpzReader().read(npz())
        assert isinstance(mapped.X, np.memmap)
        assert not mapped.X.flags.writeable
        assert mapped.sha256() == small.sha256()
        assert mapped.X.tolist() == X.tolist()
        path = npz()
        with np.load(path) as arrays:
            np.savez_compressed(path, **arrays)
        compressed = NpzReader().read(path)
        assert not isinstance(compressed.X, np.memmap)
        assert compressed.sha256() == small.sha256()

    def test_a_mapped_array_that_is_damaged_is_refused(self, npz, monkeypatch):
        """The check sum of a mapped array is tested as that of one that is read."""
        monkeypatch.setattr(npz_archive, "FEWEST_MAPPED", 0)
        path = npz()
        path.write_bytes(path.read_bytes().replace(X.tobytes(), bytes(X.nbytes)))
        assert '"X" is damaged (Bad CRC-32' in refusal(path)

    def test_sparse_rows_stay_sparse(self, npz):
        """CSR parts become a float64 CSR matrix with 32-bit indices, and are never made dense."""
        stored = sp.csr_matrix(X.astype(np.float32))
        parts = csr_parts(stored)
        parts["indices"], parts["indptr"] = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
        data = NpzReader().read(npz(**parts))
        assert sp.issparse(data.X)
        assert (data.X.format, data.X.dtype, data.X.indices.dtype) == ("csr", np.float64, np.int32)
        assert data.X.toarray().tolist() == X.tolist()

    def test_what_save_npz_wrote_is_read(self, npz, tmp_path):
        """The parts may come straight from `scipy.sparse.save_npz`, of a matrix or of an array."""
        for make in (sp.csr_matrix, sp.csr_array):
            sp.save_npz(tmp_path / "rows.npz", make(X))
            with np.load(tmp_path / "rows.npz") as parts:
                data = NpzReader().read(npz(X=None, **parts))
            assert data.X.toarray().tolist() == X.tolist()

    def test_text_bag_ids_stay_text(self, npz):
        """Bag ids may be text."""
        assert NpzReader().read(npz(bag=np.array(["a", "b", "a"]))).bags.tolist() == ["a", "b", "a"]

    def test_label_sets_are_multi_class(self, npz):
        """`Y` with `label_names` is read for the multi-class regime."""
        data = NpzReader().read(npz(y=None, Y=np.array([[1, 0], [0, 0]]), label_names=np.array(["cat", "dog"])))
        assert (data.regime, data.label_names) == ("multiclass-mil", ("cat", "dog"))
        assert data.weak.tolist() == [[1, 0], [0, 0]]

    def test_proportions_are_llp(self, npz):
        """`proportions`, one number or one row for each bag, are read for learning from label proportions."""
        for proportions in (np.array([0.5, 0.0]), np.array([[0.5, 0.5], [0.0, 1.0]])):
            data = NpzReader().read(npz(y=None, proportions=proportions))
            assert data.regime == "llp"
            assert data.weak.tolist() == proportions.tolist()

    def test_the_regime_chooses_among_weak_labels(self, npz):
        """`y` is taken before `Y`, unless the regime says otherwise; a regime of a plugin takes what is there."""
        path = npz(Y=np.array([[1, 0], [0, 0]]), label_names=np.array(["cat", "dog"]))
        assert NpzReader().read(path).weak.shape == (2,)
        assert NpzReader().read(path, regime="multiclass-mil").weak.shape == (2, 2)
        assert NpzReader().read(path, regime="ordinal").regime == "ordinal"
        assert '"llp": "proportions" is needed' in refusal(path, regime="llp")

    def test_data_without_weak_labels_are_read(self, npz):
        """A file of instances and bags alone has no weak labels, for predictions."""
        assert NpzReader().read(npz(y=None)).weak is None

    def test_misnamed_weak_labels_are_refused(self, npz):
        """A file whose weak labels have another name is not taken for one without."""
        message = refusal(npz(y=None, labels=np.array([1, 0])))
        assert 'no weak labels: "y" or "Y" or "proportions" is needed' in message
        assert "it holds X, bag, labels" in message

    @pytest.mark.parametrize(
        ("arrays", "said"),
        [
            ({"X": None}, 'neither "X" nor the parts of a CSR matrix'),
            ({"bag": None}, 'has no "bag"; it holds X, y'),
            ({"bag": np.array([1, 2])}, '"bag" has the shape (2,); allowed is (3,)'),
            ({"bag": np.array([1.0, 2.0, np.nan])}, '"bag" holds values of type float64; allowed are integers or text'),
            (
                {"y": np.array([1, 0, 1])},
                '"y" has the shape (3,); allowed is (2,). It needs one entry for each of the 2',
            ),
            ({"X": np.array(["a", "b", "c"])}, '"X" holds values of type <U1'),
            ({"X": np.zeros(3)}, '"X" has the shape (3,); allowed is (any, any)'),
            ({"y": None, "Y": np.eye(2)}, 'has no "label_names"'),
            ({"y": None, "Y": np.eye(2), "label_names": np.array(["a"])}, '"label_names" has the shape (1,)'),
            ({"y": None, "proportions": np.array([0.5])}, "allowed is (2, ...)"),
            ({"inst_y": np.array([1])}, '"inst_y" has the shape (1,); allowed is (3,)'),
            ({"feature_names": np.array(["f"])}, '"feature_names" has the shape (1,); allowed is (2,)'),
            ({"feature_names": np.array(["f", "f"])}, "\"feature_names\" has the name 'f' twice"),
            (
                {"y": None, "Y": np.eye(2), "label_names": np.array(["a", "a"])},
                "\"label_names\" has the name 'a' twice",
            ),
            ({"y": np.array([1.0, np.nan])}, '"y" has no weak label for bag 1, counted from 0 (nan)'),
            ({"y": np.array(["a", "nan"])}, "\"y\" has no weak label for bag 1, counted from 0 ('nan')"),
            ({"bag": np.array(["a", "NaT", "b"])}, "\"bag\" has no bag id for row 1, counted from 0 ('NaT')"),
        ],
    )
    def test_a_wrong_array_is_named(self, npz, arrays, said):
        """The message names the file, the key, what was found and what is allowed."""
        path = npz(**arrays)
        message = refusal(path)
        assert str(path) in message
        assert said in message

    def test_pickles_are_never_opened(self, npz):
        """An array of Python objects is refused with a sentence that names the key."""
        assert '"y" holds Python objects' in refusal(npz(y=np.array([{1}, {0}], dtype=object)))
        assert '"proportions" holds Python' in refusal(npz(y=None, proportions=np.array([None, 1], dtype=object)))

    def test_sparse_parts_must_fit_together(self, npz):
        """Sparse rows of another form, or with a column beyond the last, are refused before anything reads them."""
        parts = csr_parts(sp.csr_matrix(X))
        assert 'says "csc"' in refusal(npz(**{**parts, "format": np.array("csc")}))
        assert "do not fit together" in refusal(npz(**{**parts, "indices": np.array([0, 7], dtype=np.int32)}))
        assert 'has no "indptr"' in refusal(npz(**{**parts, "indptr": None}))

    def test_a_column_stands_once_in_a_sparse_row(self, npz):
        """A column twice in a row, which SciPy would add up, is refused with the row; unsorted columns are fine."""
        parts = csr_parts(sp.csr_matrix(np.array([[1.0, 2.0], [0.0, 2.5], [3.0, 4.0]])))
        parts |= {"indices": np.array([1, 0, 1, 1, 1], dtype=np.int32)}
        message = refusal(npz(**parts))
        assert '"indices" holds the column 1 twice in row 2, counted from 0' in message
        assert "sum_duplicates()" in message
        apart = {"indptr": np.array([0, 3, 3, 5], dtype=np.int32), "indices": np.array([1, 0, 1, 1, 0], dtype=np.int32)}
        assert "the column 1 twice in row 0" in refusal(npz(**{**parts, **apart}))
        parts["indices"] = np.array([1, 0, 1, 1, 0], dtype=np.int32)
        assert NpzReader().read(npz(**parts)).X.toarray().tolist() == [[2.0, 1.0], [0.0, 2.5], [4.0, 3.0]]

    @pytest.mark.parametrize("form", [bool, "<U5", object])
    def test_true_and_false_are_numbers(self, npz, form):
        """Weak labels and true classes of true and false, or of these words, are the integers 1 and 0."""
        truth = np.array([False, True]).astype(str if form is object else form)
        inst_y = np.array([True, False, False]).astype("<U5" if form is object else form)
        data = NpzReader().read(npz(y=truth, inst_y=inst_y))
        assert (data.weak.tolist(), data.instance_labels.tolist()) == ([0, 1], [1, 0, 0])
        assert data.weak.dtype == data.instance_labels.dtype == np.int64

    def test_label_sets_that_are_text_are_those_of_a_table(self, npz):
        """Text in `y` is split as the same column of a table; what may be a separator and is none is refused."""
        bag = np.arange(4)
        rows = np.zeros((4, 1))
        for between in "|;":
            data = NpzReader().read(npz(X=rows, bag=bag, y=np.array([f"cat{between} dog", "cat", "dog", ""])))
            assert (data.regime, data.weak.tolist()) == ("multiclass-mil", [{"cat", "dog"}, {"cat"}, {"dog"}, set()])
        path = npz(X=rows, bag=bag, y=np.array(["cat,dog", "cat", "dog", ""]))
        assert "bag 0, counted from 0" in refusal(path)
        assert "is made of 'cat', 'dog'" in refusal(path)
        assert NpzReader().read(path, separator=",").weak[0] == {"cat", "dog"}
        data = NpzReader().read(npz(X=rows, bag=bag, y=np.array(["cat", "cat", "dog", ""])))
        assert (data.regime, data.weak.tolist()) == ("mil", ["cat", "cat", "dog", ""])

    def test_the_index_of_a_data_frame_is_no_feature(self, npz):
        """A column that pandas called "Unnamed: 0" and that holds row numbers is left out, which is noted."""
        with_index = np.column_stack([[0, 1, 2], X])
        data = NpzReader().read(npz(X=with_index, feature_names=np.array(["Unnamed: 0", "f1", "f2"])))
        assert (data.X.tolist(), data.feature_names) == (X.tolist(), ("f1", "f2"))
        assert data.notes == (
            'toy.npz: "Unnamed: 0" is the row index of a data-frame library and was left out of the features',
        )
        data = NpzReader().read(npz(X=with_index / 2, feature_names=np.array(["Unnamed: 0", "f1", "f2"])))
        assert data.X.shape == (3, 3)
        assert data.notes == (
            'toy.npz: the column "Unnamed: 0" has no name of its own and is a feature; name it, or leave it out',
        )

    def test_damaged_files_are_refused(self, npz, tmp_path):
        """A truncated archive, a damaged member, a text file and no file at all are each named."""
        path = npz()
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert "damaged or no .npz archive" in refusal(path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", b"\x93NUMPY\x01\x00 not a header")
        assert '"X" is damaged' in refusal(path)
        path.write_bytes(whole.replace(X.tobytes(), bytes(X.nbytes)))
        assert '"X" is damaged' in refusal(path)
        assert "no such file" in refusal(tmp_path / "gone.npz")

    def test_sniff_looks_at_name_and_first_bytes(self, npz, table, tmp_path):
        """Only an .npz file that starts like a zip archive is recognised, and nothing raises."""
        assert NpzReader().sniff(npz())
        assert not NpzReader().sniff(table("text", "text.npz"))
        assert not NpzReader().sniff(table("PK", "other.zip"))
        assert not NpzReader().sniff(tmp_path / "gone.npz")
        assert not NpzReader().sniff(Path("\0.npz"))

    def test_the_shared_sets_are_read(self, shared):
        """Real files, dense, sparse, with label sets and with true classes, have their published sizes."""
        folder = shared / "data" / "mil"
        elephant = NpzReader().read(folder / "elephant.npz")
        assert (elephant.X.shape, int(elephant.weak.sum())) == ((1391, 230), 100)
        text = NpzReader().read(folder / "newsgroups_rec_sport_hockey.npz")
        assert sp.issparse(text.X)
        assert int(text.instance_labels.sum()) == 67
        birds = NpzReader().read(folder / "miml_birds.npz")
        assert (birds.regime, birds.weak.shape, len(birds.label_names)) == ("multiclass-mil", (257, 19), 19)
        assert 'has no "bag"' in refusal(shared / "data" / "llp" / "sonar.npz")


@pytest.mark.usefixtures("both_ways")
class TestCsv:
    def test_k05_rows_of_a_bag_need_not_be_contiguous(self, shared):
        """Rows keep their order, and weak labels of a second file follow the bags' first appearance."""
        files = shared / "cases" / "files"
        data = read_csv(files / "bags_unsorted.csv", labels="bags_unsorted_labels.csv")
        assert np.flatnonzero(data.bags == "z9").tolist() == [0, 2, 6]
        assert data.weak.tolist() == [1, 0, 1]
        assert data.feature_names == ("f1", "f2")
        assert data.X[6].tolist() == [-0.1, 0.3]

    def test_k06_bag_ids_stay_text(self, shared):
        """The bags "007" and "7" are two bags, and far-apart numbers are names like any other."""
        data = read_csv(shared / "cases" / "files" / "bags_numeric_ids.csv")
        assert data.bags.tolist() == ["7", "1000000007", "-3", "7", "007"]
        assert data.weak is None

    def test_k11_label_sets(self, shared, table):
        """A "|" separates the names of a set, an empty field is the empty set, and a name is never cut in letters."""
        instances = table("bag,f\nb4,0\nb3,1\nb2,2\nb1,3\n")
        data = read_csv(instances, labels=shared / "cases" / "files" / "labelsets.csv")
        assert data.regime == "multiclass-mil"
        assert data.weak.dtype == object
        assert data.weak.tolist() == [{"cow"}, {"cat"}, frozenset(), {"cat", "dog"}]
        assert all(isinstance(one, frozenset) for one in data.weak)

    def test_unlabelled_sets_are_read_beside_the_table_or_from_here(self, table, tmp_path, monkeypatch):
        """A second file is looked for beside the first, then in the current folder."""
        instances, here = table("bag,f\na,0\n"), tmp_path / "here"
        here.mkdir()
        (here / "weak.csv").write_text("bag,label\na,1\n")
        monkeypatch.chdir(here)
        assert read_csv(instances, labels="weak.csv").weak.tolist() == [1]
        table("bag,label\na,0\n", "weak.csv")
        assert read_csv(instances, labels="weak.csv").weak.tolist() == [0]
        assert "gone.csv cannot be read" in refusal(instances, labels="gone.csv")

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (("1", "-1"), [1, -1]),
            (("1.0", "0"), [1.0, 0.0]),
            (("0.25", "1e-3"), [0.25, 0.001]),
            (("True", "False"), [1, 0]),
            (("FALSE", "true"), [0, 1]),
            (("true", "maybe"), ["true", "maybe"]),
            (("NA", "EU"), ["NA", "EU"]),
            (("1_0", "2"), ["1_0", "2"]),
            (("99999999999999999999", "0"), [1e20, 0.0]),
        ],
    )
    def test_weak_labels_have_the_narrowest_type(self, table, cells, values):
        """A column of weak labels is of integers if all are, else of numbers if all are, else text."""
        weak = read_csv(table(f"bag,label,f\na,{cells[0]},0\nb,{cells[1]},0\n")).weak
        assert weak.tolist() == values
        assert type(weak.tolist()[0]) is type(values[0])

    def test_label_sets_on_request(self, table):
        """`label_sets` makes sets of plain names or numbers, or refuses an empty cell."""
        path = table("bag,y,f\na,1,0\nb,,0\n")
        assert read_csv(path, label_sets=True).weak.tolist() == [{"1"}, set()]
        assert "bag 'b' has no weak label ('')" in refusal(path)
        assert "bag 'b' has no weak label" in refusal(table("bag,y,f\na,cat,0\nb,,0\n"), label_sets=False)

    def test_the_same_set_in_another_order_is_the_same_label(self, table):
        """Weak labels of a bag's rows are compared by value, not by spelling."""
        assert read_csv(table("bag,labels,f\na,cat|dog,0\na,dog | cat,1\n")).weak.tolist() == [{"cat", "dog"}]
        assert read_csv(table("bag,label,f\na,1,0\na,1.0,1\nb,0,0\n")).weak.tolist() == [1.0, 0.0]

    def test_columns_are_chosen_by_name(self, table):
        """Every column without a role is a feature; ignored ones and labels never are."""
        path = table("id,mol,musk,true,f1,f2\nx,m1,1,0,0.5,2\ny,m1,1,1,1.5,3\n")
        data = read_csv(path, bag="mol", label="musk", instance_label="true", ignore=["id"])
        assert data.feature_names == ("f1", "f2")
        assert data.X.tolist() == [[0.5, 2.0], [1.5, 3.0]]
        assert data.instance_labels.tolist() == [0, 1]
        assert data.weak.tolist() == [1]
        assert read_csv(path, bag="mol", label="musk", ignore="id").feature_names == ("true", "f1", "f2")

    def test_true_classes_are_no_features(self, table):
        """A column called instance_label or inst_y is the true class even if nobody says so."""
        data = read_csv(table("bag,inst_y,f\na,1,0\n"))
        assert data.feature_names == ("f",)
        assert data.instance_labels.tolist() == [1]

    @pytest.mark.parametrize(
        ("cells", "classes"), [(["1", "?", "0"], [1, None, 0]), (["cat", "", "?"], ["cat", None, "?"])]
    )
    def test_true_classes_may_be_known_of_some_rows(self, table, npz, cells, classes):
        """A missing true class is None, or NaN in an array: the others still serve to evaluate."""
        rows = "".join(f"a,{cell},{row}\n" for row, cell in enumerate(cells))
        assert read_csv(table(f"bag,inst_y,f\n{rows}")).instance_labels.tolist() == classes
        known = npz(inst_y=np.array([0.0, 1.0, np.nan]))
        assert np.isnan(NpzReader().read(known).instance_labels).tolist() == [False, False, True]

    def test_the_regime_can_be_said(self, table):
        """Proportions in a label column are read for the regime that the user names."""
        data = read_csv(table("bag,proportion,f\na,0.25,0\n"), label="proportion", regime="llp")
        assert (data.regime, data.weak.tolist()) == ("llp", [0.25])

    def test_missing_features_are_nan(self, table):
        """Empty cells, "?", "NA" and "nan" become NaN, for the estimator to name."""
        data = read_csv(table("bag,a,b,c,d,e\nx,,?,NA,NaN,7\ny,1,2,3,4,n/a\n"))
        assert np.isnan(data.X).tolist() == [[True, True, True, True, False], [False] * 4 + [True]]

    def test_spreadsheet_files_are_read(self, table):
        """A byte order mark, CRLF ends, blanks, quotes and blank lines change nothing."""
        data = read_csv(table('\ufeffbag, label ,f1\r\n"a, b", 1 , 0.5\r\n\r\n'))
        assert (data.bags.tolist(), data.weak.tolist(), data.X.tolist()) == (["a, b"], [1], [[0.5]])

    def test_other_delimiters(self, table):
        """Tab is the delimiter of .tsv files, another one is found and noted, and any one character can be named."""
        assert read_csv(table("bag\tf\na\t1\n", "toy.tsv")).X.tolist() == [[1.0]]
        semicolons = table("bag;f\na;1\n")
        assert read_csv(semicolons, delimiter=";").X.tolist() == [[1.0]]
        assert read_csv(semicolons).X.tolist() == [[1.0]]
        assert read_csv(semicolons).notes == ("toy.csv: columns are split at a semicolon",)
        assert "first line: 'bag;f'" in refusal(semicolons, delimiter="|")
        with pytest.raises(SettingsError, match="delimiter is ';;'"):
            read_csv(semicolons, delimiter=";;")

    @pytest.mark.parametrize(
        ("text", "options", "said"),
        [
            ("bag,f\na,1\nb,red\n", {}, "line 3, column \"f\": 'red' is no number"),
            ("bag,f\na,1_000\n", {}, "'1_000' is no number"),
            ("bag,f\na,1\n\nb\n", {}, "line 4: 1 cells, but line 1 names 2 columns"),
            ("bag,f\na,1,2\n", {}, "line 2: 3 cells"),
            ("bag,f,f\na,1,2\n", {}, 'line 1: two columns are called "f"'),
            ("bag,,f\na,0,1\n", {}, "column 2 of 3 has no name"),
            ("mol,f\na,1\n", {}, "row belongs. Its columns: mol, f."),
            ("bag,f\na,1\n", {"label": "z"}, 'has no column "z", which the option label names'),
            ("bag,f\na,1\n", {"ignore": ["z"]}, 'has no column "z", which the option ignore names'),
            ("bag,label,y,f\na,1,1,2\n", {}, "has the columns label, y; say with label which one it is"),
            ("bag,label\na,1\n", {}, "has no features"),
            (
                "bag,label,f\na,1,0\nb,0,0\na,0,0\n",
                {},
                "line 4, column \"label\": bag 'a' has the weak label '0', but '1'",
            ),
            ("bag,f\n,1\n", {}, 'line 2, column "bag": no bag id'),
            ('bag,f\n"a"x,1\n', {}, "line 2: "),
            ("bag,f\n", {}, "has no rows"),
            ("", {}, "is empty"),
        ],
    )
    def test_a_wrong_table_is_explained(self, table, text, options, said):
        """The message names the file, the line or column, and what was found there."""
        path = table(text)
        message = refusal(path, **options)
        assert str(path) in message
        assert said in message

    @pytest.mark.parametrize(
        ("text", "options", "said"),
        [
            ("bag,label\na,1\n", {}, "has no weak label for bag 'b'"),
            ("bag,label\na,1\nb,0\nc,1\n", {}, "has a weak label for bag 'c', of which there is no instance"),
            ("bag,label\na,1\nb,0\na,0\n", {}, "bag 'a' has the weak label '0', but '1' in line 2"),
            ("bag,label\na,1\nb,nan\n", {}, "bag 'b' has no weak label ('nan')"),
            ("bag,class,z\na,1,0\nb,0,1\n", {}, "which column holds the weak label? Say so with label; or name with"),
            ("bag,class,z\na,1,x\nb,0,y\n", {}, "counts, or 0 and 1. It has: bag, class, z."),
            ("bag,u,v\na,1,x\nb,0,y\n", {"label": "u,v"}, "column \"v\": 'x' is no number.)"),
            ("mol,label\na,1\nb,0\n", {}, 'has no column "bag"'),
        ],
    )
    def test_a_wrong_second_table_is_explained(self, table, text, options, said):
        """Bags without a weak label, and weak labels without a bag, are named."""
        labels = table(text, "weak.csv")
        message = refusal(table("bag,f\na,1\nb,2\n"), labels=labels, **options)
        assert str(labels) in message
        assert said in message

    def test_a_second_table_with_a_column_for_each_class(self, table):
        """Shares are found; counts, and 0 and 1 for each label, are named with commas between; one is enough."""
        rows = table("bag,f\na,1\nb,2\nb,3\n")
        shares = read_csv(rows, labels=table("bag,u,v\na,0.25,0.75\nb,1,0\n", "weak.csv"))
        assert (shares.regime, shares.weak.tolist()) == ("llp", [{"u": 0.25, "v": 0.75}, {"u": 1.0, "v": 0.0}])
        among = table("bag,u,z,v\na,1,7,0\nb,1,8,1\n", "weak.csv")
        assert read_csv(rows, labels=among, label="u,v").weak.tolist() == [{"u"}, {"u", "v"}]
        counts = read_csv(rows, labels=among, label="u, v", regime="llp")
        assert counts.weak.tolist() == [{"u": 1, "v": 0}, {"u": 1, "v": 1}]
        assert read_csv(rows, labels=table("bag,class\na,x\nb,y\n", "weak.csv")).weak.tolist() == ["x", "y"]

    def test_two_places_of_weak_labels_are_refused(self, table):
        """A label column would become a feature beside a second file of weak labels, unless it is spoken for."""
        path, labels = table("bag,y,f\na,3,1\n"), table("bag,label\na,1\n", "weak.csv")
        assert 'has a column "y", and the option labels names a second file' in refusal(path, labels=labels)
        assert read_csv(path, labels=labels, label="label").feature_names == ("y", "f")
        assert read_csv(path, labels=labels, instance_label="y").instance_labels.tolist() == [3]

    def test_other_encodings_are_found(self, tmp_path):
        """A file that is not UTF-8 is read as Windows writes it, which is noted."""
        path = tmp_path / "latin.csv"
        path.write_bytes("bag,größe\na,1\n".encode("latin-1"))
        data = read_csv(path)
        assert data.feature_names == ("größe",)
        assert "is not UTF-8 and was read as Windows-1252, in which line 1 has" in data.notes[0]
        assert read_csv(path, encoding="latin-1").notes == ()
        with pytest.raises(SettingsError, match="encoding is 'klingon', which is none that is known"):
            read_csv(path, encoding="klingon")

    def test_sniff_looks_at_name_and_first_bytes(self, table, tmp_path):
        """Only a text file called .csv or .tsv is recognised, and nothing raises."""
        assert CsvReader().sniff(table("bag,f\n", "toy.CSV"))
        assert not CsvReader().sniff(table("bag,f\n", "toy.txt"))
        assert not CsvReader().sniff(table("PK\0\0", "toy.csv"))
        assert not CsvReader().sniff(tmp_path / "gone.csv")


def unlike(path: Path, **options) -> tuple:
    """Return what two ways to write the same column must agree in."""
    data = read_csv(path, **options)
    return data.regime, data.weak.tolist()


@pytest.mark.usefixtures("both_ways")
class TestLabelSets:
    """One column says the same with an empty cell and without, in one table, in two, and in Parquet."""

    SETS: ClassVar = [{"cat", "dog"}, {"cat"}, {"dog"}]

    @pytest.mark.parametrize("between", ["|", ";", " | ", "; "])
    @pytest.mark.parametrize("empty", [False, True])
    @pytest.mark.parametrize("quote", ["", '"'])
    def test_an_empty_cell_decides_nothing(self, table, between, empty, quote):
        """Two names are two labels whatever the separator, the quotes and the other cells."""
        cells = [f"cat{between}dog", "cat", "dog", *([""] if empty else [])]
        wanted = [*self.SETS, *([set()] if empty else [])]
        lines = [f"b{i},{quote}{cell}{quote}" for i, cell in enumerate(cells)]
        one = table("bag,label,f\n" + "".join(f"{line},{i}\n" for i, line in enumerate(lines)))
        assert unlike(one) == ("multiclass-mil", wanted)
        rows = table("bag,f\n" + "".join(f"b{i},{i}\n" for i in range(len(cells))), "rows.csv")
        weak = table("bag,label\n" + "\n".join(lines) + "\n", "weak.csv")
        assert unlike(rows, labels=weak) == ("multiclass-mil", wanted)

    def test_parquet_says_the_same(self, tmp_path):
        """The column of a Parquet file, where an empty cell is null, is split as that of a CSV file."""
        pq = pytest.importorskip("pyarrow.parquet", reason="Parquet files need pyarrow")
        pa = pytest.importorskip("pyarrow")
        for between in "|;":
            columns = {"bag": list("abcd"), "label": [f"cat{between}dog", "cat", "dog", None], "f": [1, 2, 3, 4]}
            pq.write_table(pa.table(columns), tmp_path / "toy.parquet")
            assert ParquetReader().read(tmp_path / "toy.parquet").weak.tolist() == [*self.SETS, set()]

    @pytest.mark.parametrize("between", [",", " , ", "/", " + ", "&", ":", " and ", " ", "-", "#", "\t"])
    @pytest.mark.parametrize("empty", [False, True])
    def test_a_hidden_separator_is_refused(self, table, between, empty):
        """A label whose parts are labels of other bags is refused with the candidate, and split where it is told."""
        cells = [f"cat{between}dog", "cat", "dog", *([""] if empty else [])]
        path = table("bag,label,f\n" + "".join(f'b{i},"{cell}",{i}\n' for i, cell in enumerate(cells)))
        message = refusal(path)
        assert f"line 2, column \"label\": the label {'cat' + between + 'dog'!r} is made of 'cat', 'dog'" in message
        assert "--set regime.separator=" in message
        wanted = [*self.SETS, *([set()] if empty else [])]
        assert unlike(path, separator=between) == ("multiclass-mil", wanted)
        assert unlike(path, label_sets=False)[1][0] == f"cat{between}dog" if not empty else "no weak label"

    def test_labels_that_look_alike_are_noted(self, table):
        """Two labels of sets that differ in letter case alone are two, which is said."""
        data = read_csv(table("bag,label,f\na,Cat|dog,1\nb,cat,2\n"))
        assert data.weak.tolist() == [{"Cat", "dog"}, {"cat"}]
        assert data.notes == ("the labels 'Cat' and 'cat' of the column \"label\" look alike and are two labels",)

    def test_numbers_are_not_made_of_numbers(self, table):
        """The point of a number is no separator of the numbers that stand in other cells."""
        assert unlike(table("bag,label,f\na,0.5,1\nb,0,2\nc,5,3\nd,-0.5,4\n")) == ("mil", [0.5, 0.0, 5.0, -0.5])

    def test_two_separators_are_refused(self, table):
        """Where both separators occur nobody can say which is a part of a name, unless it is told."""
        path = table("bag,label,f\na,x|y,1\nb,y;z,2\n")
        message = refusal(path)
        assert "'x|y' holds \"|\", and 'y;z' in line 3 holds \";\"" in message
        assert unlike(path, separator="|")[1] == [{"x", "y"}, {"y;z"}]
        assert unlike(path, separator=";")[1] == [{"x|y"}, {"y", "z"}]

    def test_a_told_separator_that_no_cell_holds_changes_nothing(self, table):
        """The default of the regime, which a run writes down, does not hide the separator of the file."""
        path = table("bag,label,f\na,x|y,1\nb,y,2\n")
        assert unlike(path, separator=";") == unlike(path) == ("multiclass-mil", [{"x", "y"}, {"y"}])

    def test_single_names_stay_single(self, table):
        """Names that share no part are no sets: a semicolon or a comma may be a part of a name."""
        path = table('bag,label,f\na,"benign; no finding",1\nb,malignant,2\n')
        assert unlike(path) == ("mil", ["benign; no finding", "malignant"])
        data = read_csv(table('bag,label,f\na,"carcinoma, lobular",1\nb,"carcinoma, ductal",2\nc,benign,3\n'))
        assert data.weak.tolist() == ["carcinoma, lobular", "carcinoma, ductal", "benign"]
        assert "are taken for single labels; if they are label sets, set separator" in data.notes[0]

    def test_an_empty_cell_among_single_names_is_left_to_the_regime(self, table):
        """Multi-class MIL takes an empty cell for the empty set, and MIL refuses it by the bag."""
        path = table("bag,label,f\na,cat,1\na,cat,2\nb,dog,3\nc,,4\n")
        data = read_csv(path)
        assert (data.regime, data.weak.tolist()) == ("mil", ["cat", "dog", ""])
        bags = Bags.from_ids(data.bags)
        sets = default_plugins().registry.create("regime", "multiclass-mil").check(data.weak, bags)
        assert (sets.classes, sets.values.tolist()) == (("negative", "cat", "dog"), [[1, 0], [0, 1], [0, 0]])
        mil = default_plugins().registry.create("regime", {"name": "mil", "positive_label": "cat"})
        with pytest.raises(DataError, match="Bag 'c' has no weak label"):
            mil.check(data.weak, bags)

    @pytest.mark.parametrize(
        "cells",
        [
            ('["cat", "dog"]', '["cat"]', '["dog"]', "[]"),
            ("['cat', 'dog']", "['cat']", "['dog']", ""),
            ("{'cat', 'dog'}", "{'cat'}", "{'dog'}", "set()"),
            ("frozenset({'cat', 'dog'})", "frozenset({'cat'})", "frozenset({'dog'})", "frozenset()"),
            ("('cat', 'dog')", "('cat',)", "('dog',)", "[]"),
            ("[np.str_('cat'), np.str_('dog')]", "[np.str_('cat')]", "['dog']", "[]"),
            ("array(['cat', 'dog'], dtype=object)", "array(['cat'], dtype=object)", "array(['dog'])", "[]"),
            ("[cat, dog]", "[cat]", "[dog]", "[]"),
        ],
    )
    def test_lists_as_programs_write_them(self, tmp_path, cells):
        """What JSON, Python and pandas write for a list of names is a label set."""
        with (tmp_path / "toy.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["bag", "label", "f"], *([f"b{i}", cell, i] for i, cell in enumerate(cells))])
        assert unlike(tmp_path / "toy.csv") == ("multiclass-mil", [*self.SETS, set()])

    def test_lists_that_cannot_be_read_are_refused(self, table):
        """NumPy writes no commas, and a null is no name; neither is taken for one name."""
        for cell in ("['cat' 'dog']", "[cat dog]", '["cat", null]', "[nan]"):
            quoted = '"' + cell.replace('"', '""') + '"'
            message = refusal(table(f"bag,label,f\na,{quoted},1\nb,['cat'],2\n"))
            assert 'line 2, column "label"' in message
            assert "is no list of names that can be read" in message


@pytest.mark.usefixtures("both_ways")
class TestTablesOfARun:
    """bags.csv and labels.csv of a run are read back."""

    BAGS = (
        "bag,n_instances,weak_label,predicted,score\n"
        '"ward\nA",2,"[""cat"", ""dog""]","[""cat""]","[0.5, 1.0]"\n"a,b",1,[],[],"[0.5, 1.0]"\n'
    )
    ROWS = 'bag,f1\n"ward\nA",0.5\n"a,b",1.5\n"ward\nA",2.5\n'

    def test_bags_csv_holds_weak_labels(self, table):
        """Of its columns the weak label is taken, label sets as sets, and ids with line ends and commas match."""
        data = read_csv(table(self.ROWS), labels=table(self.BAGS, "bags.csv"))
        assert data.weak.tolist() == [{"cat", "dog"}, set()]
        assert read_csv(table(self.ROWS), labels=table(self.BAGS, "bags.csv"), label="predicted").weak[0] == {"cat"}
        moved = table(self.ROWS.replace("bag,", "ward,"))
        assert read_csv(moved, bag="ward", labels=table(self.BAGS, "bags.csv")).weak.tolist() == data.weak.tolist()

    def test_predictions_have_no_weak_label(self, table):
        """bags.csv of a prediction has none, and the message lists the columns to pick from."""
        bags = table("bag,predicted,score\na,1,0.5\n", "bags.csv")
        said = refusal(table("bag,f\na,1\n"), labels=bags)
        assert "which column holds the weak label? Say so with label; " in said
        assert "It has: bag, predicted, score." in said

    def test_labels_csv_holds_true_classes(self, table):
        """A label for each row is no weak label: it is the true class, beside the label column of the rows."""
        rows = table("bag,label,f\na,1,0.5\nb,0,1.5\na,1,2.5\n")
        text = "row,bag,label,confidence,undecided\n0,a,0,0.5,0\n1,b,0,1.0,0\n2,a,1,0.5,0\n"
        data = read_csv(rows, labels=table(text, "labels.csv"))
        assert (data.weak.tolist(), data.instance_labels.tolist()) == ([1, 0], [0, 0, 1])
        assert data.feature_names == ("f",)
        assert "these are true classes" in data.notes[-1]
        assert read_csv(table("bag,f\na,1\nb,2\na,3\n"), labels=table(text, "labels.csv")).weak is None

    def test_labels_of_other_rows_are_refused(self, table):
        """Rows of other bags, or another number of them, are not taken for these."""
        rows = table("bag,label,f\na,1,0.5\nb,0,1.5\n")
        assert "row 0 is of bag 'b', and among the rows of bag 'a'" in refusal(
            rows, labels=table("row,bag,label\n0,b,0\n1,a,1\n", "labels.csv")
        )
        assert "labels of 1 rows, and there are 2" in refusal(
            rows, labels=table("row,bag,label\n0,a,0\n", "labels.csv")
        )


@pytest.mark.usefixtures("both_ways")
class TestIds:
    """Ids that do not match are shown from both sides with what differs."""

    @pytest.mark.parametrize(
        ("here", "there", "said"),
        [
            ("0.0", "0", "There is '0', which differs in how the number is written"),
            ("007", "7", "There is '7', which differs in leading zeros"),
            ("B1", "b1", "There is 'b1', which differs in letter case"),
            ("b 1", "b1", "There is 'b1', which differs in blanks"),
            ("caf\u00e9", "cafe\u0301", "There is 'cafe\\u0301', which differs in how characters are encoded"),
            ("b1", "b1\u200b", "There is 'b1\\u200b', which differs in how characters are encoded"),
            ("2020-01-01", "2020-01-01 00:00:00", "which differs in the time of day"),
            ("b'x'", "x", "There is 'x', which differs in the b and the quotes"),
            ("p1", "q1", "It has labels of bags that have no instance, such as 'q1'"),
        ],
    )
    def test_ids_that_look_alike(self, table, here, there, said):
        """The bag without a label, the id that looks like it and the difference are said."""
        message = refusal(table(f"bag,f\n{here},1\n"), labels=table(f"bag,label\n{there},1\n", "weak.csv"))
        assert f"has no weak label for bag {here!r}; every bag needs one." in message
        assert said in message

    @pytest.mark.parametrize("cell", ["nan", "NaN", "NaT", "<NA>", "?", "#N/A", ""])
    def test_missing_ids_are_refused(self, table, cell):
        """What programs write for a missing value is no bag, in either table."""
        assert 'line 2, column "bag": ' in refusal(table(f"bag,f\n{cell},1\nb,2\n"))
        weak = table(f"bag,label\nb,1\n{cell},1\n", "weak.csv")
        assert 'line 3, column "bag": ' in refusal(table("bag,f\nb,1\n"), labels=weak)

    def test_ids_that_may_be_something_else_are_noted(self, table):
        """A bag called NA, ids that a spreadsheet shortened, and two that eyes cannot tell apart are noted."""
        assert 'have the bag id "NA"' in read_csv(table("bag,f\nNA,1\nEU,2\n")).notes[0]
        assert "a spreadsheet shortened" in read_csv(table("bag,f\n1.23E+12,1\nb,2\n")).notes[0]
        assert "look alike and are two bags" in read_csv(table("bag,f\ncaf\u00e9,1\ncafe\u0301,2\n")).notes[0]
        assert "is a float beyond 2**53" in refusal(table("bag,f\n9.007199254740993e+15,1\n"))
        assert read_csv(table("bag,f\n007,1\n7,2\nb1,3\nB1,4\nNAN,9\n")).notes == ()


@pytest.mark.usefixtures("both_ways")
class TestColumns:
    """Columns that a data-frame library wrote, and names that are nearly the same."""

    @pytest.mark.parametrize(
        ("name", "numbers"),
        [
            ("", "0 1 2 3"),
            ("", "3 0 2 1"),
            ("", "0 1 0 1"),
            ("", "r1 r2 r3 r4"),
            ("Unnamed: 0", "0 1 2 3"),
            ("Unnamed: 0", "17 4 9 30"),
            ("index", "3 0 2 1"),
            ("level_0", "0 1 0 1"),
        ],
    )
    def test_an_index_is_left_out(self, table, name, numbers):
        """Row numbers in a column of an index's name, in any order or of joined tables, are no feature."""
        rows = "".join(f"{number},b{i % 2},0.{i}\n" for i, number in enumerate(numbers.split()))
        data = read_csv(table(f"{name},bag,f\n{rows}"))
        assert (data.feature_names, data.X.ravel().tolist()) == (("f",), [0.0, 0.1, 0.2, 0.3])
        shown = name or "Unnamed: 0"
        assert data.notes == (
            f'toy.csv: "{shown}" is the row index of a data-frame library and was left out of the features',
        )

    def test_what_only_has_the_name_of_an_index_is_a_feature(self, table):
        """Fractions, or whole numbers that come back, are a feature also where it is called "index"."""
        assert read_csv(table("bag,index,f\na,0.5,1\nb,1.5,2\nc,2,3\n")).feature_names == ("index", "f")
        assert read_csv(table("bag,index,f\na,7,1\nb,3,2\nc,3,5\n")).feature_names == ("index", "f")

    def test_a_first_column_without_a_name_may_be_a_feature(self, table):
        """Fractions are no index, so that the column is a feature under the name that pandas gives it, with a note."""
        data = read_csv(table(",bag,f\n0.5,a,1\n1.5,b,2\n"))
        assert (data.feature_names, data.X[:, 0].tolist()) == (("Unnamed: 0", "f"), [0.5, 1.5])
        assert 'the column "Unnamed: 0" has no name of its own and is a feature' in data.notes[0]

    def test_a_table_of_nothing_but_an_index_is_refused(self, table):
        """An index is no feature, and so none is left."""
        assert "there is only the row index Unnamed: 0" in refusal(table(",bag\n0,a\n1,b\n"))

    @pytest.mark.parametrize("other", ["F1", "f 1", "\uff461"])
    def test_names_that_differ_to_no_eye_are_noted(self, table, other):
        """Two columns that differ in case or blanks alone are two, which is said."""
        data = read_csv(table(f"bag,f1,{other}\na,1,2\n"))
        assert data.feature_names == ("f1", other)
        assert data.notes == (
            f'toy.csv has the columns "f1" and "{other}", which differ only in letter case or blanks; each is one of '
            f"its own",
        )

    def test_the_usual_names_of_labels_have_no_case(self, table):
        """A column "Label" or "Weak_Label" is the weak label and no feature; "Y" may be a place."""
        for name in ("Label", "LABELS", "Weak_Label"):
            data = read_csv(table(f"bag,{name},f\na,1,0.5\n"))
            assert (data.weak.tolist(), data.feature_names) == ([1], ("f",))
        assert read_csv(table("bag,X,Y\na,1,0.5\n")).feature_names == ("X", "Y")
        assert read_csv(table("bag,Inst_Y,f\na,1,0.5\n")).instance_labels.tolist() == [1]
        assert 'Did you mean "Bag"?' in refusal(table("Bag,f\na,1\n"))


@pytest.mark.usefixtures("both_ways")
class TestOtherFiles:
    """Files that are not what their name says are read as what they are, or refused with what they are."""

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_byte_order_marks_are_no_text(self, tmp_path, encoding, end):
        """A table and a second one with a mark of their encoding are read as without."""
        (tmp_path / "toy.csv").write_bytes(f"bag,größe{end}ä,1.5{end}".encode(encoding))
        (tmp_path / "weak.csv").write_bytes(f"bag,label{end}ä,1{end}".encode(encoding))
        assert CsvReader().sniff(tmp_path / "toy.csv")
        data = read_csv(tmp_path / "toy.csv", labels="weak.csv")
        assert (data.feature_names, data.bags.tolist(), data.weak.tolist()) == (("größe",), ["ä"], [1])

    def test_other_encodings_are_named_with_the_place(self, tmp_path):
        """What is neither UTF-8 nor of Windows is refused with the line, UTF-16 without a mark is read."""
        path = tmp_path / "toy.csv"
        path.write_bytes("bag,f\na,1\nZürich\x81,2\n".encode("latin-1"))
        message = refusal(path)
        assert "byte 0xfc in line 3" in message
        assert "Windows-1252 or Latin-1, in which this place is" in message
        assert "Zürich" in message
        assert read_csv(path, encoding="latin-1").bags.tolist() == ["a", "Zürich\x81"]
        assert "is no text in ascii (line 3)" in refusal(path, encoding="ascii")
        path.write_bytes(b"\xef\xbb\xbf" + "bag,f\nZürich,2\n".encode("latin-1"))
        assert "byte 0xfc in line 2" in refusal(path)
        for encoding in ("utf-16-le", "utf-16-be"):
            path.write_bytes("bag,f\na,1\n".encode(encoding))
            assert CsvReader().sniff(path)
            assert (read_csv(path).X.tolist(), read_csv(path).notes[0]) == (
                [[1.0]],
                "toy.csv was read as UTF-16, which it does not say",
            )
        path.write_bytes(b"\xff\xfeb")
        assert "begins with the byte order mark of UTF-16" in refusal(path)

    @pytest.mark.parametrize(
        ("start", "said"),
        [
            (gzip.compress(b"bag,f\n", mtime=0), "a gzip archive; unpack it first"),
            (b"PK\x03\x04" + bytes(22) + b"\x13\0\0\0[Content_Types].xml", "an Excel workbook"),
            (b"\xd0\xcf\x11\xe0" + bytes(60), "an old Excel workbook"),
            (b"\x93NUMPY\x01\0", "a single NumPy array"),
            (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
            (b"<!DOCTYPE html>\n<html>404</html>", "an HTML page"),
            (b"\xef\xbb\xbf <html>", "an HTML page"),
            (b"<?xml version='1.0'?>", "an XML document"),
            (b'[{"bag": 1}]', "a JSON document"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
        ],
    )
    def test_other_files_called_csv_are_named(self, tmp_path, start, said):
        """The message of a run says what the file is, whether or not its bytes look like text."""
        path = tmp_path / "toy.csv"
        path.write_bytes(start)
        with pytest.raises(DataError, match=re.escape(said)):
            find_dataset(str(path), registry=default_plugins().registry, data_dirs=[])
        with pytest.raises(DataError, match=re.escape(said)):
            find_dataset(str(path), registry=default_plugins().registry, data_dirs=[], options={"reader": "csv"})

    def test_an_archive_of_numpy_called_csv(self, npz):
        """A native file under another name is refused with the name that it should have."""
        path = npz().rename(npz().parent / "toy.csv")
        with pytest.raises(DataError, match=r"It is an \.npz archive of NumPy; call it \.npz"):
            find_dataset(str(path), registry=default_plugins().registry, data_dirs=[])

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("bag;f1;f2\na;1,5;2,5\nb;1\n", 'split at a semicolon: set delimiter = ";". The commas in the rows seem'),
            ("bag\tf1\tf2\na\t1,5\n", 'split at a tab: set delimiter = "\\t"'),
            ("bag f1 f2\na 1 2\n", "Set delimiter; first line: 'bag f1 f2'"),
            ("bag,f\na,1,5\n", "3 cells, but line 1 names 2 columns. One cell more than names"),
            ("b0,0.5,1.5\nb1,2,3\n", "these are cells of a row? The first line names the columns"),
        ],
    )
    def test_tables_of_other_shapes_are_explained(self, table, text, said):
        """Another delimiter that is not in all lines, a missing name and missing names are each said."""
        assert said in refusal(table(text))

    def test_a_decimal_comma_among_points_is_named(self, table):
        """Where some cells have a point and one has a comma, nobody knows which it is, until the user says it."""
        path = table("bag;f\na;1.5\nb;1,5\nc;2\n")
        assert "line 3, column \"f\": '1,5' is no number. It has a decimal comma, and other cells have a point" in (
            refusal(path)
        )
        assert "line 2, column \"f\": '1.5' is no number" in refusal(path, decimal=",")
        with pytest.raises(SettingsError, match="decimal is ';'"):
            read_csv(path, decimal=";")

    def test_a_spreadsheet_may_say_the_delimiter(self, table):
        """A first line "sep=;" says it, and lines are counted with it; what the user says comes first."""
        assert read_csv(table("sep=;\r\nbag;f\r\na;1\r\n")).X.tolist() == [[1.0]]
        assert "line 4, column \"f\": 'x'" in refusal(table("sep=;\nbag;f\na;1\nb;x\n"))
        assert read_csv(table("sep=;\nbag,f\na,1\n"), delimiter=",").X.tolist() == [[1.0]]

    def test_names_that_are_all_numbers_are_noted(self, table):
        """A first row may be missing names; names that count the columns are those of a data frame without names."""
        data = read_csv(table("5.1,3.5,1\n4.9,3.0,0\n"), bag="1")
        assert "line 1 of toy.csv was taken for the names of columns" in data.notes[0]
        assert read_csv(table("0,1,2\n4.9,3.0,7\n"), bag="2").notes == ()

    def test_features_of_true_and_false_are_numbers(self, table):
        """True and false are 1 and 0 as features, in any case, as in Parquet."""
        assert read_csv(table("bag,f\na,True\na,FALSE\na,1\n")).X.ravel().tolist() == [1, 0, 1]
