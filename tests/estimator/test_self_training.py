"""Self-training of the final classifier: what it learns, from whom, and when it is refused."""

import numpy as np
import pytest
from attrs import evolve
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from bliss_framework import Bags, BlissClassifier, LabelSpace, Part, SettingsError, WeakLabels
from bliss_framework.compute.processes import Spread
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.final import FinalLearner, mixed_targets
from bliss_framework.estimator.self_training import best_candidates, self_trained
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_mil.datasets.generated import generate_mil
from bliss_mil.regime.mil_regime import MilRegime

BAGS = Bags.from_ids(np.repeat(np.arange(4), 3))
WEAK = WeakLabels(np.array([1, 0, 1, 0]), (0, 1))
FOLDS = np.array([0, 0, 1, 1])
SETTINGS = {"instance_threshold": 0.25, "inherited_share": 0.0, "confidence_weights": True}


def configured(rounds=1):
    """Return the configuration of a fit with some rounds of self-training."""
    given = {**SETTINGS, "self_training": rounds, "regime": MilRegime()}
    return configure(given, Profile(n_rows=12, n_bags=4), default_plugins().registry)


class FirstColumn(BaseEstimator):
    """Scores an instance by its first feature, and tells of the rows and shares that it was trained on."""

    def __init__(self, seen):
        self.seen = seen

    def __sklearn_clone__(self):
        return self

    def fit_shares(self, X, shares, weights):
        self.classes_ = np.array([0, 1])
        self.seen.append((X[:, 1].astype(int).tolist(), shares[:, 1].tolist()))
        return self

    def decision_function(self, X):
        return X[:, 0]


@pytest.fixture
def learner():
    regime, rows = MilRegime(), np.stack([np.tile([1.0, 0.5, 0.0], 4), np.arange(12.0)], axis=1)
    data = Part(rows, BAGS, WEAK, regime.label_space(WEAK, BAGS))
    shares = np.tile([0.5, 0.5], (12, 1))
    shares[BAGS.spread(WEAK.values == 0)] = [1.0, 0.0]
    return FinalLearner(FirstColumn([]), data, mixed_targets(shares, None, True))


def test_half_is_learnt_from_labels_given_anew(learner):
    """What scores above the cut becomes more positive, the rest of a positive bag less; negative bags stay negative."""
    found = self_trained(learner, configured(), FOLDS, np.zeros(12, dtype=int), Spread())
    assert found.targets.shares[:, 1].tolist() == [0.75, 0.75, 0.25, 0, 0, 0, 0.75, 0.75, 0.25, 0, 0, 0]
    assert found.targets.classes.tolist() == [1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    assert found.targets.weights.tolist() == [0.5, 0.5, 0.5, 1, 1, 1, 0.5, 0.5, 0.5, 1, 1, 1]


def test_no_label_confirms_itself(learner):
    """A bag is labelled anew by a classifier that was trained on the bags of other folds alone."""
    self_trained(learner, configured(), FOLDS, np.zeros(12, dtype=int), Spread())
    assert [rows for rows, _ in learner.estimator.seen] == [[6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4, 5]]


def test_rounds_do_not_drift(learner):
    """Half of what is learnt stays what was inferred, in every round."""
    found = self_trained(learner, configured(3), FOLDS, np.zeros(12, dtype=int), Spread())
    once = self_trained(learner, configured(), FOLDS, np.zeros(12, dtype=int), Spread())
    assert len(learner.estimator.seen) == 2 * (3 + 1)
    assert (found.targets.shares == once.targets.shares).all()
    none = self_trained(learner, configured(0), FOLDS, np.zeros(12, dtype=int), Spread())
    assert none is learner


def test_what_is_no_candidate_is_not_given():
    """The largest score counts among candidate classes only, for two classes and for more."""
    space = LabelSpace(np.array([[True, True], [True, False], [False, True]]), np.array([0, 1]))
    assert best_candidates(np.array([-1.0, 5.0, -5.0]), space).tolist() == [0, 0, 1]
    several = LabelSpace(np.array([[True, True, True], [True, False, True]]), np.array([0, 1, 2]))
    assert best_candidates(np.array([[0.0, 2.0, 1.0], [0.0, 2.0, 1.0]]), several).tolist() == [1, 2]


def test_it_ranks_instances_better_where_witnesses_are_many():
    """Half of the instances of positive bags are witnesses: two rounds rank the others of new bags better."""
    data, new = (generate_mil(witness_rate=0.5, n_bags=30, seed=seed) for seed in (1, 2))
    settings = {"n_rounds": 15, "final_classifier": "same", "inherited_share": 0.0, "random_state": 0}
    inside = np.repeat(np.asarray(new.weak) == 1, np.bincount(np.unique(new.bags, return_inverse=True)[1]))
    found = []
    for rounds in (0, 2):
        model = BlissClassifier(self_training=rounds, **settings).fit(data.X, data.weak, bags=data.bags)
        found.append(roc_auc_score(new.instance_labels[inside], model.decision_function(new.X)[inside]))
    assert found[1] > found[0] + 0.005


@pytest.mark.parametrize("final", ["svm-rbf", "kernel-ridge"])
def test_any_final_classifier_can_be_trained_so(final):
    """Labels are those of no self-training, and scores are not."""
    data = generate_mil(witness_rate=0.3, n_bags=16, bag_size=8)
    plain = BlissClassifier(final_classifier=final, n_rounds=5, random_state=0).fit(data.X, data.weak, bags=data.bags)
    trained = BlissClassifier(**{**plain.get_params(deep=False), "self_training": 1})
    trained.fit(data.X, data.weak, bags=data.bags)
    assert (trained.labels_ == plain.labels_).all()
    assert not np.allclose(trained.decision_function(data.X), plain.decision_function(data.X))


def test_several_classes_take_the_largest_score(learner):
    """Three classes: half of what is learnt is the class that scores most."""
    bags = Bags.from_ids(np.arange(6))
    space = LabelSpace(np.ones((6, 3), dtype=bool), np.arange(3))

    class Columns(FirstColumn):
        def fit_shares(self, X, shares, weights):
            self.classes_ = np.arange(3)
            return self

        def decision_function(self, X):
            return X

    rows = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    data = Part(rows, bags, WeakLabels(np.zeros(6, dtype=int), (0, 1, 2)), space)
    several = evolve(
        learner, estimator=Columns([]), data=data, targets=mixed_targets(np.full((6, 3), 1 / 3), None, True)
    )
    found = self_trained(several, configured(), np.array([0, 0, 0, 1, 1, 1]), np.zeros(6, dtype=int), Spread())
    assert np.allclose(found.targets.shares, (rows + 1 / 3) / 2)


def test_refusals(toy):
    """With chosen settings, with too few bags, or with half a round there is no self-training."""
    X, bags, weak = toy()
    with pytest.raises(SettingsError, match='self_training must be 0 where settings is "select"'):
        BlissClassifier(settings="select", self_training=1).fit(X, weak, bags=bags)
    with pytest.raises(SettingsError, match=r"self_training must be an integer, at least 0; got 0\.5"):
        BlissClassifier(self_training=0.5).fit(X, weak, bags=bags)
    few = np.repeat(np.arange(4), 4)
    with pytest.raises(SettingsError, match="self_training needs out-of-fold scores, which take 5 bags; there are 4"):
        BlissClassifier(n_folds=2, self_training=1).fit(X[:16], [0, 1, 0, 1], bags=few)
