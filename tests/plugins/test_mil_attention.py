"""The attention network for MIL."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from bliss_framework import SettingsError, load_model, save_model
from bliss_framework.extension.loading.plugins import load_plugins
from bliss_framework.testing import baseline_checks
from bliss_mil.baselines.attention import AttentionMil

QUICK = {"n_hidden": 16, "n_attention": 8, "n_epochs": 30, "batch_bags": 4, "learning_rate": 0.01, "random_state": 0}


@pytest.fixture
def quick():
    return AttentionMil(**QUICK)


def test_kit(quick):
    """It passes the conformance kit of baselines."""
    for check in baseline_checks(quick):
        check()


def test_easy_bags_are_learnt(quick, toy):
    """Bags with an instance far away are told from the others in new data, and so is that instance."""
    X, bags, weak = toy(n_pos=20, n_neg=20, gap=6.0)
    new, new_bags, expected = toy(seed=1, n_pos=20, n_neg=20, gap=6.0)
    model = quick.fit(X, weak, bags=bags)
    ids, found = model.predict_bags(new, new_bags)
    assert np.mean(found == [expected[name] for name in ids]) >= 0.9
    scores = model.decision_function(new)
    witnesses = [np.flatnonzero(new_bags == name)[scores[new_bags == name].argmax()] for name in ids if expected[name]]
    assert np.mean([np.abs(new[row]).max() > 3 for row in witnesses]) >= 0.9


def test_a_bag_is_the_weighted_mean_of_its_instances(quick, toy):
    """The paper's attention, computed here on rows standardised here; the instances' scores are what it weighs."""
    X, bags, weak = toy()
    model = quick.fit(X, weak, bags=bags)
    scores, weights = model.decision_function(X), model.weights_
    Z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    h = np.maximum(Z @ weights["embedding"] + weights["embedding_bias"], 0)
    gate = (np.tanh(h @ weights["tanh_gate"]) * expit(h @ weights["sigmoid_gate"])) @ weights["attention"][:, 0]
    for name, score in zip(*model.score_bags(X, bags), strict=True):
        pooled = softmax(gate[bags == name]) @ h[bags == name]
        assert score == pytest.approx(pooled @ weights["output"][:, 0] + weights["output_bias"][0], abs=1e-4)
        assert score == pytest.approx(softmax(gate[bags == name]) @ scores[bags == name], abs=1e-4)


def test_bags_of_one_are_ordinary_rows(quick, toy):
    """Where every bag holds one instance, its score is that of its instance, and it is learnt."""
    X, _, _ = toy(gap=0.0)
    weak = (X[:, 0] > 0).astype(int)
    model = quick.fit(X, weak)
    assert np.allclose(model.score_bags(X)[1], model.decision_function(X), atol=1e-5)
    assert np.mean(model.predict(X) == weak) > 0.8


def test_same_seed_same_bits(toy):
    """The weights have the same bits with one thread and with two, and others with another seed."""
    X, bags, weak = toy()
    found = []
    for n_threads, seed in ((1, 0), (2, 0), (1, 1)):
        with threadpool_limits(limits=n_threads):
            found.append(AttentionMil(**{**QUICK, "random_state": seed}).fit(X, weak, bags=bags).weights_["output"])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_order_and_names_change_nothing(quick, toy):
    """Shuffled rows and other names of bags give the same scores."""
    X, bags, weak = toy()
    rows = np.random.default_rng(0).permutation(len(X))
    renamed = np.array([f"z{99 - int(name[1:])}" for name in bags])
    weak_too = {f"z{99 - int(name[1:])}": value for name, value in weak.items()}
    one = clone(quick).fit(X, weak, bags=bags)
    other = clone(quick).fit(X[rows], weak_too, bags=renamed[rows])
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)


def test_units_and_constant_columns_change_nothing(quick, toy):
    """Columns in other units, and further ones in which nothing varies, dense or sparse, give the same scores."""
    X, bags, weak = toy()
    scores = clone(quick).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    wider = np.column_stack([np.full(len(X), 0.1), X * [1024.0, 0.5] + [64.0, -8.0], np.zeros(len(X))])
    assert np.allclose(clone(quick).fit(wider, weak, bags=bags).score_bags(wider, bags)[1], scores, atol=1e-3)


def test_sparse_rows_give_the_scores_of_dense_rows(quick, toy):
    """Rows that are not scaled are the same data, and so are limited ones but for what centring limits anew."""
    X, bags, weak = toy()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = quick.set_params(scaling="none")
    dense = clone(model).fit(X, weak, bags=bags)
    sparse = clone(model).fit(sp.csr_matrix(X), weak, bags=bags)
    assert np.allclose(sparse.score_bags(sp.coo_array(X), bags)[1], dense.score_bags(X, bags)[1], atol=1e-4)
    assert np.allclose(sparse.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-4)


def test_sparse_columns_are_centred_in_training(quick):
    """Where no value reaches the limit, sparse rows are learnt like the same rows dense, which scaling centres."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((60, 4)) < 0.5, rng.uniform(0.5, 1.0, (60, 4)), 0.0)
    bags, weak = np.repeat(np.arange(20), 3), [0, 1] * 10
    dense = clone(quick).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    X = sp.csr_matrix(X)
    assert np.allclose(clone(quick).fit(X, weak, bags=bags).score_bags(X, bags)[1], dense, atol=1e-3)


def test_rows_that_are_all_alike_have_one_score(quick):
    """Nothing can be learnt, and nothing is divided by 0."""
    X, bags = np.full((8, 3), 0.1), np.repeat(range(4), 2)
    for scaling in ("none", "clipped"):
        scores = clone(quick).set_params(scaling=scaling).fit(X, [1, 0, 1, 0], bags=bags).score_bags(X, bags)[1]
        assert np.isfinite(scores).all()
        assert np.allclose(scores, scores[0])


def test_it_is_saved(quick, toy, tmp_path):
    """What was saved scores the same, without trusting any further type."""
    X, bags, weak = toy()
    model = quick.fit(X, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    assert np.array_equal(load_model(tmp_path / "model.skops").score_bags(X, bags)[1], model.score_bags(X, bags)[1])


def test_a_comparison_can_set_parameters():
    """What the registry makes has the parameters of the class, and refuses others by name."""
    registry = load_plugins().registry
    assert registry.create("baseline", {"name": "attention-mil", "n_epochs": 7}).n_epochs == 7
    with pytest.raises(SettingsError, match="n_epoch"):
        registry.create("baseline", {"name": "attention-mil", "n_epoch": 7})


def test_unfitted_baseline_says_so(toy):
    """scikit-learn's own error."""
    with pytest.raises(NotFittedError):
        AttentionMil().score_bags(toy()[0])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_epochs", 0),
        ("batch_bags", 0),
        ("learning_rate", 0.0),
        ("l2", -1.0),
        ("n_hidden", 2.5),
        ("n_attention", 0),
        ("dropout", 1.0),
        ("scaling", "z"),
    ],
)
def test_wrong_parameters_are_refused(toy, name, value):
    """By name, before anything is learnt."""
    X, bags, weak = toy()
    with pytest.raises(SettingsError, match=name):
        AttentionMil(**{name: value}).fit(X, weak, bags=bags)
