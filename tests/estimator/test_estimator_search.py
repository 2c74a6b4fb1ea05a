"""BlissClassifier among scikit-learn's tools: clone, parameters, searches, pipelines, metadata routing."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bliss_framework import BagKFold, BlissClassifier, DataError, load_model, save_model
from bliss_framework.errors import BlissWarning

pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")

REWARDS = [{"name": "mil", "gamma": 1 / 7}, {"name": "mil", "gamma": 0.5}]


@pytest.fixture
def routing():
    """Metadata routing is on."""
    with config_context(enable_metadata_routing=True):
        yield


def whole_bags(bags, train, test):
    return not set(bags[train]) & set(bags[test])


def test_clone_copies_parameters_and_forgets_the_fit(toy, bliss):
    """A clone has equal parameters, objects of its own, and nothing learnt."""
    X, bags, weak = toy()
    model = bliss(classifier=SVC(C=2.0), reward=REWARDS[1], n_rounds=3).fit(X, weak, bags=bags)
    copy = clone(model)
    assert copy.classifier is not model.classifier
    assert copy.classifier.C == 2.0
    assert copy.reward == model.reward
    assert not hasattr(copy, "labels_")
    assert not hasattr(model.classifier, "classes_")


def test_constructor_stores_what_it_gets():
    """Every parameter comes back as the very object that was passed."""
    names = list(inspect.signature(BlissClassifier).parameters)
    values = {name: object() for name in names}
    model = BlissClassifier(**values)
    assert model.get_params(deep=False) == values


def test_parameters_of_a_classifier_are_reached_by_name(toy, bliss):
    """`classifier__C` is the C of the classifier, `final_classifier__C` that of the last one; they do not mix."""
    model = bliss(classifier=SVC(C=2.0), final_classifier=SVC(C=3.0))
    model.set_params(classifier__C=7.0, final_classifier__gamma=0.5)
    assert model.get_params()["classifier__C"] == 7.0
    assert model.get_params()["final_classifier__C"] == 3.0
    assert (model.classifier.gamma, model.final_classifier.gamma) == ("scale", 0.5)
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        model.set_params(gamma=0.5)


def test_set_params_takes_effect_in_the_next_fit(toy, bliss):
    """Parameters are read when fitting: a changed one gives the fit of a fresh estimator with it."""
    X, bags, weak = toy()
    changed = bliss().fit(X, weak, bags=bags).set_params(reward=REWARDS[1], n_rounds=9).fit(X, weak, bags=bags)
    fresh = bliss(reward=REWARDS[1], n_rounds=9).fit(X, weak, bags=bags)
    assert np.array_equal(changed.label_means_, fresh.label_means_, equal_nan=True)


def test_repr_shows_what_was_changed():
    """Only parameters that differ from the defaults are printed."""
    assert (
        repr(BlissClassifier(n_folds=7, classifier=SVC(C=3.0))) == "BlissClassifier(classifier=SVC(C=3.0), n_folds=7)"
    )


@pytest.mark.usefixtures("routing")
def test_search_passes_the_bags_of_each_fold_to_fit(toy, bliss):
    """With routing on, `fit(X, y, bags=ids)` splits whole bags and slices the ids along; nothing needs a request."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    seen = []

    class Recorder(BlissClassifier):
        def fit(self, X, y, bags=None, groups=None, sample_weight=None):
            seen.append((len(X), None if bags is None else len(np.unique(bags))))
            return super().fit(X, y, bags, groups, sample_weight)

    own = Recorder(**{**bliss().get_params(deep=False), "n_rounds": 5})
    search = GridSearchCV(own, {"reward": REWARDS}, cv=BagKFold(3), error_score="raise").fit(X, y, bags=bags)
    assert seen == [(32, 8)] * 6 + [(48, 12)]
    assert search.best_params_["reward"] in REWARDS
    assert len(search.best_estimator_.bag_ids_) == 12
    assert not hasattr(own, "labels_")


@pytest.mark.usefixtures("routing")
def test_search_over_rewards_leaves_the_classifier_unfitted(toy, bliss):
    """GridSearchCV over whole rewards works with any classifier object, which is never fitted itself."""
    X, bags, weak = toy(n_pos=4, n_neg=4)
    y = [weak[name] for name in bags]
    classifier, final = RandomForestClassifier(3), SVC()
    model = bliss(classifier=classifier, final_classifier=final, n_rounds=2, n_folds=2)
    search = GridSearchCV(model, {"reward": REWARDS, "classifier__max_depth": [1, 2]}, cv=BagKFold(2))
    search.fit(X, y, bags=bags)
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    for one in (classifier, final):
        assert not hasattr(one, "classes_")


def test_search_reports_a_refused_setting_as_any_other_error(toy, bliss):
    """A setting that cannot be used is scikit-learn's to handle: it raises when asked to."""
    X, bags, weak = toy()
    search = GridSearchCV(bliss(), {"n_neighbors": [0]}, cv=BagKFold(3), error_score="raise")
    with pytest.raises(ValueError, match="n_neighbors must be an integer, at least 1; got 0"):
        search.fit(X, [weak[name] for name in bags], groups=bags, bags=bags)


@pytest.mark.usefixtures("routing")
def test_routing_carries_bags_through_a_pipeline(toy, bliss):
    """With metadata routing a pipeline passes `bags` to fit and to score, without any request."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    last = bliss(scaling="none")
    pipeline = make_pipeline(StandardScaler(), last).fit(X, y, bags=bags)
    alone = bliss(scaling="none").fit(StandardScaler().fit_transform(X), weak, bags=bags)
    assert (pipeline[-1].labels_ == alone.labels_).all()
    assert (pipeline.predict(X) == alone.predict(StandardScaler().fit_transform(X))).all()
    assert pipeline.score(X, y, bags=bags) == alone.score(StandardScaler().fit_transform(X), weak, bags)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("alias", [False, True])
def test_routing_carries_bags_through_a_search(alias, toy, bliss):
    """A search over a pipeline routes ids to splitter, fit and score; the splitter may take them as `bags` too."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    last = bliss(n_rounds=5).set_fit_request(bags=True).set_score_request(bags=True)
    cv = BagKFold(3).set_split_request(groups="bags") if alias else BagKFold(3)
    pipeline = Pipeline([("scale", StandardScaler()), ("bliss", last)])
    search = GridSearchCV(pipeline, {"bliss__reward": REWARDS}, cv=cv, error_score="raise")
    search.fit(X, y, bags=bags, **({} if alias else {"groups": bags}))
    scores = []
    for train, test in BagKFold(3).split(X, y, bags):
        assert whole_bags(bags, train, test)
        fitted = clone(pipeline).set_params(bliss__reward=REWARDS[0]).fit(X[train], y[train], bags=bags[train])
        scores.append(fitted.score(X[test], y[test], bags=bags[test]))
    assert search.cv_results_["mean_test_score"][0] == np.mean(scores)


@pytest.mark.usefixtures("routing")
def test_bags_that_a_user_turned_away_are_refused(toy, bliss):
    """With routing on, bags that no step asks for are an error, not ignored."""
    X, bags, weak = toy()
    last = bliss().set_fit_request(bags=False)
    with pytest.raises(TypeError, match="bags"):
        make_pipeline(StandardScaler(), last).fit(X, [weak[name] for name in bags], bags=bags)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("above", [False, True])
def test_cross_validate_hands_over_bags_and_groups(above, toy, bliss):
    """`params={"bags": ids}` is all that cross_validate needs; `groups` beside it are patients that stay together."""
    X, bags, weak = toy()
    y, patients = np.array([weak[name] for name in bags]), np.array([int(name[1:]) // 2 for name in bags])
    params = {"bags": bags, "groups": patients} if above else {"bags": bags}
    found = cross_validate(
        bliss(), X, y, cv=BagKFold(3), params=params, return_estimator=True, return_indices=True, error_score="raise"
    )
    for train, test, model, score in zip(
        *(found["indices"][side] for side in ("train", "test")), found["estimator"], found["test_score"], strict=True
    ):
        assert not set(patients[train] if above else bags[train]) & set(patients[test] if above else bags[test])
        own = {"groups": patients[train]} if above else {}
        by_hand = bliss().fit(X[train], y[train], bags=bags[train], **own)
        assert np.array_equal(model.label_means_, by_hand.label_means_, equal_nan=True)
        assert score == by_hand.score(X[test], y[test], bags[test])


def test_groups_alone_are_told_to_fit_in_a_warning(toy, bliss):
    """Without routing scikit-learn hands `groups` to the splitter alone; fit says what to pass instead."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    with pytest.warns(BlissWarning, match=r"no bag ids.*enable_metadata_routing=True\) and pass params"):
        cross_validate(bliss(n_rounds=2), X, y, groups=bags, cv=BagKFold(2), error_score="raise")
    with pytest.raises(DataError, match="BagKFold needs the bag id of each row"):
        cross_validate(bliss(n_rounds=2), X, y, cv=BagKFold(2), params={"bags": bags}, error_score="raise")


@pytest.mark.usefixtures("routing")
def test_a_model_with_requests_can_be_saved(tmp_path, toy, bliss):
    """Requests of the model, of its final classifier and of a pipeline are left out of the file; predictions stay."""
    X, bags, weak = toy()
    final = LogisticRegression().set_fit_request(sample_weight=True)
    model = bliss(final_classifier=final).set_fit_request(bags=True).set_score_request(bags=True).fit(X, weak, bags)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert model.get_metadata_routing().fit.requests["bags"] is True
    pipeline = make_pipeline(StandardScaler(), bliss().set_fit_request(bags=True)).fit(
        X, [*map(weak.get, bags)], bags=bags
    )
    save_model(pipeline, tmp_path / "pipeline.skops")
    assert np.array_equal(load_model(tmp_path / "pipeline.skops").predict(X), pipeline.predict(X))


@pytest.mark.usefixtures("routing")
def test_cross_validation_by_hand_equals_cross_validate(toy, bliss):
    """cross_validate with bags in `params` fits and predicts each fold as a loop over the splits does."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    found = cross_validate(
        bliss(), X, y, cv=BagKFold(3), params={"bags": bags}, return_estimator=True, error_score="raise"
    )
    for (train, _), model in zip(BagKFold(3).split(X, y, bags), found["estimator"], strict=True):
        by_hand = bliss().fit(X[train], y[train], bags=bags[train])
        assert np.array_equal(model.label_means_, by_hand.label_means_, equal_nan=True)


def test_data_frames_go_through_cross_val_predict(toy, bliss):
    """Frames, series of ids and series of labels are sliced by scikit-learn and understood by position."""
    X, bags, weak = toy()
    index = np.random.default_rng(0).permutation(48)
    frame = pd.DataFrame(X, columns=["a", "b"], index=index)
    y, ids = pd.Series([weak[name] for name in bags], index=index), pd.Series(bags, index=index)
    predicted = cross_val_predict(bliss(), frame, y, groups=ids, cv=BagKFold(3), params={"bags": ids})
    plain = cross_val_predict(bliss(), X, y.to_numpy(), groups=bags, cv=BagKFold(3), params={"bags": bags})
    assert (predicted == plain).all()


def test_ordinary_classification_has_no_bags(toy, bliss):
    """Without bags a shuffled data frame with a shuffled series is classified like arrays."""
    X, _, _ = toy(n_pos=12, n_neg=0)
    y = (X[:, 0] > 2).astype(int)
    index = np.random.default_rng(1).permutation(48)
    frame, series = pd.DataFrame(X, columns=["a", "b"], index=index), pd.Series(y, index=index)
    assert (bliss().fit(frame, series).labels_ == y).all()
    assert bliss().fit(frame, series).score(frame, series) == bliss().fit(X, y).score(X, y)
