"""The fit after inference: classes that are missing, out-of-fold scores, and probabilities."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from bliss_classifiers.estimators import GramSvc, KernelLeastSquares
from bliss_classifiers.least_squares import LeastSquares
from bliss_framework import Bags, DataError, LabelSpace, Part, PluginError, WeakLabels
from bliss_framework.compute.processes import Spread
from bliss_framework.estimator.final import (
    FinalClassifier,
    FinalLearner,
    final_targets,
)
from bliss_framework.estimator.probabilities import probabilities, probability_slope
from bliss_framework.kernel.result import InferredLabels
from bliss_framework.kernel.row_view import RowView

PROPERTY = settings(max_examples=60, deadline=None)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))


class Memory(ClassifierMixin, BaseEstimator):
    """Scores 1 for rows that it was trained on and -1 for all others."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rows_ = {tuple(row) for row in X.tolist()}
        return self

    def decision_function(self, X):
        return np.array([1.0 if tuple(row) in self.rows_ else -1.0 for row in X.tolist()])


class Sharing(BaseEstimator):
    """Notes down what it was trained on."""

    def fit_shares(self, X, shares, sample_weight=None):
        self.seen_ = (X.tolist(), shares.tolist(), None if sample_weight is None else sample_weight.tolist())
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X):
        return np.full(len(X), 0.25)


def inferred(classes, confidence=None, undecided=None):
    n = len(classes)
    classes = np.asarray(classes)
    confidence = np.ones(n) if confidence is None else confidence
    undecided = np.zeros(n, dtype=bool) if undecided is None else np.asarray(undecided)
    return InferredLabels(
        classes, classes, confidence, undecided, np.zeros(n, dtype=bool), np.zeros((n, 2)), np.zeros((n, 2))
    )


def learner(estimator, labels, sizes, weighted=True):
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    space = LabelSpace(np.ones((len(X), 2), dtype=bool), np.arange(2))
    data = Part(X, bags, WeakLabels(np.zeros(len(sizes)), (0, 1)), space)
    return FinalLearner(estimator, data, final_targets(labels, data, np.full((30, 2), 0.5), 0.0, weighted))


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_alone_is_predicted_everywhere(only):
    """Inferred labels of one class never reach the classifier; its score is 1 or -1 everywhere."""
    model = FinalClassifier(SVC(), 2).fit(X, np.full(30, only), None)
    assert model.decision(X).tolist() == [1.0 if only else -1.0] * 30


@pytest.mark.parametrize("present", [(0, 1), (0, 2), (1, 2)])
def test_class_that_was_never_inferred_scores_lowest(present):
    """With three classes of which two were inferred, the third is never predicted."""
    classes = np.array(present)[(X[:, 0] > 0).astype(int)]
    scores = FinalClassifier(SVC(), 3).fit(X, classes, None).decision(X)
    missing = ({0, 1, 2} - set(present)).pop()
    assert scores.shape == (30, 3)
    assert (scores[:, missing] < scores[:, list(present)].min(axis=1)).all()
    assert (scores.argmax(axis=1) == classes).mean() > 0.9


def test_estimator_itself_is_not_fitted():
    """A clone is trained."""
    own = GaussianNB()
    FinalClassifier(own, 2).fit(X, (X[:, 0] > 0).astype(int), np.ones(30))
    assert not hasattr(own, "classes_")


def test_out_of_fold_scores_never_see_the_own_bag():
    """A classifier that remembers its rows knows none of those that it scores, nor any other of their bags."""
    labels = inferred((X[:, 0] > 0).astype(int))
    sizes = [1, 5, 2, 7, 3, 4, 8]
    learned = learner(Memory(), labels, sizes)
    assert learned.fit_on(np.arange(30)).decision(X).tolist() == [1.0] * 30
    assert learned.out_of_fold(np.array([0, 1, 2, 0, 1, 2, 0]), Spread()).tolist() == [-1.0] * 30


def test_out_of_fold_scores_are_in_the_order_of_rows():
    """Each row has the score of a classifier trained on the other folds by hand."""
    classes = (X[:, 0] > 0).astype(int)
    folds = np.array([1, 0, 1, 0, 1, 0])
    found = learner(GaussianNB(), inferred(classes), [5] * 6).out_of_fold(folds, Spread())
    fold_of_row = np.repeat(folds, 5)
    for fold in (0, 1):
        model = GaussianNB().fit(X[fold_of_row != fold], classes[fold_of_row != fold])
        shares = model.predict_proba(X[fold_of_row == fold])
        assert np.allclose(found[fold_of_row == fold], shares[:, 1] - shares[:, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_without_a_fold_are_those_of_the_others(weighted):
    """A classifier that needs sums alone scores each row as one trained anew on the shares of the other folds."""
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 30) if weighted else None
    folds, classes = np.array([1, 0, 2, 0, 1, 2]), (X[:, 0] > 0).astype(int)
    own = learner(LeastSquares(ridge=0.5), inferred(classes), [5] * 6)
    own = evolve(own, data=evolve(own.data, weights=weights))
    found, fold_of_row = own.out_of_fold(folds, Spread()), np.repeat(folds, 5)
    for fold in range(3):
        others, held = np.flatnonzero(fold_of_row != fold), fold_of_row == fold
        kept = None if weights is None else weights[others]
        model = LeastSquares(ridge=0.5).fit_shares(X[others], own.targets.shares[others], kept)
        assert np.allclose(found[held], model.decision_function(X[held]))
    whole = LeastSquares(ridge=0.5).fit_shares(X, own.targets.shares, weights)
    assert np.allclose(own.fit_on(np.arange(30)).decision(X), whole.decision_function(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_classifier_that_leaves_out_is_fitted_once(weighted):
    """Its final classifier and its scores are those of fits one by one, but for the width of the kernel."""
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 30) if weighted else None
    folds, classes = np.array([1, 0, 2, 0, 1, 2]), (X[:, 0] > 0).astype(int)
    own = learner(KernelLeastSquares(ridge=0.5, width="scale"), inferred(classes), [5] * 6)
    own = evolve(own, data=evolve(own.data, weights=weights))
    final, waiting = own.with_out_of_fold(folds, Spread())
    assert np.array_equal(waiting(), own.out_of_fold(folds, Spread()))
    assert np.allclose(final.decision(X), own.fit_on(np.arange(30)).decision(X))
    gamma, fold_of_row = final.fitted_.gamma_, np.repeat(folds, 5)
    for fold in range(3):
        others, held = np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
        same = KernelLeastSquares(ridge=0.5, width=gamma * X[others].var(axis=0).sum())
        kept = None if weights is None else weights[others]
        model = same.fit_shares(X[others], own.targets.shares[others], kept)
        assert np.allclose(waiting()[held], model.decision_function(X[held]), atol=1e-4)


class LeavesOut(Sharing):
    """Says of each row what it was told to."""

    def __init__(self, said=None):
        self.said = said

    def fit_leaving_out(self, X, shares, sample_weight, folds):
        self.fit_shares(X, shares, sample_weight)
        return self.said


@pytest.mark.parametrize("said", [np.zeros(29), np.zeros((30, 2)), np.full(30, np.nan)])
def test_what_is_left_out_is_checked(said):
    """One score for each row, and numbers: anything else is a fault of the classifier."""
    own = learner(LeavesOut(said), inferred((X[:, 0] > 0).astype(int)), [5] * 6)
    with pytest.raises(PluginError, match=r"fit_leaving_out must return numbers of shape \(30,\)"):
        own.out_of_fold(np.array([0, 1, 2, 0, 1, 2]), Spread())


def test_a_classifier_that_stands_back_is_trained_fold_by_fold():
    """Without scores in one go there are as many fits as folds."""
    own = learner(LeavesOut(), inferred((X[:, 0] > 0).astype(int)), [5] * 6)
    final, waiting = own.with_out_of_fold(np.array([0, 1, 2, 0, 1, 2]), Spread())
    assert waiting().tolist() == [0.25] * 30
    assert len(final.fitted_.seen_[0]) == 30


def test_scores_are_made_a_block_at_a_time(monkeypatch):
    """However many rows are scored at once, each has its own score."""
    model = FinalClassifier(GaussianNB(), 2).fit(X, (X[:, 0] > 0).astype(int), None)
    expected = model.decision(X)
    monkeypatch.setattr("bliss_framework.kernel.row_view.BLOCK_VALUES", 14)
    assert np.allclose(model.decision(X), expected)
    assert np.allclose(model.decision(RowView(X, np.arange(29, -1, -1))), expected[::-1])


def test_where_all_are_undecided_all_are_trained_on():
    """Rows without any decided instance are better than none; then they have no weights."""
    classes = (X[:, 0] > 0).astype(int)
    model = learner(GaussianNB(), inferred(classes, np.zeros(30), [True] * 30), [5] * 6).fit_on(np.arange(30))
    assert not model.weighted_
    assert np.allclose(model.fitted_.theta_, GaussianNB().fit(X, classes).theta_)


# Probabilities


def likelihood(slope, scores, classes):
    return float(np.mean(np.logaddexp(0.0, -slope * scores * np.where(classes == 1, 1.0, -1.0))))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_slope_has_the_greatest_likelihood(scale):
    """The slope of the logistic curve is that of greatest likelihood, whatever the scale of the scores."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=400)
    classes = (rng.random(400) < 1 / (1 + np.exp(-2.0 * truth))).astype(int)
    best = minimize_scalar(lambda a: likelihood(a, truth, classes), bounds=(0.01, 50), method="bounded").x
    assert np.isclose(probability_slope(truth * scale, classes) * scale, best, rtol=0.02)


@pytest.mark.parametrize("shape", [(200,), (100, 3)])
def test_slope_is_that_of_a_logistic_regression(shape):
    """Without a shift, with a ridge of 0.01 on the slope of scores of mean size 1."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=shape)
    classes = (scores + rng.normal(size=shape) > 0).astype(int) if len(shape) == 1 else scores.argmax(axis=1)
    truth = classes if len(shape) == 1 else (classes[:, None] == np.arange(3)).astype(int).ravel()
    unit = np.abs(scores).mean()
    model = LogisticRegression(fit_intercept=False, C=100.0, tol=1e-10).fit(scores.reshape(-1, 1) / unit, truth)
    assert probability_slope(scores, classes) == pytest.approx(model.coef_[0, 0] / unit, rel=1e-4)


@pytest.mark.parametrize(
    ("scores", "classes"), [(np.zeros(6), [0, 1] * 3), (np.arange(6.0), [1] * 6), (-np.arange(6.0), [0, 0, 0, 1, 1, 1])]
)
def test_slope_is_one_where_scores_tell_nothing(scores, classes):
    """Scores of 0, one class alone, or scores that point the wrong way have the slope 1."""
    assert probability_slope(scores, np.array(classes)) == (
        1.0 if classes[0] or not scores.any() else pytest.approx(1.0)
    )


@PROPERTY
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(1e-3, 1e3))
def test_probabilities_of_two_classes_are_the_logistic_curve(scores, slope):
    """p(1) = 1 / (1 + exp(-a s)), without overflow, and rows sum to 1."""
    values = np.array(scores)
    found = probabilities(values, slope)
    with np.errstate(over="ignore"):
        assert np.allclose(found[:, 1], 1 / (1 + np.exp(-slope * values)))
    assert np.allclose(found.sum(axis=1), 1.0)


@PROPERTY
@given(st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 3), min_size=1, max_size=10), st.floats(1e-3, 1e3))
def test_probabilities_of_three_classes_follow_the_scores(scores, slope):
    """Rows sum to 1 and the order of probabilities is that of the scores."""
    values = np.array(scores)
    found = probabilities(values, slope)
    assert np.allclose(found.sum(axis=1), 1.0)
    for row, chances in zip(values, found, strict=True):
        assert (np.diff(chances[np.argsort(row, kind="stable")]) >= -1e-12).all()


# What the final classifier learns


def part(weights=None, sizes=(2, 2)):
    """Two bags of two instances, all of them free."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    space = LabelSpace(np.ones((bags.n_rows, 2), dtype=bool), np.arange(2))
    return Part(np.zeros((bags.n_rows, 1)), bags, WeakLabels(np.array([0, 1]), (0, 1)), space, weights)


INHERITED = np.eye(2)[[0, 0, 1, 1]]
# Mean confidence 0.2, so that 0.4 counts in full and 0.2 by half.
FOUND = inferred([1, 0, 1, 0], confidence=np.array([0.4, 0.2, 0.2, 0.0]), undecided=[False, False, False, True])


def test_targets_of_the_paper():
    """With share 0 classes are the inferred ones, weighted by confidence; undecided instances are left out."""
    targets = final_targets(FOUND, part(), INHERITED, 0.0, True)
    assert targets.classes.tolist() == [1, 0, 1, 0]
    assert targets.weights.tolist() == [0.4, 0.2, 0.2, 0.0]
    assert targets.decided.tolist() == [True, True, True, False]
    assert np.allclose(targets.shares, [[0, 1], [0.75, 0.25], [0.25, 0.75], [0.5, 0.5]])


def test_targets_without_confidence():
    """Then every inferred label is certain and has no weight; one that is undecided says nothing."""
    targets = final_targets(FOUND, part(), INHERITED, 0.0, False)
    assert targets.weights is None
    assert targets.shares.tolist() == [[0, 1], [1, 0], [0, 1], [0.5, 0.5]]
    assert targets.decided.tolist() == [True, True, True, False]


@pytest.mark.parametrize("labels", [FOUND, None])
def test_targets_of_the_control(labels):
    """With share 1 they are those that the bag gives, whether or not anything was inferred."""
    targets = final_targets(labels, part(), INHERITED, 1.0, True)
    assert targets.classes.tolist() == [0, 0, 1, 1]
    assert targets.weights.tolist() == [1.0] * 4
    assert targets.decided.all()
    assert targets.shares.tolist() == INHERITED.tolist()


def test_targets_of_both():
    """Half of each: where both agree they are certain, where they do not the surer one leads, or neither."""
    targets = final_targets(FOUND, part(), INHERITED, 0.5, True)
    # (0, 1) and (1, 0); (3/4, 1/4) and (1, 0); (1/4, 3/4) and (0, 1); (1/2, 1/2) and (0, 1).
    assert np.allclose(targets.shares, [[0.5, 0.5], [0.875, 0.125], [0.125, 0.875], [0.25, 0.75]])
    assert targets.classes[1:].tolist() == [0, 1, 1]
    assert np.allclose(targets.weights, [0.0, 0.75, 0.75, 0.5])
    assert targets.decided.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("share", "confident"), [(0.0, True), (0.5, True), (1.0, True), (0.0, False), (1.0, False)])
def test_weights_of_the_regime_multiply(share, confident):
    """An instance that counts twice for the regime counts twice; without confidence that is its only weight."""
    own = np.array([2.0, 1.0, 0.5, 3.0])
    plain = final_targets(FOUND, part(), INHERITED, share, confident).weights
    weighted = final_targets(FOUND, part(own), INHERITED, share, confident)
    assert np.allclose(weighted.weights, own if plain is None else own * plain)
    assert np.allclose(weighted.shares, final_targets(FOUND, part(), INHERITED, share, confident).shares)


def test_a_classifier_that_learns_shares_is_told_them():
    """It gets shares of all instances, the undecided ones as well, and the weights of the regime alone."""
    own = np.array([2.0, 1.0, 0.5, 3.0])
    data = part(own)
    targets = final_targets(FOUND, data, INHERITED, 0.0, True)
    model = FinalLearner(Sharing(), data, targets).fit_on(np.array([0, 3]))
    assert model.fitted_.seen_ == ([[0.0], [0.0]], targets.shares[[0, 3]].tolist(), [2.0, 3.0])
    assert model.decision(np.zeros((3, 1))).tolist() == [0.25] * 3
    plain = FinalLearner(Sharing(), part(), final_targets(FOUND, part(), INHERITED, 0.0, True)).fit_on(np.arange(4))
    assert plain.fitted_.seen_[2] is None


# Classifiers that fail when they score


class FailsLater(Memory):
    """Can be trained, and not asked."""

    def decision_function(self, X):
        raise KeyError("column 7")


def test_a_classifier_that_fails_when_it_scores_is_named():
    """What a classifier raises when it is asked for scores is its fault, as it is while it is trained."""
    final = FinalClassifier(FailsLater(), 2).fit(X, (X[:, 0] > 0).astype(int), None)
    with pytest.raises(PluginError, match="the final classifier raised KeyError: 'column 7'"):
        final.decision(X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_that_no_kernel_can_compare():
    """Rows of a damaged model may be so large that products overflow: this is said, and blamed on nobody."""
    final = FinalClassifier(GramSvc("linear"), 2).fit(X, (X[:, 0] > 0).astype(int), None)
    final.fitted_.X_fit_ = final.fitted_.X_fit_ * 1e308 * 1e10
    with pytest.raises(DataError, match="comparing them gives no numbers"):
        final.decision(X)
