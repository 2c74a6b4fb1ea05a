"""MATLAB files, as SciPy and h5py write them: layouts of the usual collections, and files that are damaged."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from bliss_framework.plugin import DataError
from bliss_framework.testing import check_reader
from bliss_readers.mat.mat_file import list_variables
from bliss_readers.mat.mat_reader import MatReader

ROWS = np.array([[1.0, 0.0], [0.0, 2.5], [3.0, 0.0], [0.0, 0.0], [5.0, 6.0]])
IDS = np.array([7, 7, 3, 3, 3], dtype=np.uint8)
LABELS = np.array([1.0, 1.0, -1.0, -1.0, -1.0])


@pytest.fixture
def mat(tmp_path):
    """Write variables into a file; return its path."""

    def write(**variables):
        scipy.io.savemat(tmp_path / "t.mat", variables, do_compression=variables.pop("compress", True))
        return tmp_path / "t.mat"

    return write


def andrews():
    """Return the variables of Andrews' layout: sparse rows and labels, ids of one byte."""
    return {"features": sp.csc_matrix(ROWS), "bag_ids": IDS, "labels": sp.csc_matrix(LABELS), "comment": "x"}


def test_the_layout_of_andrews(mat):
    """Rows stay sparse, ids are whole numbers, and a bag has the label of its rows."""
    data = MatReader().read(mat(**andrews()))
    assert sp.issparse(data.X)
    assert data.X.toarray().tolist() == ROWS.tolist()
    assert (data.bags.tolist(), data.weak.tolist(), data.regime) == ([7, 7, 3, 3, 3], [1, -1], "mil")
    check_reader(MatReader(), mat(**andrews()))


@pytest.mark.parametrize("compress", [True, False])
def test_dense_rows_with_a_label_for_each_bag(mat, compress):
    """A matrix and a label for each bag, in order of first appearance; rows that lie across are turned."""
    data = MatReader().read(mat(data=ROWS.T, bagID=IDS, label=["pos", "neg"], compress=compress))
    assert (data.X.tolist(), data.weak.tolist()) == (ROWS.tolist(), ["pos", "neg"])


@pytest.mark.parametrize("turned", [True, False])
def test_a_cell_of_bags(mat, turned):
    """Each entry of a cell is a bag; where entries share their height, instances are columns."""
    cells = np.empty((1, 2), dtype=object)
    cells[0] = [ROWS[:2].T, ROWS[2:].T] if turned else [ROWS[:2], ROWS[2:]]
    data = MatReader().read(mat(D=cells, L=np.array([[3], [4]], dtype=np.uint8)))
    assert (data.X.tolist(), data.bags.tolist(), data.weak.tolist()) == (ROWS.tolist(), [1, 1, 2, 2, 2], [3, 4])


def test_variables_may_be_named(mat):
    """Options name variables that have unusual names; without them the file says what it has."""
    path = mat(rows_=ROWS, who=np.array(["a ", "a ", "bb", "bb", "bb"]), what=LABELS)
    data = MatReader().read(path, rows="rows_", bag="who", label="what")
    assert (data.bags.tolist(), data.weak.tolist()) == (["a", "a", "bb", "bb", "bb"], [1, -1])
    with pytest.raises(DataError, match=r"no variable called features, .*option rows names.*rows_ \(5, 2\)"):
        MatReader().read(path)


def write_hdf5(path):
    """Write what MATLAB writes as version 7.3: axes turned round, sparse rows as a group of three arrays."""
    h5py = pytest.importorskip("h5py", reason="needs the extra files")
    with h5py.File(path, "w", userblock_size=512) as file:
        sparse = sp.csc_matrix(ROWS)
        group = file.create_group("features")
        group.attrs["MATLAB_sparse"] = np.uint64(5)
        group["data"], group["ir"], group["jc"] = sparse.data, sparse.indices, sparse.indptr
        file["bag_ids"], file["labels"] = IDS[:, None], LABELS[:, None]
        for name in ("bag_ids", "labels"):
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        file.create_group("#refs#")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")


def test_version_7_3(tmp_path):
    """The same data come out of an HDF5 file."""
    write_hdf5(tmp_path / "t.mat")
    data = MatReader().read(tmp_path / "t.mat")
    assert MatReader().sniff(tmp_path / "t.mat")
    assert (data.X.toarray().tolist(), data.weak.tolist()) == (ROWS.tolist(), [1, -1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.array([1, -1, -1, -1, -1])}, r'"labels" has two labels in the bag 7'),
        ({"labels": np.array([1, -1, 1])}, r'"labels" has 3 labels .* each of the 2 bags, or of the 5 rows'),
        ({"bag_ids": np.array([1, 2, 3])}, r'"features" has the shape \(5, 2\), and there are bag ids of 3 rows'),
        ({"bag_ids": np.array([1.5, 2, 2, 2, 2])}, "no whole numbers"),
        ({"features": np.array([["a", "b"]], dtype=object)}, 'entry 1 of the cell "features" is no matrix'),
    ],
)
def test_what_does_not_fit_is_named(mat, change, words):
    """Each message names the file and the variable."""
    with pytest.raises(DataError, match=rf"t\.mat.*({words})"):
        MatReader().read(mat(**{**andrews(), **change}))


def test_a_file_that_claims_too_much_is_refused(tmp_path):
    """A compressed variable of a gigabyte of zeros in a megabyte takes no memory."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    (tmp_path / "t.mat").write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(DataError, match="says that it holds"):
        MatReader().read(tmp_path / "t.mat")


def test_indices_beyond_the_last_row_are_refused(mat):
    """A sparse matrix whose indices point outside of it is refused, before anything follows them."""
    wrong = sp.csc_matrix(ROWS)
    wrong.indices[-1] = 10**6
    with pytest.raises(DataError, match=r"t\.mat is damaged"):
        MatReader().read(mat(**{**andrews(), "features": wrong}))


def test_numbers_of_a_kind_that_is_none_are_refused(tmp_path):
    """SciPy ends the process that reads numbers of kind 73; that is another process, and the file is named."""
    path = tmp_path / "t.mat"
    scipy.io.savemat(path, {"data": np.zeros((30, 3))}, do_compression=False)
    content = bytearray(path.read_bytes())
    assert content[176] == 9  # Numbers of double precision.
    content[176] = 73
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.mat is damaged"):
        list_variables(path)


def test_the_published_files(shared):
    """The files of Andrews and of Corel have the bags that are known of them; an object of PRTools is refused."""
    raw = shared / "data" / "mil" / "raw"
    musk = MatReader().read(raw / "andrews_musk1norm_matlab.mat")
    assert (musk.X.shape, len(musk.weak), int((musk.weak == 1).sum())) == ((476, 166), 92, 47)
    corel = MatReader().read(raw / "corel_imagefeatures.mat")
    assert (len(corel.weak), sorted(set(corel.weak.tolist()))) == (2000, list(range(20)))
    with pytest.raises(DataError, match="Objects of classes are not read"):
        MatReader().read(raw / "prtools_musk1.mat")
