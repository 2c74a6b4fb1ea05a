"""What classifiers say of training bags that they were not trained on, and probabilities of bags."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bliss_framework import BlissClassifier, load_model, save_model
from bliss_framework.estimator.instance_ranks import instance_ranks
from bliss_framework.estimator.out_of_fold import HeldOutBags
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.readings.binary import BinaryReading
from bliss_framework.readings.label_sets import LabelSetReading
from bliss_framework.readings.shares import ShareReading
from bliss_framework.readings.thresholds import logistic_threshold


@pytest.fixture(scope="module")
def fitted(bliss, toy):
    """A model fitted to bags that overlap, with its data."""
    X, bags, weak = toy(gap=1.5, n_pos=12, n_neg=12)
    return bliss(regime={"name": "mil", "bag_score": "max-mean"}).fit(X, weak, bags=bags), X, bags


def test_a_bag_has_no_say_in_its_threshold():
    """The score of a bag is relative to a threshold that is chosen on the bags of the other folds alone."""
    scores = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0])
    weak = WeakLabels(np.array([0, 0, 1, 1, 1, 1]), (0, 1))
    bags, folds = Bags(np.arange(6), np.arange(6)), np.array([0, 1, 0, 1, 0, 1])
    found = HeldOutBags(BinaryReading(), scores, scores, bags, weak, folds).read(None)
    # Fold 0 is cut by bags of 1, 3 and 9, the first of which is negative; fold 1 by those of 0, 2 and 4.
    one, other = (logistic_threshold(np.array(own), np.array([0, 1, 1])) for own in ([1.0, 3.0, 9.0], [0.0, 2.0, 4.0]))
    assert found.bag_scores == pytest.approx([0.0 - one, 1.0 - other, 2.0 - one, 3.0 - other, 4.0 - one, 9.0 - other])
    assert found.bags.tolist() == (found.bag_scores > 0).tolist()


def test_a_threshold_that_is_given_is_used_for_all_bags():
    """Where the user says the threshold, no fold chooses one."""
    scores, bags = np.array([0.5, 2.0, 3.0]), Bags(np.arange(3), np.arange(3))
    weak = WeakLabels(np.array([0, 1, 1]), (0, 1))
    found = HeldOutBags(BinaryReading(), scores, scores, bags, weak, np.array([0, 1, 2])).read(2.5)
    assert found.bags.tolist() == [0, 0, 1]


def test_scores_are_of_classifiers_that_did_not_see_the_bag(bliss):
    """The nearest neighbour knows random labels that it was trained on, and nothing of those of other rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    final = {"name": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 1}
    model = bliss(inherited_share=1.0, instance_threshold=0.0, final_classifier=final).fit(X, y, bags=np.arange(60))
    assert (model.predict(X) == y).all()
    assert ((model.out_of_fold_scores_ > 0) == y).mean() < 0.75


def test_order_of_rows(fitted, bliss):
    """Rows in another order have the same out-of-fold scores, each beside its row and its bag."""
    model, X, bags = fitted
    order = np.random.default_rng(1).permutation(len(X))
    weak = dict(zip(model.bag_ids_.tolist(), model.weak_labels_.tolist(), strict=True))
    other = bliss(regime={"name": "mil", "bag_score": "max-mean"}).fit(X[order], weak, bags=bags[order])
    assert np.array_equal(other.out_of_fold_scores_, model.out_of_fold_scores_[order])
    places = [model.bag_ids_.tolist().index(bag) for bag in other.bag_ids_.tolist()]
    assert np.array_equal(other.out_of_fold_bag_scores_, model.out_of_fold_bag_scores_[places])
    assert np.array_equal(other.out_of_fold_bags_, model.out_of_fold_bags_[places])
    assert other.bag_slope_ == model.bag_slope_


def test_bag_scores_are_those_of_their_instances(fitted):
    """The score of a bag, but for the threshold of its fold, is read from the out-of-fold scores of its rows."""
    model, _, bags = fitted
    scores = model.out_of_fold_scores_
    read = np.array([(scores[bags == b].max() + scores[bags == b].mean()) / 2 for b in model.bag_ids_])
    differences = np.round(read - model.out_of_fold_bag_scores_, 9)
    assert len(np.unique(differences)) <= 5  # One threshold for each fold.
    assert np.array_equal(model.out_of_fold_bags_ == 1, model.out_of_fold_bag_scores_ > 0)


def test_probability_of_a_bag(fitted):
    """It is the logistic curve without a shift that makes the weak labels likeliest, with hardly any penalty."""
    model, X, bags = fitted
    s, y = model.out_of_fold_bag_scores_, model.weak_labels_ == 1

    def loss(slope):
        return np.logaddexp(0, -slope * np.where(y, s, -s)).sum()

    best = minimize_scalar(loss, bounds=(0.01, 200), method="bounded").x
    assert model.bag_slope_ == pytest.approx(best, rel=0.05)
    ids, found = model.predict_bag_proba(X, bags)
    scores = model.score_bags(X, bags)[1]
    assert ids.tolist() == model.bag_ids_.tolist()
    assert np.allclose(found[:, 1], 1 / (1 + np.exp(-model.bag_slope_ * scores)))
    assert np.allclose(found.sum(axis=1), 1)


def test_probabilities_of_shares_and_sets():
    """Of shares they are the predicted shares; of label sets each label has its own, which need not add up to 1."""
    shares = ShareReading().bag_probabilities(np.array([0.25, 1.0]), np.array([0.25, 1.0]), 3.0)
    assert shares.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    sets = LabelSetReading().bag_probabilities(np.array([[1, 1]]), np.array([[0.0, np.log(3.0)]]), 1.0)
    assert np.allclose(sets, [[0.5, 0.75]])


def test_too_few_bags(bliss, toy):
    """With fewer than five bags there is nothing out of fold."""
    X, bags, weak = toy(n_pos=2, n_neg=2)
    model = bliss(n_folds=2).fit(X, weak, bags=bags)
    assert model.out_of_fold_scores_ is model.out_of_fold_bag_scores_ is model.out_of_fold_bags_ is None
    assert model.predict_bag_proba(X, bags)[1].shape == (4, 2)


def test_chosen_settings_have_them_too(toy):
    """Where settings are chosen, the joint scores of held-out bags are kept, in the caller's order of bags."""
    X, bags, weak = toy(n_pos=8, n_neg=8, gap=5.0)
    order = np.random.default_rng(0).permutation(len(X))
    model = BlissClassifier(
        settings="select", grid={"inherited_share": [0.0, 0.5]}, n_members=2, n_rounds=4, random_state=0
    ).fit(X[order], weak, bags=bags[order])
    agree = model.out_of_fold_bags_ == model.weak_labels_
    assert agree.mean() >= 0.8
    assert model.out_of_fold_scores_.shape == (len(X),)


def test_a_saved_model_has_them(fitted, tmp_path):
    """A model that is read from a file has its out-of-fold scores and the slope of probability."""
    model, X, bags = fitted
    save_model(model, tmp_path / "m.skops")
    read = load_model(tmp_path / "m.skops")
    assert np.array_equal(read.out_of_fold_scores_, model.out_of_fold_scores_)
    assert np.array_equal(read.predict_bag_proba(X, bags)[1], model.predict_bag_proba(X, bags)[1])


def test_ranks_of_several_classes():
    """The negative class makes no witness: an instance counts by the label that leads by most, or lags least."""
    scores = np.array([[5.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 2.5]])
    found = instance_ranks(scores, np.zeros(3, dtype=int), 1.0, negative_first=True)
    assert found.classes.tolist() == [1, 1, 2]
    assert found.scores.tolist() == [-4.0, 2.0, 1.5]
    assert found.ranks.tolist() == [3, 1, 2]
    assert found.probabilities[1] == pytest.approx(np.exp(3) / (1 + np.exp(3) + np.exp(1)))
    assert instance_ranks(scores, np.zeros(3, dtype=int), 1.0, negative_first=False).classes.tolist() == [0, 1, 2]
