"""How much is learnt of what instances inherit, where the regime chooses it out of fold."""

import numpy as np
import pytest
from attrs import frozen

from bliss_framework import BlissClassifier, PluginError
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.readings.binary import BinaryReading
from bliss_framework.readings.classes import ClassReading
from bliss_mil.regime.mil_regime import MilRegime


def bags_with(n_witnesses, n_bags=20, size=10):
    """Bags of ten of which half are positive, with so many shifted instances in each of those."""
    rng = np.random.default_rng(0)
    X, y, bags = rng.normal(size=(n_bags * size, 3)), np.arange(n_bags) % 2, np.repeat(np.arange(n_bags), size)
    witness = (y[bags] == 1) & (np.arange(len(X)) % size < n_witnesses)
    X[witness] += 4.0
    return X, y[bags], bags


@pytest.mark.parametrize(("n_witnesses", "share"), [(1, 0.0), (6, 0.5)])
def test_few_witnesses_inherit_nothing(n_witnesses, share):
    """It is the model that learns the chosen share, which the result says; the configuration says who chose it."""
    X, y, bags = bags_with(n_witnesses)
    own = BlissClassifier(random_state=0, n_rounds=20).fit(X, y, bags=bags)
    told = BlissClassifier(random_state=0, n_rounds=20, inherited_share=share).fit(X, y, bags=bags)
    assert own.inference_["inherited_share"] == share
    assert own.config_["inherited_share"] == "out-of-fold"
    assert "inherited_share" not in told.inference_
    assert np.array_equal(own.decision_function(X), told.decision_function(X))
    assert np.array_equal(own.out_of_fold_bag_scores_, told.out_of_fold_bag_scores_)


def test_too_few_bags_to_choose_by():
    """Without scores out of fold it stays a half."""
    X, y, bags = bags_with(1, n_bags=4)
    model = BlissClassifier(random_state=0, n_folds=2, n_rounds=10).fit(X, y, bags=bags)
    assert model.out_of_fold_bags_ is None
    assert model.inference_["inherited_share"] == 0.5


def test_self_training_starts_from_the_chosen_share():
    """Rounds of self-training come after the choice, so they are those of a share that was given."""
    X, y, bags = bags_with(1)
    own = BlissClassifier(random_state=0, n_rounds=20, self_training=1).fit(X, y, bags=bags)
    share = own.inference_["inherited_share"]
    told = BlissClassifier(random_state=0, n_rounds=20, self_training=1, inherited_share=share).fit(X, y, bags=bags)
    assert np.array_equal(own.decision_function(X), told.decision_function(X))


@pytest.mark.parametrize(("n_high", "share"), [(0, 0.0), (9, 0.0), (11, 0.5), (30, 0.5)])
def test_reading_counts_instances_of_positive_bags(n_high, share):
    """A quarter of forty are ten: the others score as forty negative ones do, whatever the scores are shifted by."""
    low = np.linspace(-1.0, -0.5, 40)
    scores = np.concatenate([np.full(n_high, 3.0), np.linspace(-1.0, -0.5, 40 - n_high), low])
    bags, weak = Bags.from_ids(["a"] * 40 + ["b"] * 40), WeakLabels(np.array([1, 0]), (0, 1))
    assert BinaryReading().inherited_share(scores, bags, weak, 0.5) == share
    assert BinaryReading().inherited_share(scores - 7.0, bags, weak, 0.5) == share


def test_other_readings_keep_what_was_learnt():
    """A reading that says nothing leaves the share as it is."""
    assert ClassReading().inherited_share(np.zeros(2), Bags.from_ids([0, 1]), WeakLabels([0, 1], (0, 1)), 0.5) == 0.5


@frozen
class Boundless(MilRegime):
    """A regime whose reading returns what it must not."""

    @property
    def reading(self):
        class Reading(BinaryReading):
            def inherited_share(self, scores, bags, weak, learnt):
                return 2.0

        return Reading()


def test_a_share_above_one_is_refused():
    """It is the fault of the regime, and is said to be."""
    X, y, bags = bags_with(1)
    with pytest.raises(PluginError, match=r"must return a number from 0 to 1, and returned 2\.0"):
        BlissClassifier(Boundless(), random_state=0, n_rounds=5).fit(X, y, bags=bags)
