"""Diverse density, EM-DD, rectangles and Citation-kNN against the same thing done by hand."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.stats import norm
from sklearn.base import clone

from bliss_framework import Bags, DataError, SettingsError
from bliss_framework.testing import baseline_checks
from bliss_mil.baselines import citation_knn, rectangles
from bliss_mil.baselines.citation_knn import CitationKnn
from bliss_mil.baselines.diverse_density import DiverseDensity, EmDd
from bliss_mil.baselines.noisy_or import most_likely_cause, negative_log_density, noisy_or
from bliss_mil.baselines.rectangles import AxisParallelRectangle
from bliss_mil.baselines.target_point import best_threshold, start_rows
from bliss_mil.baselines.working_columns import learn_columns, on_columns

BASELINES = [
    DiverseDensity(n_starts=6, random_state=0),
    DiverseDensity(model="most-likely-cause", n_starts=6, random_state=0),
    EmDd(n_starts=6, random_state=0),
    AxisParallelRectangle(),
    CitationKnn(),
]
TARGETS = BASELINES[:3]
DENSE = BASELINES[:4]
each_baseline = pytest.mark.parametrize(
    "baseline", BASELINES, ids=lambda b: f"{type(b).__name__}{vars(b).get('model', '')}"
)


@pytest.fixture
def concept():
    """Bags of points in a square; a bag is positive when one lies within 0.5 of (3, 7); a third column is noise."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, size=(40, 8, 3))
    far = np.abs(X[..., :2] - [3.0, 7.0]).max(axis=2) < 1.5
    X[far, 0] += 4.0
    X[:20, 3, :2] = rng.uniform([2.5, 6.5], [3.5, 7.5], size=(20, 2))
    return X.reshape(-1, 3), np.repeat(np.arange(40), 8), (np.arange(40) < 20).astype(int)


# Diverse density


def density_by_loops(target, scales, X, bags, weak, positive_bag):
    total = 0.0
    for bag, label in enumerate(weak):
        probabilities = [
            math.exp(-sum((s * (a - t)) ** 2 for s, a, t in zip(scales, row, target, strict=True)) / len(row))
            for row in X[bags == bag]
        ]
        chance = positive_bag(probabilities)
        total -= math.log(chance if label else 1 - chance)
    return total


@pytest.mark.parametrize(
    ("objective", "positive_bag"),
    [(negative_log_density, lambda p: 1 - math.prod(1 - q for q in p)), (most_likely_cause, max)],
)
def test_density_is_the_product_over_bags(objective, positive_bag):
    """The objective is that of a double loop over bags and instances, for rows of a bag far apart as well."""
    rng = np.random.default_rng(0)
    X, bags = rng.normal(size=(12, 3)), rng.permutation(np.repeat(np.arange(4), 3))
    weak = np.array([1, 0, 1, 0])
    grouped = Bags(np.arange(4), bags)
    point = np.concatenate([X[0] + 0.1, [1.0, 0.5, 2.0]])
    expected = density_by_loops(point[:3], point[3:], X, bags, weak, positive_bag)
    assert objective(point, X, grouped, weak)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("objective", [negative_log_density, most_likely_cause])
@pytest.mark.parametrize("spread", [0.05, 1.0, 12.0, 60.0])
def test_gradient_is_that_of_finite_differences(objective, spread):
    """The analytic gradient is right near the target, far from it, and where probabilities underflow."""
    rng = np.random.default_rng(1)
    X = spread * rng.normal(size=(12, 3))
    grouped, weak = Bags.from_ids(np.repeat(np.arange(4), 3)), np.array([1, 0, 1, 0])
    point = np.concatenate([spread * np.array([0.3, -0.2, 0.1]), [1.0, 0.7, 1.3]])
    value, gradient = objective(point, X, grouped, weak)
    error = check_grad(
        lambda p: objective(p, X, grouped, weak)[0], lambda p: objective(p, X, grouped, weak)[1], point, epsilon=1e-7
    )
    assert np.isfinite(value)
    assert error < 1e-5 * max(1.0, np.abs(gradient).max())


@pytest.mark.parametrize("distance", [1e-7, 0.5, 0.7, 5.0, 39.999, 40.001, 300.0, 5000.0])
def test_density_is_exact_at_any_distance(distance):
    """Two equal instances at distance D: log(1 - (1 - e^-D)^2), which is log 2 - D far away; never infinite."""
    bags, distances = Bags.from_ids([0, 0]), np.full(2, distance)
    value, slope = noisy_or(distances, bags, np.array([1]))
    chance = math.exp(-distance)
    expected = -math.log(chance * (2 - chance)) if distance < 300 else distance - math.log(2.0)
    assert value == pytest.approx(expected, rel=1e-10)
    assert slope.sum() == pytest.approx((2 - 2 * chance) / (2 - chance), rel=1e-6)


def test_target_on_a_negative_instance_has_a_finite_density():
    """The likelihood of a target that coincides with a negative instance is very small, not zero."""
    X, bags = np.array([[0.0], [0.0], [3.0]]), Bags.from_ids(["p", "n", "n"])
    value, gradient = negative_log_density(np.array([0.0, 1.0]), X, bags, np.array([1, 0]))
    assert np.isfinite(gradient).all()
    assert 10 < value < 100


@pytest.mark.parametrize("baseline", TARGETS, ids=str)
def test_target_of_a_known_concept_is_found(baseline, concept):
    """The target is the middle of the concept, the noise column has the smallest scale, and new bags are told apart."""
    X, bags, weak = concept
    model = clone(baseline).set_params(scaling="none", n_starts=30).fit(X, weak, bags=bags)
    assert np.abs(model.target_[:2] - [3.0, 7.0]).max() < 0.5
    assert np.abs(model.scales_[2]) < 0.3 * np.abs(model.scales_[:2]).min()
    assert (model.predict(np.array([[3.0, 7.0, 2.0], [8.0, 2.0, 2.0], [3.0, 2.0, 9.0]])) == [1, 0, 0]).all()
    assert (model.predict_bags(X, bags)[1] == weak).mean() >= 0.95


@pytest.mark.parametrize("baseline", TARGETS, ids=str)
def test_bags_score_by_the_log_probability_of_their_likeliest_instance(baseline, concept):
    """Scores are -D of the nearest instance less that of the threshold, with D written out."""
    X, bags, weak = concept
    model = clone(baseline).set_params(scaling="none").fit(X, weak, bags=bags)
    expected = model.radius_ - ((model.scales_ * (X - model.target_)) ** 2).mean(axis=1)
    assert np.allclose(model.decision_function(X), expected)
    assert np.allclose(model.score_bags(X, bags)[1], expected.reshape(40, 8).max(axis=1))


@pytest.mark.parametrize("baseline", [TARGETS[1], TARGETS[2]], ids=str)
def test_more_starts_are_never_worse_in_training(baseline, concept):
    """The start is chosen by the likelihood of training bags, so that the first starts plus others are no worse."""
    X, bags, weak = concept
    losses = [clone(baseline).set_params(n_starts=n).fit(X, weak, bags=bags).loss_ for n in (1, 4, 12)]
    assert losses == sorted(losses, reverse=True)


def test_starts_use_up_one_positive_bag_after_another():
    """Starts are different instances of positive bags, whole bags but for the last, and never more than there are."""
    bags, weak = Bags.from_ids(np.repeat(np.arange(6), 3)), np.array([1, 0, 1, 0, 1, 0])
    for seed in range(5):
        rows = start_rows(bags, weak, 7, np.random.RandomState(seed))
        assert len(set(rows.tolist())) == 7
        assert sorted(np.bincount(bags.index[rows], minlength=6).tolist()) == [0, 0, 0, 1, 3, 3]
        assert (weak[bags.index[rows]] == 1).all()
    everything = start_rows(bags, weak, 100, np.random.RandomState(0))
    assert sorted(everything.tolist()) == [0, 1, 2, 6, 7, 8, 12, 13, 14]


def test_threshold_has_the_best_training_accuracy():
    """No other threshold calls more bags right, and bags of equal score stay together."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        scores, weak = rng.integers(0, 6, size=9).astype(float), rng.integers(0, 2, size=9)
        right = [((scores > t) == (weak == 1)).sum() for t in np.arange(-1.5, 7.5, 0.5)]
        assert ((scores > best_threshold(scores, weak)) == (weak == 1)).sum() == max(right)


# Rectangles


def test_box_of_a_known_concept_is_recovered(concept):
    """The rectangle lies around (3, 7), leaves out the noise column, and holds no negative instance."""
    X, bags, weak = concept
    model = AxisParallelRectangle(margin=0.3).fit(X, weak, bags=bags)
    assert model.features_.tolist() == [0, 1]
    assert np.allclose(model.lower_, [2.5, 6.5], atol=0.35)
    assert np.allclose(model.upper_, [3.5, 7.5], atol=0.35)
    assert (model.predict_bags(X, bags)[1] == weak).all()


def test_margin_of_a_rectangle_is_in_half_sides(concept):
    """The middle scores 1, a bound 0, and outside it is the Euclidean distance with half a side as the unit."""
    X, bags, weak = concept
    model = AxisParallelRectangle(margin=0.3).fit(X, weak, bags=bags)
    middle, half = (model.lower_ + model.upper_) / 2, (model.upper_ - model.lower_) / 2
    steps = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.2], [2.0, 0.0], [-4.0, 5.0]])
    rows = np.column_stack([middle + steps * half, np.zeros(5)])
    assert np.allclose(model.decision_function(rows), [1.0, 0.5, 0.0, -1.0, -5.0])


def test_growth_takes_the_smallest_rectangle_where_one_stands_out():
    """On bags with one cluster in common, growing finds the choice that enumerating all of them finds."""
    rng = np.random.default_rng(3)
    rows, bags = rng.uniform(-10, 10, size=(12, 2)), Bags.from_ids(np.repeat(np.arange(4), 3))
    rows[[1, 3, 8, 10]] = rng.uniform(1.5, 2.5, size=(4, 2))
    sides = {choice: np.ptp(rows[list(choice)], axis=0).sum() for choice in product(*np.arange(12).reshape(4, 3))}
    assert rectangles.grow(rows, bags).tolist() == list(min(sides, key=sides.get))


def test_growth_reconsiders_earlier_choices():
    """From 0, -2 is the nearest of {-2, 3}; once 5 had to be taken, 3 costs nothing and takes its place."""
    rows, bags = np.array([[0.0], [-2.0], [3.0], [5.0]]), Bags.from_ids(["a", "b", "b", "c"])
    assert rectangles.grow(rows, bags).tolist() == [0, 2, 3]


def test_columns_are_chosen_until_every_negative_is_ruled_out():
    """The column that rules out most comes first; an instance inside is left; the furthest counts within the margin."""
    bounds = np.zeros(3), np.ones(3)
    negatives = np.array([[0.5, 3.0, 0.5], [0.5, -3.0, 2.5], [0.5, 0.5, 1.2], [0.5, 0.5, 0.5], [2.5, 3.0, 0.5]])
    assert rectangles.discriminating(negatives, bounds, 1.0).tolist() == [1, 2]
    assert rectangles.discriminating(negatives[3:4], bounds, 1.0).tolist() == []


def test_expansion_leaves_a_share_of_the_density_outside():
    """Half of epsilon of the mixture of Gaussians lies below, and half above; the kernel holds tau in the tight box."""
    chosen = np.random.default_rng(0).normal(size=(15, 2))
    lower, upper = rectangles.expand(chosen, 0.9, 0.04, 1e-9)
    width = np.ptp(chosen, axis=0) / 2 / norm.ppf(0.95)
    for column in range(2):
        density = [norm(centre, width[column]) for centre in chosen[:, column]]
        assert np.mean([d.cdf(lower[column]) for d in density]) == pytest.approx(0.02)
        assert np.mean([d.sf(upper[column]) for d in density]) == pytest.approx(0.02)


def test_expansion_never_cuts_the_tight_rectangle():
    """A large share outside still leaves every chosen instance inside."""
    chosen = np.linspace(0, 1, 50)[:, None]
    lower, upper = rectangles.expand(chosen, 0.999, 0.5, 1e-9)
    assert lower[0] <= 0.0
    assert upper[0] >= 1.0


# Citation-kNN


def votes_by_loops(X, bags, weak, query, n_references, n_citers):
    """Score one bag by comparing everything with everything."""

    def apart(one, other):
        return min(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for p in one for q in other)

    names = list(dict.fromkeys(bags.tolist()))
    parts = [X[bags == name] for name in names]
    to_query = [apart(part, query) for part in parts]
    limit = sorted(to_query)[min(n_references, len(names)) - 1]
    votes = []
    for own, part in enumerate(parts):
        if to_query[own] <= limit:
            votes.append(weak[own])
        nearer = sum(apart(part, other) < to_query[own] for o, other in enumerate(parts) if o != own)
        if nearer < n_citers:
            votes.append(weak[own])
    return (2 * sum(votes) - len(votes)) / len(votes)


@pytest.mark.parametrize("parameters", [(2, 4), (1, 0), (3, 1), (50, 2), (2, 50)])
@pytest.mark.parametrize("block", [1, 130, 4_000_000])
def test_citation_knn_is_that_of_loops(parameters, block, monkeypatch):
    """References and citers are those of a brute force comparison, in any block size, with scattered rows."""
    monkeypatch.setattr(citation_knn, "BLOCK", block)
    rng = np.random.default_rng(2)
    # Small integers: many bags are equally far.
    X, bags = rng.integers(0, 4, size=(40, 2)).astype(float), rng.permutation(np.arange(40) % 11)
    weak = np.arange(11) % 2
    new, new_bags = rng.integers(0, 4, size=(20, 2)).astype(float), rng.permutation(np.arange(20) % 6)
    model = CitationKnn(*parameters, scaling="none").fit(X, weak, bags=bags)
    ids, scores = model.score_bags(new, new_bags)
    expected = [votes_by_loops(X, bags, weak, new[new_bags == i], *parameters) for i in ids]
    assert np.allclose(scores, expected)
    single = [votes_by_loops(X, bags, weak, new[[row]], *parameters) for row in range(20)]
    assert np.allclose(model.decision_function(new), single)


def test_instances_of_a_list_of_bags_are_scored_one_by_one():
    """A list of bags is scored bag by bag by `score_bags`, and instance by instance by `decision_function`."""
    rng = np.random.default_rng(2)
    X, bags = rng.normal(size=(24, 2)), np.arange(24) // 3
    model = CitationKnn().fit(X, np.arange(8) % 2, bags=bags)
    listed = list(X.reshape(8, 3, 2))
    assert model.decision_function(listed).tolist() == model.decision_function(X).tolist()
    assert model.predict(listed).shape == (24,)
    assert model.score_bags(listed)[1].tolist() == model.score_bags(X, bags)[1].tolist()


def test_tied_vote_is_negative():
    """One vote each way scores 0, which is negative."""
    model = CitationKnn(2, 0, scaling="none").fit(np.array([[0.0], [2.0]]), [0, 1], bags=["n", "p"])
    assert model.score_bags(np.array([[1.9]]), ["q"])[1].tolist() == [0.0]
    assert model.predict_bags(np.array([[1.9]]), ["q"])[1].tolist() == [0]


def test_distances_far_from_the_origin_are_kept():
    """Bags that differ by little at a large offset are still told apart."""
    X = 1e7 + np.array([[0.0], [0.1], [1.0], [1.1]])
    model = CitationKnn(1, 0, scaling="none").fit(X, [0, 1, 0, 1])
    assert model.predict(X + 0.01).tolist() == [0, 1, 0, 1]


# All of them


@each_baseline
def test_conformance(baseline):
    """Each passes the kit that plugin authors run."""
    for check in baseline_checks(baseline):
        check()


@each_baseline
def test_sparse_rows_give_the_scores_of_dense_rows(baseline, toy):
    """Unscaled sparse rows with few columns are the same data, whichever columns are empty."""
    X, bags, weak = toy(gap=6.0)
    X = np.column_stack([X, np.zeros(len(X)), np.where(np.arange(len(X)) % 3 == 0, 2.0, 0.0)])
    model = clone(baseline).set_params(scaling="none")
    expected = clone(model).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    found = model.fit(sp.csr_matrix(X), weak, bags=bags).score_bags(sp.coo_array(X), bags)[1]
    assert np.allclose(found, expected, atol=1e-6)


@each_baseline
def test_fit_does_not_depend_on_the_order_of_rows(baseline, toy):
    """Shuffled training rows give the same model."""
    X, bags, weak = toy()
    rows = np.random.default_rng(0).permutation(len(X))
    expected = clone(baseline).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    found = clone(baseline).fit(X[rows], weak, bags=bags[rows]).score_bags(X, bags)[1]
    assert np.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("baseline", DENSE, ids=str)
def test_wide_sparse_rows_are_reduced(baseline):
    """50 000 sparse columns become n_components, in any order of rows."""
    rng = np.random.default_rng(0)
    X = sp.random(60, 50_000, density=1e-3, random_state=1, format="lil")
    X[::4, 7] = 1.0
    X, bags, weak = X.tocsr(), np.repeat(np.arange(15), 4), np.arange(15) % 2
    order = rng.permutation(60)
    model = clone(baseline).set_params(n_components=4).fit(X, weak, bags=bags)
    same = clone(model).fit(X[order], dict(enumerate(weak)), bags=bags[order])
    assert on_columns(X, model.kept_, model.projection_).shape == (60, 4)
    assert np.allclose(model.score_bags(X, bags)[1], same.score_bags(X, bags)[1], atol=0.02)


def test_working_columns_keep_what_varies():
    """Constant columns go, and one column stays where all are constant."""
    X = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 0.0]])
    for rows in (X, sp.csr_matrix(X)):
        assert on_columns(rows, *learn_columns(rows, 50)).tolist() == [[1.0], [2.0]]
        assert on_columns(rows[:, [1, 2]], *learn_columns(rows[:, [1, 2]], 50)).shape == (2, 1)


def test_projection_is_on_the_leading_singular_vectors():
    """Wide sparse rows keep the inner products of their best approximation of that rank."""
    X = sp.random(30, 200, density=0.2, random_state=0, format="csr")
    left, values, _ = np.linalg.svd(X.toarray())
    found = on_columns(X, *learn_columns(X, 5))
    best = left[:, :5] * values[:5]
    assert np.allclose(found @ found.T, best @ best.T)


def one_positive_bag(X, bags, weak):
    return X, bags, {name: int(name == "b0") for name in weak}


def duplicate_rows(X, bags, weak):
    return np.vstack([X, X]), np.concatenate([bags, bags]), weak


def same_rows_on_both_sides(X, bags, weak):
    return np.vstack([X[:4]] * (len(X) // 4)), bags, weak


def constant_columns(X, bags, weak):
    return np.column_stack([np.full(len(X), 3.0), X, np.zeros(len(X))]), bags, weak


def all_constant(X, bags, weak):
    return np.full_like(X, 2.0), bags, weak


def bags_of_one(X, bags, weak):
    return X[::4], bags[::4], weak


def two_bags_of_one(X, bags, weak):
    return X[[0, -1]], bags[[0, -1]], {bags[0]: 1, bags[-1]: 0}


def huge_values(X, bags, weak):
    return 1e8 * X, bags, weak


@each_baseline
@pytest.mark.parametrize("scaling", ["auto", "none"])
@pytest.mark.parametrize(
    "spoil",
    [
        one_positive_bag,
        duplicate_rows,
        same_rows_on_both_sides,
        constant_columns,
        all_constant,
        bags_of_one,
        two_bags_of_one,
        huge_values,
    ],
)
def test_odd_data_give_finite_scores(baseline, scaling, spoil, toy):
    """One positive bag, repeated rows, constant columns and bags of one instance are fitted without a warning."""
    X, bags, weak = spoil(*toy())
    model = clone(baseline).set_params(scaling=scaling).fit(X, weak, bags=bags)
    ids, scores = model.score_bags(X, bags)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert len(ids) == len(weak)


@each_baseline
@pytest.mark.parametrize("change", [constant_columns, huge_values])
def test_units_and_constant_columns_change_nothing(baseline, change, toy):
    """Columns that say nothing, and another unit of all columns, leave the scores as they were."""
    X, bags, weak = toy()
    model = clone(baseline).set_params(scaling="none")
    expected = clone(model).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    other, _, _ = change(X, bags, weak)
    assert np.allclose(model.fit(other, weak, bags=bags).score_bags(other, bags)[1], expected, atol=1e-3)


@each_baseline
def test_one_class_of_bags_is_refused(baseline, toy):
    """Positive bags alone teach nothing."""
    X, bags, weak = toy()
    with pytest.raises(DataError, match="same class"):
        clone(baseline).fit(X, dict.fromkeys(weak, 1), bags=bags)


@pytest.mark.parametrize(
    ("baseline", "name", "allowed"),
    [
        (DiverseDensity(model="max"), "model", "'noisy-or', 'most-likely-cause'"),
        (DiverseDensity(n_starts=0), "n_starts", "at least 1"),
        (EmDd(n_steps=1.5), "n_steps", "integer"),
        (EmDd(max_iter=0), "max_iter", "at least 1"),
        (AxisParallelRectangle(tau=1.0), "tau", "from"),
        (AxisParallelRectangle(epsilon=0), "epsilon", "from"),
        (AxisParallelRectangle(margin=-1), "margin", "above 0"),
        (AxisParallelRectangle(n_components=0), "n_components", "at least 1"),
        (CitationKnn(n_references=0), "n_references", "at least 1"),
        (CitationKnn(n_citers=-1), "n_citers", "at least 0"),
        (CitationKnn(scaling="loud"), "scaling", "none"),
    ],
)
def test_wrong_parameters_are_refused_by_fit(baseline, name, allowed, toy):
    """The constructor stores anything, `fit` names the parameter and what is allowed."""
    X, bags, weak = toy()
    with pytest.raises(SettingsError, match=name) as caught:
        clone(baseline).fit(X, weak, bags=bags)
    assert allowed in str(caught.value)
