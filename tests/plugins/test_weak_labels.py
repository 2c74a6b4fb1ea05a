"""Weak labels of many kinds: slopes against brute force, assignments against all assignments, and what is learnt."""

import csv
import itertools
import sys

import numpy as np
import pytest
from attrs import evolve
from scipy.stats import norm
from sklearn.base import clone

from bliss_framework import BlissClassifier
from bliss_framework.console import main
from bliss_framework.errors import BlissError
from bliss_framework.plugin import Bags, Part, load_plugins, resolve
from bliss_framework.testing import Example, check_baseline, check_regime, check_reward
from bliss_mil.regime.collective_mil import CollectiveMil
from bliss_mil.regime.two_condition_mil import TwoConditionMil, anchors, keep_conditions
from bliss_weak_labels.datasets.makers import MAKERS
from bliss_weak_labels.datasets.real_sets import BINARY, SETS, make
from bliss_weak_labels.likelihood.chances import class_chances, slopes_in_outputs
from bliss_weak_labels.likelihood.reward import LikelihoodReward
from bliss_weak_labels.regimes.annotators import dawid_skene
from bliss_weak_labels.regimes.confidences import PositiveConfidences
from bliss_weak_labels.regimes.counts import CountIntervals
from bliss_weak_labels.regimes.label_sets import ComplementaryLabels, PartialLabels
from bliss_weak_labels.regimes.noisy import NoisyLabels
from bliss_weak_labels.regimes.patterns import OrderedPairs, SimilarPairs, Triplets
from bliss_weak_labels.regimes.positive_unlabelled import PositiveUnlabelled
from bliss_weak_labels.regimes.semi_supervised import SemiSupervised
from bliss_weak_labels.regimes.unlabelled_unlabelled import UnlabelledUnlabelled

ALL = [(kind, name) for kind in MAKERS for name in SETS[kind in BINARY]]
SMALL = [(kind, name) for kind, name in ALL if name in ("wine", "breast-cancer")]


def objects(values):
    weak = np.empty(len(values), dtype=object)
    weak[:] = values
    return weak


def part_of(regime, weak, ids=None, X=None):
    bags = Bags.from_ids(np.arange(len(weak)) if ids is None else np.asarray(ids))
    read = regime.check(np.asarray(weak) if not isinstance(weak, np.ndarray) else weak, bags)
    return Part(np.zeros((bags.n_rows, 1)) if X is None else X, bags, read, regime.label_space(read, bags))


def chances_of(n, n_classes, seed=0):
    found = np.random.default_rng(seed).random((n, n_classes)) + 0.1
    return found / found.sum(axis=1, keepdims=True)


def example_of(kind, name, n=60):
    """Some rows of a data set, whole bags of it, as an example of its regime."""
    data = make(kind, name)
    regime = resolve("regime", {"name": data.regime, **data.regime_parameters})
    ids = np.unique(data.bags)
    kept = np.isin(data.bags, np.r_[ids[: n // 2], ids[-(n - n // 2) :]])
    if kind in ("positive-unlabelled", "semi-supervised"):
        known = [one == 1 if kind == "positive-unlabelled" else one is not None for one in data.weak]
        kept |= np.array(known)[data.bags]
    weak = data.weak[np.isin(ids, data.bags[kept])]
    X = data.X[kept] + 1e-6 * np.arange(kept.sum())[:, None]
    return Example(regime, (X - X.mean(axis=0)) / X.std(axis=0), data.bags[kept], weak)


# --- the likelihood -------------------------------------------------------------------------------------------------


def all_patterns(n_rows, n_classes):
    return itertools.product(range(n_classes), repeat=n_rows)


def chance_of_patterns(chances, allowed):
    """Sum the chances of all patterns of classes that are allowed."""
    n = len(chances)
    return sum(
        np.prod([chances[row, cls] for row, cls in enumerate(pattern)])
        for pattern in all_patterns(n, chances.shape[1])
        if allowed(pattern)
    )


NOISE = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
LIKELIHOODS = {
    "partial": (PartialLabels(), objects([{"a", "b"}, {"c"}]), [0, 1], lambda s: (s[0, 0] + s[0, 1]) * s[1, 2]),
    "complementary": (
        ComplementaryLabels(),
        objects(["a", {"b"}, {"c", "a"}]),
        [0, 1, 2],
        lambda s: (s[0, 1] + s[0, 2]) * (s[1, 0] + s[1, 2]) * s[2, 1],
    ),
    # Of 2 known and 4 unlabelled rows, of which half are positive, the same number of positives is hidden as known.
    "positive-unlabelled": (
        PositiveUnlabelled(0.5),
        np.array([1, 1, 0, 0, 0, 0]),
        range(6),
        lambda s: np.prod(0.5 * s[:2, 1]) * np.prod(s[2:, 0] + 0.5 * s[2:, 1]),
    ),
    # Set a: 2 rows, a half positive; set b: 4 rows, a quarter. Positives: 1 and 1; negatives: 1 and 3.
    "unlabelled-unlabelled": (
        UnlabelledUnlabelled((0.5, 0.25)),
        np.array(list("aabbbb")),
        range(6),
        lambda s: np.prod(s[:2, 1] / 2 + s[:2, 0] / 4) * np.prod(s[2:, 1] / 2 + s[2:, 0] * 3 / 4),
    ),
    "noisy": (
        NoisyLabels(NOISE),
        np.array([0, 1, 2]),
        range(3),
        lambda s: np.prod([sum(s[row, c] * NOISE[c][row] for c in range(3)) for row in range(3)]),
    ),
    "semi-supervised": (SemiSupervised(), objects(["a", "b", None]), range(3), lambda s: s[0, 0] * s[1, 1]),
    "similar": (
        SimilarPairs(),
        objects(["a", "b", "c", "similar", "dissimilar"]),
        [0, 1, 2, 3, 3, 4, 4],
        lambda s: (
            s[0, 0]
            * s[1, 1]
            * s[2, 2]
            * chance_of_patterns(s[3:5], lambda p: p[0] == p[1])
            * chance_of_patterns(s[5:], lambda p: p[0] != p[1])
        ),
    ),
    "ordered": (
        OrderedPairs(),
        objects([0, 1, 2, "ordered"]),
        [0, 1, 2, 3, 3],
        lambda s: s[0, 0] * s[1, 1] * s[2, 2] * chance_of_patterns(s[3:], lambda p: p[0] >= p[1]),
    ),
    "triplets": (
        Triplets(),
        objects([0, 1, 2, "nearer"]),
        [0, 1, 2, 3, 3, 3],
        lambda s: s[0, 0] * s[1, 1] * s[2, 2] * chance_of_patterns(s[3:], lambda p: not p[0] == p[2] != p[1]),
    ),
    "intervals": (
        CountIntervals(),
        np.array([[1, 2], [0, 0]]),
        [0, 0, 0, 0, 1, 1],
        lambda s: in_interval(s[:4], 1, 2) * in_interval(s[4:], 0, 0),
    ),
    "collective": (
        CollectiveMil(),
        np.array([1, 0]),
        [0, 0, 0, 1, 1],
        lambda s: in_interval(s[:3], 2, 3) * in_interval(s[3:], 0, 1),
    ),
    "two-condition": (
        TwoConditionMil(),
        np.array([1, 0]),
        [0, 0, 0, 1, 1],
        lambda s: has(s[:3], 1) * has(s[:3], 2) * (1 - has(s[3:], 1) * has(s[3:], 2)),
    ),
}


def has(s, concept):
    return 1 - np.prod(1 - s[:, concept])


def in_interval(s, low, high):
    """The normal approximation; its variance is held fixed, as the regime does."""
    variance = FIXED.setdefault((len(s), low), (s[:, 0] * s[:, 1]).sum())
    number = norm(s[:, 1].sum(), np.sqrt(variance))
    return number.cdf(high + 0.5) - number.cdf(low - 0.5)


FIXED: dict = {}


@pytest.mark.parametrize("kind", LIKELIHOODS)
def test_slopes_are_those_of_the_log_likelihood(kind):
    """Central differences of the likelihood, which is written here as a sum over all that could be."""
    regime, weak, ids, likelihood = LIKELIHOODS[kind]
    part = part_of(regime, weak, ids)
    FIXED.clear()
    chances = chances_of(part.n_rows, part.space.n_classes)
    likelihood(chances)
    written, step = regime.slopes(chances, part), 1e-6
    for row, cls in np.ndindex(chances.shape):
        if regime.binary and cls == 0 and kind in ("intervals", "collective"):
            continue  # Written in the chance of class 1 alone.
        up, down = chances.copy(), chances.copy()
        up[row, cls] += step
        down[row, cls] -= step
        measured = (np.log(likelihood(up)) - np.log(likelihood(down))) / (2 * step)
        constant = kind == "semi-supervised" and row == 2  # The same in each class: it moves nothing.
        assert written[row, cls] == pytest.approx(1.0 if constant else measured, rel=1e-4, abs=1e-6)


def test_confident_rows_count_as_often_as_they_stand_for_others():
    """1 / r times r log s_1 + (1 - r) log s_0; nothing for a row of which nothing is known."""
    part = part_of(PositiveConfidences(), objects([0.5, 0.25, None]))
    chances = chances_of(3, 2)
    found = PositiveConfidences().slopes(chances, part)
    assert np.allclose(found[0], [1 / chances[0, 0], 1 / chances[0, 1]])
    assert np.allclose(found[1], [3 / chances[1, 0], 1 / chances[1, 1]])
    assert (found[2] == 0).all()
    weights = PositiveConfidences().instance_weights(part.bags, part.weak)
    assert weights.tolist() == [2.0, 4.0, 1.0]


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_slopes_in_outputs(n_outputs):
    """By differences through the softmax; a column of two is half of what both move."""
    rng = np.random.default_rng(1)
    z, h = rng.normal(size=(4, n_outputs)), rng.normal(size=(4, max(n_outputs, 2)))
    spread = 0.7

    def total(outputs):
        return (h * class_chances(outputs, 2.0, spread)).sum()

    written = slopes_in_outputs(class_chances(z, 2.0, spread), h)
    step = 1e-6
    for row, column in np.ndindex(z.shape):
        moved = z.copy()
        moved[row, column] += step
        measured = (total(moved) - total(z)) / step
        # 2 z of two columns moves the difference twice; the common factor steepness / 2 / spread is left out.
        own = written[row, 1] * 2 if n_outputs == 1 else written[row, column]
        assert own / spread == pytest.approx(measured, rel=1e-3, abs=1e-5)


# --- assignments ----------------------------------------------------------------------------------------------------

CONSTRAINED = {
    "positive-unlabelled": (PositiveUnlabelled(0.5), np.array([1, 0, 0, 0, 0]), range(5), lambda p: sum(p[1:]) == 2),
    "unlabelled-unlabelled": (
        UnlabelledUnlabelled((0.5, 0.25)),
        np.array(list("aabbbb")),
        range(6),
        lambda p: sum(p[:2]) == 1 and sum(p[2:]) == 1,
    ),
    "intervals": (
        CountIntervals(),
        np.array([[1, 2], [0, 1]]),
        [0, 0, 0, 0, 1, 1],
        lambda p: 1 <= sum(p[:4]) <= 2 and sum(p[4:]) <= 1,
    ),
    "similar": (
        SimilarPairs(),
        objects([0, 1, 2, "similar", "dissimilar"]),
        [0, 1, 2, 3, 3, 4, 4],
        lambda p: p[3] == p[4] and p[5] != p[6],
    ),
    "ordered": (OrderedPairs(), objects([0, 1, 2, "ordered"]), [0, 1, 2, 3, 3], lambda p: p[3] >= p[4]),
    "triplets": (
        Triplets(),
        objects([0, 1, "nearer"]),
        [0, 1, 2, 2, 2],
        lambda p: not p[2] == p[4] != p[3],
    ),
}


@pytest.mark.parametrize("kind", CONSTRAINED)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_assignment_of_all_that_are_allowed(kind, seed):
    """All assignments are tried; candidates of known rows are their class alone."""
    regime, weak, ids, allowed = CONSTRAINED[kind]
    part = part_of(regime, weak, ids)
    rng = np.random.default_rng(seed)
    bounds = np.where(part.space.candidates, rng.normal(size=part.space.candidates.shape), -np.inf)
    found = regime.constraint()(bounds, part)
    rows = np.arange(part.n_rows)
    possible = [
        np.array(p)
        for p in all_patterns(part.n_rows, part.space.n_labels)
        if allowed(p) and np.isfinite(bounds[rows, list(p)]).all()
    ]
    best = max(bounds[rows, p].sum() for p in possible)
    assert bounds[rows, found].sum() == pytest.approx(best)
    assert allowed(found)


@pytest.mark.parametrize("seed", range(5))
def test_conditions_hold_together_in_positive_bags_alone(seed):
    rng = np.random.default_rng(seed)
    part = part_of(TwoConditionMil(), np.arange(30) % 2, np.repeat(np.arange(30), rng.integers(2, 8, 30)))
    labels = keep_conditions(rng.normal(size=(part.n_rows, 3)), part, 0.5)
    both = part.bags.any(labels == 1) & part.bags.any(labels == 2)
    assert (both == (part.weak.values == 1)).all()
    assert (part.bags.sum((labels > 0).astype(int)) <= np.maximum(2, np.ceil(0.5 * part.bags.sizes)) + 1).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_shares_of_positive_instances_tell_bags_apart(share):
    """Of a positive bag more than the share are positive; all of them where the share is 1, and one where it is 0."""
    rng = np.random.default_rng(4)
    regime = CollectiveMil(share=share)
    part = part_of(regime, np.arange(40) % 2, np.repeat(np.arange(40), rng.integers(1, 11, 40)))
    found = part.bags.mean(regime.constraint()(rng.normal(size=(part.n_rows, 2)), part).astype(float))
    positive = part.weak.values == 1
    assert (found[positive] > share - 1e-12).all()
    assert (found[positive] > share).all() or share == 1.0
    assert (found[~positive] <= share).all()
    assert (found < 1).all() or share < 1.0 or (found[positive] == 1).all()


# --- contracts and learning -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), SMALL)
def test_the_kit_passes(kind, name):
    example = example_of(kind, name)
    check_regime(example)
    check_reward(LikelihoodReward(), example=example)


def test_the_kit_passes_for_mil_kinds():
    rng = np.random.default_rng(0)
    weak = np.arange(20) % 2
    X = rng.normal(size=(80, 3)) + np.repeat(weak, 4)[:, None]
    for regime in (CollectiveMil(), TwoConditionMil(n_clusters=[5])):
        example = Example(regime, X, np.repeat(np.arange(20), 4), weak)
        check_regime(example)
        check_reward(LikelihoodReward(), example=example)


BASELINES = {
    "weak-label-em": "partial",
    "non-negative-pu": "positive-unlabelled",
    "unlabelled-risk": "unlabelled-unlabelled",
    "positive-confidence-risk": "confidences",
    "pairwise-comparison-risk": "ordered",
    "dawid-skene": "annotators",
    "self-training": "semi-supervised",
}


def baseline_of(name, kind, data):
    own = load_plugins().registry.create("baseline", {"name": name})
    told = {"regime": {"name": data.regime, **data.regime_parameters}, **data.regime_parameters}
    return own.set_params(**{key: value for key, value in told.items() if key in own.get_params()})


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_pass_the_kit_and_learn(name):
    kind = BASELINES[name]
    data = make(kind, "breast-cancer" if kind in BINARY else "wine")
    baseline = baseline_of(name, kind, data)
    few = {"n_features": 20, "max_iter": 20} | ({"n_steps": 3} if "n_steps" in baseline.get_params() else {})
    check_baseline(clone(baseline).set_params(**few), example=example_of(kind, data.name.removesuffix(f"-{kind}")))
    found = baseline.set_params(random_state=0).fit(data.X, data.weak, bags=data.bags)
    commonest = np.bincount(data.instance_labels).max() / len(data.instance_labels)
    assert (found.predict(data.X) == data.instance_labels).mean() > commonest + 0.15


@pytest.mark.parametrize(("kind", "name"), SMALL)
def test_more_labels_are_right_than_weak_labels_say(kind, name):
    """Inferred labels against those that rows inherit, the class with the largest share; few rounds are enough."""
    data = make(kind, name)
    spec = {"name": data.regime, **data.regime_parameters}
    model = BlissClassifier(regime=spec, n_rounds=15, n_inferences=1, random_state=0)
    model.fit(data.X, data.weak, bags=data.bags)
    part = part_of(resolve("regime", spec), data.weak, data.bags)
    inherited = resolve("regime", spec).inherited(part.weak, part.bags)
    drawn = inherited[np.arange(len(inherited)), data.instance_labels].mean()
    assert (model.labels_ == data.instance_labels).mean() > drawn + 0.02
    assert (model.predict(data.X) == data.instance_labels).mean() > 0.85


def test_pairs_ask_for_their_bags():
    data = make("similar", "breast-cancer")
    model = baseline_of("weak-label-em", "similar", data).set_params(n_features=20, n_steps=2)
    model.fit(data.X, data.weak, bags=data.bags)
    with pytest.raises(BlissError, match="there are no bag ids here"):
        model.predict_bags(data.X)


def test_dawid_and_skene_know_who_is_good():
    """One annotator is always right, two guess: the posterior follows the first where all three differ."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    codes = np.stack([truth, truth, rng.integers(3, size=300), rng.integers(3, size=300)], axis=1)
    codes[::2, 1] = -1
    assert (dawid_skene(codes, 3).argmax(axis=1) == truth).mean() > 0.97


def test_unknown_noise_is_estimated():
    data = make("noisy", "wine")
    found = [
        (
            BlissClassifier(regime={"name": "noisy-labels", "noise": noise}, n_rounds=20, random_state=0)
            .fit(data.X, data.weak)
            .predict(data.X)
            == data.instance_labels
        ).mean()
        for noise in ("estimated", 0.4)
    ]
    assert min(found) > 0.9


def test_estimated_accuracies_are_right_in_the_mean():
    """Many rows whose truth is known here: estimates from weak labels against the accuracy itself."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200_000)
    predicted = np.where(rng.random(len(truth)) < 0.8, truth, 1 - truth)
    accuracy = (predicted == truth).mean()
    noisy = np.where(rng.random(len(truth)) < 0.3, 1 - truth, truth)
    assert NoisyLabels(0.3).reading.estimate(predicted, noisy, 2) == pytest.approx(accuracy, abs=0.01)
    known = np.where((truth == 1) & (rng.random(len(truth)) < 0.2), 1, 0)
    prior = truth[known == 0].mean()
    unlabelled = (predicted == truth)[known == 0].mean()
    assert PositiveUnlabelled(prior).reading.estimate(predicted, known, 2) == pytest.approx(unlabelled, abs=0.01)
    sets = (rng.random(len(truth)) < np.where(truth == 1, 0.7, 0.2)).astype(int)
    shares = tuple(truth[sets == one].mean() for one in (0, 1))
    assert UnlabelledUnlabelled(shares).reading.estimate(predicted, sets, 2) == pytest.approx(accuracy, abs=0.01)
    r = rng.uniform(0.1, 0.9, len(truth))
    positive = rng.random(len(r)) < r
    guess = (r > 0.4).astype(int)
    assert PositiveConfidences().accuracy(guess[positive], r[positive], 2) == pytest.approx(
        (guess == positive).mean(), abs=0.02
    )


def test_two_conditions_are_told_apart():
    """Bags with a row of each of two clusters, against bags with rows of one of them."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    truth = np.array([[1, 2, 0, 0] if bag % 2 else [1 + bag // 2 % 2] * 2 + [0, 0] for bag in range(80)]).ravel()
    X, bags, weak = centres[truth] + rng.normal(size=(320, 2)), np.repeat(np.arange(80), 4), np.arange(80) % 2
    model = BlissClassifier(regime="two-condition-mil", random_state=0).fit(X, weak, bags=bags)
    assert (model.predict_bags(X, bags=bags)[1] == weak).mean() > 0.95
    assert (BlissClassifier(random_state=0).fit(X, weak, bags=bags).predict_bags(X, bags=bags)[1] == weak).mean() < 0.85


def test_a_share_above_which_bags_are_positive_is_learnt_from():
    """Bags of ten, positive where more than three rows are; a majority is nowhere."""
    rng = np.random.default_rng(0)
    counts = np.where(np.arange(60) % 2, rng.integers(4, 6, 60), rng.integers(0, 4, 60))
    truth = (np.arange(10) < counts[:, None]).astype(int).ravel()
    X, bags, weak = rng.normal(size=(600, 2)) + 3 * truth[:, None], np.repeat(np.arange(60), 10), np.arange(60) % 2
    model = BlissClassifier(regime={"name": "collective-mil", "share": 0.3}, random_state=0).fit(X, weak, bags=bags)
    assert (model.predict(X) == truth).mean() > 0.95
    assert (model.predict_bags(X, bags=bags)[1] == weak).mean() > 0.9


def test_concepts_of_several_clusters_are_found():
    """Two concepts of two clusters each: anchors take in the clusters that tell more bags apart, and no others."""
    rng = np.random.default_rng(1)
    positive, kind = np.arange(200) % 2 == 1, rng.integers(5, size=200)
    labels = rng.integers(4, 14, size=(200, 8))
    labels[:, 0] = np.where(positive | (kind < 2), rng.integers(0, 2, 200), labels[:, 0])
    labels[:, 1] = np.where(positive | (kind == 2) | (kind == 3), rng.integers(2, 4, 200), labels[:, 1])
    part = part_of(TwoConditionMil(), positive.astype(int), np.repeat(np.arange(200), 8))
    gain, first, second = anchors(labels.ravel(), part)
    assert {frozenset(labels.ravel()[one].tolist()) for one in (first, second)} == {
        frozenset([0, 1]),
        frozenset([2, 3]),
    }
    assert gain == pytest.approx(1.0)


def test_a_row_of_one_concept_is_none_of_the_other():
    """However far the scores of both lie above that of "none"."""
    scores = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    bags = Bags.from_ids([0, 0, 1, 1])
    assert TwoConditionMil().reading.bag_labels(scores, bags, 0.0).tolist() == [0, 1]


def test_the_order_of_rows_does_not_matter():
    data = make("positive-unlabelled", "breast-cancer")
    order = np.random.default_rng(0).permutation(len(data.X))
    settings = {"regime": {"name": data.regime, **data.regime_parameters}, "n_rounds": 10, "random_state": 0}
    first = BlissClassifier(**settings).fit(data.X, data.weak)
    second = BlissClassifier(**settings).fit(data.X[order], data.weak[order])
    assert (first.labels_[order] == second.labels_).all()


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regime", "weak", "ids", "words"),
    [
        (lambda: NoisyLabels([[0.5, 0.5], [0.5, 0.5]]), None, None, "cannot be inverted"),
        (lambda: NoisyLabels([[0.5, 0.6], [0.5, 0.5]]), None, None, "sum to 1"),
        (lambda: NoisyLabels(1.0), None, None, "from 0 up to 1"),
        (lambda: NoisyLabels(0.5), np.array([0, 1, 0]), None, "labels tell nothing"),
        (lambda: NoisyLabels(NOISE), np.array([0, 1, 0]), None, "3 rows"),
        (lambda: PositiveUnlabelled(0.0), None, None, "between 0 and 1"),
        (lambda: PositiveUnlabelled(1.0), None, None, "between 0 and 1"),
        (lambda: PositiveUnlabelled(), np.array([0, 1]), None, "prior"),
        (lambda: PositiveUnlabelled(0.3), np.array([0, 0, 0]), None, "both kinds of rows"),
        (lambda: UnlabelledUnlabelled((0.3, 0.3)), None, None, "different"),
        (lambda: UnlabelledUnlabelled((0.3, 1.3)), None, None, "from 0 to 1"),
        (lambda: UnlabelledUnlabelled((0.3, 0.4)), np.array(list("abc")), None, "3 sets"),
        (PartialLabels, objects([{"a", "b"}, set()]), None, "Row 1"),
        (PartialLabels, objects([{"a"}, None]), None, "Row 1"),
        (ComplementaryLabels, objects([{"a", "b"}, {"a"}]), None, "Row 0 .*every class"),
        (SemiSupervised, objects([None, None]), None, "None of 2 rows"),
        (PositiveConfidences, objects([0.5, 1.5]), None, "Row 1 .*1.5"),
        (PositiveConfidences, objects([-0.5, 0.5]), None, "Row 0 .*-0.5"),
        (PositiveConfidences, objects(["high", 0.5]), None, "Row 0 .*'high'"),
        (CountIntervals, np.array([[0, 1], [5, 6]]), [0, 0, 1, 1], "Bag 1 .*excludes every count"),
        (CountIntervals, np.array([[2, 1], [0, 1]]), [0, 0, 1, 1], "Bag 0"),
        (CountIntervals, np.array([[0, 2], [0, 2]]), [0, 0, 1, 1], "nothing can be learnt"),
        (lambda: CountIntervals({"few": [3, 1]}), None, None, "few"),
        (SimilarPairs, objects(["a", "b", "similar"]), [0, 1, 2], "Bag 2 of 1 row"),
        (SimilarPairs, objects(["a", "b", "alike"]), [0, 1, 2, 2], "Bag 2 .*'alike'"),
        (SimilarPairs, objects(["similar", "similar"]), [0, 0, 1, 1], "two at least must be known"),
        (Triplets, objects(["a", "b", "nearer"]), [0, 1, 2, 2], "Bag 2 of 2 row"),
    ],
)
def test_bad_input_is_named(regime, weak, ids, words):
    with pytest.raises(BlissError, match=f"(?s){words}"):
        part_of(regime(), weak, ids)


def test_an_annotator_without_overlap_is_named():
    weak = np.array([["a", "b", None], ["b", "b", None], [None, None, "a"]], dtype=object)
    with pytest.raises(BlissError, match=r"Annotator 2 .*shares no row"):
        part_of(resolve("regime", "several-annotators"), weak)
    weak[2, 2] = None
    with pytest.raises(BlissError, match="Row 2 has no annotation"):
        part_of(resolve("regime", "several-annotators"), weak)


@pytest.mark.parametrize("classifier", ["kernel-ridge", "ridge"])
def test_a_reward_that_needs_a_likelihood_says_so(classifier):
    """Also where the folds of a linear classifier run side by side, in blocks."""
    with pytest.raises(BlissError, match="MilRegime has not"):
        BlissClassifier(reward="weak-likelihood", classifier=classifier, random_state=0).fit(
            np.random.default_rng(0).normal(size=(24, 2)), np.array([0, 1] * 6), bags=np.repeat(np.arange(12), 2)
        )


def test_examples_are_whole():
    """What tests above take of data sets keeps the weak labels of its bags."""
    example = example_of("similar", "breast-cancer")
    assert len(example.weak) == len(np.unique(example.bags))
    assert evolve(example).regime is example.regime


# --- second tables --------------------------------------------------------------------------------------------------


def in_two_tables(folder, rng, weak_of_bag, names):
    """Write 30 bags of five rows, and a table with a line for each bag in another order; return the truth."""
    truth = (np.arange(5) < rng.integers(0, 6, 30)[:, None]).astype(int)
    rows = rng.normal(size=(150, 2)) + 4 * truth.ravel()[:, None]
    lines = [f"b{row // 5},{a:.3f},{b:.3f}" for row, (a, b) in enumerate(rows.tolist())]
    (folder / "rows.csv").write_text("\n".join(["bag,a,b", *lines]))
    of_bags = [",".join([f"b{bag}", *map(str, weak_of_bag(one))]) for bag, one in enumerate(truth)]
    (folder / "bags.csv").write_text("\n".join([f"bag,{names}", *rng.permutation(of_bags)]))
    return truth.ravel()


@pytest.mark.parametrize("label", [None, "low,high"])
def test_intervals_stand_in_a_table_of_bags(tmp_path, label):
    """Two columns of numbers are shares of classes for other regimes; counts are both ends of an interval."""
    rng = np.random.default_rng(0)
    in_two_tables(tmp_path, rng, lambda one: (max(one.sum() - 1, 0), one.sum()), "low,high")
    reader = load_plugins().registry.create("reader", "csv")
    data = reader.read(tmp_path / "rows.csv", labels="bags.csv", label=label, columns_are_classes=False)
    assert data.weak.shape == (30, 2)
    assert (CountIntervals().check(data.weak, Bags.from_ids(data.bags)).values == data.weak).all()


def test_a_run_tells_readers_what_columns_of_weak_labels_are(tmp_path, monkeypatch, capsys):
    truth = in_two_tables(
        tmp_path, np.random.default_rng(1), lambda one: (max(one.sum() - 1, 0), min(one.sum() + 1, 5)), "low,high"
    )
    monkeypatch.chdir(tmp_path)
    words = "run rows.csv --labels bags.csv --regime count-intervals --output out --quiet"
    monkeypatch.setattr(sys, "argv", ["bliss", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, capsys.readouterr().err
    with (tmp_path / "out" / "labels.csv").open(newline="") as file:
        found = np.array([int(line["label"]) for line in csv.DictReader(file)])
    assert (found == truth).mean() > 0.95
