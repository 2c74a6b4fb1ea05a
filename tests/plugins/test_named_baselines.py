"""Bayesian-kNN, BP-MIP, logistic regression of bags, TLC and a graphical model of shares against other ways to them."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit, logit, ndtr
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from bliss_framework import Bags, DataError, SettingsError, load_model, resolve, save_model
from bliss_framework.testing import Example, baseline_checks
from bliss_llp.baselines import graphical_model
from bliss_llp.baselines.graphical_model import LlpGraphicalModel, ProbitRegression, drawn_counts, swapped, truncated
from bliss_mil.baselines.bayesian_knn import BayesianKnn, vote_chances
from bliss_mil.baselines.bp_mip import BpMip, bag_error, first_weights
from bliss_mil.baselines.instance_tree import grow, halfway
from bliss_mil.baselines.logit_boost import Splits, boost
from bliss_mil.baselines.mi_logistic_regression import MiLogisticRegression, penalised_loss
from bliss_mil.baselines.settled_rows import rounded
from bliss_mil.baselines.two_level import TwoLevel
from bliss_mil.datasets.musk1 import load_musk1

MIL = [
    BayesianKnn(),
    BpMip(max_iter=40, random_state=0),
    MiLogisticRegression(),
    MiLogisticRegression("geometric"),
    TwoLevel(),
]
GRAPHICAL = LlpGraphicalModel(n_burn_in=20, n_sweeps=60, random_state=0)
each_mil = pytest.mark.parametrize("baseline", MIL, ids=str)
each_baseline = pytest.mark.parametrize("baseline", [*MIL, GRAPHICAL], ids=str)


def overlapping(toy, seed=3):
    """Bags that overlap, with their rows interleaved."""
    X, bags, weak = toy(seed=seed, n_pos=10, n_neg=10, size=4, gap=2.5)
    rows = np.random.default_rng(1).permutation(len(X))
    return X[rows], bags[rows], weak


def weak_for(baseline, weak):
    """Return weak labels that a baseline takes: 0 and 1, or shares."""
    return {name: 0.75 * label for name, label in weak.items()} if baseline is GRAPHICAL else weak


def random_bags(sizes=(3, 1, 4, 2), d=3, seed=0):
    """Return rows and bags without any structure."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    return np.random.default_rng(seed).normal(size=(bags.n_rows, d)), bags


# Bayesian-kNN


def test_posterior_of_five_bags_by_hand():
    """Bags on a line, - at 0 and 9, - at 1, + at 3, + at 4 and + at 5, and the votes of the two nearest others.

    Those of the first are at 1 and 3 (one positive vote), of the second at 0 and 3 (one), of the one at 3 at 4 and,
    equally far, at 1 or 5 (one or two), of the one at 4 at 3 and 5 (two), of the one at 5 at 4 and 3 (two). One is
    added to each count.
    """
    X = np.array([[0.0], [9.0], [1.0], [3.0], [4.0], [5.0]])
    model = BayesianKnn(2, scaling="none").fit(X, {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}, bags=list("aabcde"))
    negative = [3 / 7 * 1 / 5, 3 / 7 * 3 / 5, 3 / 7 * 1 / 5]
    positive = [4 / 7 * 1 / 6, 4 / 7 * 1.5 / 6, 4 / 7 * 3.5 / 6]
    assert np.allclose(model.chances_, [negative, positive])
    # Two votes at 4.4, one at 2.2; none at 0.4, which no training bag had, so that the frequent class is the likelier.
    new = np.array([[4.4], [2.2], [0.4]]), ["q", "r", "s"]
    expected = [math.log(positive[votes] / negative[votes]) for votes in (2, 1, 0)]
    assert np.allclose(model.score_bags(*new)[1], expected)
    assert model.predict_bags(*new)[1].tolist() == [1, 0, 1]


def test_votes_are_those_of_every_choice_among_equals():
    """Bags at equal distances: the mean over all sets of k that a nearest-neighbour search could return."""
    rng = np.random.default_rng(0)
    for k in (1, 2, 4, 7):
        distances, positive = rng.integers(0, 4, size=(6, 7)).astype(float), rng.random(7) < 0.5
        found = vote_chances(distances, positive, k, 1e-9)
        for row, chances in zip(distances, found, strict=True):
            least = min(row[list(chosen)].sum() for chosen in combinations(range(7), k))
            sets = [chosen for chosen in combinations(range(7), k) if row[list(chosen)].sum() == least]
            votes = [positive[list(chosen)].sum() for chosen in sets]
            assert np.allclose(chances, np.bincount(votes, minlength=k + 1) / len(sets))


def test_bayesian_knn_is_that_of_loops():
    """Distances, leave-one-out counts and Bayes' rule in plain loops, on bags without ties."""
    rng = np.random.default_rng(4)
    X, bags, weak = rng.normal(size=(40, 2)), rng.permutation(np.arange(40) % 13), np.arange(13) % 2
    new, new_bags = rng.normal(size=(12, 2)), np.arange(12) // 3
    parts = [X[bags == i] for i in range(13)]

    def votes(query, others):
        apart = {i: min(math.dist(p, q) for p in parts[i] for q in query) for i in others}
        return sum(weak[i] for i in sorted(apart, key=apart.get)[:3])

    seen = [votes(parts[i], [j for j in range(13) if j != i]) for i in range(13)]

    def odds(v):
        chance = [(sum(s == v and w == c for s, w in zip(seen, weak, strict=True)) + 0.5) for c in (0, 1)]
        sizes = [sum(weak == c) for c in (0, 1)]
        of_class = [(sizes[c] + 0.5) / (13 + 1) for c in (0, 1)]
        return math.log(chance[1] / (sizes[1] + 2) * of_class[1] / (chance[0] / (sizes[0] + 2) * of_class[0]))

    model = BayesianKnn(3, smoothing=0.5, scaling="none").fit(X, dict(enumerate(weak)), bags=bags)
    expected = [odds(votes(new[new_bags == i], range(13))) for i in range(4)]
    assert np.allclose(model.score_bags(new, new_bags)[1], expected)
    assert np.allclose(model.decision_function(new), [odds(votes(new[[i]], range(13))) for i in range(12)])


def test_musk1_one_bag_left_out_is_as_published():
    """With three neighbours and raw columns 83 of the 92 molecules are right, which is the paper's 90.2 %."""
    data = load_musk1()
    bags = Bags.from_ids(data.bags)
    right = 0
    for left_out in range(bags.n_bags):
        test = bags.index == left_out
        weak = dict(enumerate(np.asarray(data.weak)))
        del weak[left_out]
        model = BayesianKnn(scaling="none").fit(data.X[~test], weak, bags=bags.index[~test])
        right += model.predict_bags(data.X[test], bags.index[test])[1][0] == data.weak[left_out]
    assert right == 83


# BP-MIP


def test_error_of_bags_by_loop():
    """Half the mean of (largest output - target)^2, with sigmoids written out, and the penalty without biases."""
    X, bags = random_bags()
    weak = np.array([1, 0, 0, 1])
    point = first_weights(3, 2, np.random.RandomState(0))
    hidden, output = point[:8].reshape(4, 2), point[8:]
    total = 0.0
    for bag, target in enumerate(weak):
        outputs = []
        for row in X[bags.index == bag]:
            units = [1 / (1 + math.exp(-(row @ hidden[:3, h] + hidden[3, h]))) for h in range(2)]
            outputs.append(1 / (1 + math.exp(-(units[0] * output[0] + units[1] * output[1] + output[2]))))
        total += (max(outputs) - target) ** 2 / 2 / 4
    penalty = (hidden[:3] ** 2).sum() + (output[:2] ** 2).sum()
    assert bag_error(point, X, bags, weak, 0.3)[0] == pytest.approx(total + 0.3 * penalty)


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_gradient_of_the_network(l2):
    """It is that of finite differences."""
    X, bags = random_bags()
    data = (X, bags, np.array([1, 0, 0, 1]), l2)
    point = 3 * first_weights(3, 4, np.random.RandomState(1))
    numeric = approx_fprime(point, lambda p: bag_error(p, *data)[0], 1e-7)
    assert np.allclose(bag_error(point, *data)[1], numeric, atol=1e-6)


def test_the_network_learns_an_interval():
    """Instances near 0 are positive, and those on both sides are not, which no linear score tells apart."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(40, 5)) * rng.uniform(1.0, 2.0, size=(40, 5))
    X[:20, 2] = rng.uniform(-0.4, 0.4, size=20)
    weak = (np.arange(40) < 20).astype(int)
    model = BpMip(random_state=0).fit(X.reshape(-1, 1), weak, bags=np.repeat(np.arange(40), 5))
    assert model.predict(np.array([[-1.5], [-0.1], [0.2], [1.5]])).tolist() == [0, 1, 1, 0]
    assert (np.abs(model.decision_function(X.reshape(-1, 1))) <= 0.5).all()


def test_more_starts_never_raise_the_error(toy):
    """The first of several starts is that of one."""
    X, bags, weak = overlapping(toy)
    losses = [BpMip(n_starts=n, max_iter=20, random_state=0).fit(X, weak, bags=bags).loss_ for n in (1, 2, 5)]
    assert losses == sorted(losses, reverse=True)


# Logistic regression


@pytest.mark.parametrize("average", ["arithmetic", "geometric"])
def test_loss_of_bags_by_loop_and_its_gradient(average):
    """Negative log-likelihood of bags and ridge |w|^2, written out; the gradient is that of finite differences."""
    X, bags = random_bags()
    weak, point = np.array([1, 0, 0, 1]), np.array([0.5, -1.0, 2.0, 0.3])
    total = 0.2 * (point[:3] @ point[:3])
    for bag, label in enumerate(weak):
        chances = [1 / (1 + math.exp(-(row @ point[:3] + 0.3))) for row in X[bags.index == bag]]
        if average == "arithmetic":
            chance = sum(chances) / len(chances)
        else:
            yes, no = math.prod(chances) ** (1 / len(chances)), math.prod(1 - p for p in chances) ** (1 / len(chances))
            chance = yes / (yes + no)
        total -= math.log(chance if label else 1 - chance)
    data = (X, bags, weak, average, 0.2)
    assert penalised_loss(point, *data)[0] == pytest.approx(total)
    numeric = approx_fprime(point, lambda p: penalised_loss(p, *data)[0], 1e-7)
    assert np.allclose(penalised_loss(point, *data)[1], numeric, atol=1e-5)


@pytest.mark.parametrize("average", ["arithmetic", "geometric"])
def test_bags_of_one_are_logistic_regression(average):
    """Where every bag is one instance both averages are scikit-learn's logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = MiLogisticRegression(average, ridge=0.5, scaling="none").fit(X, y)
    expected = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(X, y)
    assert np.allclose(model.decision_function(X), expected.decision_function(X), atol=1e-4)


def test_bag_scores_are_log_odds_of_averages(toy):
    """Of the mean probability, or the mean log-odds; an instance far from 0 is finite."""
    X, bags, weak = overlapping(toy)
    for average in ("arithmetic", "geometric"):
        model = MiLogisticRegression(average).fit(X, weak, bags=bags)
        ids, scores = model.score_bags(X, bags)
        of_rows = model.decision_function(X)
        parts = [of_rows[bags == name] for name in ids]
        means = [logit(expit(part).mean()) if average == "arithmetic" else part.mean() for part in parts]
        assert np.allclose(scores, means)
        assert np.isfinite(model.score_bags(1e8 * X, bags)[1]).all()


# TLC


def entropy(*parts):
    total = sum(parts)
    return -sum(p / total * math.log2(p / total) for p in parts if p > 0)


def best_split_by_loops(X, y, weights, min_leaf):
    """C4.5's rule for numeric columns, as its authors wrote it down."""
    total = weights.sum()
    least = max(min_leaf, min(total / 20, 25))
    candidates = []
    for column in range(X.shape[1]):
        levels, cuts = sorted(set(X[:, column])), []
        for low, high in pairwise(levels):
            sides = [[weights[m & (y == c)].sum() for c in (0, 1)] for m in (X[:, column] <= low, X[:, column] > low)]
            sizes = [sum(side) for side in sides]
            if min(sizes) >= least - 1e-9:
                within = sum(size / total * entropy(*side) for size, side in zip(sizes, sides, strict=True))
                cuts.append((entropy(*(weights[y == c].sum() for c in (0, 1))) - within, (low + high) / 2, sizes))
        if cuts:
            gain, cut, sizes = max(cuts, key=lambda one: one[0])
            candidates.append((gain - math.log2(len(cuts)) / total, column, cut, entropy(*sizes)))
    candidates = [one for one in candidates if one[0] > 1e-9]
    if not candidates:
        return None
    mean = sum(one[0] for one in candidates) / len(candidates)
    best = max((one for one in candidates if one[0] >= mean - 1e-3), key=lambda one: one[0] / one[3])
    return best[1], best[2]


@pytest.mark.parametrize("seed", range(4))
def test_nodes_are_split_as_by_loops(seed):
    """Every node has the column and the cut of a plain search over its instances, and is a leaf where that has none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(1)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)
    weights = rng.uniform(0.5, 2.0, size=60)
    tree = grow(X, y, weights, 2.0)
    members = {0: np.arange(60)}
    for node, (column, cut) in enumerate(zip(tree.columns, tree.cuts, strict=True)):
        own = members[node]
        expected = None
        if 0 < y[own].sum() < len(own):
            expected = best_split_by_loops(X[own], y[own], weights[own], 2.0)
        if expected is None:
            assert tree.children[:, node].tolist() == [-1, -1]
            continue
        assert (column, cut) == (expected[0], pytest.approx(expected[1]))
        left = X[own, column] <= cut
        members |= {tree.children[0, node]: own[left], tree.children[1, node]: own[~left]}
    assert len(members) == len(tree.columns) > 5


def test_counts_are_those_of_a_walk():
    """Each instance walks down on its own; the root counts all, and children count what their parent does."""
    X, bags = random_bags((9, 4, 12, 15), seed=2)
    tree = grow(X, X[:, 0] + np.abs(X[:, 1]) > 1, np.ones(40), 1.0)
    expected = np.zeros((4, len(tree.columns)))
    for row, bag in zip(X, bags.index, strict=True):
        node = 0
        while node >= 0:
            expected[bag, node] += 1
            node = tree.children[int(row[tree.columns[node]] > tree.cuts[node]), node]
    every = np.arange(len(tree.columns))
    assert len(every) > 3
    assert np.array_equal(tree.counts(X, bags, every), expected)
    assert np.array_equal(tree.counts(X, bags, every[[3, 0]]), expected[:, [3, 0]])
    assert expected[:, 0].tolist() == [9, 4, 12, 15]


def test_the_middle_of_neighbours_is_on_the_lower_side():
    """Where there is no number between two, the lower one is the cut, and both sides stay what they were."""
    assert halfway(1.0, 2.0) == 1.5
    assert halfway(1.0, np.nextafter(1.0, 2.0)) == 1.0
    assert halfway(-1.7e308, 1.7e308) == 0.0
    assert halfway(1.6e308, 1.7e308) == pytest.approx(1.65e308)


def boost_by_loops(values, labels, n_rounds):
    log_odds = np.zeros(len(values))
    for _ in range(n_rounds):
        chance = expit(log_odds)
        weights = np.maximum(chance * (1 - chance), 1e-6)
        responses = np.clip((labels - chance) / weights, -3, 3)
        best = (math.inf, None)
        for attribute in range(values.shape[1]):
            for low in sorted(set(values[:, attribute]))[:-1]:
                above = values[:, attribute] > low
                fitted = np.where(
                    above,
                    np.average(responses[above], weights=weights[above]),
                    np.average(responses[~above], weights=weights[~above]),
                )
                error = (weights * (responses - fitted) ** 2).sum()
                if error < best[0] * (1 - 1e-9):
                    best = (error, fitted)
        log_odds = log_odds + best[1]
    return log_odds


def test_boosted_stumps_are_those_of_loops():
    """Ten rounds of weighted least squares over all attributes and cuts give the same log-odds."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, size=(40, 6)).astype(float)
    labels = (values[:, 1] + values[:, 4] + rng.normal(size=40) > 4).astype(int)
    attributes, cuts, steps = boost(values, labels, 10)
    found = np.where(values[:, attributes] > cuts, steps[1], steps[0]).sum(axis=1)
    assert np.allclose(found, boost_by_loops(values, labels, 10))


def test_stumps_on_bags_that_are_all_alike_are_constant():
    """There is nothing to cut: both sides say the log-odds of the classes."""
    alike = Splits.of(np.ones((4, 2))).best(np.ones(4), np.array([2.0, 2.0, 2.0, -2.0]))
    assert alike == (0, 0.0, 1.0, 1.0)


def test_counts_decide():
    """Bags are positive where three or more of ten instances lie in a corner; every bag has at least one there."""
    rng = np.random.default_rng(0)

    def bags_of_ten(n):
        inside = rng.integers(1, 6, size=n)
        X = rng.uniform(-1.0, 0.0, size=(n, 10, 2))
        X[np.arange(10) < inside[:, None]] += 1.0
        return X.reshape(-1, 2), (inside > 2).astype(int), np.repeat(np.arange(n), 10)

    X, weak, bags = bags_of_ten(120)
    new, new_weak, new_bags = bags_of_ten(100)
    model = TwoLevel().fit(X, weak, bags=bags)
    assert (model.predict_bags(new, new_bags)[1] == new_weak).mean() > 0.95
    # A bag of one instance never has three.
    assert model.predict(np.array([[0.5, 0.5], [-0.5, -0.5]])).tolist() == [0, 0]


# The graphical model


def clusters(shares, size=10, seed=0, spread=0.7):
    """Return rows of two clusters, bags, shares that are met exactly, and classes; rows of bags are interleaved."""
    rng = np.random.default_rng(seed)
    counts = np.round(np.asarray(shares) * size).astype(int)
    classes = np.concatenate([np.arange(size) < count for count in counts]).astype(int)
    X = np.array([[-2.0, 0.0], [2.0, 1.0]])[classes] + rng.normal(scale=spread, size=(len(classes), 2))
    bags = np.repeat(np.arange(len(counts)), size)
    order = rng.permutation(len(X))
    return X[order], bags[order], dict(enumerate(counts / size)), classes[order]


def test_every_assignment_keeps_the_counts(monkeypatch):
    """Of all labels that a fit samples, each bag has as many as its share says; and labels do change."""
    seen = []

    def recorded(labels, predictor, bags, n_rounds, rng):
        found = swapped(labels, predictor, bags, n_rounds, rng)
        seen.append((found, bags))
        return found

    monkeypatch.setattr(graphical_model, "swapped", recorded)
    X, bags, shares, _ = clusters([0.2, 0.8, 0.0, 0.5, 1.0, 0.4])
    clone(GRAPHICAL).fit(X, shares, bags=bags)
    assert len(seen) == 80
    for labels, grouped in seen:
        assert np.allclose(grouped.mean(labels.astype(float)), [shares[name] for name in grouped.ids])
    assert len({labels.tobytes() for labels, _ in seen}) > 20


def test_swaps_leave_the_distribution_of_labels_as_it_is():
    """Frequencies of assignments are their probabilities given counts, by enumeration of all of them."""
    bags = Bags.from_ids([0, 0, 0, 0, 0, 1, 1, 1])
    predictor = np.array([0.8, -0.5, 0.1, -1.0, 0.4, 0.6, -0.2, 0.0])
    labels = np.array([True, False, False, False, True, True, False, False])
    rng = np.random.default_rng(0)
    counts = {}
    for _ in range(6000):
        labels = swapped(labels, predictor, bags, 2, rng)
        key = tuple(labels.tolist())
        counts[key] = counts.get(key, 0) + 1
    allowed = [a for a in product([False, True], repeat=8) if (sum(a[:5]), sum(a[5:])) == (2, 1)]
    weights = [np.prod(np.where(a, ndtr(predictor), ndtr(-predictor))) for a in allowed]
    expected = np.array(weights) / sum(weights)
    assert set(counts) <= set(allowed)
    assert np.abs(np.array([counts.get(a, 0) for a in allowed]) / 6000 - expected).max() < 0.02


def test_truncated_variables_have_the_sign_and_mean_of_theory():
    """Means are m + s phi(m) / Phi(s m); far on the wrong side draws are finite and of the right sign."""
    rng = np.random.default_rng(0)
    for mean, positive in product([-1.5, 0.0, 0.7], [True, False]):
        drawn = truncated(np.full(20_000, mean), np.full(20_000, positive), rng)
        sign = 1 if positive else -1
        assert (sign * drawn > 0).all()
        assert drawn.mean() == pytest.approx(mean + sign * norm.pdf(mean) / norm.cdf(sign * mean), abs=0.03)
    far = truncated(np.array([-60.0, 60.0]), np.array([True, False]), rng)
    assert np.isfinite(far).all()
    assert far[0] >= 0 >= far[1]


def test_the_chain_finds_the_posterior_mean():
    """With labels that are known, the mean of the draws is the integral over a grid of weight and intercept."""
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(12, 1)), rng.random(12) < 0.6
    regression = ProbitRegression(values, 2.0)
    weights, total = np.zeros(2), np.zeros(2)
    for sweep in range(4200):
        mean, weights = regression.sweep(regression.design @ weights, labels, rng)
        total += mean * (sweep >= 200)
    slope, intercept = np.meshgrid(np.linspace(-4, 4, 161), np.linspace(-4, 4, 161))
    predictor = values[:, 0, None, None] * slope + intercept
    density = np.prod(ndtr(np.where(labels[:, None, None], predictor, -predictor)), axis=0) * np.exp(-(slope**2))
    expected = [(density * slope).sum() / density.sum(), (density * intercept).sum() / density.sum()]
    assert np.allclose(total / 4000, expected, atol=0.05)


def test_counts_are_right_in_the_mean():
    """Whole counts stay, however they are rounded in binary; others are one of their neighbours."""
    bags = Bags.from_ids(np.repeat(np.arange(300), 3))
    shares = np.tile([1 / 3, 0.5, 0.1], 100)
    found = drawn_counts(shares, bags, np.random.default_rng(0)).reshape(-1, 3)
    assert set(found[:, 0]) == {1}
    assert set(found[:, 1]) == {1, 2}
    assert found[:, 2].mean() == pytest.approx(0.3, abs=0.1)


def test_two_clusters_are_told_apart():
    """From shares of .2 and .8 alone new instances get their class, and bags their shares."""
    X, bags, shares, _ = clusters([0.2, 0.8] * 10)
    new, new_bags, new_shares, classes = clusters([0.2, 0.8, 0.5], seed=1)
    model = LlpGraphicalModel(random_state=0).fit(X, shares, bags=bags)
    assert (model.predict(new) == classes).mean() > 0.95
    ids, found = model.predict_bags(new, new_bags)
    assert np.allclose(found, [new_shares[i] for i in ids], atol=0.11)


def test_the_graphical_model_refuses_three_classes():
    """It says so, and names the ones that take several."""
    X, bags = random_bags((4, 4, 4))
    with pytest.raises(DataError, match="tells two classes apart"):
        clone(GRAPHICAL).fit(X, [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], bags=bags.index)


# All of them


def test_rounding_keeps_units_and_makes_last_bits_equal():
    """Values of a column are rounded to a part of the largest one, dense or sparse, huge or tiny."""
    X = np.array([[0.1 + 0.2, 3e-20, 1e300, 0.0], [0.3, 1e-20, -2e299, 0.0]])
    for found in (rounded(X), rounded(sp.csr_matrix(X)).toarray(), graphical_model.rounded(X)):
        assert found[0, 0] == found[1, 0]
        assert np.allclose(found / [1.0, 1e-20, 1e300, 1.0], X / [1.0, 1e-20, 1e300, 1.0], rtol=1e-9)


@each_baseline
def test_conformance(baseline):
    """Each passes the kit that plugin authors run."""
    example = None
    if baseline is GRAPHICAL:
        X, bags, shares, _ = clusters([0.75, 0.25, 0.5, 1.0] * 2, 4)
        names = list(dict.fromkeys(bags.tolist()))
        example = Example(resolve("regime", "mil"), X, bags, np.array([shares[name] for name in names]))
    for check in baseline_checks(baseline, example):
        check()


@each_baseline
def test_order_of_rows_and_names_of_bags_change_nothing(baseline, toy):
    """Shuffled rows in bags of other names give the same model, to the last bits that scaling itself has."""
    X, bags, weak = overlapping(toy)
    X = X * [1.0, 1e3] + [0.0, 1e5]
    y = weak_for(baseline, weak)
    rows = np.random.default_rng(0).permutation(len(X))
    renamed = {name: f"x{(7 * i) % 20}" for i, name in enumerate(y)}
    one = clone(baseline).fit(X, y, bags=bags)
    other = clone(baseline).fit(
        X[rows], {renamed[name]: y[name] for name in y}, bags=[renamed[name] for name in bags[rows]]
    )
    again = clone(baseline).fit(X, y, bags=bags)
    assert np.array_equal(one.decision_function(X), again.decision_function(X))
    assert np.allclose(one.decision_function(X), other.decision_function(X), rtol=0, atol=1e-9)


@each_baseline
def test_sparse_rows_give_the_scores_of_dense_rows(baseline, toy):
    """Unscaled sparse rows are the same data, whichever columns are empty."""
    X, bags, weak = overlapping(toy)
    X = np.column_stack([np.where(np.abs(X) < 0.5, 0.0, X), np.zeros(len(X))])
    model, y = clone(baseline).set_params(scaling="none"), weak_for(baseline, weak)
    dense = clone(model).fit(X, y, bags=bags)
    model.fit(sp.csr_matrix(X), y, bags=bags)
    assert np.allclose(model.score_bags(sp.coo_array(X), bags)[1], dense.score_bags(X, bags)[1], atol=1e-6)
    assert np.allclose(model.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-6)


@each_baseline
def test_a_model_survives_being_saved(baseline, toy, tmp_path):
    """What is kept of a model is arrays, so that it is read without pickle and without trust in a file's code."""
    X, bags, weak = overlapping(toy)
    model = clone(baseline).fit(X, weak_for(baseline, weak), bags=bags)
    save_model(model, tmp_path / "model.skops")
    own = f"{type(model).__module__}.{type(model).__qualname__}"
    loaded = load_model(tmp_path / "model.skops", trusted=(own,))
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@each_baseline
def test_parameters_are_stored_and_predictions_need_a_fit(baseline, toy):
    """Constructors only store, and scikit-learn's own error says that a model is not fitted."""
    given = baseline.get_params()
    assert type(baseline)(**given).get_params() == given
    X, bags, _ = overlapping(toy)
    with pytest.raises(NotFittedError):
        clone(baseline).score_bags(X, bags)


@each_mil
@pytest.mark.parametrize("scaling", ["auto", "none"])
@pytest.mark.parametrize("spoil", ["one positive bag", "all constant", "huge", "two bags of one", "classes on one row"])
def test_odd_data_give_finite_scores(baseline, scaling, spoil, toy):
    """They are fitted without a warning, and every instance and bag has a number."""
    X, bags, weak = toy(n_pos=4, n_neg=4)
    if spoil == "one positive bag":
        weak = {name: int(name == "b0") for name in weak}
    elif spoil == "all constant":
        X = np.full_like(X, 2.0)
    elif spoil == "huge":
        X = 1e8 * X
    elif spoil == "two bags of one":
        X, bags, weak = X[[0, -1]], bags[[0, -1]], {bags[0]: 1, bags[-1]: 0}
    else:
        X = np.vstack([X[:4]] * 8)
    model = clone(baseline).set_params(scaling=scaling).fit(X, weak, bags=bags)
    assert np.isfinite(model.score_bags(X, bags)[1]).all()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (BayesianKnn(n_neighbors=0), "n_neighbors must be an integer, at least 1; got 0"),
        (BayesianKnn(smoothing=0), "smoothing must be a finite number above 0; got 0"),
        (BpMip(n_hidden=0), "n_hidden must be an integer, at least 1"),
        (BpMip(n_starts=1.5), "n_starts must be an integer, at least 1"),
        (BpMip(l2=-1), "l2 must be a number from 0"),
        (MiLogisticRegression(average="harmonic"), "average must be one of 'arithmetic', 'geometric'; got 'harmonic'"),
        (MiLogisticRegression(ridge=0), "ridge must be a finite number above 0"),
        (MiLogisticRegression(max_iter=0), "max_iter must be an integer, at least 1"),
        (TwoLevel(min_leaf=0), "min_leaf must be a finite number above 0"),
        (TwoLevel(n_stumps=0), "n_stumps must be an integer, at least 1"),
        (TwoLevel(scaling="loud"), "scaling must be one of"),
        (LlpGraphicalModel(ridge=0), "ridge must be a finite number above 0"),
        (LlpGraphicalModel(n_sweeps=0), "n_sweeps must be an integer, at least 1"),
        (LlpGraphicalModel(n_burn_in=-1), "n_burn_in must be an integer, at least 0"),
        (LlpGraphicalModel(n_swaps=0), "n_swaps must be an integer, at least 1"),
    ],
    ids=str,
)
def test_parameters_that_are_not_allowed(baseline, message, toy):
    """They are refused when the model is fitted, by name."""
    X, bags, weak = toy(n_pos=4, n_neg=4)
    shares = {name: 0.5 * label for name, label in weak.items()}
    with pytest.raises(SettingsError, match=message):
        baseline.fit(X, shares if isinstance(baseline, LlpGraphicalModel) else weak, bags=bags)
