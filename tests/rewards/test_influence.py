"""How much each held-out output moves with each training label."""

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from bliss_framework import Fold, LabelSpace, influence
from bliss_framework.plugin import MarginalEffect, Outcome


class WithSmoother:
    """Stands for a prepared classifier that is linear in its labels, or for one that is not."""

    def __init__(self, smoother):
        self.smoother = smoother


@pytest.fixture
def fold(make_part):
    """Two training rows at 0 and 4, so that their total variance is 4, and three held-out rows."""
    train = make_part([1, 1], X=np.array([[0.0], [4.0]]))
    return Fold(train, make_part([1, 2], X=np.array([[0.0], [2.0], [6.0]])), 1)


@pytest.mark.parametrize("classifier", [None, WithSmoother(None), object()], ids=["none", "not linear", "no attribute"])
def test_similarity_by_hand(fold, classifier):
    """For a classifier that is not linear it is exp(-|x - z|^2 / v): squares 0, 16; 4, 4; 36, 4 over the variance 4."""
    found = influence(fold, classifier)
    assert np.allclose(found, np.exp([[-0.0, -4.0], [-1.0, -1.0], [-9.0, -1.0]]))


def test_smoother_is_taken_as_it_is(fold):
    """For a classifier that is linear in its labels it is the smoother, in its own precision and with its signs."""
    smoother = np.array([[0.5, -0.25], [0.0, 1.0], [2.0, 0.125]], dtype=np.float32)
    found = influence(fold, WithSmoother(smoother))
    assert found.dtype == np.float32
    assert found.tolist() == smoother.tolist()


def test_variance_is_that_of_the_training_rows_over_all_columns(make_part):
    """Held-out rows have no say in the width; the columns of the training rows have variances 1 and 9."""
    train = make_part([2, 2], X=np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 6.0], [2.0, 6.0]]))
    heldout = make_part([1], X=np.array([[100.0, 0.0]]))
    rows, mean = train.X, train.X.mean(axis=0)
    variance = sum(float((row - mean) @ (row - mean)) for row in rows) / len(rows)
    assert variance == 10.0
    expected = [np.exp(-float((heldout.X[0] - row) @ (heldout.X[0] - row)) / variance) for row in rows]
    assert np.allclose(influence(Fold(train, heldout, 1), None)[0], expected, atol=0, rtol=1e-9)


def test_sparse_rows_are_like_dense_ones(make_part):
    """The layout of the rows changes nothing, and the result is a dense array."""
    rng = np.random.default_rng(0)
    rows, others = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    dense = Fold(make_part([3, 4], X=rows), make_part([2, 3], X=others), 1)
    sparse = Fold(*(evolve(part, X=sp.csr_matrix(part.X)) for part in (dense.train, dense.heldout)), 1)
    found = influence(sparse, None)
    assert isinstance(found, np.ndarray)
    assert found.shape == (5, 7)
    assert np.allclose(found, influence(dense, None))


def test_rows_that_are_all_alike(make_part):
    """Training rows without variance have the width 1, so nothing is divided by 0."""
    fold = Fold(make_part([3], X=np.full((3, 1), 5.0)), make_part([2], X=np.array([[5.0], [6.0]])), 1)
    assert np.allclose(influence(fold, None), np.exp([[0.0] * 3, [-1.0] * 3]))


def test_many_rows_are_similar_by_way_of_landmarks(make_part, monkeypatch):
    """Above a number of values the similarity is an operator, near what the matrix says, in both directions."""
    rng = np.random.default_rng(0)
    fold = Fold(make_part([200, 200], X=rng.normal(size=(400, 3))), make_part([150], X=rng.normal(size=(150, 3))), 1)
    exact = influence(fold, None)
    monkeypatch.setattr("bliss_framework.rewards.influence.MOST_VALUES", 59_999)
    operator = influence(fold, None)
    assert isinstance(operator, LinearOperator)
    assert operator.shape == (150, 400)
    slopes, targets = rng.normal(size=(150, 2)), rng.normal(size=400)
    for found, expected in ((operator.rmatmat(slopes), exact.T @ slopes), (operator @ targets, exact @ targets)):
        assert np.linalg.norm(found - expected) < 0.01 * np.linalg.norm(expected)


@pytest.mark.parametrize("n_slopes", [1, 3])
def test_marginal_effects_of_an_operator_are_those_of_its_matrix(make_part, n_slopes):
    """A reward gets the same numbers whether influence is a matrix or an operator."""
    rng = np.random.default_rng(0)
    n_labels = max(n_slopes, 2)
    space = LabelSpace(np.ones((7, n_labels), dtype=bool), np.arange(n_labels))
    train = evolve(make_part([3, 4], X=rng.normal(size=(7, 2))), space=space)
    fold = Fold(train, make_part([5], X=rng.normal(size=(5, 2))), 1)
    matrix, slopes = rng.normal(size=(5, 7)), rng.normal(size=(5, n_slopes))
    labels = rng.integers(0, n_labels, 7)
    scores = np.zeros((7, n_slopes))
    outcome = Outcome(fold, labels, labels, scores, np.zeros(5, dtype=np.intp), np.zeros((5, n_slopes)))
    by_matrix, by_operator = (
        MarginalEffect(one, lambda outcome: slopes, 0.7)(outcome) for one in (matrix, aslinearoperator(matrix))
    )
    assert np.allclose(by_matrix, by_operator, rtol=1e-12)
    assert by_matrix.std() > 0
