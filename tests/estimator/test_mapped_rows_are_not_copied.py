"""Rows that stay in a file: neither a fit nor a prediction makes an array of all of them in memory."""

import numpy as np
import pytest

from bliss_framework import BlissClassifier
from bliss_framework.kernel import row_view
from bliss_framework.lockstep import runner

N_ROWS, N_COLUMNS, BAG_SIZE = 1200, 20, 10


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    """Rows in a file, of more values than are read at a time, with their bags."""
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS), dtype=np.float32)
    bags = np.arange(N_ROWS) // BAG_SIZE
    X[::BAG_SIZE, 0] += 5.0 * (bags[::BAG_SIZE] % 2)
    np.save(path, X)
    return np.load(path, mmap_mode="r"), bags


@pytest.fixture
def copied(monkeypatch):
    """How many values each copy from a mapped array has, and so few are many."""
    monkeypatch.setattr(row_view, "MANY_VALUES", 10)
    found, plain = [], np.memmap.__getitem__

    def watched(self, index):
        taken = plain(self, index)
        if isinstance(taken, np.ndarray) and not np.shares_memory(taken, self):
            found.append(taken.size)
        return taken

    monkeypatch.setattr(np.memmap, "__getitem__", watched)
    return found


@pytest.mark.parametrize("lockstep", [True, False], ids=["in lock-step", "fold by fold"])
@pytest.mark.parametrize(
    "given",
    [
        {"classifier": "ridge"},
        {"classifier": "ridge", "inherited_share": 0.5},
        {"regime": "llp", "classifier": "ridge"},
    ],
    ids=["mil", "a share that is given", "llp"],
)
def test_at_most_a_block_is_copied(given, lockstep, mapped, copied, monkeypatch):
    """To fit, to score instances and to read bags, no more than a few rows are copied at a time."""
    monkeypatch.setattr(runner, "MANY_ROWS", 1 if lockstep else 10**9)
    (X, bags), y = mapped, np.arange(N_ROWS // BAG_SIZE) % 2
    given = {**given, "classifier": "ridge", "final_classifier": "same", "n_rounds": 2, "random_state": 0}
    weak = 0.2 + 0.4 * y if given.get("regime") == "llp" else y
    model = BlissClassifier(**given).fit(X, weak, bags=bags)
    model.decision_function(X)
    model.predict_bags(X, bags)
    model.score_bags(X, bags)
    assert copied
    assert max(copied) <= X.size // 5
