"""Zarr stores are read as the native file with the same arrays, and what may run code in them is refused."""

import json
import shutil
import sys
import warnings

import numpy as np
import pytest

from bliss_framework import DataError, MissingExtraError
from bliss_framework.testing import check_reader
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.zarr_store import ZarrReader

zarr = pytest.importorskip("zarr", reason="needs the extra zarr")

ARRAYS = {
    "X": np.arange(1, 41, dtype=np.float32).reshape(20, 2),
    "bag": np.repeat(["a", "ü", "007", "7"], 5),
    "y": np.array(["yes", "no", "no", "yes"]),
    "inst_y": np.arange(20) % 2,
    "feature_names": np.array(["f1", "f2"]),
}


@pytest.fixture
def store(tmp_path):
    """Write arrays as a store."""

    def write(version=3, arrays=ARRAYS, **options):
        path = tmp_path / f"toy{version}.zarr"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            group = zarr.open_group(path, mode="w", zarr_format=version)
            for name, array in arrays.items():
                group.create_array(name, data=array, **(options if name == "X" else {}))
        return path

    return write


def refusal(path):
    with pytest.raises(DataError) as caught:
        ZarrReader().read(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("version", "options"),
    [(2, {}), (3, {}), (2, {"chunks": (3, 1)}), (3, {"chunks": (3, 1)}), (3, {"chunks": (2, 1), "shards": (6, 2)})],
)
def test_a_store_is_the_native_file(store, tmp_path, version, options):
    """However the arrays are cut into chunks, the data set is that of the archive of the same arrays."""
    np.savez(tmp_path / "toy.npz", **ARRAYS)
    data, whole = ZarrReader().read(store(version, **options)), NpzReader().read(tmp_path / "toy.npz")
    assert data.sha256() == whole.sha256()
    assert data.X.dtype == np.float32
    for name in ("weak", "instance_labels"):
        assert getattr(data, name).tolist() == getattr(whole, name).tolist()
    assert (data.feature_names, data.regime, data.notes) == (whole.feature_names, whole.regime, ())
    assert data.name == f"toy{version}"


@pytest.mark.parametrize("version", [2, 3])
def test_text_of_any_length_is_text(store, version):
    """Text that is stored word by word, as programs write it by default, is the same text."""
    path = store(version, {"X": ARRAYS["X"], "y": np.array([1, 0, 0, 1])})
    bag = zarr.open_group(path, mode="a").create_array("bag", shape=(20,), dtype=str)
    bag[:] = ARRAYS["bag"].astype(object)
    assert ZarrReader().read(path).bags.tolist() == ARRAYS["bag"].tolist()


def test_chunks_that_are_not_there_are_noted(store):
    """Zarr reads a lost chunk as zeros without a word; a chunk of zeros that was never stored looks the same."""
    path = store(chunks=(5, 2))
    assert ZarrReader().read(path).notes == ()
    shutil.rmtree(path / "X" / "c" / "1")
    data = ZarrReader().read(path)
    assert (data.X[5:10] == 0).all()
    assert data.notes == (
        'toy3.zarr: 1 of 4 chunks of "X" are not stored and were read as 0.0; if the store was not copied as a whole, '
        "copy it again",
    )


def test_what_may_run_code_is_refused(store):
    """A pickle is never opened, nor is a codec used that nobody knows."""
    path = store(2)
    about = path / "X" / ".zarray"
    said = json.loads(about.read_text())
    for codec in ({"id": "pickle", "protocol": 5}, {"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f4"}):
        about.write_text(json.dumps(said | {"filters": [codec]}))
        message = refusal(path)
        assert codec["id"] in message
    assert '"X" is encoded with astype; allowed are the usual ones' in message


def test_a_claim_is_held_against_the_store(store):
    """Shapes and chunks beyond what the files can hold are refused before memory is taken."""
    path = store()
    about = path / "X" / "zarr.json"
    said = json.loads(about.read_text()) | {"shape": [2**40, 2]}
    about.write_text(json.dumps(said))
    assert "says that it holds" in refusal(path)
    said |= {"shape": [20, 2], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**40, 2]}}}
    about.write_text(json.dumps(said))
    assert "says that it holds" in refusal(path)


@pytest.mark.parametrize("shape", [[30, 10**300], [10**300, 2], [0, 10**300]])
def test_a_shape_beyond_all_numbers_is_refused(store, shape):
    """Of which zarr itself cannot compute the size."""
    path = store()
    about = path / "X" / "zarr.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"shape": shape}))
    refusal(path)


@pytest.mark.parametrize(
    ("dtype", "read_as"), [("float16", "f4"), ("float32", "f4"), ("int32", "f8"), ("float64", "f8")]
)
def test_rows_that_memory_does_not_hold_are_mapped(store, monkeypatch, dtype, read_as):
    """Where memory is short the rows are read into a file a few chunks at a time, with the same values and dtype."""
    path = store(arrays={**ARRAYS, "X": ARRAYS["X"].astype(dtype)}, chunks=(7, 2))
    plain = ZarrReader().read(path)
    monkeypatch.setattr("bliss_readers.npz.npz_archive.FEWEST_MAPPED", 0)
    monkeypatch.setattr("bliss_framework.compute.empty_rows.MOST", 0)
    mapped = ZarrReader().read(path)
    assert isinstance(mapped.X, np.memmap)
    assert (mapped.X.dtype, plain.X.dtype) == (read_as, read_as)
    assert np.array_equal(mapped.X, plain.X)


def test_damage_is_named(store):
    """A damaged chunk, damaged metadata, a single array and a missing one are each one sentence."""
    path = store(chunks=(5, 2))
    (path / "X" / "c" / "1" / "0").write_bytes(b"nothing of the kind")
    assert '"X" is damaged or cannot be read' in refusal(path)
    (path / "zarr.json").write_text("{")
    assert "the store is damaged or cannot be read" in refusal(path)
    assert "is a single Zarr array" in refusal(store() / "X")
    assert 'has no "bag"; it holds X, y' in refusal(store(arrays={"X": ARRAYS["X"], "y": ARRAYS["y"]}))


def test_the_missing_package_is_one_sentence(store, monkeypatch):
    """Without zarr a store is still recognised, and the pip command is said."""
    path = store()
    monkeypatch.setitem(sys.modules, "zarr", None)
    assert ZarrReader().sniff(path)
    with pytest.raises(MissingExtraError, match=r'zarr, which is not installed: pip install .*"zarr>='):
        ZarrReader().read(path)


def test_the_contract_is_kept(store):
    """The conformance kit of readers passes."""
    check_reader(ZarrReader(), store())
