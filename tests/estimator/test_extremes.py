"""Values beyond what can be squared, rows that are all equal, and one value beyond all others."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import BlissWarning, DataError, PluginError, Rows, Scaling
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.extremes import check_values
from bliss_framework.kernel.bags import Bags

DENSE = ("auto", "standard", "clipped", "standard-unit", "unit")


def rows(seed=0, n=20):
    return np.random.default_rng(seed).normal(3.0, [1.0, 10.0, 0.1], size=(n, 3))


def checked(X, columns=None):
    return CheckedData(X, Bags.from_ids(np.arange(X.shape[0])), None, columns)


def said(X, scaling="auto", columns=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_values(checked(X, columns), scaling)
    return [str(one.message) for one in caught]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", DENSE)
@pytest.mark.parametrize("exponent", [900, 532, 500, -500, -664, -900])
def test_powers_of_two_change_no_bit(mode, exponent):
    """Columns in a unit that is a power of two larger or smaller are scaled to the same bits, however large it is."""
    X, new = rows(), rows(1)
    expected = Scaling(mode).fit(X).transform(new)
    factor = 2.0**exponent
    assert (Scaling(mode).fit(X * factor).transform(new * factor) == expected).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", DENSE)
@pytest.mark.parametrize("factor", [1e300, 1e155, 1e-200, 1e-300, np.array([1e300, 1.0, 1e-300])])
def test_extreme_units(mode, factor):
    """Any other unit changes standardised columns by rounding alone, also where columns have different ones."""
    if mode in ("unit",) and np.ndim(factor):
        return
    X = rows()
    assert np.allclose(Scaling(mode).fit(X * factor).transform(X * factor), Scaling(mode).fit(X).transform(X))


@pytest.mark.filterwarnings("error")
def test_the_largest_and_the_smallest_numbers():
    """The largest double and the smallest one, and single precision at its ends, are told apart from the others."""
    signs = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    for size in (1.7e308, 5e-324, np.float32(3.4e38), np.float32(1e-45)):
        found = Scaling("standard").fit(signs * size).transform(signs * size)
        assert np.allclose(found, signs, rtol=1e-15, atol=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [2.0**900, 2.0**-900])
@pytest.mark.parametrize("mode", ["auto", "standard", "clipped"])
def test_sparse_rows(factor, mode):
    """Sparse rows of extreme size stay sparse, and are scaled to the bits of ordinary ones."""
    X = sp.csr_matrix(np.where(rows() > 3.0, rows(), 0.0))
    found = Scaling(mode).fit(X * factor).transform(X * factor)
    assert sp.issparse(found)
    assert (found.toarray() == Scaling(mode).fit(X).transform(X).toarray()).all()


def test_rows_of_different_size_get_unit_length():
    """Each row is divided by its own length, whatever its size; rows of zeros stay."""
    X = np.array([[3e200, 4e200], [3e-200, 4e-200], [3.0, 4.0], [0.0, 0.0]])
    for kind in (np.asarray, sp.csr_matrix):
        found = Rows(kind(X)).of_unit_length().dense()
        assert np.allclose(found, [[0.6, 0.8], [0.6, 0.8], [0.6, 0.8], [0.0, 0.0]], atol=0, rtol=1e-15)


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        (2e300, np.float64, 'value 2e+300 in row 1; with scaling = "none" that is too large'),
        (-2e200, np.float64, "value -2e+200 in row 1"),
        (2e-200, np.float64, "too small for its square to be computed in float64"),
        (2e30, np.float32, "too large for its square to be computed in float32"),
        (2e-30, np.float32, "too small"),
    ],
)
def test_values_as_they_are(value, dtype, words):
    """With scaling "none" values that cannot be squared are refused by column, row and value; others are not."""
    X = np.array([[0.0, 0.0], [0.0, value], [0.0, 0.0]], dtype=dtype)
    with pytest.raises(DataError) as caught:
        check_values(checked(X, ("a", "b")), "none")
    assert str(caught.value).startswith('Column "b" of X has the value ')
    assert words in str(caught.value)
    for kept in (np.eye(4) * 1e100, np.eye(4) * 1e-100, np.eye(4, dtype=np.float32) * np.float32(1e10)):
        check_values(checked(kept), "none")


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 2)), np.zeros((6, 2)), np.full((6, 1), 1e300), sp.csr_matrix((6, 2)), sp.csr_matrix(np.ones((6, 2)))],
)
def test_rows_that_are_all_equal(X):
    """One sentence says that nothing tells instances apart; a column that is constant beside others needs none."""
    assert said(X) == [
        "All 6 rows of X are equal, so nothing tells one instance from another, and their labels mean nothing."
    ]
    assert said(np.array([[1.0, 5.0], [1.0, 6.0]])) == []


@pytest.mark.parametrize("value", [1e300, -1e30, 1e12])
def test_a_value_beyond_all_others(value):
    """It is named by column, row and value; columns of large numbers, or of one number beside zeros, are not."""
    X = rows()
    X[7, 1] = value
    (sentence,) = said(X, columns=("f", "g", "h"))
    assert sentence.startswith(f'Column "g" of X has the value {value:g} in row 7, and no other above ')
    assert said(rows() * 1e20) == []
    assert said(np.eye(5) * 1e20) == []


@pytest.mark.parametrize("factor", [1e300, 2.0**532, 1e-200])
def test_whole_fits(factor, toy, bliss):
    """A fit in an extreme unit is as good as in an ordinary one, without a word of numpy's."""
    X, bags, weak = toy(gap=6.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = bliss(train_on="rest", classifier={"name": "kernel-ridge", "width": 1.0}).fit(
            X * factor, weak, bags=bags
        )
        assert model.score(X * factor, weak, bags) == 1.0
    assert np.isfinite(model.training_scores_).all()


def test_warnings_come_before_work(toy, bliss, untouched):
    """What is wrong with values is said before any pull."""
    X, bags, weak = toy()
    with pytest.raises(DataError, match=r'Column 0 of X has the value .* scaling = "none"'):
        bliss(classifier=untouched, scaling="none").fit(X * 1e300, weak, bags=bags)
    with pytest.raises(PluginError, match="started"), pytest.warns(BlissWarning, match="rows of X are equal"):
        bliss(classifier=untouched).fit(np.ones_like(X), weak, bags=bags)
