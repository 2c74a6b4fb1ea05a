"""BlissClassifier: what it infers and predicts, checked where the right answer is forced."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from attrs import field, frozen
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bliss_framework import BlissClassifier, DataError, LabelSpace, Regime, Reward, SettingsError, WeakLabels
from bliss_framework.errors import BlissWarning
from bliss_framework.plugin import BagReading, BinaryReading, Presets
from bliss_mil.regime.mil_regime import MilRegime

pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")

FINAL = [
    "svm-rbf",
    "svm-linear",
    "kernel-ridge",
    "ridge",
    "logistic",
    RandomForestClassifier(10),
    KNeighborsClassifier(3),
    GaussianNB(),
    "sklearn.tree.DecisionTreeClassifier",
    {"name": "sklearn.svm.SVC", "C": 2.0},
    {"name": "svm-rbf", "C": 5.0, "width": 2.0},
]


@frozen
class Oracle(Reward):
    """Knows the true label of each row, which is whether its first feature is above a limit."""

    limit: float = 2.0

    def __call__(self, outcome):
        truth = outcome.fold.train.X[:, 0] > self.limit
        return (outcome.fold.train.space.class_of_label[outcome.assignment] > 0) == truth


@frozen
class Indifferent(Reward):
    """Gives every label the same."""

    def __call__(self, outcome):
        return np.full(len(outcome.assignment), 0.5)


@frozen
class Named(Regime):
    """Each bag has one class 0, 1 or 2; its instances are of that class or of class 0."""

    presets = Presets(defaults={"reward": "mil"})

    def check(self, weak, bags):
        return WeakLabels(weak, ("none", "cat", "dog"))

    def label_space(self, weak, bags):
        labels = bags.spread(weak.values)
        candidates = labels[:, None] == np.arange(3)
        candidates[:, 0] = True
        return LabelSpace(candidates, np.arange(3))

    def strata(self, weak):
        return weak.values

    @property
    def reading(self):
        return Maxima()


class Maxima(BagReading):
    """A bag is of the class that leads class 0 by most in one of its instances."""

    def bag_scores(self, scores, bags):
        return bags.max(scores)

    def bag_labels(self, scores, bags, threshold):
        found = bags.max(scores[:, 1:] - scores[:, :1])
        return np.where(found.max(axis=1) > threshold, found.argmax(axis=1) + 1, 0)

    def weak_score(self, outcome):
        return {"nothing": 1.0}

    def evaluate(self, predicted, scores, weak):
        return {"right": float((predicted == weak.values).mean())}


def three_kinds(n=12):
    """Bags of four rows; the first is at (6, 0), (6, 6) or (0, 0), after the class of the bag."""
    rng = np.random.default_rng(0)
    weak = np.arange(n) % 3
    X = rng.normal(size=(n, 4, 2))
    X[:, 0] += np.array([[0, 0], [6, 0], [6, 6]])[weak]
    return X.reshape(-1, 2), np.repeat(np.arange(n), 4), weak


# Inference


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"classifier": "svm-rbf"},
        {"classifier": GaussianNB(), "strategy": "kl-ucb"},
        {"train_on": "rest"},
        {"n_parallel": 4, "n_inferences": 2},
        {"n_passes": 2},
        {"n_first_draws": 3, "class_balance": 0.5},
    ],
)
def test_labels_are_those_that_the_reward_prefers(parameters, toy, bliss):
    """A reward that knows the truth is obeyed on every instance of a positive bag, with confidence 1."""
    X, bags, weak = toy(gap=8.0)
    model = bliss(reward=Oracle(), scaling="none", **parameters).fit(X, weak, bags=bags)
    assert model.labels_.tolist() == [int(weak[name] and row > 2.0) for name, row in zip(bags, X[:, 0], strict=True)]
    assert (model.confidence_ == 1.0).all()
    assert not model.undecided_.any()


def test_three_classes_go_through_inference_and_prediction(bliss):
    """With a regime of three classes, labels, scores and probabilities have a column for each class."""
    X, bags, weak = three_kinds()
    model = bliss(regime=Named(), reward=Oracle(3.0), scaling="none").fit(X, weak, bags=bags)
    named = np.array(["none", "cat", "dog"])
    assert model.labels_.tolist() == np.where(X[:, 0] > 3.0, named[weak[bags]], "none").tolist()
    corners = [[0.0, 0.0], [6.0, 0.0], [6.0, 6.0]]
    assert model.predict(corners).tolist() == ["none", "cat", "dog"]
    assert model.decision_function(corners).shape == (3, 3)
    assert np.allclose(model.predict_proba(corners).sum(axis=1), 1.0)
    assert model.predict_proba(corners).argmax(axis=1).tolist() == [0, 1, 2]
    ids, labels = model.predict_bags(X, bags)
    assert ids.tolist() == list(range(12))
    assert (labels == named[weak]).all()
    assert model.score_bags(X, bags)[1].shape == (12, 3)


def test_negative_bags_are_known_and_have_no_arms(toy, bliss):
    """Instances of negative bags are negative for certain, are never pulled, and have no means."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    known = np.array([weak[name] == 0 for name in bags])
    assert (model.labels_[known] == 0).all()
    assert (model.confidence_[known] == 1.0).all()
    assert (model.label_pulls_[known] == 0).all()
    assert np.isnan(model.label_means_[known]).all()
    assert (model.label_pulls_[~known] > 0).all()
    assert (model.known_ == known).all()


def test_pulls_are_the_sweep_and_the_rounds(toy, bliss):
    """Each instance is pulled once for each label in the sweep and once in every round."""
    X, bags, weak = toy()
    model = bliss(n_rounds=15, n_inferences=1).fit(X, weak, bags=bags)
    assert (model.label_pulls_[~model.known_].sum(axis=1) == 2 + 15).all()
    assert model.inference_["n_pulls"] == 3 * (2 + 15)


def test_confidence_is_the_lead_of_the_best_mean(toy, bliss):
    """The inferred label has the largest mean reward, and confidence is its lead over the other one."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    free = ~model.known_ & ~model.undecided_
    best, other = model.label_means_.max(axis=1), model.label_means_.min(axis=1)
    assert (model.labels_[free] == model.label_means_.argmax(axis=1)[free]).all()
    assert np.allclose(model.confidence_[free], (best - other)[free])


def test_indifferent_reward_leaves_all_free_instances_undecided(toy, bliss):
    """Where all labels earn the same, instances are marked undecided, with confidence 0, and are counted."""
    X, bags, weak = toy()
    model = bliss(reward=Indifferent()).fit(X, weak, bags=bags)
    assert (model.undecided_ == ~model.known_).all()
    assert (model.confidence_[model.undecided_] == 0.0).all()
    assert model.inference_["n_undecided"] == 24


def test_inference_report_counts_labels(toy, bliss):
    """`inference_` says how many instances got each class, under the user's own names."""
    X, bags, weak = toy()
    named = {name: "yes" if value else "no" for name, value in weak.items()}
    model = bliss(regime={"name": "mil", "positive_label": "yes"}).fit(X, named, bags=bags)
    assert model.inference_["label_counts"] == {name: (model.labels_ == name).sum() for name in ("no", "yes")}
    assert model.inference_["n_folds"] == 3
    assert set(model.inference_["seconds"]) == {"classifier", "reward", "strategy"}


def test_without_bags_it_is_the_final_classifier(toy, bliss):
    """Where every row is its own bag nothing is inferred: the fit is that of the final classifier on y."""
    X, bags, weak = toy()
    y = np.array([weak[name] for name in bags])
    svc = SVC(gamma=1 / X.var(axis=0).sum())
    model = bliss(scaling="none", final_classifier=svc).fit(X, y)
    expected = SVC(gamma=svc.gamma).fit(X, y).decision_function(X)
    assert (model.labels_ == y).all()
    assert model.inference_["n_pulls"] == 0
    assert model.bag_threshold_ == 0.0
    # libsvm stops at a tolerance of 1e-3, and not at the same point for another order of rows.
    assert np.allclose(model.decision_function(X), expected, atol=5e-3)


def test_undecided_instances_are_left_out_of_the_final_fit(toy, bliss):
    """Only decided instances train the final classifier, with their confidence as weight."""
    X, bags, weak = toy()
    fitted = []

    class Recorder(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            fitted.append((np.asarray(X).copy(), np.asarray(y).copy(), sample_weight))
            return super().fit(X, y, sample_weight)

    model = bliss(reward=Indifferent(), scaling="none", regime={"name": "mil", "negative_bags": "free"})
    model.set_params(reward=Half(), final_classifier=Recorder(), bag_threshold=0.0).fit(X, weak, bags=bags)
    rows, y, weights = fitted[0]
    assert sorted(rows[:, 0]) == sorted(X[~model.undecided_, 0])
    by_row = {row: (label, lead) for row, label, lead in zip(X[:, 0], model.labels_, model.confidence_, strict=True)}
    assert [by_row[row] for row in rows[:, 0]] == list(zip(y, weights, strict=True))
    assert 0 < model.undecided_.sum() < 48
    fitted.clear()
    model.set_params(confidence_weights=False).fit(X, weak, bags=bags)
    assert fitted[0][2] is None


@frozen
class Half(Reward):
    """Knows the sign of the second feature, but only right of 0; indifferent elsewhere."""

    def __call__(self, outcome):
        X = outcome.fold.train.X
        knows = np.where((X[:, 1] > 0) == (outcome.assignment == 1), 0.9, 0.2)
        return np.where(X[:, 0] > 0, knows, 0.5)


# Prediction


@pytest.mark.parametrize("final", [*FINAL, "sklearn.ensemble.RandomForestClassifier"], ids=str)
def test_scores_classes_and_probabilities_agree(final, toy, bliss):
    """For every final classifier, predictions are the sign of the score and the more probable class."""
    X, bags, weak = toy(n_pos=8, n_neg=8)
    new, _, _ = toy(seed=1)
    model = bliss(final_classifier=final).fit(X, weak, bags=bags)
    scores, probabilities = model.decision_function(new), model.predict_proba(new)
    assert scores.shape == (48,)
    assert (model.predict(new) == np.where(scores > 0, 1, 0)).all()
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert ((probabilities[:, 1] > 0.5) == (scores > 0)).all()
    order = np.argsort(scores)
    assert (np.diff(probabilities[order, 1]) >= -1e-12).all()


@pytest.mark.parametrize("final", FINAL, ids=str)
@pytest.mark.parametrize("threshold", ["out-of-fold", 0.25])
def test_bags_are_positive_above_the_threshold(final, threshold, toy, bliss):
    """A bag scores as its largest instance less the threshold, and is positive when that is above 0."""
    X, bags, weak = toy()
    new, new_bags, _ = toy(seed=1)
    model = bliss(final_classifier=final, bag_threshold=threshold).fit(X, weak, bags=bags)
    scores = model.decision_function(new)
    ids, bag_scores = model.score_bags(new, new_bags)
    expected = [scores[new_bags == name].max() - model.bag_threshold_ for name in ids]
    assert np.allclose(bag_scores, expected)
    assert model.predict_bags(new, new_bags)[1].tolist() == [int(score > 0) for score in bag_scores]
    if threshold != "out-of-fold":
        assert model.bag_threshold_ == threshold


@pytest.mark.parametrize(("share", "threshold", "fixed"), [(0.0, "auto", 0.0), (0.0, 0.5, 0.5), (0.5, -1, -1.0)])
def test_instances_are_cut_where_they_are_told_to_be(share, threshold, fixed, toy, bliss):
    """A number is taken off the scores; without an inherited share, so is nothing for "auto"."""
    X, bags, weak = toy()
    models = [
        bliss(inherited_share=share, instance_threshold=value).fit(X, weak, bags=bags) for value in (threshold, 0)
    ]
    assert models[0].instance_threshold_ == fixed
    scores, whole = (model.decision_function(X) for model in models)
    assert np.allclose(scores, whole - fixed)
    assert (models[0].predict(X) == models[0].classes_[(whole > fixed).astype(int)]).all()


@pytest.mark.parametrize(("share", "threshold"), [(0.5, "auto"), (0.5, "out-of-fold"), (0.0, "out-of-fold")])
def test_the_regime_cuts_instances_where_it_is_asked_to(share, threshold, toy, bliss):
    """The regime sees out-of-fold scores, weak labels and inferred classes, and its answer is the threshold."""
    seen = []

    class Asked(BinaryReading):
        def instance_threshold(self, scores, bags, weak, classes):
            seen.append((scores.shape, bags.n_bags, classes.shape))
            return 0.125

    class Asking(MilRegime):
        reading = Asked()

    X, bags, weak = toy()
    model = bliss(regime=Asking(), inherited_share=share, instance_threshold=threshold).fit(X, weak, bags=bags)
    assert model.instance_threshold_ == 0.125
    assert seen == [((len(X),), len(weak), (len(X),))]


def test_few_bags_keep_a_threshold_of_ones_own(bliss):
    """With too few bags for out-of-fold scores a number still holds, and what is to be chosen is 0."""
    X, bags = np.arange(16.0)[:, None], np.repeat([0, 1, 2, 3], 4)
    for threshold, expected in ((0.5, 0.5), ("out-of-fold", 0.0)):
        model = bliss(n_folds=2, instance_threshold=threshold).fit(X, [0, 1, 0, 1], bags=bags)
        assert model.instance_threshold_ == expected


def test_final_classifier_that_only_predicts_will_do(toy, bliss):
    """A final classifier with neither decision values nor probabilities scores 1 and -1."""
    X, bags, weak = toy()

    class OnlyPredicts(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

    model = bliss(final_classifier=OnlyPredicts(), scaling="none").fit(X, weak, bags=bags)
    assert (model.decision_function(X) == np.where(X[:, 0] > 0, 1.0, -1.0)).all()


def test_learnt_threshold_is_the_best_on_out_of_fold_scores(toy, bliss):
    """On separable bags the out-of-fold threshold leaves no training bag on the wrong side."""
    X, bags, weak = toy(n_pos=10, n_neg=10, gap=8.0)
    model = bliss(n_rounds=40).fit(X, weak, bags=bags)
    assert model.predict_bags(X, bags)[1].tolist() == list(weak.values())
    assert model.score(X, weak, bags) == 1.0


def test_score_is_the_share_of_bags_that_are_right(toy, bliss):
    """`score` counts bags, and `evaluate` gives the regime's other measures too."""
    X, bags, weak = toy()
    new, new_bags, new_weak = toy(seed=3, gap=2.0)
    model = bliss().fit(X, weak, bags=bags)
    ids, labels = model.predict_bags(new, new_bags)
    right = np.mean([new_weak[name] == label for name, label in zip(ids, labels, strict=True)])
    assert model.score(new, new_weak, new_bags) == right
    measures = model.evaluate(new, new_weak, new_bags)
    pairs = [
        (p > n) + 0.5 * (p == n)
        for p in model.score_bags(new, new_bags)[1][:6]
        for n in model.score_bags(new, new_bags)[1][6:]
    ]
    assert measures["bag_accuracy"] == right
    assert np.isclose(measures["bag_auc"], np.mean(pairs))


def test_score_takes_bags_of_one_class_and_a_single_bag(toy, bliss):
    """Test data need not hold both classes, nor two bags; an unknown label is refused."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    assert model.score(X[:4], {"b0": 1}, bags[:4]) in (0.0, 1.0)
    assert model.score(X[:4], ["1"], bags[:4]) == model.score(X[:4], [1.0], bags[:4])
    assert "bag_auc" not in model.evaluate(X[:4], {"b0": 1}, bags[:4])
    with pytest.raises(DataError, match="7, which was not there in training"):
        model.score(X[:4], [7], bags[:4])


@pytest.mark.parametrize("call", ["score", "evaluate", "predict_bags", "score_bags"])
def test_rows_without_bags_are_refused_by_a_model_of_bags(call, toy, bliss):
    """A forgotten `bags` would make every row a bag of its own: the message says what to pass instead."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    labels = ([weak[name] for name in bags],) if call in ("score", "evaluate") else ()
    for rows in (X, X.tolist(), pd.DataFrame(X)):
        with pytest.raises(DataError, match=r"there are no bag ids here.*np\.arange.*enable_metadata_routing"):
            getattr(model, call)(rows, *labels)
    getattr(model, call)(X, *labels, bags=np.arange(48))
    getattr(model, call)(list(X.reshape(12, 4, 2)), *([list(weak.values())] if labels else []))


@frozen
class Sides(Reward):
    """Keeps the bags on both sides of every fold, and rewards nothing."""

    seen: list = field(factory=list)

    def prepare(self, fold, classifier):
        self.seen.append((set(fold.train.bags.ids.tolist()), set(fold.heldout.bags.ids.tolist())))
        return self

    def __call__(self, outcome):
        return np.zeros(len(outcome.assignment))


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize("form", ["bags", "rows", "mapping"])
@pytest.mark.parametrize("settings", [{}, {"settings": "select"}], ids=["fit", "select"])
def test_groups_are_on_one_side_of_every_fold(settings, form, toy, bliss):
    """Slides of one patient are never trained on and held out in one fold, in a fit and while settings are chosen."""
    X, bags, weak = toy(n_pos=8, n_neg=8)
    patient = {name: f"p{int(name[1:]) // 2}" for name in weak}
    groups = {"bags": list(patient.values()), "rows": [patient[one] for one in bags], "mapping": patient}[form]
    sides = Sides()
    grid = {"grid": {"inherited_share": [0.0, 0.5]}} if settings else {}
    bliss(reward=sides, n_rounds=1, n_folds=3, **grid, **settings).fit(X, weak, bags=bags, groups=groups)
    assert len(sides.seen) >= 3
    for train, heldout in sides.seen:
        assert not {patient[one] for one in train} & {patient[one] for one in heldout}
    plain = Sides()
    bliss(reward=plain, n_rounds=1, n_folds=3, **grid, **settings).fit(X, weak, bags=bags)
    assert any({patient[one] for one in train} & {patient[one] for one in heldout} for train, heldout in plain.seen)


def test_weights_of_bags_weigh_the_score(toy, bliss):
    """The weighted bag accuracy is the share of weight on bags that are right; equal weights change nothing."""
    X, bags, weak = toy(gap=0.0)
    model = bliss(inherited_share=0.5).fit(X, weak, bags=bags)
    right = model.predict_bags(X, bags)[1] == np.array(list(weak.values()))
    assert 0 < right.sum() < 12
    weights = {name: 1.0 + i for i, name in enumerate(weak)}
    of_bag = np.array(list(weights.values()))
    assert model.score(X, weak, bags, sample_weight=weights) == pytest.approx(of_bag[right].sum() / of_bag.sum())
    assert model.score(X, weak, bags, sample_weight=np.ones(48)) == model.score(X, weak, bags)


def test_weights_of_rows_reach_every_training(toy, bliss):
    """The final classifier is trained with the weights of the caller; equal ones are none."""
    X, bags, weak = toy()
    seen = []

    class Watching(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(None if sample_weight is None else np.sort(np.asarray(sample_weight)))
            return super().fit(X, y, sample_weight)

    weights = np.arange(1.0, 49.0)
    model = bliss(final_classifier=Watching(), confidence_weights=False)
    plain = model.fit(X, weak, bags=bags).decision_function(X)
    assert all(one is None for one in seen)
    weighted = model.fit(X, weak, bags=bags, sample_weight=weights).decision_function(X)
    whole = next(one for one in seen if one is not None and len(one) == 48)
    assert np.allclose(whole, weights / weights.mean())
    assert not np.array_equal(plain, weighted)
    assert np.array_equal(model.fit(X, weak, bags=bags, sample_weight=np.full(48, 3.0)).decision_function(X), plain)


def test_predictions_do_not_depend_on_the_order_of_calls(toy, bliss):
    """Predicting changes nothing in the model, and one row alone is scored as among others."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    before = model.decision_function(X)
    model.predict_bags(X[::-1], bags[::-1])
    model.predict_proba(X[:1])
    model.explain(0)
    assert (model.decision_function(X) == before).all()
    assert np.allclose([model.decision_function(X[i : i + 1])[0] for i in range(5)], before[:5])


def test_fitting_again_forgets_the_first_fit(toy, bliss):
    """A second fit on other data gives what a fresh estimator gives."""
    model = bliss()
    X, bags, weak = toy()
    model.fit(pd.DataFrame(X, columns=["a", "b"]), weak, bags=bags)
    other, other_bags, other_weak = toy(seed=4, d=3)
    again, fresh = model.fit(other, other_weak, bags=other_bags), bliss().fit(other, other_weak, bags=other_bags)
    assert (again.decision_function(other) == fresh.decision_function(other)).all()
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "predict_bags", "score_bags"])
def test_unfitted_estimator_says_so(method, toy):
    """Every prediction of an unfitted estimator raises scikit-learn's NotFittedError."""
    with pytest.raises(NotFittedError):
        getattr(BlissClassifier(), method)(toy()[0])
    with pytest.raises(NotFittedError):
        BlissClassifier().explain(0)
    with pytest.raises(NotFittedError):
        BlissClassifier().score(toy()[0], toy()[0][:, 0] > 0)


def test_columns_are_held_to_those_of_training(toy, bliss):
    """A data frame's names are remembered and must come back; another number of columns is refused."""
    X, bags, weak = toy()
    frame = pd.DataFrame(X, columns=["height", "width"])
    model = bliss().fit(frame, weak, bags=pd.Series(bags))
    assert model.feature_names_in_.tolist() == ["height", "width"]
    assert model.n_features_in_ == 2
    for use in (model.predict, lambda Z: model.predict_bags(Z, bags), lambda Z: model.score(Z, weak, bags)):
        use(frame)
        with pytest.raises(ValueError, match="feature names should match"):
            use(frame.rename(columns={"width": "depth"}))
        with pytest.raises(ValueError, match="feature names should match"):
            use(frame.assign(depth=1.0))
    with pytest.raises(ValueError, match="3 features, but BlissClassifier is expecting 2"):
        bliss().fit(X, weak, bags=bags).predict(np.c_[X, X[:, 0]])


def test_data_frame_and_array_give_the_same_bits(toy, bliss):
    """A data frame holds its numbers column by column; that changes no bit of the result."""
    X, bags, weak = toy(d=5)
    from_array = bliss().fit(X, weak, bags=bags)
    from_frame = bliss().fit(pd.DataFrame(X, columns=list("abcde")), weak, bags=bags)
    assert (from_array.label_means_[~from_array.known_] == from_frame.label_means_[~from_array.known_]).all()
    assert (from_array.training_scores_ == from_frame.training_scores_).all()


@pytest.mark.parametrize("final", ["svm-rbf", "kernel-ridge", RandomForestClassifier(2)], ids=str)
@pytest.mark.parametrize("scaling", ["auto", "standard", "none"])
def test_sparse_rows_are_never_made_dense(final, scaling, toy, bliss):
    """Fit and prediction on 48 rows of 100,000 columns need less than half the memory of the dense rows."""
    X, bags, weak = toy()
    columns = np.random.default_rng(0).choice(100_000, size=2, replace=False)
    S = sp.csr_matrix((X.ravel(), (np.repeat(np.arange(48), 2), np.tile(columns, 48))), shape=(48, 100_000))
    tracemalloc.start()
    try:
        model = bliss(final_classifier=final, scaling=scaling).fit(S, weak, bags=bags)
        assert model.decision_function(S).shape == (48,)
        assert len(model.predict_bags(S, bags)[1]) == 12
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 48 * 100_000 * 8 / 2


def test_list_of_bags_is_the_same_as_ids(toy, bliss):
    """A list of arrays gives the labels and predictions of the rows with ids; predictions take a list too."""
    X, bags, weak = toy()
    listed = [X[bags == name] for name in weak]
    from_list = bliss().fit(listed, list(weak.values()))
    from_ids = bliss().fit(X, weak, bags=bags)
    assert (from_list.labels_ == from_ids.labels_).all()
    assert from_list.predict_bags(listed)[0].tolist() == list(range(12))
    assert (from_list.predict_bags(listed)[1] == from_ids.predict_bags(X, bags)[1]).all()
    assert (from_list.predict(listed) == from_ids.predict(X)).all()
    assert from_list.score(listed, list(weak.values())) == from_ids.score(X, weak, bags)


# Explanation


def test_explanation_agrees_with_the_arms(toy, bliss):
    """The arms of an explanation are the pulls and means of the fitted arrays, under the user's class names."""
    X, bags, weak = toy()
    named = {name: "yes" if value else "no" for name, value in weak.items()}
    model = bliss(regime={"name": "mil", "positive_label": "yes"}).fit(X, named, bags=bags)
    for row in np.flatnonzero(~model.known_):
        told = model.explain(int(row))
        assert (told.row, told.bag, told.weak_label) == (row, bags[row], "yes")
        assert (told.class_, told.confidence) == (model.labels_[row], model.confidence_[row])
        assert [arm.class_ for arm in told.arms] == ["no", "yes"]
        assert [arm.pulls for arm in told.arms] == model.label_pulls_[row].tolist()
        assert [arm.mean_reward for arm in told.arms] == model.label_means_[row].tolist()
        assert told.state == ("undecided" if model.undecided_[row] else "inferred")


def test_explanation_shows_the_nearest_instances_of_other_bags(toy, bliss):
    """Neighbours are the rows of other bags with the nearest final scores, nearest first."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    scores = model.decision_function(X)
    told = model.explain(5, n_neighbors=7)
    others = sorted((abs(scores[i] - scores[5]), i) for i in range(48) if bags[i] != bags[5])
    assert [near.row for near in told.neighbours] == [i for _, i in others[:7]]
    for near in told.neighbours:
        assert (near.bag, near.weak_label) == (bags[near.row], weak[near.bag])
        assert (near.class_, near.score) == (model.labels_[near.row], scores[near.row])
    assert len(model.explain(0, n_neighbors=100).neighbours) == 44
    assert model.explain(0, n_neighbors=0).neighbours == ()


def test_explanation_of_known_and_undecided_instances(toy, bliss):
    """A known instance has no arms and a sentence about its bag; an undecided one says that its labels tie."""
    X, bags, weak = toy()
    model = bliss(reward=Indifferent()).fit(X, weak, bags=bags)
    known, undecided = model.explain(47), model.explain(np.intp(0))
    assert (known.state, known.arms, known.class_, known.confidence) == ("known", (), 0, 1.0)
    assert known.sentence() == "Row 47 of bag 'b11' (weak label 0) is 0: its bag leaves no other label."
    assert (undecided.state, undecided.confidence) == ("undecided", 0.0)
    assert [arm.mean_reward for arm in undecided.arms] == [0.5, 0.5]
    assert "undecided: its best labels earned the same reward" in undecided.sentence()


def test_explanation_sentence_counts_pulls(toy, bliss):
    """The sentence of an inferred instance holds its class, confidence and pulls."""
    X, bags, weak = toy(gap=8.0)
    model = bliss(reward=Oracle(), scaling="none", n_inferences=1).fit(X, weak, bags=bags)
    assert model.explain(0).sentence() == "Row 0 of bag 'b0' (weak label 1) is 1 with confidence 1.000 after 17 pulls."


@pytest.mark.parametrize("row", [-1, 48, 1.0, "0", None, True])
def test_row_that_is_none_of_training_is_refused(row, toy, bliss):
    """Rows are whole numbers from 0 to n - 1."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    with pytest.raises(DataError, match=r"no training row .*; rows are 0 to 47\."):
        model.explain(row)
    with pytest.raises(SettingsError, match="n_neighbors must be an integer, at least 0"):
        model.explain(0, n_neighbors=-1)


# Warnings


@pytest.mark.filterwarnings("error")
def test_no_warning_where_nothing_is_wrong(toy, bliss):
    """An inference that ends in two classes is silent."""
    X, bags, weak = toy()
    model = bliss(n_rounds=40).fit(X, weak, bags=bags)
    assert set(model.labels_[~model.known_]) == {0, 1}


@pytest.mark.filterwarnings("error")
def test_reward_that_was_uninformative_is_told_once(toy, bliss):
    """Where the reward has a diagnostic in every pull, one BlissWarning passes on its hint."""

    @frozen
    class Unhappy(Oracle):
        def diagnostic(self, outcome):
            return "nothing was ever right. Give it a rest."

    X, bags, weak = toy(gap=8.0)
    with pytest.warns(BlissWarning, match="could tell labels apart: nothing was ever right") as caught:
        bliss(reward=Unhappy(), scaling="none").fit(X, weak, bags=bags)
    assert len(caught) == 1
    assert caught[0].filename == __file__
