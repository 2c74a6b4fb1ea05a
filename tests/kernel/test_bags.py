"""Bags against plain Python loops."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bliss_framework import Bags, DataError

IDS = st.one_of(
    st.lists(st.integers(-3, 4), min_size=1, max_size=25),
    st.lists(st.sampled_from(["b1", "b10", "b2", "01", "1", ""]), min_size=1, max_size=25),
)


def by_hand(ids: list) -> list[list[int]]:
    """The rows of each bag, bags in order of first appearance."""
    rows: dict = {}
    for row, name in enumerate(ids):
        rows.setdefault(name, []).append(row)
    return list(rows.values())


@given(IDS)
def test_rows_with_one_id_are_one_bag(ids):
    """Bags are numbered in order of first appearance, wherever their rows are."""
    bags = Bags.from_ids(ids)
    assert bags.ids.tolist() == list(dict.fromkeys(ids))
    assert bags.n_bags == len(set(ids))
    assert bags.n_rows == len(ids)
    assert bags.sizes.tolist() == [ids.count(name) for name in bags.ids.tolist()]
    assert [bags.ids.tolist()[b] for b in bags.index] == ids


@pytest.mark.parametrize("ids", [[10**15, -7, 10**15, 3], ["007", "7", "007"], np.array([2, 1], dtype=np.int8)])
def test_ids_are_names(ids):
    """Far-apart integers, leading zeros and narrow dtypes come back as they were given."""
    bags = Bags.from_ids(ids)
    assert bags.ids.dtype == np.asarray(ids).dtype
    assert bags.ids.tolist() == list(dict.fromkeys(np.asarray(ids).tolist()))


def test_number_and_text_of_the_same_look_are_two_bags():
    """7 and "7" are different bags when a column of objects holds both."""
    bags = Bags.from_ids(np.array([7, "7", 7, "x"], dtype=object))
    assert bags.n_bags == 3
    assert bags.index.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    "ids", [np.array([1.0, np.nan]), np.array(["a", None], dtype=object), np.array([3, float("nan")], dtype=object)]
)
def test_a_row_without_a_bag_is_refused(ids):
    """A missing id is an error that names the row."""
    with pytest.raises(DataError, match="Row 1 has no bag id"):
        Bags.from_ids(ids)


def test_the_missing_value_of_data_frames_is_refused():
    """pandas' NA is a missing id as well."""
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="Row 1 has no bag id"):
        Bags.from_ids(pd.array(["a", pd.NA, "b"], dtype="string"))


@pytest.mark.parametrize("ids", [[[1], [2]], 5])
def test_ids_are_one_dimensional(ids):
    """Anything but one id for each row is an error that names the shape."""
    with pytest.raises(DataError, match=r"one-dimensional.*shape"):
        Bags.from_ids(ids)


@given(IDS, st.integers(0, 2**32 - 1))
def test_totals_are_those_of_loops(ids, seed):
    """Sum, mean, largest, smallest and "any" of each bag are what loops over its rows find."""
    values = np.random.default_rng(seed).integers(-9, 9, len(ids)).astype(float)
    bags, rows = Bags.from_ids(ids), by_hand(ids)
    assert bags.sum(values).tolist() == [sum(values[r] for r in some) for some in rows]
    assert bags.mean(values) == pytest.approx([sum(values[r] for r in some) / len(some) for some in rows])
    assert bags.max(values).tolist() == [max(values[r] for r in some) for some in rows]
    assert bags.min(values).tolist() == [min(values[r] for r in some) for some in rows]
    assert bags.any(values > 3).tolist() == [any(values[r] > 3 for r in some) for some in rows]


@given(IDS, st.integers(0, 2**32 - 1))
def test_totals_keep_further_axes(ids, seed):
    """With a table of values every column is totalled on its own."""
    table = np.random.default_rng(seed).integers(-9, 9, (len(ids), 3))
    bags, rows = Bags.from_ids(ids), by_hand(ids)
    for column in range(3):
        assert bags.sum(table)[:, column].tolist() == [sum(table[r, column] for r in some) for some in rows]
        assert bags.any(table > 0)[:, column].tolist() == [any(table[r, column] > 0 for r in some) for some in rows]
        expected = [sum(table[r, column] for r in some) / len(some) for some in rows]
        assert bags.mean(table)[:, column] == pytest.approx(expected)


@given(IDS, st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_totals_of_large_arrays_go_some_bags_at_a_time(ids, seed, block_bytes):
    """However few bytes are brought together at a time, totals have the bits that they have at once."""
    values = np.random.default_rng(seed).normal(size=(len(ids), 2)).astype(np.float32)
    bags = Bags.from_ids(ids)
    names = ("sum", "mean", "max", "min")
    whole = [getattr(bags, name)(values) for name in names]
    with mock.patch("bliss_framework.kernel.bags.BLOCK_BYTES", block_bytes):
        parts = [getattr(bags, name)(values) for name in names]
    assert [one.tobytes() for one in parts] == [one.tobytes() for one in whole]
    assert [one.dtype for one in parts] == [np.float32, np.float64, np.float32, np.float32]


@given(IDS)
def test_spread_gives_each_row_the_value_of_its_bag(ids):
    """Spreading the ids over the rows gives back what was passed in."""
    bags = Bags.from_ids(ids)
    assert bags.spread(bags.ids).tolist() == ids


@given(IDS, st.data())
def test_rows_of_some_bags(ids, data):
    """The rows of chosen bags come in row order, each once."""
    bags = Bags.from_ids(ids)
    chosen = data.draw(st.lists(st.integers(0, bags.n_bags - 1), unique=True))
    names = [bags.ids.tolist()[b] for b in chosen]
    found = bags.rows_of(np.array(chosen, dtype=np.intp))
    assert found.tolist() == [row for row, name in enumerate(ids) if name in names]


@given(IDS, st.data())
def test_taking_rows_keeps_their_bags(ids, data):
    """A kept row stays in the bag of its name, and each kept bag says where it was."""
    bags = Bags.from_ids(ids)
    rows = np.array(data.draw(st.permutations(range(len(ids)))), dtype=np.intp)
    rows = rows[: data.draw(st.integers(1, len(ids)))]
    kept, positions = bags.take(rows)
    names = [ids[r] for r in rows]
    assert kept.spread(kept.ids).tolist() == names
    assert kept.ids.tolist() == list(dict.fromkeys(names))
    assert bags.ids[positions].tolist() == kept.ids.tolist()


def test_every_row_its_own_bag():
    """With bags of one row, totals are the values themselves."""
    bags = Bags.from_ids(np.arange(4))
    values = np.array([3.0, 1.0, 2.0, 0.0])
    assert bags.max(values).tolist() == bags.sum(values).tolist() == values.tolist()
