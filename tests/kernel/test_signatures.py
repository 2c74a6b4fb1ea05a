"""Signatures of rows: what they see are the levels of values in each column, and nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import rankdata

from bliss_framework.kernel import signatures as module
from bliss_framework.kernel.rows import Rows
from bliss_framework.kernel.signatures import row_signatures

# Few values, so that columns have ties, are constant or repeated, and rows are equal.
TABLES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-2, 3).map(float))
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])


def signed(X):
    """The signatures of an array or matrix, which have one number for each row."""
    found = row_signatures(Rows(X))
    assert found.shape == (X.shape[0],)
    assert found.dtype == np.uint64
    return found


def same(one, other) -> bool:
    """Whether two arrays are equal."""
    return bool(np.array_equal(one, other))


@FORMS
@given(X=TABLES, data=st.data())
def test_permuted_rows_have_permuted_signatures(X, form, data):
    """A row keeps its signature wherever it stands."""
    rows = np.array(data.draw(st.permutations(range(len(X)))))
    assert same(signed(form(X[rows])), signed(form(X))[rows])


@FORMS
@given(X=TABLES, data=st.data())
def test_the_order_of_columns_is_no_matter(X, form, data):
    """Exchanged columns leave every signature as it is."""
    columns = np.array(data.draw(st.permutations(range(X.shape[1]))))
    assert same(signed(form(X[:, columns])), signed(form(X)))


@FORMS
@given(X=TABLES, data=st.data())
def test_units_are_no_matter(X, form, data):
    """A positive factor and a shift of each column of its own leave every signature as it is."""
    d = X.shape[1]
    factor = data.draw(st.lists(st.sampled_from([2.0**-60, 0.5, 1.0, 3.0, 1000.0]), min_size=d, max_size=d))
    shift = data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=d, max_size=d))
    assert same(signed(form(X * factor)), signed(form(X)))
    assert same(signed(form(X * np.maximum(factor, 0.5) + shift)), signed(form(X)))


@FORMS
@given(X=TABLES)
def test_dense_ranks_have_the_signatures_of_values(X, form):
    """Levels are the ranks of scipy, ties counted once: nothing else of the values enters."""
    assert same(signed(form(rankdata(X, method="dense", axis=0).astype(float))), signed(form(X)))


@FORMS
@given(X=TABLES, data=st.data())
def test_constant_and_repeated_columns_are_left_out(X, form, data):
    """Columns that are constant, or that repeat another one in the same or in other units, change no signature."""
    again = data.draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=4))
    value = data.draw(st.sampled_from([0.0, 1.0, -7.5]))
    assert same(signed(form(np.c_[np.full(len(X), value), X, 4.0 * X[:, again] - 1.0])), signed(form(X)))


@given(X=TABLES)
def test_dense_and_sparse_rows_have_the_same_signatures(X):
    """How numbers are stored is no matter: by row or column, sparse, with zeros stored, in single precision."""
    expected = signed(X)
    stored = np.broadcast_to(True, X.shape), (X != 0) | (np.indices(X.shape).sum(axis=0) % 2 == 0)
    with_zeros = [sp.csr_matrix((X[mask], np.nonzero(mask)), shape=X.shape) for mask in stored]
    assert with_zeros[0].nnz == X.size
    forms = [np.asfortranarray(X), np.where(X == 0, -0.0, X), sp.csr_matrix(X), *with_zeros]
    assert all(same(signed(form), expected) for form in forms)
    assert all(same(signed(form.astype(np.float32)), expected) for form in forms)


@FORMS
@given(X=TABLES)
def test_equal_rows_have_equal_signatures(X, form):
    """Rows with the same values have the same signature, though they count twice in every level."""
    found = signed(form(np.vstack([X, X])))
    assert same(found[: len(X)], found[len(X) :])


@FORMS
@pytest.mark.parametrize("seed", range(5))
def test_different_rows_have_different_signatures(form, seed):
    """Of random rows no two have one signature, whether columns have few levels or many, zeros or none."""
    rng = np.random.default_rng(seed)
    for X in (rng.normal(size=(300, 4)), rng.integers(-2, 3, (300, 20)), rng.integers(0, 3, (300, 20)) * 1.0):
        distinct = np.unique(X.astype(np.float64), axis=0)
        assert len(np.unique(signed(form(distinct)))) == len(distinct) > 290


def test_rows_that_exchanged_columns_would_exchange_share_a_signature():
    """Where nothing but the order of columns tells two rows apart, their signatures are equal."""
    one, other, third = signed(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    assert one == other != third


@FORMS
def test_which_column_a_level_is_in_counts(form):
    """Rows with the same levels in other columns differ where the columns can be told apart."""
    one, other, *_ = signed(form(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]))).tolist()
    assert one != other


@FORMS
def test_a_reversed_column_is_another_column(form):
    """A negative factor turns levels around, which signatures see."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert not same(signed(form(X * [-1.0, 1.0, 1.0])), signed(form(X)))


@pytest.mark.parametrize("size", [1, 7, 40])
def test_blocks_do_not_show(monkeypatch, size):
    """However many values are sorted at a time, signatures are the same."""
    X = np.random.default_rng(0).integers(-3, 4, (11, 9)).astype(float)
    expected = signed(X)
    monkeypatch.setattr(module, "BLOCK", size)
    assert same(signed(X), expected)


@FORMS
def test_too_many_values_have_no_signatures(monkeypatch, form):
    """Above the limit, which for sparse rows is one of stored values, there are no signatures."""
    X = np.eye(4) + 1.0 * (np.arange(4) == 2)
    n_values = form(X).size if form is np.asarray else form(X).nnz
    monkeypatch.setattr(module, "MOST_VALUES", n_values)
    assert row_signatures(Rows(form(X))) is not None
    monkeypatch.setattr(module, "MOST_VALUES", n_values - 1)
    assert row_signatures(Rows(form(X))) is None


@FORMS
@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (0, 2), (2, 0)])
def test_rows_without_a_difference(form, shape):
    """One row, one constant column, no row and no column leave nothing to tell apart."""
    assert len(set(signed(form(np.ones(shape))).tolist())) <= 1
