"""Rows against plain loops and scikit-learn, in every form that they may have."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.preprocessing import MaxAbsScaler, normalize
from sklearn.svm import SVC
from sklearn.utils.sparsefuncs import mean_variance_axis

from bliss_framework.kernel import rows as module
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows, kernel_blocks

N, D = 60, 5


@pytest.fixture
def X():
    """Rows with zeros, an empty row, an empty column and a column that is constant but not 0."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    values[7], values[:, 3], values[:, 4] = 0.0, 0.0, 0.1
    return values


@pytest.fixture
def mapped(tmp_path):
    """Write an array and map it back from its file."""

    def map_back(values):
        np.save(tmp_path / "rows.npy", values)
        return np.load(tmp_path / "rows.npy", mmap_mode="r")

    return map_back


@pytest.fixture(params=["dense", "sparse", "mapped"])
def form(request, mapped):
    """Turn an array into rows of a form."""
    return {"dense": Rows, "sparse": lambda values: Rows(sp.csr_matrix(values)), "mapped": lambda v: Rows(mapped(v))}[
        request.param
    ]


class TestFormsAndParts:
    """What rows are, and parts of them."""

    def test_rows_say_what_they_are(self, X, mapped):
        """Of three forms one is sparse and one is mapped."""
        forms = [Rows(X), Rows(sp.csr_matrix(X)), Rows(mapped(X))]
        assert [rows.is_sparse for rows in forms] == [False, True, False]
        assert [rows.is_mapped for rows in forms] == [False, False, True]
        assert {(rows.shape, rows.dtype.name) for rows in forms} == {((N, D), "float64")}

    def test_parts(self, X, form):
        """Rows are taken by position or mask, columns by position."""
        picked = np.array([5, 2, 2])
        assert np.array_equal(form(X).take(picked).dense(), X[picked])
        assert np.array_equal(form(X).take(X[:, 0] > 0).dense(), X[X[:, 0] > 0])
        assert np.array_equal(form(X).columns(np.array([4, 1])).dense(), X[:, [4, 1]])

    @pytest.mark.parametrize("size", [1, 7, N, 1000])
    def test_blocks_put_together_are_the_rows(self, X, form, size):
        """No block is larger than asked for, and none is left out."""
        blocks = list(form(X).blocks(size))
        assert max(block.shape[0] for block in blocks) <= size
        assert np.array_equal(Rows.stacked([block.array for block in blocks]).dense(), X)

    def test_parts_of_a_map_are_read_from_the_file(self, X, mapped):
        """A block is a view of the map, and the same precision gives the map itself."""
        rows = Rows(mapped(X))
        assert all(np.shares_memory(block.array, rows.array) for block in rows.blocks(7))
        assert rows.as_type(np.float64).array is rows.array

    def test_stacked_rows_are_sparse_where_a_part_is(self, X):
        """Dense and sparse parts make sparse rows, dense ones an array."""
        assert not Rows.stacked([X, X]).is_sparse
        mixture = Rows.stacked([X, sp.csr_matrix(X)])
        assert mixture.is_sparse
        assert np.array_equal(mixture.dense(), np.concatenate([X, X]))

    def test_buffers_make_the_rows_again(self, X):
        """One array, or data, indices and ends."""
        assert [array is X for array in Rows(X).buffers()] == [True]
        again = sp.csr_matrix(tuple(Rows(sp.csr_matrix(X)).buffers()), shape=X.shape)
        assert np.array_equal(again.toarray(), X)

    def test_single_precision_stays(self, X, form):
        """Float32 rows give float32 products, norms and means of columns."""
        rows = form(X.astype(np.float32))
        found = (rows.products(rows.array), rows.squared_norms(), rows.column_means())
        assert [array.dtype.name for array in found] == ["float32"] * 3


class TestCanonicalMatrix:
    """Sparse rows as solvers want them."""

    def test_repeated_entries_are_added_in_a_copy(self):
        """Columns are sorted, what is there twice is added up, and the caller's matrix keeps what it had."""
        given = sp.csr_matrix((np.array([1, 2, 4]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
        found = Rows(given).canonical()
        assert (found.array.indices.tolist(), found.array.data.tolist()) == ([0, 2], [2.0, 5.0])
        assert given.indices.tolist() == [2, 0, 2]
        assert found.dtype == np.float64

    def test_indices_of_64_bits_become_narrow(self, X):
        """They fit in 32 bits, which more solvers take."""
        given = sp.csr_matrix(X)
        given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
        found = Rows(given).canonical().array
        assert (found.indices.dtype, found.indptr.dtype) == (np.int32, np.int32)
        assert np.array_equal(found.toarray(), X)

    def test_dense_rows_are_returned_as_they_are(self, X):
        """There is nothing to do."""
        assert Rows(X).canonical().array is X


class TestSums:
    """Products, norms, means and variances by loops over numbers."""

    def test_products_are_dense(self, X, form):
        """Each is the sum over columns, whatever form the others have."""
        others = X[:4] + 1.0
        expected = [[sum(a * b for a, b in zip(x, z, strict=True)) for z in others] for x in X]
        for other in (others, sp.csr_matrix(others)):
            found = form(X).products(other)
            assert type(found) is np.ndarray
            assert np.allclose(found, expected)

    def test_weighted_gram(self, X, form):
        """The sum of weighted outer products."""
        weights = np.random.default_rng(1).random(N)
        found = form(X).weighted_gram(weights)
        assert type(found) is np.ndarray
        assert np.allclose(found, sum(w * np.outer(x, x) for w, x in zip(weights, X, strict=True)))

    def test_squares(self, X, form):
        """Each row's, all of them, and a row's on average; 1 for rows of zeros."""
        squares = [sum(v * v for v in x) for x in X]
        assert np.allclose(form(X).squared_norms(), squares)
        assert form(X).sum_of_squares() == pytest.approx(sum(squares))
        assert form(X).mean_square() == pytest.approx(sum(squares) / N)
        assert form(np.zeros((3, 2))).mean_square() == 1.0

    def test_columns(self, X, form):
        """Means, variances, ranges and magnitudes of each column."""
        columns = X.T.tolist()
        means = [sum(column) / N for column in columns]
        assert np.allclose(form(X).column_means(), means)
        variances = [sum((v - m) ** 2 for v in column) / N for column, m in zip(columns, means, strict=True)]
        assert np.allclose(form(X).column_variances(), variances)
        assert np.allclose(form(X).column_ranges(), [max(column) - min(column) for column in columns])
        assert np.allclose(form(X).column_magnitudes(), MaxAbsScaler().fit(X).max_abs_)

    def test_a_constant_sparse_column_has_no_variance_but_rounding(self):
        """Squares of differences are added, not differences of squares."""
        X = np.full((1000, 1), 1e8 + 0.1)
        assert Rows(sp.csr_matrix(X)).column_variances()[0] < 1e-10

    @pytest.mark.parametrize("density", [0.05, 0.5, 1.0])
    def test_sparse_variances_have_the_bits_of_scikit_learn(self, density):
        """The same sums in the same order."""
        matrix = sp.random(300, 40, density=density, format="csr", random_state=3)
        matrix.data += 3.0
        assert Rows(matrix).column_variances().tolist() == mean_variance_axis(matrix, axis=0)[1].tolist()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_mapped_variances_have_the_bits_of_an_array(self, mapped, monkeypatch, dtype):
        """Blocks continue one sum."""
        monkeypatch.setattr(module, "READ_ROWS", 37)
        X = np.random.default_rng(0).normal(3.0, 1.0, size=(500, 6)).astype(dtype)
        assert Rows(mapped(X)).column_variances().tolist() == Rows(X).column_variances().tolist()

    def test_total_variance_is_half_the_mean_squared_distance(self, X, form):
        """Over all ordered pairs of rows, each with itself among them."""
        assert form(X).total_variance() == pytest.approx((pdist(X) ** 2).sum() / N**2)

    def test_variance_of_values_forgets_columns(self, X, form):
        """All numbers count alike."""
        values = list(itertools.chain(*X.tolist()))
        mean = sum(values) / len(values)
        assert form(X).value_variance() == pytest.approx(sum((v - mean) ** 2 for v in values) / len(values))


class TestWidths:
    """The two definitions of the scale of an RBF kernel."""

    def test_by_distance(self, X, form):
        """A width in units of half the mean squared distance."""
        assert form(X).gamma_by_distance(0.5) == pytest.approx(0.5 * 2 * N**2 / (2 * (pdist(X) ** 2).sum()))

    def test_by_values_is_that_of_scikit_learn(self, X, form):
        """What SVC makes of gamma="scale"."""
        svc = SVC(gamma="scale").fit(X, np.arange(N) % 2)
        assert form(X).gamma_by_values() == pytest.approx(svc._gamma)

    def test_columns_with_other_means_tell_them_apart(self, form):
        """A large mean makes values differ but not rows."""
        X = np.array([[0.0, 10.0], [2.0, 12.0]])
        assert form(X).gamma_by_distance(1.0) == pytest.approx(0.5)
        assert form(X).gamma_by_values() == pytest.approx(1 / 52)

    def test_rows_that_are_alike(self, form):
        """Rounding is not taken for a variance."""
        X = np.full((7, 3), 0.1)
        assert X.var() > 0
        assert (form(X).gamma_by_distance(3.0), form(X).gamma_by_values()) == (3.0, 1.0)


class TestScaling:
    """New values, in the same form."""

    def test_standardised(self, X, form):
        """Dense rows are centred; sparse ones would not stay sparse."""
        mean, factor = X.mean(axis=0), np.arange(1.0, D + 1)
        found = form(X).standardised(mean, factor)
        expected = X * factor if found.is_sparse else (X - mean) * factor
        assert np.allclose(found.dense(), expected)

    def test_clipped(self, X, form):
        """Values beyond a limit become the limit, and the rows that are given do not change."""
        rows = form(X)
        assert np.array_equal(rows.clipped(0.5).dense(), np.clip(X, -0.5, 0.5))
        assert np.array_equal(rows.dense(), X)

    def test_unit_length(self, X, form):
        """As scikit-learn normalises; a row of zeros stays."""
        assert np.allclose(form(X).of_unit_length().dense(), normalize(X))
        assert form(X).of_unit_length().is_sparse == form(X).is_sparse


class TestBags:
    """One row for each bag."""

    BAGS = Bags.from_ids(np.random.default_rng(2).integers(0, 12, size=N))

    def test_means(self, X, form):
        """As each bag on its own, in the form of the rows."""
        found = form(X).bag_means(self.BAGS)
        assert np.allclose(found.dense(), [X[self.BAGS.index == j].mean(axis=0) for j in range(self.BAGS.n_bags)])
        assert found.is_sparse == form(X).is_sparse

    def test_extremes(self, X, form):
        """Minima left, maxima right; zeros that are not stored are values."""
        found = form(X).bag_extremes(self.BAGS)
        parts = [X[self.BAGS.index == j] for j in range(self.BAGS.n_bags)]
        assert np.array_equal(found.dense(), [np.r_[part.min(axis=0), part.max(axis=0)] for part in parts])
        assert found.is_sparse == form(X).is_sparse


class TestContents:
    """Hashes, and values that are no numbers."""

    def test_equal_rows_have_equal_hashes(self, X, form):
        """And others have others: the second half repeats the first."""
        X = X[:30] + np.arange(30)[:, None]
        hashes = form(np.concatenate([X, X])).hashes()
        assert hashes[:30].tolist() == hashes[30:].tolist()
        assert len(set(hashes.tolist())) == 30

    def test_signs_of_zero_are_one_value(self):
        """0.0 and -0.0 compare equal, so they hash alike."""
        assert Rows(np.array([[0.0, 1.0]])).hashes() == Rows(np.array([[-0.0, 1.0]])).hashes()

    def test_blocks_do_not_show(self, X, form, monkeypatch):
        """However many rows are read at a time."""
        expected = form(X).hashes()
        monkeypatch.setattr(module, "READ_ROWS", 7)
        assert form(X).hashes().tolist() == expected.tolist()

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_the_first_value_that_is_not_finite_is_found(self, X, form, value):
        """Row by row, in order of columns."""
        assert form(X).first_not_finite() is None
        X[9, 2] = X[9, 4] = X[30, 0] = value
        row, column, found = form(X).first_not_finite()
        assert (row, column) == (9, 2)
        assert found == value or (np.isnan(found) and np.isnan(value))

    def test_a_sum_that_overflows_hides_nothing(self, form):
        """Finite values may have an infinite sum."""
        assert form(np.full((2, 2), 1e308)).first_not_finite() is None


@pytest.mark.parametrize(("n", "m"), [(10, 3), (10, 1000), (1, 0)])
def test_kernel_blocks_cover_all_rows(monkeypatch, n, m):
    """Each row is in one block, and a block has at least one."""
    monkeypatch.setattr(module, "BLOCK", 12)
    covered = [list(range(n))[block] for block in kernel_blocks(n, m)]
    assert list(itertools.chain(*covered)) == list(range(n))
    assert all(len(block) * m <= 12 or len(block) == 1 for block in covered)
