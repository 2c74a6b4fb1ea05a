"""Rows in an .npy file: they are mapped, and a file beside them says what each of them is."""

import subprocess
import sys

import numpy as np
import pytest

from bliss_framework import DataError, SettingsError
from bliss_framework.testing import check_reader
from bliss_readers.npy.npy_reader import NpyReader
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader

X = np.array([[1.0, 0.5], [0.0, 2.5], [3.0, 0.0]], dtype=np.float32)
TABLE = "bag,label,inst_y,site\n007,1,1,a\n7,0,0,b\n007,1,0,a\n"


@pytest.fixture
def rows(tmp_path):
    """Write rows, and files beside them by what stands behind their name."""

    def write(array=X, **beside):
        path = tmp_path / "slides.npy"
        np.save(path, array)
        for suffix, content in beside.items():
            (tmp_path / f"slides.labels.{suffix}").write_text(content)
        return path

    return write


def refusal(path, error=DataError, **options):
    with pytest.raises(error) as caught:
        NpyReader().read(path, **options)
    return str(caught.value)


def test_rows_are_mapped_and_the_table_says_what_they_are(rows, tmp_path):
    """The data set is that of the same table with the features in it; its rows are read where they are used."""
    data = NpyReader().read(rows(csv=TABLE), group="site")
    assert isinstance(data.X, np.memmap)
    assert (data.X.dtype, data.X.flags.writeable) == (np.float32, False)
    lines = zip(TABLE.splitlines(), ["f1,f2", *(f"{a},{b}" for a, b in X.tolist())], strict=True)
    (tmp_path / "whole.csv").write_text("\n".join(map(",".join, lines)))
    whole = CsvReader().read(tmp_path / "whole.csv", group="site")
    assert data.X.tolist() == whole.X.tolist()
    for name in ("bags", "weak", "instance_labels", "groups"):
        assert getattr(data, name).tolist() == getattr(whole, name).tolist()
    assert (data.name, data.regime, data.notes) == ("slides", "mil", ())


def test_an_archive_says_what_rows_are(rows, tmp_path):
    """A native file without `X` beside the rows is the native file with them."""
    parts = {"bag": np.array([4, 4, -1]), "y": np.array([1, 0]), "feature_names": np.array(["a", "b"])}
    path = rows()
    np.savez(tmp_path / "slides.labels.npz", **parts)
    np.savez(tmp_path / "slides.npz", X=X, **parts)
    data, whole = NpyReader().read(path), NpzReader().read(tmp_path / "slides.npz")
    assert data.sha256() == whole.sha256()
    assert (data.name, data.feature_names, data.notes) == (whole.name, whole.feature_names, whole.notes)
    assert "bag names a column of a table" in refusal(path, SettingsError, bag="slide")
    assert "label names a column of a table" in refusal(path, SettingsError, label="slide")


def test_the_file_beside_may_have_any_name(rows, tmp_path, monkeypatch):
    """`labels` names it, beside the rows or in the current folder; its columns have the names that options say."""
    path, here = rows(), tmp_path / "here"
    here.mkdir()
    (here / "mine.csv").write_text("slide;tumour\nx;yes\ny;no\ny;no\n")
    monkeypatch.chdir(here)
    data = NpyReader().read(path, labels="mine.csv", bag="slide", label="tumour", delimiter=";")
    assert (data.bags.tolist(), data.weak.tolist()) == (["x", "y", "y"], ["yes", "no"])
    assert "gone.csv cannot be read" in refusal(path, labels="gone.csv")


def test_columns_without_a_role_are_noted(rows):
    """The features are those of the array, so a column more in the table is not one."""
    data = NpyReader().read(rows(csv=TABLE))
    assert data.feature_names is None
    assert data.notes == ("slides.labels.csv: site has no role and is not used; the features are in slides.npy",)


def test_rows_may_be_bags(rows):
    """Where each row is a bag of its own the table needs no bags, and predictions need no table."""
    data = NpyReader().read(rows(csv="y\n1\n0\n1\n"), rows_are_bags=True)
    assert (data.bags.tolist(), data.weak.tolist()) == (["0", "1", "2"], [1, 0, 1])
    (rows().parent / "slides.labels.csv").unlink()
    alone = NpyReader().read(rows(), rows_are_bags=True)
    assert (alone.bags.tolist(), alone.weak) == (["0", "1", "2"], None)


@pytest.mark.parametrize(
    ("array", "dtype", "why"),
    [
        (X.astype(np.float16), np.float32, "its values are float16"),
        (X.astype(np.int16), np.float64, "its values are int16"),
        (X.astype(">f4"), np.float32, "its values are >f4"),
        (np.asfortranarray(X), np.float32, "it is stored column by column"),
    ],
)
def test_what_cannot_be_mapped_is_read_and_noted(rows, array, dtype, why):
    """Other types and layouts are the same rows in memory; float16 becomes float32, in which sums do not overflow."""
    data = NpyReader().read(rows(array, csv=TABLE.replace(",site", "").replace(",a", "").replace(",b", "")))
    assert data.X.dtype == dtype
    assert data.X.tolist() == array.tolist()
    note = f"slides.npy is read into memory, because {why}; float32 or float64, row by row, would be mapped"
    assert data.notes == (note,)


def test_files_that_do_not_fit(rows, tmp_path):
    """Each refusal names the file, what was found and what to do."""
    assert "Write beside it slides.labels.npz or slides.labels.csv: a line or entry for each row" in refusal(rows())
    path = rows(csv="bag,label\na,1\n")
    assert "slides.labels.csv has 1 lines below the column names, and" in refusal(path)
    np.savez(tmp_path / "slides.labels.npz", bag=np.arange(2), y=np.arange(2))
    assert "say with labels which of them" in refusal(path)
    assert '"bag" has the shape (2,); allowed is (3,)' in refusal(path, labels="slides.labels.npz")
    assert "holds an array of shape (3,) and type float64" in refusal(rows(np.zeros(3)))
    whole = rows(csv=TABLE).read_bytes()
    path.write_bytes(whole[:-1])
    assert "is 24 bytes, and 23 bytes follow. It was cut short" in refusal(path, labels="slides.labels.csv")


def test_conformance(rows):
    """The reader keeps its contract."""
    check_reader(NpyReader(), rows(csv=TABLE))


MAPPED = """
import resource, sys
from pathlib import Path
from bliss_framework.estimator.extremes import check_values
from bliss_framework.estimator.inputs import check_training
from bliss_framework.estimator.suspect_columns import suspect_columns
from bliss_framework.kernel.rows import Rows
from bliss_framework.plugin import load_plugins
from bliss_readers.npy.npy_reader import NpyReader
from bliss_readers.npz.npz_reader import NpzReader
import pandas, pyarrow.csv

regime = load_plugins().registry.create("regime", "mil")
status = Path("/proc/self/status").read_text().splitlines()
used = next(int(line.split()[1]) for line in status if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + 150_000_000,) * 2)
path = Path(sys.argv[1])
dataset = (NpzReader() if path.suffix == ".npz" else NpyReader()).read(path)
data = check_training(dataset.X, dataset.weak, dataset.bags).read_by(regime)
check_values(data, "auto")
print(Rows(data.X).is_mapped, len(dataset.sha256()), suspect_columns(data))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_rows_need_not_fit_into_memory(tmp_path, suffix):
    """300 MB of rows are read, checked and digested with a limit of half of that on memory of its own."""
    path = tmp_path / f"big{suffix}"
    parts = {"bag": np.arange(300_000) * 7 % 1000, "y": np.arange(1000) % 2}
    array = np.zeros((300_000, 256), dtype=np.float32)
    array[::3, 0] = 1
    if suffix == ".npy":
        np.save(path, array)
        np.savez(tmp_path / "big.labels.npz", **parts)
    else:
        np.savez(path, X=array, **parts)
    del array
    run = subprocess.run([sys.executable, "-c", MAPPED, str(path)], capture_output=True, text=True)
    path.unlink()
    assert (run.stdout.strip(), run.stderr) == ("True 64 ()", "")
