"""Landmarks: features whose inner products are nearly an RBF kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel as sk_rbf

from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.landmarks import Landmarks

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_landmarks_are_compared_exactly(form):
    """Between landmarks, and between a landmark and any row, inner products of features are the kernel itself."""
    chosen = form(X[:12])
    features = Landmarks.of_rows(chosen, 0.4)
    assert np.allclose(features.of(form(X)) @ features.of(chosen).T, sk_rbf(X, X[:12], gamma=0.4), atol=2e-4)


def test_features_are_those_of_scikit_learn():
    """With the same landmarks the approximate kernel is that of scikit-learn's Nystroem."""
    theirs = Nystroem(gamma=0.4, n_components=20, random_state=0).fit(X)
    features = Landmarks.of_rows(X[theirs.component_indices_], 0.4).of(X)
    expected = theirs.transform(X)
    assert np.allclose(features @ features.T, expected @ expected.T, atol=2e-3)


def test_equal_rows_are_one_direction():
    """Landmarks that repeat one another add no features."""
    assert Landmarks.of_rows(np.repeat(X[:5], 4, axis=0), 0.4).n_features == 5


def test_draws_follow_weights_and_the_seed():
    """The same state draws the same landmarks, none twice, and rows of a thousand times the weight first."""
    weights = np.where(np.arange(60) < 10, 1000.0, 1e-3)
    drawn = [Landmarks.drawn(Rows(X), 10, 0.4, np.random.default_rng(1), weights) for _ in range(2)]
    assert np.array_equal(drawn[0].rows, drawn[1].rows)
    assert np.array_equal(drawn[0].rows, X[:10])
    assert len(Landmarks.drawn(Rows(X), 500, 0.4, np.random.default_rng(1)).rows) == 60


def test_features_of_a_mapped_file_are_made_once(tmp_path, monkeypatch):
    """Few features are an array; many of a file's rows are in a file again, and nobody finds it."""
    np.save(tmp_path / "X.npy", X)
    view = RowView(np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(60)[::-1])
    landmarks = Landmarks.of_rows(X[:9], 0.4)
    kept = landmarks.features(view)
    assert isinstance(kept, Rows)
    monkeypatch.setattr("bliss_framework.primal.landmarks.FEATURES_KEPT", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stored = landmarks.features(view)
    assert isinstance(stored, RowView)
    assert stored.is_mapped
    assert np.array_equal(stored.array, kept.array)
    assert stored.dtype == np.float32
    assert [one.name for one in tmp_path.iterdir()] == ["X.npy"]
    assert isinstance(landmarks.features(Rows(X)), Rows)
