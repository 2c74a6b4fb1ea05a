"""`infer_labels`: what `fit` infers first, without anything that follows."""

import numpy as np
import pytest

from bliss_framework import BlissClassifier, DataError, SettingsError, infer_labels

SHORT = {"n_rounds": 15, "n_folds": 3, "n_neighbors": 5, "n_inferences": 2, "random_state": 3}


def test_labels_are_those_of_the_classifier(toy):
    """Classes, confidence, mean rewards and pulls are, bit for bit, what `BlissClassifier` infers with the seed."""
    X, bags, weak = toy()
    order = np.random.default_rng(0).permutation(len(bags))
    model = BlissClassifier(**SHORT).fit(X[order], weak, bags=bags[order])
    found = infer_labels(X[order], weak, bags[order], **SHORT)
    assert np.array_equal(model.classes_[found.classes], model.labels_)
    assert np.array_equal(found.confidence, model.confidence_)
    assert np.array_equal(found.means, model.label_means_, equal_nan=True)
    assert np.array_equal(found.pulls, model.label_pulls_)
    assert np.array_equal(found.known, model.known_)


def test_no_classifier_is_trained(toy):
    """What the final classifier would be does not matter: it is not even made."""
    X, bags, weak = toy()
    found = infer_labels(X, weak, bags, final_classifier="logistic", bag_threshold=0.0, **SHORT)
    again = infer_labels(X, weak, bags, **SHORT)
    assert np.array_equal(found.means, again.means, equal_nan=True)


def test_events_are_told(toy):
    """Whoever listens hears of every fold."""
    events = []
    X, bags, weak = toy()
    infer_labels(X, weak, bags, emit=events.append, **SHORT)
    assert [type(event).__name__ for event in events].count("FoldFinished") == 3


def test_refusals_are_those_of_the_classifier(toy):
    """Data and parameters are checked before any pull."""
    X, bags, weak = toy()
    with pytest.raises(DataError, match="NaN"):
        infer_labels(np.where(X[0, 0] == X, np.nan, X), weak, bags)
    with pytest.raises(SettingsError, match="n_rounds"):
        infer_labels(X, weak, bags, n_rounds=0)
