"""Sums over rows, and the normal equations that are made of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import BlissWarning, DataError
from bliss_framework.kernel import row_view
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.sums import gram, moments, outputs
from bliss_framework.primal.systems import FactorisedSystem, SteppedSystem, has_sums, needs_products, system

RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, 4))
TARGETS = RNG.normal(size=(23, 3))
WEIGHTS = RNG.uniform(0.1, 3.0, size=23)
WITH_ONE = np.c_[X, np.ones(23)]
FORMS = [
    Rows(X),
    Rows(sp.csr_matrix(X)),
    RowView(np.flipud(X), np.arange(23)[::-1]),
]


@pytest.fixture(params=[1 << 22, 8])
def forms(request, monkeypatch):
    """The same rows in three forms, read at once or two at a time."""
    monkeypatch.setattr(row_view, "BLOCK_VALUES", request.param)
    return FORMS


def test_sums_are_what_they_are_called(forms):
    """Gram, moments and outputs equal matrix products with a column of ones, in any form and any block size."""
    for rows in forms:
        assert np.allclose(gram(rows), WITH_ONE.T @ WITH_ONE)
        assert np.allclose(gram(rows, WEIGHTS), WITH_ONE.T @ np.diag(WEIGHTS) @ WITH_ONE)
        assert np.allclose(moments(rows, TARGETS), WITH_ONE.T @ TARGETS)
        assert np.allclose(outputs(rows, np.arange(10.0).reshape(5, 2)), WITH_ONE @ np.arange(10.0).reshape(5, 2))


def test_single_precision_adds_up_in_double():
    """Ten million ones in single precision, which alone stop at 2^24, are counted to the last."""
    rows = Rows(np.ones((20_000_000, 1), dtype=np.float32))
    assert gram(rows)[0, 0] == 20_000_000.0


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_systems_solve_the_normal_equations(forms, weights):
    """The factorised and the stepped system solve (X' W X + ridge) b = m, as a solver of dense matrices does."""
    own = np.ones(23) if weights is None else weights
    matrix = WITH_ONE.T @ np.diag(own) @ WITH_ONE + 0.7 * np.eye(5)
    right = moments(FORMS[0], TARGETS)
    expected = np.linalg.solve(matrix, right)
    for rows in forms:
        assert np.allclose(system(rows, weights, 0.7).solve(right), expected)
        assert np.allclose(SteppedSystem(rows, weights, 0.7).solve(right), expected, rtol=1e-5, atol=1e-7)


def test_many_columns_are_never_a_matrix():
    """With 50,000 sparse columns and 6,000 rows the system is stepped, and solves what it should."""
    columns = RNG.integers(0, 50_000, 60_000)
    rows = sp.csr_matrix((np.ones(60_000), columns, np.arange(0, 60_001, 10)), shape=(6000, 50_000))
    assert not has_sums(50_000)
    assert not needs_products(*rows.shape)
    equations = system(Rows(rows), None, 1.0)
    assert isinstance(equations, SteppedSystem)
    targets = np.sign(RNG.normal(size=(6000, 1)))
    right = moments(Rows(rows), targets)
    solved = equations.solve(right)
    outputs_ = outputs(Rows(rows), solved)
    assert np.allclose(moments(Rows(rows), outputs_) + solved, right, atol=1e-4)


def test_steps_that_do_not_arrive_are_said():
    """Columns of very different length and a tiny ridge need more steps than there are, and a warning says so."""
    rows = Rows(RNG.normal(size=(900, 600)) * np.logspace(0, 8, 600))
    with pytest.warns(BlissWarning, match="Least squares of 600 columns were not solved to the end in 300 steps"):
        SteppedSystem(rows, None, 1e-9).solve(moments(rows, np.sign(RNG.normal(size=(900, 1)))))


def test_a_ridge_that_is_lost_is_said():
    """Where rounding leaves no positive definite matrix, the error names ridge and values."""
    with pytest.raises(DataError, match="the ridge of 1 is lost beside products of up to 4e"):
        FactorisedSystem.of(np.array([[4e40, 4e40], [4e40, 4e40]]), 1.0)
