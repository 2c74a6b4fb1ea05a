"""The digest by which a run knows its data again."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve

from bliss_framework import WeakDataset

SETS = """
import numpy as np
from bliss_framework import WeakDataset
weak = [frozenset(["tumour", "stroma", "lymph"]), frozenset(), frozenset(["stroma"])]
print(*weak[0])
print(WeakDataset("sets", np.arange(3.0)[:, None], np.arange(3), weak).sha256())
"""


@pytest.fixture
def dataset():
    return WeakDataset("toy", np.arange(6.0).reshape(3, 2), np.array(["a", "a", "b"]), np.array([0, 1]))


def test_digest_of_label_sets_is_the_same_in_every_process():
    """Sets of names have no order, and Python's hash of text is another one in each process; the digest is not."""
    said = [
        subprocess.run(
            [sys.executable, "-c", SETS], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for seed in ("1", "2")
    ]
    (one_order, digest), (other_order, same) = said
    assert one_order != other_order
    assert digest == same
    assert len(digest) == 64


def test_digest_tells_label_sets_apart():
    """Two data sets that differ in one name of one set differ in the digest."""
    X, bags = np.zeros((2, 1)), np.arange(2)
    first, second = ([frozenset(["a", "b"]), frozenset(end)] for end in (["c"], []))
    assert WeakDataset("x", X, bags, first).sha256() != WeakDataset("x", X, bags, second).sha256()


def test_digest_covers_rows_bags_and_weak_labels(dataset):
    """One changed value of X, one other bag id or one other weak label changes the digest; the name does not."""
    other = dataset.X.copy()
    other[2, 1] = np.nextafter(other[2, 1], 9)
    changed = [{"X": other}, {"bags": np.array(["a", "b", "b"])}, {"weak": np.array([1, 1])}, {"name": "else"}]
    digests = [evolve(dataset, **one).sha256() for one in changed]
    assert [digest == dataset.sha256() for digest in digests] == [False, False, False, True]


def test_digest_of_sparse_rows(dataset):
    """Sparse rows are digested by their values and places; the same value elsewhere is another data set."""
    here, there = (evolve(dataset, X=sp.csr_matrix(([5.0], ([0], [column])), shape=(3, 2))) for column in (0, 1))
    assert here.sha256() == evolve(here, X=here.X.copy()).sha256()
    assert here.sha256() != there.sha256()


@pytest.mark.parametrize("order", ["C", "F"])
def test_digest_does_not_depend_on_blocks(dataset, monkeypatch, order):
    """Rows are digested some at a time, as one run of bytes, whatever their layout in memory."""
    rows = evolve(dataset, X=np.asarray(dataset.X, order=order))
    whole = dataset.sha256()
    for n_bytes in (1, 16, 40):
        monkeypatch.setattr("bliss_framework.extension.dataset.BLOCK_BYTES", n_bytes)
        assert rows.sha256() == whole
