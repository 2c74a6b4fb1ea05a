"""Views of rows: what is read of them is what an array of the same rows holds, and nothing is copied before."""

import os
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from bliss_framework.kernel import row_view
from bliss_framework.kernel.row_view import RowView, as_rows, for_passes, numbered_blocks, rows_in_a_file
from bliss_framework.kernel.rows import Rows

PROPERTY = settings(max_examples=40, deadline=None)
BASE = np.random.default_rng(0).normal(size=(37, 5)) * 10.0 ** np.arange(5)


def halved(read, dtype):
    """Halve rows in a precision."""
    return (np.asarray(read, dtype=dtype) / 2).astype(dtype)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of three rows of five columns."""
    monkeypatch.setattr(row_view, "BLOCK_VALUES", 15)


@given(st.lists(st.integers(0, 36), min_size=1, max_size=60), st.integers(1, 70))
@PROPERTY
def test_a_view_is_the_array_of_its_rows(index, size):
    """Whatever rows are chosen, twice or in any order, the view reads them, as a whole and in blocks of any size."""
    view = RowView(BASE, np.array(index), transform=halved)
    expected = BASE[index] / 2
    assert np.array_equal(view.array, expected)
    assert np.array_equal(np.concatenate([block.array for block in view.blocks(size)]), expected)
    assert view.shape == expected.shape


def test_taking_twice_is_taking_what_was_taken(small_blocks):
    """Positions, masks and slices of a view are those of its rows, and leave the view as it is."""
    view = RowView(BASE, np.arange(36, -1, -1))
    kept = view.take(np.array([0, 5, 7])).take(np.array([False, True, True])).take(slice(1, None))
    assert np.array_equal(kept.array, BASE[[29]])
    assert view.shape == (37, 5)


def test_column_sums_have_the_bits_of_an_array(small_blocks):
    """Means, variances and magnitudes of a view are to the last bit those that sums row after row give."""
    view, rows = RowView(BASE, np.arange(37)[::-1]), BASE[::-1]
    total = np.zeros(5)
    for row in rows:
        total = total + row
    assert np.array_equal(view.column_means(), total / 37)
    squares = np.zeros(5)
    for row in rows:
        squares = squares + (row - total / 37) ** 2
    assert np.array_equal(view.column_variances(), squares / 37)
    assert np.array_equal(view.column_magnitudes(), np.abs(BASE).max(axis=0))
    assert view.gamma_by_distance(2.0) == pytest.approx(2.0 / BASE.var(axis=0).sum())


def test_rows_hash_alike_in_a_view(small_blocks):
    """A row's hash does not depend on who holds it."""
    assert np.array_equal(RowView(BASE, np.array([3, 1])).hashes(), Rows(BASE).hashes()[[3, 1]])


def test_precision_is_that_which_is_asked_for():
    """A view of single precision reads in double where a transform makes it so, and in single on demand."""
    view = RowView(BASE.astype(np.float32), np.arange(4), transform=halved)
    assert (view.array.dtype, view.as_type(np.float32).array.dtype) == (np.float64, np.float32)
    assert view.in_stored_precision() is view


def test_many_values_stay_as_precise_as_they_are_stored(monkeypatch):
    """Above a number of values rows for many passes are no copy in double."""
    monkeypatch.setattr(row_view, "MANY_VALUES", 100)
    view = RowView(BASE.astype(np.float32), np.arange(37), transform=halved)
    assert for_passes(view).dtype == np.float32
    assert for_passes(view.take(np.arange(4))).dtype == np.float64


def test_a_mapped_file_is_read_in_blocks(tmp_path, small_blocks):
    """Rows of a memory map stay in the file, whatever part of them is taken, and whoever wants them many times."""
    np.save(tmp_path / "X.npy", BASE)
    view = RowView(np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(37), transform=halved)
    kept = for_passes(view.take(np.arange(30)))
    assert isinstance(kept, RowView)
    assert kept.is_mapped
    assert all(type(block) is np.ndarray for _, block in numbered_blocks(kept))
    assert isinstance(for_passes(RowView(BASE, np.arange(3))), Rows)


def test_a_view_takes_no_memory_of_its_own(tmp_path):
    """Column means of 40 MB of mapped rows, of which half are taken, take less than a tenth of that beside a block."""
    np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float64, shape=(100_000, 50)).flush()
    view = RowView(np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(0, 100_000, 2))
    blocks = 8 * row_view.BLOCK_VALUES
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(row_view, "BLOCK_VALUES", row_view.BLOCK_VALUES // 64)
        tracemalloc.start()
        view.column_means()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4_000_000 + blocks // 16


def test_sparse_rows_become_dense_features():
    """Of a CSR matrix a view holds what a function makes of its rows."""
    matrix = sp.random(20, 6, 0.4, format="csr", random_state=0)
    view = RowView.of(Rows(matrix)).mapped(lambda block: block.toarray()[:, :2] * 3, 2, np.float32)
    assert view.shape == (20, 2)
    assert np.allclose(view.take(np.array([4, 2])).array, matrix.toarray()[[4, 2], :2] * 3)


def test_sparse_blocks_hold_as_many_values_as_dense_ones(monkeypatch):
    """What makes a block of sparse rows large is what they store, not how many columns there might be."""
    monkeypatch.setattr(row_view, "BLOCK_VALUES", 20)
    rows = as_rows(sp.csr_matrix((np.ones(30), (np.arange(30), np.arange(30))), shape=(30, 9000)))
    assert [block.shape[0] for _, block in numbered_blocks(rows)] == [20, 10]


def test_rows_in_a_file_without_a_name_travel_as_rows(tmp_path, monkeypatch):
    """A view of a temporary file is read from it, leaves no file behind, and is pickled with its own rows alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stored = rows_in_a_file((37, 5), np.float64)
    stored[:] = BASE
    view = RowView(stored, np.array([30, 2, 2]))
    assert view.detached() is view
    assert list(tmp_path.iterdir()) == []
    again = pickle.loads(pickle.dumps(view))
    assert np.array_equal(again.array, BASE[[30, 2, 2]])
    assert again.base.shape == (3, 5)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system does not take space ahead")
def test_a_full_disk_is_an_error_before_rows_are_written(monkeypatch):
    """Space is taken ahead: a map into a full disk would end the process without a word."""

    def full(file, start, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        rows_in_a_file((3, 5), np.float64)
