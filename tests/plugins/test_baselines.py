"""The baselines against the same thing done by hand, and the weak labels that MIL takes."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from bliss_framework import Bags, DataError
from bliss_framework.extension.loading.plugins import load_plugins
from bliss_mil.baselines.simple_svms import BagMeanSvm, InheritedLabelSvm
from bliss_mil.regime.weak_labels import check_binary

BASELINES = [InheritedLabelSvm, BagMeanSvm]


def rows_by_bag(X, bags):
    return {name: X[bags == name] for name in dict.fromkeys(bags.tolist())}


def test_inherited_label_svm_is_an_svm_on_rows_with_their_bags_label(toy):
    """Standardised rows, each with the label of its bag; a bag scores as its largest row."""
    X, bags, weak = toy()
    new, new_bags, _ = toy(seed=1)
    scaler = StandardScaler().fit(X)
    svc = SVC(C=3.0).fit(scaler.transform(X), [weak[name] for name in bags])
    model = InheritedLabelSvm(C=3.0, scaling="standard").fit(X, weak, bags=bags)
    assert np.allclose(model.decision_function(new), svc.decision_function(scaler.transform(new)))
    assert (model.predict(new) == svc.predict(scaler.transform(new))).all()
    ids, scores = model.score_bags(new, new_bags)
    expected = {
        name: svc.decision_function(scaler.transform(part)).max() for name, part in rows_by_bag(new, new_bags).items()
    }
    assert ids.tolist() == list(expected)
    assert np.allclose(scores, list(expected.values()))


def test_bag_mean_svm_is_an_svm_on_the_means_of_bags(toy):
    """Rows are standardised, then averaged over each bag; an instance is a bag of one."""
    X, bags, weak = toy()
    new, new_bags, _ = toy(seed=1)
    scaler = StandardScaler().fit(X)
    means = [scaler.transform(part).mean(axis=0) for part in rows_by_bag(X, bags).values()]
    svc = SVC(C=3.0).fit(means, [weak[name] for name in rows_by_bag(X, bags)])
    model = BagMeanSvm(C=3.0, scaling="standard").fit(X, weak, bags=bags)
    ids, scores = model.score_bags(new, new_bags)
    expected = [
        svc.decision_function([scaler.transform(part).mean(axis=0)])[0] for part in rows_by_bag(new, new_bags).values()
    ]
    assert ids.tolist() == list(rows_by_bag(new, new_bags))
    assert np.allclose(scores, expected)
    assert np.allclose(model.decision_function(new), svc.decision_function(scaler.transform(new)))


@pytest.mark.parametrize("baseline", BASELINES)
def test_sparse_rows_are_normalised_and_stay_sparse(baseline, toy):
    """For sparse rows "auto" means unit length, and the result is that of an SVM on the dense unit rows."""
    X, bags, weak = toy(gap=6.0)
    unit = Normalizer().transform(X)
    model = baseline().fit(sp.csr_matrix(X), weak, bags=bags)
    same = baseline(scaling="none").fit(unit, weak, bags=bags)
    assert sp.issparse(model.svc_.support_vectors_)
    assert np.allclose(model.score_bags(sp.coo_array(X), bags)[1], same.score_bags(unit, bags)[1], atol=1e-3)


@pytest.mark.parametrize("baseline", BASELINES)
def test_predicted_bags_are_the_scores_above_zero(baseline, toy):
    """Labels of bags have the user's own values and follow the sign of the score."""
    X, bags, weak = toy()
    named = {name: "sick" if value else "well" for name, value in weak.items()}
    model = baseline(positive_label="sick").fit(X, named, bags=bags)
    assert model.classes_.tolist() == ["well", "sick"]
    scores, labels = model.score_bags(X, bags)[1], model.predict_bags(X, bags)[1]
    assert labels.tolist() == ["sick" if score > 0 else "well" for score in scores]
    assert set(model.predict(X)) <= {"sick", "well"}


@pytest.mark.parametrize("baseline", BASELINES)
def test_list_of_bags_is_the_same_as_ids(baseline, toy):
    """A list of arrays gives the scores of the rows with ids."""
    X, bags, weak = toy()
    listed = [X[bags == name] for name in weak]
    model = baseline().fit(listed, list(weak.values()))
    expected = baseline().fit(X, weak, bags=bags).score_bags(X, bags)[1]
    assert np.allclose(model.score_bags(listed)[1], expected)


@pytest.mark.parametrize("baseline", BASELINES)
def test_columns_of_a_data_frame_are_remembered(baseline, toy):
    """Renamed columns are refused; bags are scored without a warning about names."""
    X, bags, weak = toy()
    frame = pd.DataFrame(X, columns=["height", "width"])
    model = baseline().fit(frame, weak, bags=bags)
    assert model.feature_names_in_.tolist() == ["height", "width"]
    assert len(model.score_bags(frame, bags)[1]) == 12
    with pytest.raises(ValueError, match="feature names should match"):
        model.score_bags(frame.rename(columns={"width": "depth"}), bags)


@pytest.mark.parametrize("baseline", BASELINES)
def test_bags_of_an_unfitted_baseline_cannot_be_scored(baseline, toy):
    """scikit-learn's own error says that it is not fitted."""
    with pytest.raises(NotFittedError):
        baseline().score_bags(toy()[0])


# Weak labels


BAGS = Bags.from_ids(["p", "q", "r"])


@pytest.mark.parametrize(
    ("weak", "classes"),
    [
        ([1, 0, 1], (0, 1)),
        ([1.0, 0.0, 1.0], (0, 1)),
        ([True, False, True], (0, 1)),
        (["1", "0", "1"], (0, 1)),
        ([1, -1, 1], (-1, 1)),
        (np.array([1, 0, 1], dtype=np.uint8), (0, 1)),
    ],
)
def test_plain_forms_of_two_classes_need_no_help(weak, classes):
    """The larger of 0/1, -1/1, booleans and their text is positive."""
    found = check_binary(np.asarray(weak), BAGS, None)
    assert found.values.tolist() == [1, 0, 1]
    assert found.classes == classes


@pytest.mark.parametrize(
    ("weak", "positive", "classes"),
    [
        (["pos", "neg", "pos"], "pos", ("neg", "pos")),
        (["neg", "pos", "neg"], "neg", ("pos", "neg")),
        ([2, 1, 2], 2, (1, 2)),
        ([0, 1, 0], 0, (1, 0)),
    ],
)
def test_positive_label_decides(weak, positive, classes):
    """Any two labels will do when the positive one is named; class 1 is always the positive one."""
    bags = Bags.from_ids(["p", "q", "r", "r"])
    found = check_binary(np.asarray(weak), bags, positive)
    assert found.values.tolist() == [1, 0, 1]
    assert found.classes == classes


@pytest.mark.parametrize(
    ("weak", "positive", "words"),
    [
        (["cat", "dog", "cat"], None, ("'cat'", "'dog'", "which one is positive", "positive_label")),
        (["pos", "neg", "pos"], "Pos", ("positive_label", "'Pos'", "'neg'")),
        ([1, 0, 2], None, ("3", "0, 1, 2", "multiclass-mil")),
        ([1, 1, 1], None, ("All 3 bags", "positive", "negative")),
        ([0, 0, 0], None, ("All 3 bags", "negative", "positive")),
        (["a", "a", "a"], "a", ("All 3 bags", "'a'")),
        ([0.3, 0.0, 1.0], None, ("'p'", "0.3", "proportions", "llp")),
        ([1.0, np.inf, 0.0], None, ("'q'", "inf", "finite")),
        ([1.0, np.nan, 0.0], None, ("'q'", "no weak label")),
        ([1, None, 0], None, ("'q'", "no weak label")),
        ([{"cat"}, set(), {"dog"}], None, ("'p'", "{'cat'}", "multiclass-mil")),
        ([[0.5, 0.5], [1, 0], [0, 1]], None, ("one weak label for each bag", "(3, 2)")),
    ],
)
def test_other_weak_labels_are_refused(weak, positive, words):
    """The message names the bag or the classes, what was found, and what MIL takes."""
    bags = Bags.from_ids(["p", "q", "r", "r"])
    with pytest.raises(DataError) as caught:
        check_binary(np.array(weak), bags, positive)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "np." not in str(caught.value)


def test_without_bags_the_two_classes_are_symmetric():
    """Where every row is its own bag the later class in sorted order is positive, as in scikit-learn."""
    assert check_binary(np.array(["pos", "neg", "pos"]), BAGS, None).classes == ("neg", "pos")


@pytest.mark.filterwarnings(
    "ignore::bliss_framework.errors.BlissWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)
def test_baselines_ask_for_the_bags_that_they_were_fitted_on(toy):
    """Rows without bag ids are refused by every baseline of bags; rows that are bags, and lists of bags, are fine."""
    X, bags, weak = toy(n_pos=4, n_neg=4)
    registry = load_plugins().registry
    shares = {name: 0.25 if label else 0.0 for name, label in weak.items()}
    sets = {name: {"cat"} if label else set() for name, label in weak.items()}
    asked = 0
    for one in registry.components("baseline"):
        if registry.registration("baseline", one.name).plugin == "weak_labels":
            continue  # Most of them learn from single rows; see test_weak_labels.py.
        parameters = inspect.signature(one.factory).parameters
        y = sets if "separator" in parameters else weak if "positive_label" in parameters else shares
        model = registry.create("baseline", one.name).fit(X, y, bags=bags)
        for call in (model.score_bags, model.predict_bags):
            with pytest.raises(DataError, match="there are no bag ids here"):
                call(X)
            assert len(call(X, np.arange(len(X)))[0]) == len(X)
            assert len(call(list(X.reshape(8, 4, 2)))[0]) == 8
        asked += 1
    assert asked >= 15
