"""Pairs on a two-class set, and the contracts."""

import numpy as np
import pytest
from bliss_pairwise.patterns import AGREE, DIFFER, POSITIVE
from bliss_pairwise.regime import PairwiseRegime, assign_pairs
from bliss_pairwise.reward import PairwiseReward
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bliss_framework.plugin import Bags, BlissClassifier, LabelSpace, Part, WeakLabels
from bliss_framework.testing import Example, check_regime, check_reward


def paired(y, n_known):
    """Make known single instances of the first rows and pairs of the rest: bag ids and weak labels."""
    n_pairs = (len(y) - n_known) // 2
    bags = np.concatenate([np.arange(n_known), n_known + np.repeat(np.arange(n_pairs), 2)])
    single = ["positive" if label else "negative" for label in y[:n_known]]
    first, second = y[n_known : n_known + 2 * n_pairs : 2], y[n_known + 1 : n_known + 2 * n_pairs : 2]
    return bags, np.array(single + ["agree" if same else "differ" for same in first == second])


def example():
    """Ten known instances and twenty pairs of two shifted classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    y[:10] = np.arange(10) % 2
    bags, weak = paired(y, 10)
    return Example(PairwiseRegime(), rng.normal(size=(50, 3)) + 3.0 * y[:, None], bags, weak)


def test_contracts():
    """Regime and reward pass the kit."""
    check_regime(example())
    check_reward(PairwiseReward(), example=example())


def test_assignment_keeps_pairs_together_and_apart():
    """Of a pair that differs one is positive, a pair that agrees follows the sum of its gains."""
    bags = Bags.from_ids([0, 0, 1, 1, 2])
    weak = WeakLabels(np.array([DIFFER, AGREE, POSITIVE]), (0, 1))
    part = Part(np.zeros((5, 1)), bags, weak, LabelSpace(np.ones((5, 2), dtype=bool), np.array([0, 1])))
    bounds = np.array([[0.0, 0.9], [0.0, 0.8], [0.0, 0.5], [0.9, 0.0], [0.0, 0.0]])
    assert assign_pairs(bounds, part).tolist() == [1, 0, 0, 0, 1]


def test_above_ninety_percent_on_two_classes():
    """With ten known instances and pairs of the rest, breast cancer cells are told apart in over 90 % of cases."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X_train)
    bags, weak = paired(y_train, 10)
    model = BlissClassifier(regime=PairwiseRegime(), n_folds=3, train_on="rest", n_inferences=3, random_state=0)
    model.fit(scaler.transform(X_train)[: len(bags)], weak, bags=bags)
    accuracy = (model.predict(scaler.transform(X_test)) == y_test).mean()
    assert accuracy > 0.9


def test_bags_speak_of_pairs():
    """Bags are predicted in the words of pairs, instances in those of classes."""
    data = example()
    model = BlissClassifier(regime=PairwiseRegime(), n_folds=2, n_rounds=20, random_state=0)
    model.fit(data.X, data.weak, bags=data.bags)
    kinds = model.predict_bags(data.X, data.bags)[1]
    assert set(kinds.tolist()) <= {"negative", "positive", "agree", "differ"}
    assert model.evaluate(data.X, data.weak, data.bags)["met"] == (kinds == data.weak).mean()
    assert set(model.predict(data.X).tolist()) <= {0, 1}


def test_a_pair_needs_two_instances():
    """A bag of one cannot agree."""
    with pytest.raises(ValueError, match='Bag 0 is "agree"'):
        BlissClassifier(regime=PairwiseRegime()).fit(np.eye(3), ["agree", "negative", "positive"], bags=[0, 1, 2])
