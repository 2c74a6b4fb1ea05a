"""Partial labels on digits, and the contracts."""

import numpy as np
import pytest
from bliss_partial_label.regime import PartialLabelRegime
from bliss_partial_label.reward import PartialLabelReward
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bliss_framework import BlissClassifier
from bliss_framework.testing import Example, check_regime, check_reward


def candidate_sets(y, n_wrong, seed):
    """Add wrong classes to each true one."""
    rng = np.random.default_rng(seed)
    return [{int(true), *(int(c) for c in rng.choice(np.setdiff1d(range(10), [true]), n_wrong, False))} for true in y]


def example():
    """Sixty instances of three classes with two candidates each."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    sets = [{int(c), int((c + 1 + rng.integers(2)) % 3)} if i % 5 else {int(c)} for i, c in enumerate(y)]
    weak = np.empty(60, dtype=object)
    weak[:] = [tuple(sorted(s)) for s in sets]
    return Example(PartialLabelRegime(), np.eye(3)[y] * 3 + rng.normal(size=(60, 3)), np.arange(60), weak)


def test_contracts():
    """Regime and reward pass the kit."""
    check_regime(example())
    check_reward(PartialLabelReward(), example=example())


def test_digits_within_two_points_of_true_labels():
    """With three candidates for each digit, test accuracy is within 2 points of training on true labels."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    settings = {"regime": PartialLabelRegime(), "n_rounds": 60, "n_folds": 3, "train_on": "rest", "random_state": 0}
    settings["classifier"] = {"name": "kernel-ridge", "width": 1.0}
    partial = BlissClassifier(**settings).fit(X_train, candidate_sets(y_train, 2, seed=1))
    full = BlissClassifier(**settings).fit(X_train, [{int(c)} for c in y_train])
    accuracy, ceiling = ((model.predict(X_test) == y_test).mean() for model in (partial, full))
    assert accuracy >= ceiling - 0.02


def test_bags_are_judged_by_their_sets():
    """A predicted class is right where it is in the set of a test instance."""
    data = example()
    model = BlissClassifier(regime=PartialLabelRegime(), n_folds=2, n_rounds=20, random_state=0).fit(data.X, data.weak)
    possible = [label in one for label, one in zip(model.predict(data.X).tolist(), data.weak, strict=True)]
    assert model.score(data.X, data.weak) == np.mean(possible)


def test_a_name_is_no_set():
    """A plain string is refused, not split into letters."""
    with pytest.raises(ValueError, match="'cat'"):
        BlissClassifier(regime=PartialLabelRegime()).fit(np.eye(3), ["cat", ("cat", "dog"), ("dog",)])
