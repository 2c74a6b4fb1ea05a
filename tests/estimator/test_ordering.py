"""The canonical order: the same content in the same order, whatever the caller's order of rows and names of bags."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from bliss_framework import Bags
from bliss_framework.estimator.ordering import canonical_order
from bliss_framework.kernel import rows as kernel_rows, signatures
from bliss_framework.kernel.rows import Rows

PROPERTY = settings(max_examples=60, deadline=None)


def content(X, ids: list, stratum_of: dict) -> list:
    """The rows in canonical order, each with the number of its bag (in that order) and its stratum."""
    bags = Bags.from_ids(ids)
    strata = np.array([stratum_of[name] for name in bags.ids.tolist()])
    order = canonical_order(X, bags, strata)
    assert sorted(order.tolist()) == list(range(len(ids)))
    kept, positions = bags.take(order)
    rows = X[order].toarray() if sp.issparse(X) else X[order]
    # Adding 0.0 lets -0.0 print as 0.0.
    return [(*(row + 0.0).tolist(), int(b), int(strata[positions[b]])) for row, b in zip(rows, kept.index, strict=True)]


@st.composite
def bagged_rows(draw):
    """Rows of which no two bags have the same ones, with ids, the strata of the ids, and a permutation."""
    ids = draw(st.lists(st.integers(0, 4), min_size=1, max_size=14))
    values = draw(
        st.lists(
            st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e-300, 1e300]), min_size=3, max_size=3),
            min_size=len(ids),
            max_size=len(ids),
        )
    )
    # A last column tells bags apart; inside a bag, rows may be equal.
    X = np.array([[*row, float(name)] for row, name in zip(values, ids, strict=True)])
    strata = {name: draw(st.integers(0, 1)) for name in set(ids)}
    return X, ids, strata, draw(st.permutations(range(len(ids))))


@PROPERTY
@given(bagged_rows(), st.sampled_from([np.asarray, sp.csr_matrix]))
def test_order_of_rows_and_names_of_bags_are_no_matter(case, kind):
    """Permuted rows with renamed bags come out with the same content in the same order, dense or sparse."""
    X, ids, strata, permutation = case
    renamed = {name: f"bag-{(7 * name + 3) % 11}" for name in set(ids)}
    expected = content(kind(X), ids, strata)
    found = content(
        kind(X[list(permutation)]),
        [renamed[ids[row]] for row in permutation],
        {renamed[name]: stratum for name, stratum in strata.items()},
    )
    assert found == expected


@PROPERTY
@given(bagged_rows())
def test_sparse_and_dense_rows_have_one_order(case):
    """The order depends on the numbers, not on how they are stored."""
    X, ids, strata, _ = case
    assert content(sp.csr_matrix(X), ids, strata) == content(X, ids, strata)
    assert content(np.asfortranarray(X), ids, strata) == content(X, ids, strata)


@PROPERTY
@given(bagged_rows())
def test_bags_stay_together_stratum_by_stratum(case):
    """In canonical order the rows of a bag are neighbours, and the strata come one after the other."""
    ordered = content(*case[:3])
    numbers, strata = [row[-2] for row in ordered], [row[-1] for row in ordered]
    assert numbers == sorted(numbers)
    assert strata == sorted(strata)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_negative_zero_is_zero(kind):
    """Writing 0.0 as -0.0 changes nothing."""
    X = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    bags, strata = Bags.from_ids([0, 0, 1, 1]), np.array([0, 0])
    order = canonical_order(kind(X), bags, strata)
    negative = np.where(X == 0, -0.0, X)
    assert canonical_order(kind(negative), bags, strata).tolist() == order.tolist()


def test_a_stored_zero_is_a_zero():
    """A CSR matrix that stores zeros, or stores a row's columns in another order, is the same content."""
    plain = sp.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    stored = sp.csr_matrix((np.array([2.0, 0.0, 1.0, 3.0]), np.array([2, 1, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    bags, strata = Bags.from_ids([0, 1]), np.array([0, 0])
    assert canonical_order(stored, bags, strata).tolist() == canonical_order(plain, bags, strata).tolist()


def test_the_column_of_a_value_counts():
    """Rows with the same values in other columns are different content."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    bags, strata = Bags.from_ids([0, 0, 0, 0]), np.array([0])
    order = canonical_order(X, bags, strata)
    first = X[order][:, 0].tolist()
    assert first in ([1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0])


def test_rows_that_share_a_bag_count_as_a_bag():
    """Two partitions of the same rows come out as two different partitions."""
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    one, other = (content(X, ids, {0: 0, 1: 0}) for ids in ([0, 0, 1, 1], [0, 1, 0, 1]))
    assert one != other


def test_empty_sparse_rows():
    """A row without stored values is a row of zeros."""
    X = sp.csr_matrix((3, 5))
    assert sorted(canonical_order(X, Bags.from_ids([0, 1, 0]), np.array([0, 0])).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("block", [1, 2, 5])
def test_rows_are_looked_at_in_blocks(monkeypatch, block):
    """The order is the same however many rows are looked at in one go, and for the same values in single precision."""
    X = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    bags, strata = Bags.from_ids(np.arange(11) // 3), np.zeros(4, dtype=np.intp)
    expected = canonical_order(X.astype(np.float64), bags, strata).tolist()
    monkeypatch.setattr(kernel_rows, "READ_ROWS", block)
    assert canonical_order(X, bags, strata).tolist() == expected


CHANGES = {
    "units": lambda X: X * 2.0 ** np.arange(-2, X.shape[1] - 2) + 1000.0 * np.arange(X.shape[1]),
    "order of columns": lambda X: X[:, ::-1],
    "constant columns": lambda X: np.c_[np.zeros(len(X)), X, np.full(len(X), 3.0)],
    "doubled columns": lambda X: np.c_[X, X],
    "a column in two units": lambda X: np.c_[X, 1000.0 * X[:, 0] + 5.0],
}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("seed", range(5))
def test_columns_are_compared_by_what_is_larger(change, kind, seed):
    """Other units, another order of columns, constant and repeated columns put the same rows in the same order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 21, (30, 4)).astype(np.float64)
    bags, strata = Bags.from_ids(rng.integers(0, 8, 30)), rng.integers(0, 2, 8)
    strata = strata[: bags.n_bags]
    assert canonical_order(kind(change(X)), bags, strata).tolist() == canonical_order(kind(X), bags, strata).tolist()


def test_values_decide_where_ranks_do_not():
    """Rows that only exchanged columns tell apart are put in order by their values, whatever the caller's order."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    bags, strata = Bags.from_ids([0, 0, 0, 0]), np.array([0])
    assert len(set(signatures.row_signatures(Rows(X)).tolist())) == 1
    orders = {str(X[rows][canonical_order(X[rows], bags, strata)]) for rows in ([0, 1, 2, 3], [1, 0, 3, 2])}
    assert len(orders) == 1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_too_many_values_to_rank_are_put_in_order_by_values(monkeypatch, kind):
    """Above the limit order follows values alone: rows may still come in any order, but units matter."""
    monkeypatch.setattr(signatures, "MOST_VALUES", 10)
    rng = np.random.default_rng(0)
    X, ids = rng.normal(size=(40, 3)), np.arange(40) // 5
    rows = rng.permutation(40)
    strata = dict.fromkeys(range(8), 0)
    assert content(kind(X[rows]), ids[rows].tolist(), strata) == content(kind(X), ids.tolist(), strata)
    bags, none = Bags.from_ids(ids), np.zeros(8, dtype=np.intp)
    assert canonical_order(kind(3.0 * X), bags, none).tolist() != canonical_order(kind(X), bags, none).tolist()
