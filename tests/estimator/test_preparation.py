"""Rows with empty cells and categories: prepared in the model as scikit-learn prepares them by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bliss_framework import Bags, BlissClassifier, BlissWarning, DataError, SettingsError, load_model, save_model
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.preparation import Preparation, learnt
from bliss_framework.estimator.reading import with_empty_cells

pd = pytest.importorskip("pandas")

NUMBERS = ["a", "b", "c"]
HUES = ["blue", "green", "red"]
SMALL = {"n_rounds": 4, "n_folds": 3, "random_state": 0}


def frame_of(seed: int, n_bags: int = 16):
    """Return rows with empty cells and a category, their bags, and a label for each bag."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4 * n_bags, 3))
    rows[::4, 0] += 4.0 * (np.arange(n_bags) % 2)
    frame = pd.DataFrame(rows, columns=NUMBERS)
    frame["hue"] = rng.choice(HUES, len(frame))
    frame.loc[rng.random(len(frame)) < 0.1, "b"] = np.nan
    frame.loc[[3, 5], "hue"] = None
    return frame, np.repeat(np.arange(n_bags), 4), np.arange(n_bags) % 2


def by_hand(train, new=None, strategy="median"):
    """Prepare rows with scikit-learn alone: columns of numbers, then one for each hue."""
    encoder = OneHotEncoder(categories=[HUES], handle_unknown="ignore", sparse_output=False)
    hand = ColumnTransformer([("n", SimpleImputer(strategy=strategy), NUMBERS), ("w", encoder, ["hue"])]).fit(train)
    return hand.transform(train if new is None else new)


@pytest.mark.parametrize("strategy", ["median", "mean", "most_frequent"])
def test_predictions_are_those_of_rows_prepared_by_hand(strategy):
    """Fit and every prediction, also of rows with a new hue and empty cells, equal those by hand."""
    frame, bags, y = frame_of(0)
    new, new_bags, _ = frame_of(1)
    new.loc[7, "hue"], new.loc[8, "a"] = "violet", np.nan
    prepare = "auto" if strategy == "median" else {"missing": strategy}
    model = BlissClassifier(prepare=prepare, **SMALL).fit(frame, y, bags=bags)
    hand = BlissClassifier(**SMALL).fit(by_hand(frame, strategy=strategy), y, bags=bags)
    assert model.labels_.tolist() == hand.labels_.tolist()
    with pytest.warns(BlissWarning, match='"hue" has the value "violet", which training did not have'):
        own = model.decision_function(new)
    # Libraries add up a mean in different orders.
    assert np.allclose(own, hand.decision_function(by_hand(frame, new, strategy)), rtol=1e-12, atol=1e-12)
    known = new.assign(hue=new["hue"].replace("violet", None))
    assert np.array_equal(own, model.decision_function(known))
    assert np.array_equal(
        model.score_bags(known, new_bags)[1], hand.score_bags(by_hand(frame, new, strategy), new_bags)[1]
    )
    assert model.evaluate(frame, y, bags) == hand.evaluate(by_hand(frame, strategy=strategy), y, bags)
    assert model.feature_names_in_.tolist() == [*NUMBERS, "hue"]


@pytest.mark.filterwarnings("ignore:Label inference collapsed")
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_matrix])
def test_nothing_changes_for_rows_without_empty_cells(form):
    """Where nothing is empty and nothing is a category, every bit is as without preparation."""
    frame, bags, y = frame_of(0)
    rows = form(frame[["a", "c"]].to_numpy())
    plain = BlissClassifier(**SMALL).fit(rows, y, bags=bags)
    prepared = BlissClassifier(prepare="auto", **SMALL).fit(rows, y, bags=bags)
    assert np.array_equal(plain.label_means_, prepared.label_means_, equal_nan=True)
    assert np.array_equal(plain.decision_function(rows), prepared.decision_function(rows))
    assert prepared.preparation_.summary() == ""


@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_without_empty_cells_teach_what_fills_those_of_new_rows(as_sparse):
    """A model of whole rows fills an empty cell of a new row with the median of its column."""
    rows = np.abs(frame_of(0)[0][["a", "c"]].to_numpy()) + 1.0
    form = sp.csr_matrix if as_sparse else np.asarray
    data = CheckedData(form(rows), Bags.from_ids(np.arange(len(rows))), None)
    new = CheckedData(form(np.array([[np.nan, 2.0]])), Bags.from_ids([0]), None, empty_cells=True)
    filled = Preparation().fit(data).transform(new).rows.dense()
    assert filled.tolist() == [[np.median(rows[:, 0]), 2.0]]


def test_columns_with_empty_cells_may_get_another_one():
    """With indicators there is a column of 1 where the cell was empty, for columns that had one in training."""
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0]])
    data = CheckedData(X, Bags.from_ids([0, 1, 2]), None, ("a", "b"))
    ready = learnt({"indicators": True}, data).transform(data)
    assert (ready.columns, ready.X.tolist()) == (("a", "b", "a is missing"), [[1, 5, 0], [2, 6, 1], [3, 7, 0]])


@pytest.mark.parametrize(
    ("cells", "words", "said"),
    [
        ([[1, 2], [3, 4]], {}, ""),
        ([[np.nan, 2], [3, 4]], {}, "1 empty cell of 1 column was filled with the median of the column."),
        ([[np.nan, np.nan], [3, 4]], {}, "2 empty cells of 2 columns were filled with the medians of their columns."),
        ([[1, 0], [2, 1]], {"b": ("x", "y")}, '"b" (2 values) became 2 columns.'),
        (
            [[np.nan, 0], [2, np.nan]],
            {"b": ("x",)},
            '1 empty cell of 1 column was filled with the median of the column; "b" (1 value) became 1 column.',
        ),
    ],
)
def test_what_was_done_is_said(cells, words, said):
    """One sentence counts the cells that were filled and the columns that categories became."""
    data = CheckedData(np.array(cells, dtype=float), Bags.from_ids([0, 1]), None, ("a", "b"), categories=words)
    assert Preparation().fit(data).summary() == said


def test_a_column_that_is_empty_in_training_is_zero():
    """Such a column says nothing, and does not shift the others."""
    data = CheckedData(np.array([[np.nan, 1.0], [np.nan, 2.0]]), Bags.from_ids([0, 1]), None, empty_cells=True)
    assert Preparation().fit(data).transform(data).X.tolist() == [[0.0, 1.0], [0.0, 2.0]]


def test_words_are_matched_by_what_they_say():
    """The places of words in another file are others: "red" is "red" whatever comes before it."""
    bags = Bags.from_ids([0, 1])
    train = CheckedData(np.array([[0.0], [1.0]]), bags, None, ("hue",), categories={"hue": ("blue", "red")})
    new = CheckedData(np.array([[0.0], [1.0]]), bags, None, ("hue",), categories={"hue": ("pink", "red")})
    ready = Preparation().fit(train)
    assert ready.transform(new).X.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert ready.unknown_words(train) == ()


@pytest.mark.parametrize("kind", ["auto", "transformer"])
def test_a_prepared_model_is_saved_without_pickle(tmp_path, kind):
    """Its file is loaded without trusting anything, and predicts raw rows as before."""
    frame, bags, y = frame_of(0)
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    own = ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS), ("w", encode, ["hue"])])
    model = BlissClassifier(prepare="auto" if kind == "auto" else own, **SMALL).fit(frame, y, bags=bags)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert np.array_equal(loaded.decision_function(frame), model.decision_function(frame))


def test_a_transformer_of_the_user_prepares_rows():
    """Any transformer of scikit-learn makes the rows that the model learns from; it is cloned and fitted with it."""
    frame, bags, y = frame_of(0)
    own = FunctionTransformer(lambda rows: by_hand(frame, rows))
    model = BlissClassifier(prepare=own, **SMALL).fit(frame, y, bags=bags)
    hand = BlissClassifier(**SMALL).fit(by_hand(frame), y, bags=bags)
    assert np.array_equal(model.decision_function(frame[:9]), hand.decision_function(by_hand(frame, frame[:9])))
    assert model.preparation_ is not own
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (4, [*NUMBERS, "hue"])
    assert model.predict_bags(frame, bags)[1].tolist() == hand.predict_bags(by_hand(frame), bags)[1].tolist()
    with pytest.raises(DataError, match="prepare is a transformer, which takes a table of rows"):
        BlissClassifier(prepare=own, **SMALL).fit([np.ones((2, 2)), np.zeros((2, 2))], [0, 1])
    with pytest.raises(DataError, match="prepare is a transformer, which takes a table of rows"):
        model.predict([np.ones((2, 4))])


def test_frames_of_every_kind_are_read():
    """Nullable numbers, booleans, strings and categories of pandas are numbers and words; None and NA are empty."""
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "t": [True, False, True],
            "s": pd.array(["y", None, "x"], dtype="string"),
            "k": pd.Categorical(["u", "u", "v"]),
            "o": pd.Series([1, None, 2.5], dtype=object),
        }
    )
    read = with_empty_cells(frame)
    expected = [[1, 1, 1, 0, 1], [np.nan, 0, np.nan, 0, np.nan], [3, 1, 0, 1, 2.5]]
    assert np.array_equal(read.array, expected, equal_nan=True)
    assert read.categories == {"s": ("x", "y"), "k": ("u", "v")}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pd.to_datetime(["2024-01-01"] * 64), 'The column "z" holds dates, which are no features'),
        ([f"name{row}" for row in range(64)], 'The column "z" has 64 different words in 64 cells, so it names rows'),
        (["x", 1] * 32, 'The column "z" holds words and other things, such as 1'),
        ([np.inf] * 64, "X contains infinity in row 0, column 4 ('z')"),
    ],
)
def test_what_is_no_feature_is_named(column, said):
    """Dates, names and mixtures are refused with their column, before any work."""
    frame, bags, y = frame_of(0)
    with pytest.raises(DataError) as caught:
        BlissClassifier(prepare="auto", **SMALL).fit(frame.assign(z=column), y, bags=bags)
    assert said in str(caught.value)


@pytest.mark.parametrize("prepare", [None, "none"])
def test_without_preparation_empty_cells_are_refused(prepare):
    """A model without preparation names the first empty cell, and what fills it, in training and in new rows."""
    frame, bags, y = frame_of(0)
    with pytest.raises(DataError, match=r"X contains NaN in row \d+, column 1 \('b'\).*prepare=\"auto\" fills"):
        BlissClassifier(prepare=prepare, **SMALL).fit(frame[NUMBERS], y, bags=bags)
    model = BlissClassifier(prepare=prepare, **SMALL).fit(frame[["a", "c"]], y, bags=bags)
    with pytest.raises(DataError, match="X contains NaN in row 0"):
        model.predict(pd.DataFrame({"a": [np.nan], "c": [1.0]}))


def test_a_category_stays_one():
    """Where a column holds words in training and numbers later, or the other way round, it is named."""
    frame, bags, y = frame_of(0)
    model = BlissClassifier(prepare="auto", **SMALL).fit(frame, y, bags=bags)
    with pytest.raises(DataError, match='"hue" was a category in training, and holds numbers here'):
        model.predict(frame.assign(hue=1.0))
    with pytest.raises(DataError, match='"c" held numbers in training, and holds words here'):
        model.predict(frame.assign(c="much"))


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        ("automatic", 'prepare must be "auto", "none", a table with missing and indicators, or an unfitted'),
        (SimpleImputer, "or an unfitted transformer of scikit-learn; got <class"),
        ({"mising": "mean"}, 'prepare has no key "mising". Did you mean "missing"?'),
        ({"missing": "mode"}, "prepare.missing must be one of median, mean, most_frequent; got 'mode'"),
        ({"indicators": 1}, "prepare.indicators must be true or false; got 1"),
    ],
)
def test_other_values_are_refused(prepare, said):
    """What is no preparation is refused with what is allowed."""
    with pytest.raises(SettingsError) as caught:
        BlissClassifier(prepare=prepare).check_parameters()
    assert said in str(caught.value)


class TestLargeValues:
    """Values near the largest that there are."""

    def test_a_median_that_is_half_of_too_much(self):
        """Rows without empty cells are learnt from, though two of their values add up to infinity."""
        rows = CheckedData(np.array([[1e308, 1.0], [1e308, 3.0]]), Bags.from_ids([0, 1]), None)
        filled = Preparation().fit(rows).transformer_.named_transformers_["numbers"].statistics_
        assert filled.tolist() == [1e308, 2.0]

    def test_an_empty_cell_beside_them(self):
        """What would fill it is infinite, and the column is named."""
        X = np.array([[1e308, 1.0], [1e308, 3.0], [np.nan, 2.0]])
        rows = CheckedData(X, Bags.from_ids([0, 1, 2]), None, ("a", "b"), empty_cells=True)
        with pytest.raises(DataError, match=r'^The values of column "a" are so large that their median is infinite'):
            Preparation().fit(rows)
