"""What belongs to bags is matched by id or by position, and refused where it could be neither or both."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import BagKFold, BlissClassifier, DataError, check_training
from bliss_framework.errors import BlissWarning
from bliss_framework.extension.naming import near_miss

PROPERTY = settings(max_examples=60, deadline=None)
X = np.arange(12.0).reshape(6, 2)
IDS = np.array([3, 5, 3, 4, 5, 3])  # in order of first appearance: 3, 5, 4
LABEL = {3: 1, 5: 0, 4: 1}


def refusal(X, y, bags=None, **named):
    """Return the message with which data are refused."""
    with pytest.raises(DataError) as caught:
        check_training(X, y, bags, **named)
    return str(caught.value)


# By id


@pytest.mark.parametrize("order", [[3, 5, 4], [4, 3, 5], [5, 4, 3]])
def test_a_series_by_id_may_be_in_any_order(order):
    """The labels of a series follow its index, whatever its order, with arrays and with frames as rows."""
    y = pd.Series({one: LABEL[one] for one in order})
    frame = pd.DataFrame(X, index=list("uvwxyz"))
    assert check_training(X, y, IDS).weak.tolist() == [1, 0, 1]
    assert check_training(frame, y, pd.Series(IDS, index=frame.index)).weak.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("ids", "index", "shown"),
    [
        (IDS.astype(str), [3, 5, 4], ("'3'", "3, 5, 4", "text", "whole number")),
        (IDS, ["3", "5", "4"], ("3, 5, 4", "'3'", "text", "whole number")),
        (np.char.add("00", IDS.astype(str)), ["3", "5", "4"], ("'003'", "'3'", "leading zeros")),
        (np.char.add("b", IDS.astype(str)), ["B3", "B5", "B4"], ("'b3'", "'B3'", "letter case")),
        (np.char.add("b", IDS.astype(str)), ["b3 ", "b5 ", "b4 "], ("'b3'", "'b3 '", "blanks")),
        (IDS.astype(float).astype(str), ["3", "5", "4"], ("'3.0'", "'3'", "how the number is written")),
        (
            np.char.add("caf\u00e9", IDS.astype(str)),
            ["cafe\u03013", "cafe\u03015", "cafe\u03014"],
            ("Unicode NFC against NFD",),
        ),
        (IDS.astype("S"), ["3", "5", "4"], ("b'3'", "'3'", "bytes", "text")),
        (np.char.add("b", IDS.astype(str)), [0, 1, 2], ("'b3'", "0, 1, 2")),
        (IDS, [10, 11, 12], ("3, 5, 4", "10, 11, 12", "to_numpy()")),
    ],
    ids=["text-int", "int-text", "zeros", "case", "blanks", "float", "unicode", "bytes", "positions", "strangers"],
)
def test_an_index_without_the_bag_ids_is_refused_with_both_sides(ids, index, shown):
    """A series whose index matches no bag id is no list of labels in order: both sides are shown, and what differs."""
    text = refusal(X, pd.Series([1, 0, 1], index=index), ids)
    assert all(word in text for word in shown), text
    mapping = refusal(X, dict(zip(index, [1, 0, 1], strict=True)), ids)
    assert repr(ids.tolist()[0]) in mapping


def test_whole_numbers_stored_as_floats_find_each_other():
    """A join makes ids floats; 3.0 and 3 are one number, so the labels are found."""
    assert check_training(X, pd.Series(LABEL), IDS.astype(float)).weak.tolist() == [1, 0, 1]
    assert check_training(X, pd.Series({float(one): label for one, label in LABEL.items()}), IDS).weak.tolist() == [
        1,
        0,
        1,
    ]


def test_labels_of_a_frame_by_id_keep_their_columns_together():
    """The rows of a frame of shares follow its index."""
    y = pd.DataFrame({"no": [0.5, 0.25, 1.0], "yes": [0.5, 0.75, 0.0]}, index=[4, 5, 3])
    data = check_training(X, y, IDS)
    assert data.weak.tolist() == [[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]
    assert data.label_names == ("no", "yes")


# By position


@pytest.mark.parametrize("index", [list("uvwxyz"), [9, 8, 7, 6, 5, 4], range(6), list(IDS), ["q"] * 6])
def test_labels_with_the_index_of_the_rows_are_labels_of_rows(index):
    """A column of the frame that X comes from is one label for each row, whatever its index."""
    frame = pd.DataFrame(X, columns=["a", "b"], index=index)
    y = pd.Series([LABEL[one] for one in IDS], index=index)
    assert check_training(frame, y, pd.Series(IDS, index=index)).weak.tolist() == [1, 0, 1]
    assert check_training(X, y, pd.Series(IDS, index=index)).weak.tolist() == [1, 0, 1]
    assert check_training(frame, y, IDS).weak.tolist() == [1, 0, 1]


@given(st.permutations(range(8)), st.permutations(range(8)))
@PROPERTY
def test_columns_of_one_frame_belong_together_where_every_bag_has_one_row(ids, index):
    """With one row a bag, ids that look like the index do not move a label to another row."""
    frame = pd.DataFrame({"a": np.arange(8.0), "mol": ids, "lab": [0, 1] * 4}, index=index)
    data = check_training(frame[["a"]], frame["lab"], frame["mol"])
    assert data.weak.tolist() == [0, 1] * 4
    assert data.bags.ids.tolist() == list(ids)


def test_a_series_that_could_be_by_id_or_by_row_is_refused():
    """Where rows are arrays, one a bag, and ids are a shuffled 0 to 3, a plain series says two things."""
    ids, y = np.array([2, 0, 3, 1]), pd.Series([1, 1, 0, 0])
    text = refusal(X[:4], y, ids)
    assert "bag ids, and the numbers of the rows" in text
    assert check_training(X[:4], y.to_dict(), ids).weak.tolist() == [0, 1, 0, 1]
    assert check_training(X[:4], y.to_numpy(), ids).weak.tolist() == [1, 1, 0, 0]
    assert check_training(X[:4], pd.Series([1, 1, 1, 1]), ids).weak.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("bags", [None, IDS], ids=["rows", "bags"])
def test_an_index_in_another_order_than_that_of_the_rows_is_refused(bags):
    """Labels that were sorted by themselves are no longer beside their rows."""
    frame = pd.DataFrame(X, columns=["a", "b"], index=list("uvwxyz"))
    y = pd.Series([1, 0, 1, 1, 0, 1], index=frame.index).sort_values()
    text = refusal(frame, y, bags)
    assert "'u', 'v', 'w'" in text
    assert "'v', 'z', 'u'" in text or "'v'" in text


def test_ids_with_another_index_than_the_rows_are_refused():
    """A series of bag ids that was sorted by itself would put rows into wrong bags."""
    frame = pd.DataFrame(X, index=list("uvwxyz"))
    ids = pd.Series(IDS, index=frame.index).sort_values()
    text = refusal(frame, [1, 0, 1], ids)
    assert "index of X" in text
    assert "bags.to_numpy()" in text


def test_a_list_of_bags_has_positions_and_no_names():
    """Numbers count through the list, a slice of them is in order, and names or a shuffled count are refused."""
    bags = [X[:2], X[2:3], X[3:]]
    assert check_training(bags, pd.Series([1, 0, 1])).weak.tolist() == [1, 0, 1]
    assert check_training(bags, pd.Series([1, 0, 1], index=[4, 7, 9])).weak.tolist() == [1, 0, 1]
    assert "to_numpy()" in refusal(bags, pd.Series([1, 0, 1], index=[2, 0, 1]))
    assert "to_numpy()" in refusal(bags, pd.Series([1, 0, 1], index=list("zam")))


def test_a_mapping_of_bags_has_their_ids():
    """Bags by id take labels by id, in any order, and the ids are those of the model."""
    bags = {"z": X[:2], "a": X[2:3], "m": X[3:]}
    data = check_training(bags, {"m": 1, "a": 0, "z": 0})
    assert data.bags.ids.tolist() == ["z", "a", "m"]
    assert data.weak.tolist() == [0, 0, 1]
    assert data.bags.index.tolist() == [0, 0, 1, 2, 2, 2]
    assert (data.X == X).all()
    assert check_training(bags, [0, 0, 1]).weak.tolist() == [0, 0, 1]
    assert "'x'" in refusal(bags, {"m": 1, "a": 0, "x": 0})
    assert "table of rows" in refusal({"z": 1.0}, [1])


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_an_array_of_bags_is_a_list_of_bags(shape):
    """Files of numpy and MATLAB hold bags as an array of objects."""
    bags = np.empty(3, dtype=object)
    bags[:] = [X[:2], X[2:3], X[3:]]
    data = check_training(bags.reshape(shape), [1, 0, 1])
    assert data.bags.sizes.tolist() == [2, 1, 3]
    assert (data.X == X).all()


# Missing values that do not look missing


@pytest.mark.parametrize(
    "ids",
    [
        np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="datetime64[D]"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-01"])),
        pd.Series(pd.to_timedelta([1, None, 1])),
        pd.Series([1, None, 1], dtype="Int64"),
        pd.Series(["a", None, "a"], dtype="string"),
        pd.Series(["a", None, "a"], dtype="category"),
        np.ma.array([1, 2, 1], mask=[False, True, False]),
        [9007199254740993, None, 9007199254740993],
        [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 1)],
        [1.0, float("nan"), 1.0],
    ],
    ids=["NaT", "pandas-NaT", "timedelta", "Int64", "string", "category", "masked", "big", "dates", "nan"],
)
def test_a_missing_bag_id_is_named_by_its_row(ids):
    """Every form of a missing id is refused: no row is put into a bag of the missing."""
    assert "Row 1 has no bag id" in refusal(X[:3], [1, 0], ids)


def test_arrow_nulls_are_missing():
    """Ids from an Arrow array with a null are refused, too."""
    arrow = pytest.importorskip("pyarrow")
    assert "Row 1 has no bag id" in refusal(X[:3], [1, 0], arrow.array(["a", None, "a"]))


@pytest.mark.parametrize("ids", [[2**63, -1, 2**63 + 1], [9007199254740993, 9007199254740992, 1]])
def test_large_whole_numbers_stay_apart(ids):
    """Ids that would be one as floats are different bags."""
    assert check_training(X[:3], [1, 0, 1], ids).bags.ids.tolist() == ids


@pytest.mark.parametrize(
    "y",
    [
        np.ma.array([1, 0, 1], mask=[True, False, False]),
        pd.Series([None, 0, 1], index=[3, 5, 4], dtype="Int64"),
        {3: np.datetime64("NaT"), 5: 0, 4: 1},
        [None, 0, 1],
    ],
    ids=["masked", "Int64", "NaT", "None"],
)
def test_a_missing_weak_label_is_refused_by_the_regime(y):
    """A masked, null or None label never counts as a class."""
    with pytest.raises(DataError, match="Bag 3 has no weak label"):
        BlissClassifier().fit(X, y, bags=IDS)


def test_masked_rows_are_refused():
    """A masked entry of X hides a value that nobody vouches for."""
    assert "masked entry in row 1" in refusal(np.ma.array(X, mask=X == 3.0), [1, 0, 1], IDS)


def test_text_of_a_missing_value_is_noted():
    """An id or label "nan" is what a missing one becomes as text: there is a warning, once."""
    with pytest.warns(BlissWarning, match="bag id 'nan'"):
        check_training(X, [1, 0, 1], ["a", "b", "a", "nan", "b", "a"])
    with pytest.warns(BlissWarning, match="weak label 'nan'"):
        check_training(X, ["yes", "no", "nan"], IDS)


# Columns


def frames(orders):
    """Make a bag of two rows for each order of the columns a, b, c."""
    rows = np.random.default_rng(0).normal(size=(len(orders), 2, 3))
    return [pd.DataFrame(bag, columns=list("abc"))[list(order)] for bag, order in zip(rows, orders, strict=True)]


@given(st.lists(st.permutations("abc"), min_size=2, max_size=5))
@PROPERTY
def test_columns_of_a_list_of_frames_are_matched_by_name(orders):
    """Frames in any orders of columns give the rows of frames in one order."""
    plain = frames(["abc"] * len(orders))
    data = check_training(frames(orders), [0, 1] * (len(orders) // 2) + [0] * (len(orders) % 2))
    places = [data.columns.index(name) for name in "abc"]
    assert np.array_equal(data.X[:, places], np.concatenate([one.to_numpy() for one in plain]))
    assert data.columns == (tuple(orders[0]) if len({tuple(one) for one in orders}) == 1 else tuple("abc"))


def test_columns_of_frames_that_differ_are_named():
    """A renamed, an added and a doubled column are refused with their name and bag."""
    first, second = frames(["abc", "abc"])
    assert 'bag 1 has no column "a"' in refusal([first, second.rename(columns={"a": "z"})], [1, 0])
    assert 'bag 1 has the column "z"' in refusal([first, second.assign(z=1.0)], [1, 0])
    assert 'two columns "a"' in refusal([first, second.iloc[:, [0, 1, 2, 0]]], [1, 0])
    assert 'two columns "a"' in refusal(first.iloc[:, [0, 1, 0]], [1, 0])


def test_numbered_columns_are_matched_too():
    """Columns that are called by numbers are in no frame taken for others."""
    plain = [pd.DataFrame(X[:3]), pd.DataFrame(X[3:])[[1, 0]]]
    assert np.array_equal(check_training(plain, [1, 0]).X, X)


def test_the_name_of_a_column_as_bags_says_what_to_pass():
    """bags="mol" is a plain guess, and the message shows the right call."""
    frame = pd.DataFrame({"mol": IDS, "a": X[:, 0]})
    assert "bags=X['mol']" in refusal(frame, [1, 0, 1], "mol")


# Splitters, weights and groups


def test_the_splitter_aligns_as_fit_does():
    """BagKFold reads a series of labels by id or by row, and refuses one that is neither."""
    ids = np.repeat([3, 5, 4, 9], 2)
    by_row = np.repeat([1, 0, 1, 0], 2)
    splits = [test.tolist() for _, test in BagKFold(2).split(np.zeros((8, 1)), by_row, ids)]
    y = pd.Series({9: 0, 4: 1, 5: 0, 3: 1})
    assert splits == [test.tolist() for _, test in BagKFold(2).split(np.zeros((8, 1)), y, ids)]
    with pytest.raises(DataError, match="Bag 5 has rows but no weak label"):
        next(BagKFold(2).split(np.zeros((8, 1)), y.reset_index(drop=True), ids))


@pytest.mark.parametrize(
    "weights",
    [
        {3: 1.0, 5: 2.0, 4: 3.0},
        pd.Series({4: 3.0, 5: 2.0, 3: 1.0}),
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        pd.Series([1.0, 2.0, 1.0, 3.0, 2.0, 1.0], index=range(10, 16)),
    ],
)
def test_weights_of_bags_and_of_rows_are_one_thing(weights):
    """By id, by bag or by row the same weights are those of the rows, of mean 1."""
    data = check_training(X, [1, 0, 1], pd.Series(IDS, index=range(10, 16)), sample_weight=weights)
    expected = np.array([1.0, 2.0, 1.0, 3.0, 2.0, 1.0])
    assert np.allclose(data.weights, expected * 6 / expected.sum(), rtol=1e-15)


@pytest.mark.parametrize("weights", [None, 2.0 * np.ones(6), [0.5] * 3])
def test_equal_weights_are_none(weights):
    """Weights that are all alike change nothing."""
    assert check_training(X, [1, 0, 1], IDS, sample_weight=weights).weights is None


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2, 0, 1, 1, 1], "row 2 is zero"),
        ([1, 2, -1, 1, 1, 1], "row 2 is -1"),
        ([1, 2, np.nan, 1, 1, 1], "row 2 is nan"),
        ([1, 2], "sample_weight has 2 entries"),
        (["a"] * 6, "numbers"),
        (np.ones((6, 2)), "1D"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, words):
    """A weight is a finite number above zero, one for each bag or row."""
    assert words in refusal(X, [1, 0, 1], IDS, sample_weight=weights)


def test_groups_are_of_whole_bags():
    """Groups by row, by bag or by id are the same; a bag in two groups, and one group of all, are refused."""
    for groups in ([7, 8, 7, 7, 8, 7], {3: "p", 5: "q", 4: "p"}, ["p", "q", "p"], pd.Series({4: 1, 3: 1, 5: 2})):
        assert check_training(X, [1, 0, 1], IDS, groups).bags.groups.tolist() == [0, 1, 0]
    assert "Row 2 of bag 3 has the group 8" in refusal(X, [1, 0, 1], IDS, groups=[7, 8, 8, 7, 8, 7])
    assert "one group" in refusal(X, [1, 0, 1], IDS, groups=["p"] * 3)
    assert check_training(X, [1, 0, 1], IDS, IDS).bags.groups is None


# Ids that look alike


@given(st.text(max_size=8) | st.integers() | st.floats(allow_nan=False))
@PROPERTY
def test_an_id_is_no_near_miss_of_itself(name):
    """Only another id is one that looks alike."""
    assert near_miss(name, [name]) == ""


def test_what_looks_alike_is_found_among_many():
    """The id that differs in type or spelling alone is shown with the difference."""
    assert near_miss("007", ["8", "7"]) == (
        " There is '7', which differs in leading zeros; write ids alike on both sides."
    )
    assert near_miss(7, [8, "7"]) == " There is '7', text, and 7 is a whole number; write ids alike on both sides."
    assert near_miss(" B07", ["b7"]) == "" or "several ways" in near_miss(" B07", ["b07"])
    assert "invisible characters" in near_miss("a\u200b", ["a"])
    assert "time of day" in near_miss("2020-01-01", ["2020-01-01 00:00:00"])
    assert near_miss(9007199254740993, ["9007199254740992"]) == ""
