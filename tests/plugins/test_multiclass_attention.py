"""The attention network for label sets."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from bliss_framework import SettingsError
from bliss_framework.testing import Example, baseline_checks, verify
from bliss_multiclass_mil.baselines.attention import LabelSetAttention
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime

QUICK = {"n_hidden": 16, "n_attention": 8, "n_epochs": 30, "batch_bags": 8, "learning_rate": 0.01, "random_state": 0}


@pytest.fixture
def shapes():
    """Sixty bags of five instances; label a shifts one instance along one axis, label b along the other."""
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.3, size=(300, 4))
    bags = np.repeat(np.arange(60), 5)
    sets = np.empty(60, dtype=object)
    truth = np.full(300, "negative", dtype=object)
    for bag in range(60):
        sets[bag] = frozenset(name for name, step in (("a", 2), ("b", 3)) if bag % step == 0)
        for place, (name, column) in enumerate((("a", 0), ("b", 1))):
            if name in sets[bag]:
                X[5 * bag + place, column] += 2.0
                truth[5 * bag + place] = name
    return X, sets, bags, truth


class TestLearning:
    def test_it_learns_label_sets(self, shapes):
        """Labels that one instance of a bag shows are found in other bags."""
        X, sets, bags, _ = shapes
        train = bags < 40
        model = LabelSetAttention(**{**QUICK, "n_epochs": 60}).fit(X[train], sets[:40], bags=bags[train])
        ids, found = model.predict_bags(X[~train], bags[~train])
        expected = [[name in sets[bag] for name in ("a", "b")] for bag in ids]
        assert list(model.classes_) == ["negative", "a", "b"]
        assert (found == np.array(expected)).mean() > 0.9

    def test_sparse_rows(self, shapes):
        """Sparse rows give what dense rows give, where they are scaled alike."""
        X, sets, bags, _ = shapes
        dense = LabelSetAttention(**QUICK, scaling="none").fit(X, sets, bags=bags)
        sparse = LabelSetAttention(**QUICK, scaling="none").fit(sp.csr_matrix(X), sets, bags=bags)
        np.testing.assert_allclose(
            sparse.score_bags(sp.csr_matrix(X), bags)[1], dense.score_bags(X, bags)[1], rtol=1e-4, atol=1e-5
        )

    def test_training_agrees_with_the_network(self, shapes):
        """Each further epoch lowers the loss, computed here from the scores of bags."""
        X, sets, bags, _ = shapes
        there = np.array([[name in one for name in ("a", "b")] for one in sets])
        losses = []
        for n_epochs in (1, 2, 4, 8):
            model = LabelSetAttention(**{**QUICK, "n_epochs": n_epochs, "batch_bags": 60}).fit(X, sets, bags=bags)
            logits = model.score_bags(X, bags)[1]
            losses.append(np.mean(np.logaddexp(0, np.where(there, -logits, logits))))
        assert losses == sorted(losses, reverse=True)

    def test_threads_change_nothing(self, shapes):
        """The weights have the same bits with one thread and with two."""
        X, sets, bags, _ = shapes
        weights = []
        for n_threads in (1, 2):
            with threadpool_limits(limits=n_threads):
                weights.append(LabelSetAttention(**QUICK).fit(X, sets, bags=bags).weights_)
        for name in weights[0]:
            np.testing.assert_array_equal(weights[0][name], weights[1][name])

    def test_kit(self, shapes):
        """It passes the conformance kit of baselines."""
        X, sets, bags, _ = shapes
        example = Example(MultiClassMilRegime(), X, bags, list(sets))
        verify("label-set-attention", baseline_checks(LabelSetAttention(**QUICK), example))


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value"), [("n_epochs", 0), ("batch_bags", 0), ("learning_rate", 0.0), ("l2", -1.0), ("n_hidden", 2.5)]
    )
    def test_parameters(self, shapes, name, value):
        """A parameter out of range is named."""
        X, sets, bags, _ = shapes
        with pytest.raises(SettingsError, match=name):
            LabelSetAttention(**{name: value}).fit(X, sets, bags=bags)
