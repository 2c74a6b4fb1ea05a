"""The k nearest values against the distances of all pairs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.neighbors import NearestNeighbors

from bliss_framework import nearest

# Multiples of 1/4 have exact midpoints and distances, and few of them make many ties.
GRID = st.integers(-8, 8).map(lambda quarters: quarters / 4)
PROPERTY = settings(max_examples=200, deadline=None)


def all_pairs(values: list[float], query: float, k: int) -> set[int]:
    """All values that are at most as far away as the k-th nearest."""
    distances = [abs(Fraction(value) - Fraction(query)) for value in values]
    kth = sorted(distances)[min(k, len(values)) - 1]
    return {position for position, distance in enumerate(distances) if distance <= kth}


def members(windows, q: int) -> set[int]:
    return set(windows.order[windows.start[q] : windows.stop[q]].tolist())


@PROPERTY
@given(st.lists(GRID, min_size=1, max_size=14), st.lists(GRID, min_size=1, max_size=5), st.integers(1, 20))
@example([0.0, 0.0, 0.0, 1.0], [0.5], 1)
@example([0.0, 1.0, 1.0, 2.0, 2.0], [1.5], 3)
@example([-0.0, 0.0], [0.0], 1)
@example([1.0, 2.0, 3.0], [2.0], 3)
@example([1.0, 2.0, 3.0], [2.0], 4)
def test_windows_are_those_of_all_pairs(values, queries, k):
    """A window holds the k nearest values and every other that ties with the furthest of them."""
    windows = nearest(np.array(values), np.array(queries), k)
    for q, query in enumerate(queries):
        assert members(windows, q) == all_pairs(values, query, k)


@PROPERTY
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=14, unique=True),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    st.integers(1, 16),
)
def test_windows_on_any_numbers(values, queries, k):
    """On numbers without a grid no value outside a window is nearer than one inside, up to rounding."""
    windows = nearest(np.array(values), np.array(queries), k)
    for q, query in enumerate(queries):
        inside = members(windows, q)
        furthest = max(abs(values[i] - query) for i in inside)
        assert len(inside) >= min(k, len(values))
        slack = 1e-12 * (1 + max(map(abs, [*values, query])))
        assert all(abs(values[i] - query) >= furthest - slack for i in range(len(values)) if i not in inside)


@PROPERTY
@given(st.lists(GRID, min_size=1, max_size=12), st.lists(GRID, min_size=1, max_size=4), st.integers(1, 14), st.data())
def test_order_of_the_values_is_no_matter(values, queries, k, data):
    """Permuting the values with their quantities leaves every bit of the means as it was."""
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    given_means = nearest(np.array(values), np.array(queries), k).mean(marks)
    permuted = nearest(np.array(values)[order], np.array(queries), k).mean(marks[order])
    assert given_means.tolist() == permuted.tolist()


@PROPERTY
@given(st.lists(GRID, min_size=1, max_size=12), GRID, st.integers(1, 14), st.integers(0, 2**32 - 1))
def test_means_are_those_of_all_pairs(values, query, k, seed):
    """The mean over a window, weighted or not, is the mean over the neighbours that all pairs give."""
    rng = np.random.default_rng(seed)
    quantity, weights = rng.random(len(values)), rng.random(len(values)) + 0.1
    near = sorted(all_pairs(values, query, k))
    windows = nearest(np.array(values), np.array([query]), k)
    assert windows.mean(quantity)[0] == pytest.approx(sum(quantity[i] for i in near) / len(near), rel=1e-12)
    expected = sum(quantity[i] * weights[i] for i in near) / sum(weights[i] for i in near)
    assert windows.mean(quantity, weights)[0] == pytest.approx(expected, rel=1e-12)


def test_neighbours_of_scikit_learn():
    """Where no distances tie, scikit-learn's neighbour search finds the same ones."""
    rng = np.random.default_rng(3)
    values, queries = rng.normal(size=200), rng.normal(size=50)
    windows = nearest(values, queries, 7)
    found = NearestNeighbors(n_neighbors=7).fit(values[:, None]).kneighbors(queries[:, None], return_distance=False)
    for q in range(50):
        assert members(windows, q) == set(found[q].tolist())


def test_k_of_all_values():
    """With k equal to or above the number of values every window holds them all."""
    values = np.array([3.0, 1.0, 2.0])
    for k in (3, 4, 1000):
        assert nearest(values, np.array([-9.0, 9.0]), k).mean(np.array([1, 0, 0])) == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize("k", [1, 7, 49, 200])
def test_a_mean_of_ones_is_exactly_one(k):
    """No rounding creeps into the mean of a window of ones, so it reaches alpha = 1."""
    rng = np.random.default_rng(k)
    windows = nearest(rng.normal(size=150), rng.normal(size=40), k)
    assert (windows.mean(np.ones(150, dtype=bool)) == 1.0).all()
    assert (windows.mean(np.ones(150, dtype=bool), rng.random(150) + 0.01) == 1.0).all()


def test_values_that_are_all_equal():
    """Any k takes all of them: nothing can tell them apart."""
    windows = nearest(np.full(6, 2.5), np.array([2.5, -1.0]), 2)
    assert (windows.stop - windows.start).tolist() == [6, 6]
