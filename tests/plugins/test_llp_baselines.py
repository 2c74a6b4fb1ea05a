"""Baselines of learning with label proportions against closed forms, other solvers and data with known answers."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.spatial.distance import pdist
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR

from bliss_framework import Bags, BlissWarning, DataError, SettingsError, load_model, resolve, save_model
from bliss_framework.plugin import Rows, in_own_order
from bliss_framework.testing import Example, baseline_checks
from bliss_llp.baselines import features as features_module
from bliss_llp.baselines.em import LlpEm, meet_shares
from bliss_llp.baselines.features import linear_features, rbf_features
from bliss_llp.baselines.inv_cal import InvCal
from bliss_llp.baselines.k_means import LlpKMeans, cluster_shares
from bliss_llp.baselines.mean_map import MeanMap, mean_operator
from bliss_llp.baselines.p_svm import AlternatingSvm, hinge_gain, leading
from bliss_llp.baselines.proportion_matching import ProportionMatching
from bliss_llp.baselines.softmax import fit_soft_labels, proportion_loss, soft_label_loss
from bliss_llp.regime.weak_shares import read_shares, warn_if_alike

SOFTMAX = [MeanMap(), ProportionMatching(), LlpEm()]
SEVERAL = [*SOFTMAX, LlpEm(GaussianNB()), LlpKMeans(random_state=0)]
BINARY = [InvCal(), AlternatingSvm(random_state=0)]
LINEAR = [type(one)(kernel="linear") for one in [*SOFTMAX, InvCal()]] + [
    AlternatingSvm(kernel="linear", random_state=0)
]
BASELINES = [*SEVERAL, *BINARY, *LINEAR]
each_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=str)
each_several = pytest.mark.parametrize("baseline", [*SEVERAL, *LINEAR[:3]], ids=str)
each_binary = pytest.mark.parametrize("baseline", BINARY, ids=str)


def clusters(shares, size, seed=0, centres=((-2.0, 0.0), (2.0, 1.0)), spread=0.7):
    """Return rows, bag ids, shares (B, C) that are met exactly, and classes; rows of bags are interleaved."""
    rng = np.random.default_rng(seed)
    counts = np.round(np.asarray(shares) * size).astype(int)
    classes = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    bags = np.repeat([f"b{i}" for i in range(len(counts))], size)
    X = np.asarray(centres)[classes] + rng.normal(scale=spread, size=(len(classes), len(centres[0])))
    order = rng.permutation(len(X))
    first = list(dict.fromkeys(bags[order].tolist()))
    return X[order], bags[order], np.array([counts[int(name[1:])] / size for name in first]), classes[order]


def two_clusters(seed=0, n_bags=20, **more):
    """Return bags of ten with shares .2 and .8 of class 1."""
    return clusters([[0.8, 0.2], [0.2, 0.8]] * (n_bags // 2), 10, seed, **more)


def three_clusters(seed=0):
    """Return bags of ten in which one of three classes is frequent."""
    shares = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]] * 8
    return clusters(shares, 10, seed, centres=((0.0, 0.0), (5.0, 0.0), (0.0, 5.0)))


def random_bags(sizes=(3, 1, 4, 2), d=3, seed=0):
    """Return rows and bags without any structure."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    return np.random.default_rng(seed).normal(size=(bags.n_rows, d)), bags


def accuracy(model, X, classes):
    return np.mean(model.predict(X) == classes)


# Known answers


@each_baseline
def test_two_clusters_are_told_apart(baseline):
    """From shares of .2 and .8 alone, more than 95 % of new instances get their class, and class 1 scores above 0."""
    X, bags, shares, _ = two_clusters()
    new, new_bags, new_shares, classes = two_clusters(seed=1)
    model = clone(baseline).fit(X, shares[:, 1], bags=bags)
    assert accuracy(model, new, classes) > 0.95
    assert np.mean((model.decision_function(new) > 0) == classes) > 0.95
    assert np.abs(model.predict_bags(new, new_bags)[1] - new_shares[:, 1]).mean() < 0.05
    scores = model.score_bags(new, new_bags)[1]
    assert scores[new_shares[:, 1] > 0.5].min() > scores[new_shares[:, 1] < 0.5].max()


@each_baseline
def test_shares_the_other_way_round_turn_predictions_round(baseline):
    """Polarity is in the shares: with 1 - share each instance gets the other class."""
    X, bags, shares, classes = two_clusters()
    model = clone(baseline).fit(X, 1 - shares[:, 1], bags=bags)
    assert accuracy(model, X, 1 - classes) > 0.95


@each_baseline
def test_a_rare_class_is_found(baseline):
    """Where no bag has a majority of class 1, its instances are told from the others all the same."""
    X, bags, shares, classes = clusters([[0.9, 0.1], [0.6, 0.4], [1.0, 0.0]] * 8, 10)
    model = clone(baseline).fit(X, shares[:, 1], bags=bags)
    scores = model.decision_function(X)
    assert scores[classes == 1].mean() > scores[classes == 0].mean()
    assert np.mean((scores > np.quantile(scores, 1 - classes.mean())) == classes) > 0.9


@each_several
def test_three_clusters_are_told_apart(baseline):
    """With a vector of shares for each bag, scores have a column for each class, and the largest is the class."""
    X, bags, shares, _ = three_clusters()
    new, new_bags, new_shares, classes = three_clusters(seed=1)
    model = clone(baseline).fit(X, shares, bags=bags)
    assert accuracy(model, new, classes) > 0.95
    assert model.decision_function(new).shape == (len(new), 3)
    assert model.score_bags(new, new_bags)[1].shape == new_shares.shape
    assert np.abs(model.predict_bags(new, new_bags)[1] - new_shares).mean() < 0.05


@pytest.mark.parametrize("baseline", [*SOFTMAX, *BINARY], ids=str)
def test_a_ring_needs_and_gets_an_rbf_kernel(baseline):
    """A class around the other one is learnt from small bags."""
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    X = X / np.linalg.norm(X, axis=1, keepdims=True) * (1 + 2 * classes[:, None] + rng.normal(scale=0.2, size=(400, 1)))
    bags = np.arange(400) // 8
    model = clone(baseline).fit(X, Bags.from_ids(bags).mean(classes), bags=bags)
    assert accuracy(model, X, classes) > 0.95


@each_baseline
def test_pure_bags_are_supervised_learning(baseline):
    """Where every share is 0 or 1 instance labels are known, and an SVM on them predicts nearly the same."""
    X, y = load_breast_cancer(return_X_y=True)
    pure = np.concatenate([np.flatnonzero(y == c)[:200] for c in (0, 1)])
    rest = np.setdiff1d(np.arange(len(y)), pure)
    bags = np.arange(400) // 4
    model = clone(baseline).fit(X[pure], y[pure][::4], bags=bags)
    assert accuracy(model, X[rest], y[rest]) > (0.8 if isinstance(baseline, LlpKMeans) else 0.9)
    scaled = model.scaling_.transform(X)
    assert SVC().fit(scaled[pure], y[pure]).score(scaled[rest], y[rest]) > 0.93


def test_digits_in_bags_of_eight():
    """Ten classes at once: proportion matching gets more than 95 % of unseen digits from the shares of bags of 8."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:1200], order[1200:]
    bags = np.arange(1200) // 8
    shares = Bags.from_ids(bags).mean(np.eye(10)[y[train]])
    model = ProportionMatching(n_features=200, random_state=0).fit(X[train], shares, bags=bags)
    assert accuracy(model, X[test], y[test]) > 0.95


# MeanMap


def test_mean_operator_recovers_class_means():
    """Where bag means are exact mixtures of two class means, the weighted means are share times class mean."""
    means = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.0]])
    shares = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])
    bags = Bags.from_ids([0, 0, 1, 1, 1, 2])
    A = bags.spread(shares @ means)
    weights = mean_operator(shares, bags)
    overall = bags.sizes @ shares / 6
    assert np.allclose(weights.T @ A / 6, overall[:, None] * means)
    assert np.allclose(weights.sum(axis=0) / 6, overall)


def test_mean_operator_is_weighted_least_squares():
    """Class means minimise the squared errors of bag means, weighted by size: the normal equations by hand."""
    X, bags = random_bags()
    shares = np.random.default_rng(1).dirichlet([1, 1], size=4)
    weighted = shares.T * bags.sizes
    means = np.linalg.solve(weighted @ shares, weighted @ bags.mean(X))
    overall = bags.sizes @ shares / bags.n_rows
    assert np.allclose(mean_operator(shares, bags).T @ X / bags.n_rows, overall[:, None] * means)


@pytest.mark.parametrize("baseline", [MeanMap, ProportionMatching], ids=lambda b: b.__name__)
def test_bags_of_one_are_logistic_regression(baseline):
    """Where every bag is one instance the model is scikit-learn's logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = baseline(kernel="linear", ridge=0.1, scaling="standard").fit(X, y)
    Z = model.scaling_.transform(X)
    expected = LogisticRegression(C=1 / (0.1 * 60), tol=1e-10, max_iter=1000).fit(Z, y)
    assert np.allclose(model.coef_, expected.coef_[0], atol=1e-4)
    assert np.allclose(model.decision_function(X), expected.decision_function(Z), atol=1e-4)


@pytest.mark.parametrize("baseline", [MeanMap, ProportionMatching], ids=lambda b: b.__name__)
def test_bags_of_one_are_multinomial_regression(baseline):
    """The same with three classes; there the penalty is twice scikit-learn's, so that two classes agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = rng.integers(3, size=90)
    X[:, 0] += y
    model = baseline(kernel="linear", ridge=0.1, scaling="standard").fit(X, np.eye(3)[y], bags=np.arange(90))
    Z = model.scaling_.transform(X)
    expected = LogisticRegression(C=1 / (0.2 * 90), tol=1e-10, max_iter=1000).fit(Z, y)
    scores, theirs = model.decision_function(X), expected.decision_function(Z)
    assert np.allclose(softmax(scores, axis=1), softmax(theirs, axis=1), atol=1e-4)


# Losses and features


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradients_are_those_of_finite_differences(n_classes):
    """The derivative of each loss by each output is right, for the matching of shares and for soft labels."""
    _, bags = random_bags()
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.ones(n_classes), size=4)
    shares[1] = np.eye(n_classes)[0]
    outputs = rng.normal(size=(10, n_classes))
    for loss in (proportion_loss(shares, bags), soft_label_loss(rng.normal(size=outputs.shape))):
        numeric = approx_fprime(outputs.ravel(), lambda flat, loss=loss: loss(flat.reshape(outputs.shape))[0], 1e-7)
        assert np.allclose(loss(outputs)[1].ravel(), numeric, atol=1e-6)


def test_proportion_loss_by_loop():
    """It is the cross-entropy of each bag's shares and mean probabilities, and each bag counts its rows."""
    _, bags = random_bags()
    shares = np.random.default_rng(0).dirichlet([1, 1], size=4)
    scores = np.random.default_rng(1).normal(size=10)
    expected = 0.0
    for bag, share in enumerate(shares[:, 1]):
        mean = expit(scores[bags.index == bag]).mean()
        expected -= bags.sizes[bag] / 10 * (share * np.log(mean) + (1 - share) * np.log(1 - mean))
    assert proportion_loss(shares, bags)(np.stack([np.zeros(10), scores], axis=1))[0] == pytest.approx(expected)


def test_proportion_matching_is_at_a_minimum():
    """No small step from the fitted model lowers loss and penalty, written out by hand for two classes."""
    X, bags, shares, _ = two_clusters(spread=2.0)
    model = ProportionMatching(kernel="linear", ridge=0.05, scaling="standard").fit(X, shares[:, 1], bags=bags)
    Z, grouped = model.scaling_.transform(X), Bags.from_ids(bags)

    def objective(w):
        means = grouped.mean(expit(Z @ w[:2] + w[2]))
        loss = shares[:, 1] * np.log(means) + shares[:, 0] * np.log(1 - means)
        return -loss.mean() + 0.05 / 2 * (w[:2] @ w[:2])

    found = np.append(model.coef_, model.intercept_)
    assert np.allclose(approx_fprime(found, objective, 1e-6), 0, atol=1e-4)


def test_all_rbf_features_have_the_kernel_as_inner_product():
    """With as many features as rows nothing is lost: their inner products are the kernel, up to one factor."""
    X, _ = random_bags(d=2)
    found = rbf_features(X, 0.3, 50, np.random.RandomState(0))
    products = found.values @ found.values.T
    assert np.allclose(products / products[0, 0], rbf_kernel(X, gamma=0.3), atol=1e-5)
    assert np.mean(found.values**2) == pytest.approx(1)
    W = np.random.default_rng(0).normal(size=(found.values.shape[1], 2))
    assert np.allclose(rbf_kernel(X, gamma=0.3) @ found.to_rows(W), found.values @ W)


def test_few_rbf_features_are_the_leading_ones():
    """Features are eigenvectors: orthogonal, and with the largest eigenvalues of the Gram matrix."""
    X, _ = random_bags(d=2)
    found = rbf_features(X, 0.3, 3, np.random.RandomState(0)).values
    sizes = np.linalg.eigvalsh(rbf_kernel(X, gamma=0.3))[-3:]
    products = found.T @ found
    assert np.allclose(products / products.trace(), np.diag(sizes / sizes.sum()), atol=1e-8)


def test_many_rows_are_compared_with_some(monkeypatch):
    """With more rows than landmarks the model is smaller, and nearly as good."""
    X, bags, shares, classes = two_clusters()
    monkeypatch.setattr(features_module, "MOST_LANDMARKS", 40)
    model = ProportionMatching(random_state=0).fit(X, shares[:, 1], bags=bags)
    assert model.support_rows_.shape == (40, 2)
    assert accuracy(model, X, classes) > 0.95


def test_width_is_in_units_of_half_the_mean_squared_distance():
    """Gamma is the width over half the mean squared distance of all pairs, a row with itself included."""
    X, _ = random_bags()
    half = pdist(X, "sqeuclidean").sum() / len(X) ** 2
    assert Rows(X).gamma_by_distance(0.5) == pytest.approx(0.5 / half)
    assert Rows(sp.csr_matrix(X)).gamma_by_distance(0.5) == pytest.approx(0.5 / half)
    assert Rows(np.ones((4, 2))).gamma_by_distance(0.5) == 0.5


def test_linear_features_stay_sparse():
    """One factor brings columns to mean square 1 and keeps zeros."""
    found = linear_features(sp.csr_matrix(np.array([[0.0, 2.0], [0.0, 0.0]])))
    assert sp.issparse(found.values)
    assert np.allclose(found.values.toarray(), [[0, 2], [0, 0]])


# EM


@pytest.mark.parametrize("n_classes", [2, 3])
def test_posteriors_meet_shares(n_classes):
    """Mean posteriors are the shares, a class without a share has none, and odds within a bag keep their ratios."""
    _, bags = random_bags((5, 8, 4, 6))
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet(np.ones(n_classes), size=bags.n_rows))
    shares = rng.dirichlet(np.ones(n_classes), size=4)
    shares[1] = np.eye(n_classes)[1]
    found = meet_shares(logs, shares, bags)
    assert np.allclose(bags.mean(found), shares, atol=2e-4)
    assert np.allclose(found.sum(axis=1), 1)
    assert (found[bags.index == 1, 0] == 0).all()
    shift = (np.log(found[bags.index == 2]) - logs[bags.index == 2]) @ np.eye(n_classes)[[0, -1]].T @ [1.0, -1.0]
    assert np.allclose(shift, shift[0])


def test_certain_posteriors_give_way_to_shares():
    """A classifier that is sure of all instances is overruled where the bag says otherwise."""
    bags = Bags.from_ids([0] * 8)
    logs = np.log(np.tile([1e-300, 1.0], (8, 1)))
    assert np.allclose(meet_shares(logs, np.array([[0.75, 0.25]]), bags).mean(axis=0), [0.75, 0.25], atol=1e-3)


def test_em_ends_where_it_stays():
    """Training on the last soft labels and shifting odds once more gives the same soft labels."""
    X, bags, shares, _ = two_clusters(spread=1.5)
    model = LlpEm(kernel="linear", ridge=0.1, max_iter=300, tol=1e-6, scaling="standard").fit(
        X, shares[:, 1], bags=bags
    )
    Z, grouped = model.scaling_.transform(X), Bags.from_ids(bags)
    scores = model.decision_function(X)
    labels = meet_shares(np.log(np.stack([expit(-scores), expit(scores)], axis=1)), shares, grouped)
    copies, weights = np.vstack([Z, Z]), labels.ravel(order="F")
    again = LogisticRegression(C=1 / (0.1 * len(X)), tol=1e-10, max_iter=1000)
    again.fit(copies, np.repeat([0, 1], len(X)), sample_weight=weights)
    assert model.n_iter_ < 300
    assert np.allclose(again.decision_function(Z), scores, atol=0.02)


def test_em_with_softmax_is_em_with_logistic_regression():
    """The default, on columns, is scikit-learn's logistic regression on a weighted copy for each class."""
    X, bags, shares, _ = two_clusters(spread=1.5)
    own = LlpEm(kernel="linear", ridge=0.1, max_iter=5, scaling="standard").fit(X, shares[:, 1], bags=bags)
    theirs = LogisticRegression(C=1 / (0.1 * len(X)), tol=1e-10, max_iter=1000)
    other = LlpEm(theirs, max_iter=5, scaling="standard").fit(X, shares[:, 1], bags=bags)
    assert np.allclose(own.decision_function(X), other.decision_function(X), atol=1e-3)


def test_em_seeds_its_classifier():
    """A random classifier gives the same scores for the same seed, and is itself neither fitted nor changed."""
    X, bags, shares, classes = two_clusters()
    forest = RandomForestClassifier(10, min_samples_leaf=20)
    first, second = (LlpEm(forest, max_iter=3, random_state=4).fit(X, shares[:, 1], bags=bags) for _ in range(2))
    assert np.array_equal(first.decision_function(X), second.decision_function(X))
    assert accuracy(first, X, classes) > 0.95
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_inv_cal_is_a_constant_where_a_constant_meets_all_bags(kernel):
    """Log-odds that differ by less than eps need no row, and every row has the same score."""
    X, bags = random_bags((8, 8, 8))
    model = InvCal(kernel=kernel, eps=0.1).fit(X, [0.25, 0.26, 0.25], bags=bags.index)
    scores = model.decision_function(X)
    assert np.allclose(scores, scores[0])
    assert np.log(0.25 / 0.75) - 0.1 <= scores[0] <= np.log(0.26 / 0.74) + 0.1


def test_inv_cal_learns_from_single_instances():
    """Bags of one instance are ordinary classification, and their log-odds are not all 0."""
    X, _, _, classes = two_clusters()
    model = InvCal().fit(X, classes.astype(float))
    assert accuracy(model, X, classes) > 0.95


@pytest.mark.parametrize("classifier", [SVC(), KNeighborsClassifier(), "naive-bayes"], ids=str)
def test_em_needs_probabilities_and_weights(classifier):
    """A classifier without `predict_proba`, or without sample weights, is refused by name."""
    X, bags, shares, _ = two_clusters()
    with pytest.raises(SettingsError, match="classifier must be a scikit-learn classifier with predict_proba"):
        LlpEm(classifier).fit(X, shares[:, 1], bags=bags)


# InvCal


def test_invcal_is_regression_on_mean_rows():
    """With a linear kernel it is a regression from mean rows to log-odds, half an instance away from 0 and 1."""
    X, bags = random_bags((4, 3, 5, 2, 6, 4))
    shares = np.array([0.0, 1 / 3, 0.6, 1.0, 0.5, 0.25])
    model = InvCal(C=2.0, eps=0.05, kernel="linear", scaling="standard").fit(X, shares, bags=bags.index)
    Z = model.scaling_.transform(X)
    targets = [logit(1 / 8), logit(1 / 3), logit(0.6), logit(3 / 4), 0.0, logit(0.25)]
    svr = SVR(kernel="linear", C=2.0, epsilon=0.05, tol=1e-6).fit(bags.mean(Z) / np.sqrt(3), targets)
    assert np.allclose(model.decision_function(X), svr.predict(Z / np.sqrt(3)), atol=0.01)
    assert np.allclose(model.score_bags(X, bags.index)[1], svr.predict(bags.mean(Z) / np.sqrt(3)), atol=0.01)


def test_invcal_with_an_rbf_kernel_averages_kernels():
    """The mean score of a bag is that of a regression on mean kernel values between bags."""
    X, bags = random_bags((4, 3, 5, 2, 6, 4))
    shares = np.array([0.0, 1 / 3, 0.6, 1.0, 0.5, 0.25])
    model = InvCal(scaling="none").fit(X, shares, bags=bags.index)
    K = np.array(
        [
            [
                rbf_kernel(X[bags.index == a], X[bags.index == b], gamma=Rows(X).gamma_by_distance(0.5)).mean()
                for a in range(6)
            ]
            for b in range(6)
        ]
    )
    margin = 0.5 / bags.sizes
    svr = SVR(kernel="precomputed", C=100.0).fit(K, logit(np.clip(shares, margin, 1 - margin)))
    assert np.allclose(model.score_bags(X, bags.index)[1], svr.predict(K), atol=0.01)


# pSVM


def test_the_best_labels_keep_counts_and_lose_least():
    """Of all labels with the given counts, those that are marked have the smallest hinge loss."""
    bags = Bags.from_ids([0, 0, 0, 1, 1, 1, 1])
    scores, counts = np.random.default_rng(0).normal(scale=2, size=7), np.array([1, 2])
    found = leading(hinge_gain(scores), bags, counts)
    assert bags.sum(found.astype(int)).tolist() == [1, 2]

    def loss(labels):
        return np.maximum(0, 1 - np.where(labels, scores, -scores)).sum()

    every = (np.array(labels, dtype=bool) for labels in itertools.product([0, 1], repeat=7))
    allowed = [labels for labels in every if bags.sum(labels.astype(int)).tolist() == [1, 2]]
    assert loss(found) == pytest.approx(min(map(loss, allowed)))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_psvm_ends_at_an_svm_of_labels_with_the_right_counts(kernel):
    """Labels by score within the counts, an SVM on them, and the same scores again; the objective is that SVM's."""
    X, bags, shares, _ = two_clusters(spread=1.5)
    model = AlternatingSvm(C=1.0, kernel=kernel, max_iter=50, scaling="standard", random_state=0)
    rows = np.argsort(bags, kind="stable")
    Z, grouped = (X - X.mean(0)) / X.std(0), Bags.from_ids(bags[rows])
    counts = [round(10 * dict(zip(dict.fromkeys(bags), shares[:, 1], strict=True))[name]) for name in grouped.ids]
    scores = model.fit(X, shares[:, 1], bags=bags).decision_function(X)[rows]
    labels = leading(scores, grouped, np.array(counts))
    K = rbf_kernel(Z[rows], gamma=0.25) if kernel == "rbf" else Z[rows] @ Z[rows].T / 2
    svc = SVC(C=1.0, kernel="precomputed").fit(K, labels)
    assert np.allclose(svc.decision_function(K), scores, atol=0.01)
    weights = np.zeros(len(X))
    weights[svc.support_] = svc.dual_coef_[0]
    hinge = np.maximum(0, 1 - np.where(labels, scores, -scores)).sum()
    assert model.objective_ == pytest.approx(weights @ K @ weights / 2 + hinge, rel=1e-3)


def test_psvm_keeps_the_smallest_objective():
    """More starts never end at a larger objective."""
    X, bags, shares, _ = two_clusters(spread=2.5)
    fits = [AlternatingSvm(n_starts=k, random_state=0).fit(X, shares[:, 1], bags=bags).objective_ for k in (1, 3, 6)]
    assert fits[0] >= fits[1] >= fits[2]


def test_psvm_refuses_shares_that_round_to_one_class():
    """A share of .1 in bags of two is no whole instance."""
    X, bags = random_bags((2, 2, 2))
    with pytest.raises(DataError, match="round to instances of one class only"):
        AlternatingSvm().fit(X, [0.1, 0.2, 0.0], bags=bags.index)


# k-means


def test_cluster_shares_solve_exact_bags():
    """Bags that are mixtures of pure clusters give back which cluster is which."""
    histograms = np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
    pure = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    assert np.allclose(cluster_shares(histograms, histograms @ pure, np.array([4, 2, 5, 3]), 1e-10), pure, atol=1e-6)


def test_cluster_shares_are_never_negative():
    """Two clusters in contradictory bags: the answer of a grid search over shares from 0 to 1."""
    histograms, shares = np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0.9, 0.4])
    found = cluster_shares(histograms, np.stack([1 - shares, shares], axis=1), np.array([10, 10]), 1e-9)
    grid = np.linspace(0, 1, 201)
    losses = [[np.square(histograms @ [a, b] - shares).sum() for b in grid] for a in grid]
    best = np.unravel_index(np.argmin(losses), (201, 201))
    assert grid[best[1]] == found[1, 1] == 0
    assert grid[best[0]] == pytest.approx(found[0, 1], abs=0.1)


def test_a_cluster_in_no_bag_has_the_shares_of_all():
    """Nothing is known of it but the shares of all rows."""
    found = cluster_shares(
        np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.2, 0.8], [0.4, 0.6]]), np.array([3, 3]), 1.0
    )
    assert np.allclose(found, [[0.3, 0.7], [0.3, 0.7]])


# Shares


@pytest.mark.parametrize(
    ("weak", "message"),
    [
        ([25.0, 62.5], "Bag 'a' has the share 25; a share is a number from 0 to 1. Divide percentages by 100"),
        ([0.5, -0.1], "Bag 'b' has the share -0.1; a share is never negative"),
        ([0.5, np.nan], "Bag 'b' has the share nan; shares are finite numbers"),
        ([[0.5, 0.5], [0.5, np.inf]], "Bag 'b' has the share inf; shares are finite numbers"),
        ([[0.5, 0.5], [0.5, 0.2]], r"The shares of bag 'b' sum to 0.7, and shares of all classes sum to 1 \(within"),
        ([[50, 50], [70, 30]], "Bag 'a' has the share 50; a share is a number from 0 to 1"),
        (["a few", "many"], "Bag 'a' has the weak label 'a few', which is no number"),
        ([0.0, 0.0], "Every bag holds class 0 only"),
        ([[0, 1, 0], [0, 1, 0]], "Every bag holds class 1 only"),
        (np.ones((2, 2, 2)), "have shape"),
    ],
)
def test_shares_that_are_none_are_refused(weak, message):
    """One sentence says which bag, what was found and what is allowed."""
    X, bags = random_bags((4, 3))
    with pytest.raises(DataError, match=message):
        MeanMap().fit(X, weak, bags=np.array(["a", "b"])[bags.index])


@each_baseline
def test_shares_that_are_all_alike_are_warned_of(baseline):
    """With one share in all bags nothing can be learnt, and the user reads so."""
    X, bags, shares, _ = clusters([[0.5, 0.5]] * 10, 10)
    with pytest.warns(BlissWarning, match="All bags have the same shares"):
        clone(baseline).fit(X, shares[:, 1], bags=bags)


@pytest.mark.parametrize(
    ("weak", "alike"),
    [
        ([0.5, 4 / 9, 0.5], True),
        ([0.5, 1 / 3, 0.5], False),
        ([0.3, 0.3, 0.3], True),
        ([0.3, 0.32, 0.3], False),
        ([1.0, 0.0, 0.0], False),
    ],
    ids=["counts that differ by size", "counts that differ", "shares alike", "shares that differ a little", "pure"],
)
def test_what_alike_means(weak, alike):
    """Whole counts may differ by half an instance from the share of all, in the mean; other shares not at all."""
    bags = Bags.from_ids(np.repeat([0, 1, 2], [8, 9, 8]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_alike(read_shares(np.array(weak), bags), bags)
    assert bool(caught) == alike


@each_several
def test_a_class_without_any_share_is_never_predicted(baseline):
    """A class that no training bag holds, as in a fold of rare classes, breaks nothing."""
    X, bags, shares, classes = two_clusters()
    model = clone(baseline).fit(X, np.column_stack([shares, np.zeros(len(shares))]), bags=bags)
    assert model.decision_function(X).shape == (len(X), 3)
    assert accuracy(model, X, classes) > 0.95


@each_binary
def test_methods_for_two_classes_refuse_three(baseline):
    """They say so, and name the ones that take several."""
    X, bags, shares, _ = three_clusters()
    with pytest.raises(DataError, match="tells two classes apart, and y has shares of 3; use a baseline for several"):
        clone(baseline).fit(X, shares, bags=bags)


# All of them


def brief(baseline):
    """Limit the turns of LlpEm, whose contract does not depend on how often it turns."""
    return clone(baseline).set_params(max_iter=3) if isinstance(baseline, LlpEm) else baseline


@each_baseline
def test_conformance(baseline):
    """Each passes the kit that plugin authors run."""
    X, bags, shares, _ = clusters([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [1.0, 0.0]] * 3, 4)
    X, bags, y = np.vstack([X, [[2.0, 1.0]]]), np.append(bags, "alone"), np.append(shares[:, 1], 1.0)
    for check in baseline_checks(brief(baseline), Example(resolve("regime", "mil"), X, bags, y)):
        check()


@each_several
def test_conformance_with_three_classes(baseline):
    """The same with vectors of shares."""
    X, bags, shares, _ = three_clusters()
    for check in baseline_checks(brief(baseline), Example(resolve("regime", "mil"), X, bags, shares)):
        check()


@each_baseline
def test_parameters_are_stored_and_cloned(baseline):
    """Constructors only store; a fitted model has no parameter changed."""
    before = repr(baseline)
    X, bags, shares, _ = two_clusters()
    assert repr(clone(baseline).fit(X, shares[:, 1], bags=bags)) == repr(clone(baseline)) == before
    given = baseline.get_params(deep=False)
    assert type(baseline)(**given).get_params(deep=False) == given


@each_baseline
def test_fit_does_not_depend_on_the_order_of_rows(baseline):
    """Shuffled training rows give the same model."""
    X, bags, shares, _ = two_clusters(spread=1.5)
    by_id = dict(zip(dict.fromkeys(bags.tolist()), shares[:, 1], strict=True))
    rows = np.random.default_rng(0).permutation(len(X))
    one = clone(baseline).fit(X, by_id, bags=bags)
    other = clone(baseline).fit(X[rows], by_id, bags=bags[rows])
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-4)


def test_rows_have_an_order_of_their_own():
    """Whatever the caller's order, the same rows, bags and shares come out, dense or sparse."""
    X, bags, shares, _ = two_clusters()
    by_id = dict(zip(dict.fromkeys(bags.tolist()), shares.tolist(), strict=True))
    shuffled = np.random.default_rng(5).permutation(len(X))
    again = np.array([by_id[name] for name in dict.fromkeys(bags[shuffled].tolist())])
    one = in_own_order(X, Bags.from_ids(bags), shares)
    other = in_own_order(sp.csr_matrix(X[shuffled]), Bags.from_ids(bags[shuffled]), again)
    assert np.array_equal(one[0], other[0].toarray())
    assert one[1].ids.tolist() == other[1].ids.tolist()
    assert one[2].tolist() == other[2].tolist() == [by_id[name] for name in one[1].ids]
    assert (np.diff(one[1].index) >= 0).all()


@pytest.mark.parametrize("baseline", [b for b in BASELINES if "NB" not in str(b)], ids=str)
def test_sparse_rows_give_the_scores_of_dense_rows(baseline):
    """Unscaled sparse rows are the same data."""
    X, bags, shares, _ = two_clusters()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = clone(baseline).set_params(scaling="none")
    dense = clone(model).fit(X, shares[:, 1], bags=bags)
    model.fit(sp.csr_matrix(X), shares[:, 1], bags=bags)
    assert np.allclose(model.decision_function(sp.coo_array(X)), dense.decision_function(X), atol=1e-4)
    assert np.allclose(model.score_bags(sp.csr_matrix(X), bags)[1], dense.score_bags(X, bags)[1], atol=1e-4)


@each_baseline
def test_classes_may_have_names(baseline):
    """Names stand for 0 and 1, and are never taken for shares."""
    X, bags, shares, classes = two_clusters()
    model = clone(baseline).set_params(classes=["no", "yes"]).fit(X, shares[:, 1], bags=bags)
    assert model.classes_.tolist() == ["no", "yes"]
    assert accuracy(model, X, np.array(["no", "yes"])[classes]) > 0.95
    for wrong in (["no"], ["no", "no"], ["no", "yes", "perhaps"]):
        with pytest.raises(SettingsError, match="classes must be 2 different names"):
            clone(baseline).set_params(classes=wrong).fit(X, shares[:, 1], bags=bags)


@each_baseline
def test_a_vector_of_two_shares_is_the_share_of_class_1(baseline):
    """Both spellings give the same model."""
    X, bags, shares, _ = two_clusters()
    one, other = (clone(baseline).fit(X, y, bags=bags) for y in (shares, shares[:, 1]))
    assert np.allclose(one.decision_function(X), other.decision_function(X))


@each_baseline
def test_unfitted_and_other_columns_are_refused(baseline):
    """Predictions need a fit, and as many columns as there were."""
    X, bags, shares, _ = two_clusters()
    with pytest.raises(NotFittedError):
        clone(baseline).predict(X)
    with pytest.raises(ValueError, match="features"):
        clone(baseline).fit(X, shares[:, 1], bags=bags).predict(X[:, :1])


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (MeanMap(kernel="poly"), "kernel must be one of 'rbf', 'linear'; got 'poly'"),
        (MeanMap(width=0), "width must be a finite number above 0; got 0"),
        (MeanMap(n_features=0), "n_features must be an integer, at least 1"),
        (ProportionMatching(ridge=-1), "ridge must be a finite number above 0"),
        (ProportionMatching(max_iter=0), "max_iter must be an integer, at least 1"),
        (LlpEm(tol=0), "tol must be a finite number above 0"),
        (InvCal(C=0), "C must be a finite number above 0"),
        (InvCal(eps=-1), "eps must be a finite number above 0"),
        (AlternatingSvm(C=0), "C must be a finite number above 0"),
        (AlternatingSvm(n_starts=0), "n_starts must be an integer, at least 1"),
        (LlpKMeans(n_clusters=1), "n_clusters must be an integer, at least 2"),
        (LlpKMeans(scaling="some"), "scaling must be one of"),
    ],
    ids=str,
)
def test_parameters_that_are_not_allowed(baseline, message):
    """They are refused when the model is fitted, by name."""
    X, bags, shares, _ = two_clusters()
    with pytest.raises(SettingsError, match=message):
        baseline.fit(X, shares[:, 1], bags=bags)


@each_baseline
def test_a_model_survives_being_saved(baseline, tmp_path):
    """What is kept of a model is arrays and estimators of scikit-learn, so that it is read without pickle."""
    X, bags, shares, _ = two_clusters()
    model = clone(baseline).fit(X, shares[:, 1], bags=bags)
    save_model(model, tmp_path / "model.skops")
    own = f"{type(model).__module__}.{type(model).__qualname__}"
    assert np.array_equal(
        load_model(tmp_path / "model.skops", trusted=(own,)).decision_function(X), model.decision_function(X)
    )


def test_soft_labels_of_one_and_zero_are_labels():
    """A softmax model on certain soft labels separates them."""
    X, _, _, classes = two_clusters()
    found = fit_soft_labels(X, np.eye(2)[classes], 0.01)
    assert np.mean(found.outputs(X).argmax(axis=1) == classes) > 0.95
