"""What BlissClassifier refuses, before any pull: each message names the thing, what was found and what is allowed."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from bliss_framework import BlissClassifier, DataError, SettingsError, UnknownNameError
from bliss_mil.rewards.paper_reward import MilReward


def replaced(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


def without(weak, name):
    return {bag: label for bag, label in weak.items() if bag != name}


def by_row(bags, weak):
    return [weak[name] for name in bags]


DATA = {
    "nan": (lambda X, b, w: (replaced(X, 5, 1, np.nan), w, b), ("NaN", "row 5", "column 1", "finite")),
    "infinity": (lambda X, b, w: (replaced(X, 7, 0, -np.inf), w, b), ("infinity", "row 7", "column 0", "finite")),
    "nan in a data frame": (
        lambda X, b, w: (pd.DataFrame(replaced(X, 5, 1, np.nan), columns=["tall", "wide"]), w, b),
        ("NaN", "row 5", "'wide'"),
    ),
    "nan in sparse rows": (
        lambda X, b, w: (sp.csr_matrix(replaced(X, 5, 1, np.nan)), w, b),
        ("NaN", "row 5", "column 1"),
    ),
    "no rows": (lambda X, b, w: (X[:0], w, b[:0]), ("0 sample",)),
    "no columns": (lambda X, b, w: (X[:, :0], w, b), ("0 feature",)),
    "too few ids": (lambda X, b, w: (X, w, b[:-1]), ("48 rows", "47 ids")),
    "missing id": (lambda X, b, w: (X, w, [None, *b[1:]]), ("Row 0", "no bag id")),
    "too few labels": (lambda X, b, w: (X, [1, 0, 1], b), ("3 labels", "12 bags", "48 rows")),
    "no labels": (lambda X, b, w: (X, None, b), ("y is None",)),
    "one bag": (lambda X, b, w: (X[:4], {"b0": 1}, b[:4]), ("at least two bags", "4 rows")),
    "one row": (lambda X, b, w: (X[:1], [1], None), ("at least two bags", "one row")),
    "no negative bag": (
        lambda X, b, w: (X, dict.fromkeys(w, 1), b),
        ("All 12 bags", "positive", "at least one positive and one negative"),
    ),
    "no positive bag": (
        lambda X, b, w: (X, dict.fromkeys(w, 0), b),
        ("All 12 bags", "negative", "at least one positive and one negative"),
    ),
    "one class of names": (lambda X, b, w: (X, dict.fromkeys(w, "ill"), b), ("All 12 bags", "'ill'")),
    "one class without bags": (lambda X, b, w: (X, np.ones(48), None), ("same class", "positive")),
    "three classes": (lambda X, b, w: (X, {**w, "b3": 2}, b), ("3", "0, 1, 2", "two classes")),
    "two names": (
        lambda X, b, w: (X, {k: "dog" if v else "cat" for k, v in w.items()}, b),
        ("'cat'", "'dog'", "positive", 'regime={"name": "mil", "positive_label": \'dog\'}'),
    ),
    "a fraction": (lambda X, b, w: (X, {**w, "b3": 0.3}, b), ("'b3'", "0.3", "proportions", "llp")),
    "label nan": (lambda X, b, w: (X, {**w, "b3": np.nan}, b), ("'b3'", "no weak label")),
    "label none": (lambda X, b, w: (X, {**w, "b3": None}, b), ("'b3'", "no weak label")),
    "label missing to pandas": (lambda X, b, w: (X, pd.Series({**w, "b3": pd.NA}), b), ("'b3'", "no weak label")),
    "label infinite": (lambda X, b, w: (X, {**w, "b3": np.inf}, b), ("'b3'", "inf", "finite")),
    "label set": (lambda X, b, w: (X, {**w, "b3": {"cat"}}, b), ("'b3'", "{'cat'}", "multiclass-mil")),
    "bag without a label": (lambda X, b, w: (X, without(w, "b3"), b), ("'b3'", "no weak label", "1 such bags of 12")),
    "label without a bag": (lambda X, b, w: (X, {**w, "x9": 1}, b), ("'x9'", "no rows")),
    "labels that differ in a bag": (
        lambda X, b, w: (X, [1 - label if i == 2 else label for i, label in enumerate(by_row(b, w))], b),
        ("Row 2", "'b0'", "whole bag"),
    ),
    "labels of bags in a list": (
        lambda X, b, w: ([X[:4], X[4:]], [1], None),
        ("2 bags", "1 label"),
    ),
    "list of bags and ids": (lambda X, b, w: ([X[:4], X[4:]], [1, 0], b), ("list of bags", "do not pass bags")),
}


@pytest.mark.parametrize("case", DATA)
def test_data_that_cannot_be_used_is_refused_before_any_pull(case, toy, untouched):
    """A DataError names the bag, row or column and what is wrong; label inference never starts."""
    change, words = DATA[case]
    X, y, bags = change(*toy())
    with pytest.raises(DataError) as caught:
        BlissClassifier(classifier=untouched, final_classifier=untouched).fit(X, y, bags=bags)
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert "np." not in text
    assert text.strip().endswith((".", ")"))


NAN = float("nan")
PARAMETERS = [
    ("n_rounds", 0, "an integer, at least 1"),
    ("n_rounds", 1.5, "an integer, at least 1"),
    ("n_folds", 1, "an integer, at least 2"),
    ("n_folds", True, "an integer, at least 2"),
    ("train_on", "all", "'one', 'rest'"),
    ("n_inferences", 0, "an integer, at least 1"),
    ("n_passes", 0, "an integer, at least 1"),
    ("n_parallel", 0, "an integer, at least 1"),
    ("n_neighbors", 0, "an integer, at least 1"),
    ("n_neighbors", -3, "an integer, at least 1"),
    ("n_neighbors", 2.5, "an integer, at least 1"),
    ("n_neighbors", "5", "an integer, at least 1"),
    ("pass_share", 1.5, "a number from 0 to 1"),
    ("pass_share", NAN, "a number from 0 to 1"),
    ("n_first_draws", 0, "an integer, at least 1"),
    ("class_balance", -1.0, "a number from 0 to 10"),
    ("class_balance", float("inf"), "a number from 0 to 10"),
    ("scaling", "minmax", "auto, clipped, standard, standard-unit, unit, none"),
    ("bag_threshold", "best", '"out-of-fold" or a finite number'),
    ("bag_threshold", NAN, '"out-of-fold" or a finite number'),
    ("bag_threshold", True, '"out-of-fold" or a finite number'),
    ("bag_threshold", [0.5, 0.5], '"out-of-fold" or a finite number'),
    ("instance_threshold", "best", '"auto" or "out-of-fold" or a finite number'),
    ("instance_threshold", NAN, '"auto" or "out-of-fold" or a finite number'),
    ("instance_threshold", False, '"auto" or "out-of-fold" or a finite number'),
    ("confidence_weights", "no", "True or False"),
    ("random_state", "lucky", "an integer from 0"),
    ("random_state", -1, "an integer from 0"),
    ("n_jobs", 0, "a positive integer"),
    ("n_jobs", "all", "a positive integer"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), PARAMETERS)
def test_parameter_out_of_range_is_refused_before_any_pull(name, value, allowed, toy, untouched):
    """A SettingsError names the parameter, the value and what is allowed."""
    X, bags, weak = toy()
    for use in (lambda model: model.fit(X, weak, bags=bags), BlissClassifier.check_parameters):
        with pytest.raises(SettingsError) as caught:
            use(BlissClassifier(**{"classifier": untouched, "final_classifier": untouched, name: value}))
        text = str(caught.value)
        assert text.startswith(f"{name} must be "), text
        assert allowed in text
        assert repr(value) in text


COMPONENTS = [
    ("regime", "mill", UnknownNameError, ('No regime "mill"', 'Did you mean "mil"?')),
    ("classifier", "kernel-rigde", UnknownNameError, ('"kernel-rigde"', 'Did you mean "kernel-ridge"?', "svm-rbf")),
    ("classifier", "zzz", UnknownNameError, ('"zzz"', "Installed classifiers:", "svm-rbf")),
    ("classifier", "sklearn.svm.SCV", UnknownNameError, ("sklearn.svm.SCV", "cannot be imported")),
    ("final_classifier", "svm-rfb", UnknownNameError, ('"svm-rfb"', 'Did you mean "svm-rbf"?')),
    ("strategy", "ucb", UnknownNameError, ('"ucb"', 'Did you mean "cucb"?')),
    ("reward", "mile", UnknownNameError, ('"mile"', 'Did you mean "mil"?')),
    ("classifier", {"name": "kernel-ridge", "rigde": 1}, SettingsError, ('no parameter "rigde"', '"ridge"', "width")),
    ("classifier", {"name": "kernel-ridge", "ridge": NAN}, SettingsError, ("ridge", "finite", "above 0", "nan")),
    ("classifier", {"name": "svm-rbf", "C": float("inf")}, SettingsError, ("C must be", "finite", "inf")),
    ("classifier", {"name": "svm-rbf", "width": "wide"}, SettingsError, ("width", '"scale"', "'wide'")),
    ("classifier", {"C": 1.0}, SettingsError, ('The classifier "kernel-ridge" has no parameter "C"',)),
    ("classifier", {"name": "sklearn.svm.SVC", "CC": 1}, SettingsError, ("SVC", "'CC'")),
    ("final_classifier", {"name": "ridge", "ridge": -1}, SettingsError, ("ridge", "above 0", "-1")),
    ("strategy", {"name": "cucb", "exploration": NAN}, SettingsError, ("exploration", "0 to 100", "nan")),
    ("reward", {"name": "mil", "gamma": 2}, SettingsError, ("gamma", "0 to 1", "2")),
    ("reward", {"name": "mil", "alpha": NAN}, SettingsError, ("alpha", "0 to 1", "nan")),
    ("regime", {"name": "mil", "weights": "row"}, SettingsError, ("weights", "'instance', 'bag'", "'row'")),
    ("classifier", SVC, SettingsError, ("class SVC", "SVC()")),
    ("reward", MilReward, SettingsError, ("reward is the class MilReward", "MilReward()")),
    ("classifier", 3, SettingsError, ("classifier must be", "3")),
    ("regime", SVC(), SettingsError, ("regime must be", "SVC()")),
]


@pytest.mark.parametrize(("name", "value", "error", "words"), COMPONENTS)
def test_component_that_there_is_not_is_refused_before_any_pull(name, value, error, words, toy, untouched):
    """Unknown names offer the nearest; unknown or wrong parameters of a component are named."""
    X, bags, weak = toy()
    given = {"classifier": untouched, "final_classifier": untouched, name: value}
    for use in (lambda model: model.fit(X, weak, bags=bags), BlissClassifier.check_parameters):
        with pytest.raises(error) as caught:
            use(BlissClassifier(**given))
        assert all(word in str(caught.value) for word in words), str(caught.value)


def test_check_parameters_takes_what_fit_takes(untouched):
    """Checking parameters without data finds nothing wrong with defaults, and starts nothing."""
    assert BlissClassifier().check_parameters() is None
    assert (
        BlissClassifier(classifier=untouched, bag_threshold=np.float32(0.5), n_jobs=np.int64(2)).check_parameters()
        is None
    )


def test_constructor_takes_anything():
    """As scikit-learn wants it, a constructor only stores; `fit` refuses."""
    assert BlissClassifier(n_rounds="many", regime=None, bag_threshold=[]).n_rounds == "many"


def test_refusals_are_value_errors():
    """Code that catches ValueError, as scikit-learn's own tools do, catches ours."""
    assert issubclass(DataError, ValueError)
    assert issubclass(SettingsError, ValueError)
    assert issubclass(UnknownNameError, ValueError)
