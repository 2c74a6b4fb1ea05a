"""Weak labels in a data frame: the classes are called like its columns, which are matched by name."""

import numpy as np
import pandas as pd
import pytest

from bliss_framework import BlissClassifier, DataError

BAGS = np.repeat([f"p{i}" for i in range(15)], 4)
X = np.random.default_rng(0).normal(size=(60, 2))
TRUTH = np.where(X[:, 0] > 0, "malignant", "benign")
SHARES = pd.crosstab(BAGS, TRUTH, normalize="index").rename_axis(None)
SETS = pd.get_dummies(pd.Series(["cat", "dog", "bird"] * 5, index=list(dict.fromkeys(BAGS))))
LLP = {"regime": "llp", "n_rounds": 5, "random_state": 0}
MANY = {"regime": "multiclass-mil", "n_rounds": 2, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")


def test_classes_of_shares_are_called_like_the_columns():
    """A cross table of shares needs no names of classes beside it, in fit and in score."""
    model = BlissClassifier(**LLP).fit(X, SHARES, bags=BAGS)
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert (model.predict(X) == TRUTH).mean() > 0.9
    assert model.config_["regime"]["classes"] == ["benign", "malignant"]


@pytest.mark.parametrize("columns", [["benign", "malignant"], ["malignant", "benign"]])
def test_columns_of_shares_may_be_in_any_order(columns):
    """Shares are matched by the name of the column: with the user's classes, and in score with those of training."""
    model = BlissClassifier(**LLP).fit(X, SHARES, bags=BAGS)
    assert model.score(X, SHARES[columns], BAGS) == model.score(X, SHARES, BAGS)
    told = {"regime": {"name": "llp", "classes": ["malignant", "benign"]}}
    named = BlissClassifier(**{**LLP, **told}).fit(X, SHARES[columns], bags=BAGS)
    assert named.classes_.tolist() == ["malignant", "benign"]
    assert (named.predict(X) == TRUTH).mean() > 0.9


def test_columns_with_other_names_are_refused_with_both_sides():
    """Names that match no class are no guess: both sides are shown, and what looks alike."""
    told = {"regime": {"name": "llp", "classes": ["Benign", "malignant"]}}
    with pytest.raises(DataError, match=r"'benign', 'malignant'.*'Benign', 'malignant'.*letter case"):
        BlissClassifier(**{**LLP, **told}).fit(X, SHARES, bags=BAGS)
    model = BlissClassifier(**LLP).fit(X, SHARES, bags=BAGS)
    with pytest.raises(DataError, match="'b', 'malignant'"):
        model.score(X, SHARES.rename(columns={"benign": "b"}), BAGS)


@pytest.mark.parametrize("kind", [bool, int, float, "boolean"])
def test_indicator_columns_name_the_labels(kind):
    """A frame of dummies is label sets whose labels are the columns, whatever type its cells have."""
    model = BlissClassifier(**MANY).fit(X, SETS.astype(kind), bags=BAGS)
    assert model.classes_.tolist() == ["negative", "bird", "cat", "dog"]
    assert model.score(X, SETS[["dog", "bird", "cat"]], BAGS) == model.score(X, SETS, BAGS)


@pytest.mark.parametrize("word", ["classes", "label_names"])
def test_indicator_arrays_take_names(word):
    """An array has no names, so the regime is told them, as `classes` or as `label_names`."""
    regime = {"name": "multiclass-mil", word: ["bird", "cat", "dog"]}
    model = BlissClassifier(**{**MANY, "regime": regime}).fit(X, SETS.to_numpy().astype(int), bags=BAGS)
    assert model.classes_.tolist() == ["negative", "bird", "cat", "dog"]
    framed = BlissClassifier(**MANY).fit(X, SETS, bags=BAGS)
    assert np.array_equal(model.label_means_, framed.label_means_, equal_nan=True)


def test_the_users_names_come_before_those_of_the_columns():
    """Classes in another order than the columns are those of the user, with the same labels in each bag."""
    regime = {"name": "multiclass-mil", "classes": ["dog", "cat", "bird"]}
    model = BlissClassifier(**{**MANY, "regime": regime}).fit(X, SETS, bags=BAGS)
    assert model.classes_.tolist() == ["negative", "dog", "cat", "bird"]
    ids, sets = model.predict_bags(X, BAGS)
    assert sets.shape == (15, 3)
    assert ids.tolist() == list(SETS.index)
