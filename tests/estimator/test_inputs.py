"""What users pass as rows, bags and weak labels: forms that mean the same, and messages for those that mean nothing."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import DataConversionWarning

from bliss_framework import DataError, check_bags, check_training
from bliss_framework.estimator.alignment import RowIndex, per_bag
from bliss_framework.estimator.inputs import bags_of, check_labelled
from bliss_framework.estimator.reading import check_rows
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import class_codes
from bliss_framework.kernel.rows import Rows

PROPERTY = settings(max_examples=60, deadline=None)

X = np.arange(12.0).reshape(6, 2)
BAGS = np.array(["z", "a", "z", "m", "a", "z"])  # in order of first appearance: z, a, m


def weak_per_bag(y, bags):
    """Weak labels of bags whose ids are the caller's, with rows that have no index."""
    return per_bag(y, bags, RowIndex())


def message(function, *arguments, **named):
    with pytest.raises(DataError) as caught:
        function(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


# Rows


def with_wide_indices(rows, make=sp.csr_matrix):
    S = make(rows)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


@pytest.mark.parametrize(
    "make",
    [
        *(sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array, sp.lil_matrix),
        with_wide_indices,
        lambda rows: with_wide_indices(rows, sp.csr_array),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_sparse_rows_become_one_form_and_keep_their_values(make, dtype):
    """Any sparse input becomes a CSR matrix of float64 with 32-bit indices; it is never made dense."""
    rows = check_rows(make(X.astype(dtype)))
    assert sp.issparse(rows)
    assert rows.format == "csr"
    assert rows.dtype == np.float64
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert (rows.toarray() == X).all()


def test_callers_sparse_matrix_is_not_touched():
    """Unsorted, repeated and 64-bit entries are put right in a copy; the caller's arrays keep every bit."""
    data, columns, starts = np.array([2.0, 1.0, 3.0, 4.0]), np.array([1, 0, 1, 1]), np.array([0, 2, 4])
    S = sp.csr_matrix((data.copy(), columns.astype(np.int64), starts.astype(np.int64)), shape=(2, 2))
    S.indices, S.indptr = columns.astype(np.int64), starts.astype(np.int64)
    rows = check_rows(S)
    assert rows.toarray().tolist() == [[1.0, 2.0], [0.0, 7.0]]
    assert rows.has_sorted_indices
    rows.data[:] = -1.0
    assert (S.data == data).all()
    assert (S.indices == columns).all()
    assert S.indices.dtype == np.int64


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, pd.DataFrame, np.ndarray.tolist, X.dtype.type])
def test_dense_rows_get_one_memory_layout(make):
    """Rows of any dense form become C-contiguous float64: another layout would change the last bits of sums."""
    rows = check_rows(X if make is X.dtype.type else make(X))
    assert rows.flags.c_contiguous
    assert rows.dtype == np.float64
    assert (rows == X).all()


def test_single_precision_rows_stay_single_and_are_not_copied():
    """An array of float32 goes through as it is; 60,000 images would not fit into 1 GB otherwise."""
    single = X.astype(np.float32)
    rows = check_rows(single)
    assert rows.dtype == np.float32
    assert np.shares_memory(rows, single)
    assert check_rows(X.astype(np.float16)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mapped_rows_stay_mapped(tmp_path, dtype):
    """Rows that are mapped from a file are checked and not copied; of another layout they are rows in memory."""
    np.save(tmp_path / "X.npy", np.eye(3, 4, dtype=dtype))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    checked = check_rows(X)
    assert checked is X
    assert Rows(checked).is_mapped
    np.save(tmp_path / "F.npy", np.asfortranarray(np.eye(3, 4, dtype=dtype)))
    other = check_rows(np.load(tmp_path / "F.npy", mmap_mode="r"))
    assert not Rows(other).is_mapped
    assert other.flags.c_contiguous
    assert np.array_equal(other, X)


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")], ids=["nan", "inf", "-inf"]
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.coo_array])
def test_value_that_is_not_finite_is_named_by_place(value, word, make):
    """NaN and infinity are refused with their row and column, in dense and in sparse rows."""
    bad = X.copy()
    bad[4, 1] = value
    assert f"contains {word} in row 4, column 1;" in message(check_rows, make(bad))


def test_column_name_of_a_data_frame_is_in_the_message():
    """In a data frame the column is named as well; pandas' own missing value counts as NaN."""
    frame = pd.DataFrame({"height": [1, 2, 3], "width": pd.array([1, None, 3], dtype="Int64")})
    assert "contains NaN in row 1, column 1 ('width')" in message(check_rows, frame)


def test_infinities_of_both_signs_give_the_message_and_no_warning():
    """A sum of opposite infinities, or of huge numbers, does not disturb the check."""
    assert "infinity in row 0, column 0" in message(check_rows, np.array([[np.inf, -np.inf]]))
    assert check_rows(np.full((3, 2), 1.7e308)).shape == (3, 2)


@pytest.mark.parametrize("bad", [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(4), [["a", "b"]], np.zeros((2, 2)) + 1j])
def test_rows_that_are_no_table_of_numbers_are_a_data_error(bad):
    """No rows, no columns, one dimension, text and complex numbers are all refused."""
    with pytest.raises(DataError):
        check_rows(bad)


# Lists of bags


def test_list_of_bags_becomes_rows_and_bag_numbers():
    """Bags of 3, 1 and 5 rows become 9 rows; their order is the order of the list."""
    bags = [np.full((n, 2), float(n)) for n in (3, 1, 5)]
    given_ = check_training(bags, [1, 0, 0])
    assert given_.X[:, 0].tolist() == [3.0] * 3 + [1.0] + [5.0] * 5
    assert given_.bags.sizes.tolist() == [3, 1, 5]
    assert given_.weak.tolist() == [1, 0, 0]


@pytest.mark.parametrize("wrap", [list, tuple, lambda bag: [list(row) for row in bag], pd.DataFrame, sp.csr_matrix])
def test_bags_in_a_list_may_have_any_form(wrap):
    """A bag may be an array, a list of rows, a data frame or a sparse matrix."""
    rows, bags = check_bags([wrap(X[:2]), wrap(X[2:])])
    assert (np.asarray(rows.todense() if sp.issparse(rows) else rows) == X).all()
    assert bags.index.tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("bags", "y", "words"),
    [
        ([np.ones((3, 2)), np.ones((2, 4))], [1, 0], ("bag 1", "4", "2")),
        ([np.ones((2, 2)), np.ones((2, 2))], [1], ("2 bags", "1 label")),
        ([np.ones((2, 2)), np.ones((0, 2))], [1, 0], ("bag 1", "no rows")),
        ([np.ones((0, 2)), np.ones((2, 2))], [1, 0], ("bag 0", "no rows")),
        ([np.ones((2, 2)), np.ones(2)], [1, 0], ("bag 1", "no table")),
        ([[[1.0, 2.0], [3.0]], [[1.0, 2.0]]], [1, 0], ("bag 0", "1", "2", "features")),
        ([np.ones((2, 2))], [1], ("at least two bags", "2 rows")),
    ],
)
def test_list_of_bags_that_does_not_fit_names_the_bag(bags, y, words):
    """A wrong bag of a list is named by its position, with what it has and what the others have."""
    text = message(check_training, bags, y)
    assert all(word in text for word in words), text


def test_list_of_bags_refuses_bag_ids():
    """A list of bags already says which rows belong together."""
    assert "do not pass bags as well" in message(check_bags, [X, X], BAGS)


# Weak labels


@pytest.mark.parametrize(
    "y",
    [
        [1, 0, 2],
        (1, 0, 2),
        np.array([1, 0, 2]),
        np.array([[1], [0], [2]])[:, 0],
        pd.array([1, 0, 2], dtype="Int64"),
        pd.Categorical([1, 0, 2]),
        pd.Series([1, 0, 2], index=["z", "a", "m"]).astype("category"),
        {"a": 0, "m": 2, "z": 1},
        pd.Series({"m": 2, "z": 1, "a": 0}),
        pd.Series({"m": 2, "z": 1, "a": 0}).astype("Int64"),
        pd.Series({"m": 2, "z": 1, "a": 0}).astype(object),
        pd.DataFrame({"label": [2, 1, 0]}, index=["m", "z", "a"]),
        [1, 0, 1, 2, 0, 1],
        pd.Series([1, 0, 1, 2, 0, 1], index=[9, 8, 7, 6, 5, 4]),
        pd.Series([1, 0, 1, 2, 0, 1], index=list(BAGS)),
    ],
)
def test_weak_labels_of_any_form_come_in_order_of_first_appearance(y):
    """A list, an array, a mapping or a series by bag id, and one label for each row all mean the same labels."""
    weak = weak_per_bag(y, Bags.from_ids(BAGS))
    assert weak.tolist() == [1, 0, 2]
    assert weak.dtype.kind == "i"


def test_column_of_weak_labels_is_flattened_with_a_warning():
    """A column vector is read as its entries, with scikit-learn's own warning."""
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert weak_per_bag(np.array([[1], [0], [2]]), Bags.from_ids(BAGS)).tolist() == [1, 0, 2]


def test_index_of_a_series_means_nothing_where_rows_are_an_array_without_bags():
    """Without bags a shuffled series, such as train_test_split returns, stays in its own order."""
    y = pd.Series([1, 0, 1, 0, 0, 1], index=[5, 3, 0, 1, 2, 4])
    assert check_training(X, y).weak.tolist() == y.tolist()
    assert check_training([X[:3], X[3:]], pd.Series([1, 0], index=[7, 3])).weak.tolist() == [1, 0]


def test_index_of_a_series_means_bag_ids_where_they_are_the_callers():
    """With bags a series whose index holds their ids is looked up, in whatever order it is."""
    y = pd.Series([1, 0], index=[1, 0])
    assert check_training(X, y, [0, 0, 0, 1, 1, 1]).weak.tolist() == [0, 1]


@pytest.mark.parametrize(
    "y", [[{"cat"}, set(), {"cat", "dog"}], [["cat"], ["dog"], ["cat"]], [("cat",), (), ("dog", "cat")]]
)
def test_label_sets_stay_whole(y):
    """Sets, lists and tuples of labels remain one entry for each bag, also when all have the same length."""
    weak = weak_per_bag(y, Bags.from_ids(BAGS))
    assert weak.shape == (3,)
    assert weak.tolist() == y


def test_plain_strings_are_not_split_into_characters():
    """A label that is text is one label."""
    assert weak_per_bag(["cat", "dog", "cat"], Bags.from_ids(BAGS)).tolist() == ["cat", "dog", "cat"]


def test_rows_of_numbers_become_a_table():
    """Lists of numbers of one length, such as proportions, become (B, C)."""
    assert weak_per_bag([[0.5, 0.5], [1, 0], [0, 1]], Bags.from_ids(BAGS)).shape == (3, 2)
    frame = pd.DataFrame([[0, 1], [0.5, 0.5], [1, 0]], index=["m", "z", "a"])
    assert weak_per_bag(frame, Bags.from_ids(BAGS)).tolist() == [[0.5, 0.5], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series({"a": 1, "m": None, "z": 0}, dtype="Int64"),
        pd.Series({"a": 1, "m": pd.NA, "z": 0}, dtype=object),
        pd.Series([0, 1, None], index=list("zam"), dtype="Int64"),
        pd.Series([False, True, None], index=list("zam"), dtype="boolean"),
        np.ma.array([0, 1, 5], mask=[False, False, True]),
        [False, True, None],
        {"a": 1, "m": pd.NA, "z": 0},
    ],
)
def test_missing_value_of_pandas_becomes_none_or_nan(y):
    """pandas.NA, which cannot be compared, becomes something that can, for regimes to read or to refuse."""
    *known, missing = weak_per_bag(y, Bags.from_ids(BAGS)).tolist()
    assert known == [0, 1]
    assert missing is None or missing != missing


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, ("y", "None")),
        (5, ("y", "5")),
        (np.array(5), ("single value",)),
        ("z", ("y", "'z'")),
        ({"pos", "neg"}, ("y", "one weak label for each bag")),
        ([1, 0], ("2 labels", "3 bags", "6 rows")),
        ({"a": 1, "z": 0}, ("'m'", "no weak label", "1 such bags of 3")),
        ({"a": 1, "z": 0, "m": 0, "q": 1}, ("'q'", "no rows")),
        (pd.Series([1, 0, 1, 0], index=["a", "a", "z", "m"]), ("'a'", "more than one")),
        ([1, 0, 0, 1, 0, 1], ("Row 2", "'z'", "0", "1", "whole bag")),
        ([{"x"}, {"y"}, {"x"}, set(), {"y"}, {"y"}], ("Row 5", "'z'", "{'y'}", "{'x'}")),
        (sp.csr_matrix(np.ones((3, 1))), ("Sparse y", "dense")),
    ],
)
def test_weak_labels_that_do_not_fit_are_refused(y, words):
    """What is wrong with weak labels is said with the bag, the row or the numbers that do not agree."""
    text = message(check_training, X, y, BAGS)
    assert all(word in text for word in words), text
    assert "np." not in text


# Bags


@pytest.mark.parametrize(
    ("bags", "words"),
    [
        (BAGS[:5], ("6 rows", "5 ids")),
        (np.array([BAGS, BAGS]).T, ("one-dimensional", "(6, 2)")),
        ("zazmaz", ("one-dimensional",)),
        ([1, 2, None, 2, 1, 1], ("Row 2", "no bag id")),
        ([1.0, 2.0, 1.0, np.nan, 1.0, 2.0], ("Row 3", "no bag id")),
        (pd.Series([1, 2, 1, 1, None, 2], dtype="Int64"), ("Row 4", "no bag id")),
    ],
)
def test_bag_ids_that_do_not_fit_are_refused(bags, words):
    """A missing id is named by its row; wrong shapes and lengths are said."""
    text = message(check_training, X, [1, 0, 1, 0, 1, 0], bags)
    assert all(word in text for word in words), text


def test_text_and_numbers_in_a_list_of_ids_stay_different():
    """7 and "7" are two bags, in a list as in an array of objects."""
    for ids in ([7, "7", 7], (7, "7", 7), np.array([7, "7", 7], dtype=object), pd.Series([7, "7", 7])):
        bags = bags_of(ids)
        assert bags.ids.tolist() == [7, "7"]
        assert bags.index.tolist() == [0, 1, 0]


def test_one_bag_is_not_enough_to_learn_from():
    """All rows in one bag are refused, with their number."""
    assert "at least two bags; all 6 rows are in one" in message(check_training, X, [1], ["only"] * 6)


def test_one_row_without_bags_is_one_bag():
    """A single row cannot be learnt from, and the message counts it."""
    assert "one row only (n_samples = 1)" in message(check_training, [[1.0, 2.0]], [1])


def test_one_bag_is_enough_to_compare_predictions_with():
    """Only training needs two bags."""
    assert check_labelled(X, {"only": 1}, ["only"] * 6).weak.tolist() == [1]


@PROPERTY
@given(st.lists(st.sampled_from(["p", "q", "r", "s"]), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_labels_by_id_by_order_and_by_row_agree(ids, random):
    """For any ids, a shuffled mapping, an ordered list and one label for each row give the same weak labels."""
    bags = Bags.from_ids(ids)
    label_of = {name: random.randrange(100) for name in random.sample(sorted(set(ids)), len(set(ids)))}
    expected = [label_of[name] for name in dict.fromkeys(ids)]
    assert weak_per_bag(label_of, bags).tolist() == expected
    assert weak_per_bag(expected, bags).tolist() == expected
    assert weak_per_bag([label_of[name] for name in ids], bags).tolist() == expected


# Weak labels of bags that were not trained on


@pytest.mark.parametrize("weak", [[0, 1, 1], [0.0, 1.0, 1.0], [False, True, True], ["0", "1", "1.0"]])
def test_test_labels_are_read_with_the_classes_of_training(weak):
    """Numbers, booleans and text that mean the classes of training are found among them."""
    assert class_codes(np.asarray(weak), (0, 1)).tolist() == [0, 1, 1]


def test_test_label_that_training_had_not_is_refused():
    """A weak label that was not there in training is named, with those that were."""
    text = message(class_codes, np.array(["pos", "other"]), ("neg", "pos"))
    assert "'other'" in text
    assert "['neg', 'pos']" in text
    assert "'x'" in message(class_codes, np.array(["1", "x"]), (0, 1))
