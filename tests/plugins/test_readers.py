"""The built-in readers: what they read, and what they say about files that they refuse."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import DataError, SettingsError, WeakDataset
from bliss_readers.andrews_svm import AndrewsSvmReader
from bliss_readers.arff.arff_reader import ArffReader
from bliss_readers.c45 import C45Reader
from bliss_readers.hooks import bliss_readers
from bliss_readers.mill import MillReader
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.parquet_reader import ParquetReader

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
        "parquet": ParquetReader,
        "arff": ArffReader,
        "c45": C45Reader,
        "mill": MillReader,
        "andrews-svm": AndrewsSvmReader,
    }


class TestNpz:
    def test_dense_rows_come_back(self, npz):
        """Dense rows become float64; ids, weak labels and names are as they were written."""
        names, inst_y = np.array(["f1", "f2"]), np.array([0, 1, 0])
        data = NpzReader().read(npz(X=X.astype(np.float32), feature_names=names, inst_y=inst_y))
        assert data.X.dtype == np.float64
        assert data.X.tolist() == X.tolist()
        assert (data.name, data.regime, data.feature_names) == ("toy", "mil", ("f1", "f2"))
        assert data.bags.tolist() == BAG.tolist()
        assert data.weak.tolist() == [1, 0]
        assert data.instance_labels.tolist() == [0, 1, 0]

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
            (("True", "False"), ["True", "False"]),
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
        """`label_sets` makes sets of plain names or numbers, or keeps an empty cell from being one."""
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
        assert 'line 2, column "inst_y": no true class' in refusal(table("bag,inst_y,f\na,?,0\n"))

    def test_the_regime_can_be_said(self, table):
        """Proportions in a label column are read for the regime that the user names."""
        data = read_csv(table("bag,proportion,f\na,0.25,0\n"), label="proportion", regime="llp")
        assert (data.regime, data.weak.tolist()) == ("llp", [0.25])

    def test_missing_features_are_nan(self, table):
        """Empty cells, "?", "NA" and "nan" become NaN, for the estimator to name."""
        data = read_csv(table("bag,a,b,c,d,e\nx,,?,NA,NaN,7\n"))
        assert np.isnan(data.X).tolist() == [[True, True, True, True, False]]

    def test_spreadsheet_files_are_read(self, table):
        """A byte order mark, CRLF ends, blanks, quotes and blank lines change nothing."""
        data = read_csv(table('\ufeffbag, label ,f1\r\n"a, b", 1 , 0.5\r\n\r\n'))
        assert (data.bags.tolist(), data.weak.tolist(), data.X.tolist()) == (["a, b"], [1], [[0.5]])

    def test_other_delimiters(self, table):
        """Tab is the delimiter of .tsv files, and any one character can be named."""
        assert read_csv(table("bag\tf\na\t1\n", "toy.tsv")).X.tolist() == [[1.0]]
        semicolons = table("bag;f\na;1\n")
        assert read_csv(semicolons, delimiter=";").X.tolist() == [[1.0]]
        assert "Set delimiter; first line: 'bag;f'" in refusal(semicolons)
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
            (",bag,f\n0,a,1\n", {}, "column 1 of 3 has no name"),
            ("mol,f\na,1\n", {}, 'has no column "bag", which the option bag names. Its columns: mol, f'),
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
            ("bag,class\na,1\nb,0\n", {}, "say with label which of its columns is the weak label: bag, class"),
            ("mol,label\na,1\nb,0\n", {}, 'has no column "bag"'),
        ],
    )
    def test_a_wrong_second_table_is_explained(self, table, text, options, said):
        """Bags without a weak label, and weak labels without a bag, are named."""
        labels = table(text, "weak.csv")
        message = refusal(table("bag,f\na,1\nb,2\n"), labels=labels, **options)
        assert str(labels) in message
        assert said in message

    def test_two_places_of_weak_labels_are_refused(self, table):
        """A label column would become a feature beside a second file of weak labels, unless it is spoken for."""
        path, labels = table("bag,y,f\na,3,1\n"), table("bag,label\na,1\n", "weak.csv")
        assert 'has a column "y", and the option labels names a second file' in refusal(path, labels=labels)
        assert read_csv(path, labels=labels, label="label").feature_names == ("y", "f")
        assert read_csv(path, labels=labels, instance_label="y").instance_labels.tolist() == [3]

    def test_other_encodings_are_named(self, tmp_path):
        """A file that is not UTF-8 is refused with what to do."""
        path = tmp_path / "latin.csv"
        path.write_bytes("bag,größe\na,1\n".encode("latin-1"))
        assert "is not UTF-8 text" in refusal(path)

    def test_sniff_looks_at_name_and_first_bytes(self, table, tmp_path):
        """Only a text file called .csv or .tsv is recognised, and nothing raises."""
        assert CsvReader().sniff(table("bag,f\n", "toy.CSV"))
        assert not CsvReader().sniff(table("bag,f\n", "toy.txt"))
        assert not CsvReader().sniff(table("PK\0\0", "toy.csv"))
        assert not CsvReader().sniff(tmp_path / "gone.csv")
