"""Scaling against scikit-learn's own scalers, and what is special about ours: constant columns and sparse rows."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import Normalizer, StandardScaler

from bliss_framework import Bags, Scaling, SettingsError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.label_inference import order_data
from bliss_framework.estimator.parameters import SCALINGS
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_mil.regime.mil_regime import MilRegime

PROPERTY = settings(max_examples=60, deadline=None)

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, [1.0, 10.0, 0.1], size=(20, 3))
NEW = RNG.normal(size=(5, 3))


def sparse(rows):
    return sp.csr_matrix(np.where(np.abs(rows) > 0.5, rows, 0.0))


def test_standard_is_standard_scaler():
    """Columns get the mean 0 and the deviation 1 that they had in training."""
    assert np.allclose(Scaling("standard").fit(X).transform(NEW), StandardScaler().fit(X).transform(NEW))


def test_unit_is_normalizer():
    """Rows get Euclidean length 1."""
    assert np.allclose(Scaling("unit").fit(X).transform(NEW), Normalizer().transform(NEW))


def test_standard_unit_is_one_after_the_other():
    """Columns are standardised first, then rows get length 1."""
    expected = Normalizer().transform(StandardScaler().fit(X).transform(NEW))
    assert np.allclose(Scaling("standard-unit").fit(X).transform(NEW), expected)


def test_none_changes_nothing():
    """Rows pass as they are."""
    assert (Scaling("none").fit(X).transform(NEW) == NEW).all()


def test_sparse_rows_are_divided_but_not_centred():
    """Sparse columns are divided by their deviation as StandardScaler(with_mean=False) does, and stay sparse."""
    S, new = sparse(X), sparse(NEW)
    scaled = Scaling("standard").fit(S).transform(new)
    assert sp.issparse(scaled)
    assert np.allclose(scaled.toarray(), StandardScaler(with_mean=False).fit(S).transform(new).toarray())


@pytest.mark.parametrize("mode", ["auto", "unit", "standard-unit"])
def test_sparse_rows_get_unit_length(mode):
    """Sparse rows of length above 0 get length 1; "auto" does that for sparse rows."""
    scaled = Scaling(mode).fit(sparse(X)).transform(sparse(NEW))
    lengths = np.linalg.norm(scaled.toarray(), axis=1)
    assert np.allclose(lengths[lengths > 0], 1.0)


def test_auto_is_clipped_for_dense_rows():
    """What "auto" means for dense rows: mean 0, deviation 1, and no value beyond 3 deviations."""
    new = NEW + 100.0 * np.eye(*NEW.shape)
    expected = np.minimum(np.maximum(StandardScaler().fit(X).transform(new), -3.0), 3.0)
    assert expected.max() == 3.0
    assert np.allclose(Scaling("auto").fit(X).transform(new), expected)


def test_clipped_sparse_rows_stay_sparse():
    """Sparse rows are divided by the deviation and limited as well, without becoming dense."""
    scaled = Scaling("clipped").fit(sparse(X)).transform(sparse(100.0 * NEW))
    unlimited = Scaling("standard").fit(sparse(X)).transform(sparse(100.0 * NEW))
    assert sp.issparse(scaled)
    assert np.allclose(scaled.toarray(), np.minimum(np.maximum(unlimited.toarray(), -3.0), 3.0))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8, -3e-7])
def test_column_that_is_constant_in_training_becomes_zero(make, constant):
    """A constant column, whose computed deviation may be rounding noise, becomes 0 for any new row."""
    rows = np.c_[np.full(997, constant), np.random.default_rng(1).normal(size=997)]
    scaling = Scaling("standard").fit(make(rows))
    scaled = scaling.transform(make(np.array([[5.0, 1.0]])))
    assert (scaled.toarray() if sp.issparse(scaled) else scaled)[0, 0] == 0.0


def test_small_deviation_on_a_large_mean_is_no_constant():
    """A column of deviation 1e-6 around 1000 is still standardised, dense or sparse."""
    column = 1e3 + 1e-6 * np.random.default_rng(2).normal(size=(500, 1))
    for rows in (column, sp.csr_matrix(column)):
        assert np.isclose(Scaling("standard").fit(rows).factor_[0], 1.0 / column.std(), rtol=1e-5)


def test_row_of_zeros_stays_zero():
    """A row without length is not divided by it."""
    zeros = np.zeros((1, 3))
    assert (Scaling("unit").fit(X).transform(zeros) == 0.0).all()
    assert Scaling("unit").fit(X).transform(sp.csr_matrix(zeros)).nnz == 0


@pytest.mark.parametrize("mode", ["auto", "clipped", "standard", "standard-unit", "unit", "none"])
def test_input_is_not_changed(mode):
    """Scaling works on a copy, dense or sparse."""
    S = sparse(X)
    before, dense = S.copy(), X.copy()
    Scaling(mode).fit(S).transform(S)
    Scaling(mode).fit(dense).transform(dense)
    assert (before != S).nnz == 0
    assert (dense == X).all()


@PROPERTY
@given(hnp.arrays(np.float64, (6, 3), elements=st.floats(-1e3, 1e3)), st.sampled_from(["standard", "unit"]))
def test_scaling_has_no_nan(rows, mode):
    """Whatever the numbers, scaled rows are finite."""
    assert np.isfinite(Scaling(mode).fit(rows).transform(rows)).all()


@pytest.mark.parametrize("mode", ["Standard", "", None, 1, ["unit"]])
def test_unknown_mode_is_refused(mode):
    """The message names the parameter, what is allowed and what was given."""
    with pytest.raises(SettingsError, match="scaling must be one of auto, clipped, standard") as caught:
        Scaling(mode).fit(X)
    assert repr(mode) in str(caught.value)


@pytest.mark.parametrize("mode", [mode for mode in SCALINGS if mode != "none"])
def test_single_precision_rows_are_scaled_in_double(mode):
    """Scaled rows have the bits that the same values in double precision get; without scaling rows stay as they are."""
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    found = Scaling(mode).fit(X).transform(X)
    assert found.dtype == np.float64
    assert np.array_equal(found, Scaling(mode).fit(X.astype(float)).transform(X.astype(float)))
    assert Scaling("none").fit(X).transform(X) is X


def test_single_precision_rows_cost_no_more_than_their_own_size():
    """In canonical order and unscaled, rows are a copy in their own precision; what finds the order needs little."""
    X = np.random.default_rng(0).random((20_000, 100), dtype=np.float32)
    bags, regime = Bags.from_ids(np.arange(20_000) // 4), MilRegime()
    data = CheckedData(X, bags, np.arange(5000) % 2).read_by(regime)
    config = configure({"regime": regime}, Profile.of(bags, sparse=False), default_plugins().registry)
    tracemalloc.start()
    ready = order_data(data, config, scaling="none")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ready.data.X.dtype == np.float32
    # A block of 4,096 rows needs some copies in double precision.
    assert peak < 3.5 * X.nbytes
