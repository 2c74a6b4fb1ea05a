"""The LLP regime: reading shares, counts that are kept exactly, generated bags, and whole fits."""

import itertools
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from bliss_framework import (
    BagKFold,
    Bags,
    BlissClassifier,
    BlissWarning,
    DataError,
    LabelSpace,
    Part,
    SettingsError,
    WeakLabels,
)
from bliss_framework.extension.components import resolve
from bliss_framework.plugin import Profile
from bliss_framework.readings.shares import proportion_error
from bliss_framework.testing import Example, reader_checks, regime_checks
from bliss_llp.datasets.generator import make_llp_bags
from bliss_llp.datasets.labelled_npz import LabelledNpzReader
from bliss_llp.datasets.scikit_learn_sets import load_breast_cancer_bags, load_digits_bags
from bliss_llp.regime.counts import best_within_counts, keep_counts, nearest_counts, pairwise_best, reachable_shares
from bliss_llp.regime.llp_regime import LlpRegime, strata_of_shares
from bliss_llp.regime.weak_shares import read_shares

PROPERTY = settings(max_examples=100, deadline=None)
RULE = {
    "regime": "llp",
    "classifier": {"name": "kernel-ridge", "width": 0.25, "ridge": 1.0},
    "final_classifier": {"name": "svm-rbf", "C": 1.0, "width": 0.25},
    "n_folds": 3,
    "train_on": "rest",
    "n_inferences": 2,
    "n_rounds": 40,
    "n_first_draws": 10,
    "scaling": "standard",
    "random_state": 0,
}
quiet = pytest.mark.filterwarnings("ignore::bliss_framework.BlissWarning", "ignore:n_folds was reduced")


def example(n_classes=2, seed=0):
    """Twelve bags of several sizes, one of them of one instance, in which classes are shifted."""
    rng = np.random.default_rng(seed)
    sizes = (1, 4, 3, 5, 2, 4, 3, 6, 4, 4, 5, 2)
    bags = np.repeat([f"bag {i}" for i in range(len(sizes))], sizes)
    y = rng.integers(n_classes, size=len(bags))
    X = rng.normal(size=(len(bags), 3))
    X[:, :2] += 3.0 * np.eye(n_classes)[y][:, :2]
    shares = Bags.from_ids(bags).mean(y[:, None] == np.arange(n_classes))
    return Example(LlpRegime(), X, bags, shares[:, 1] if n_classes == 2 else shares)


def part_of(ids, shares, regime=None):
    """Rows with these bag ids, and the shares of each bag in order of first appearance."""
    bags, weak = Bags.from_ids(np.asarray(ids)), WeakLabels(np.asarray(shares, dtype=float), (0, 1))
    return Part(np.zeros((len(ids), 1)), bags, weak, (regime or LlpRegime()).label_space(weak, bags))


def counts_of(labels, bags, n_classes):
    """Count labels bag by bag."""
    return [np.bincount(labels[bags.index == b], minlength=n_classes).tolist() for b in range(bags.n_bags)]


# Reading shares

READ = Bags.from_ids(["a"] * 4 + ["b"] * 2)


@pytest.mark.parametrize(
    ("weak", "expected"),
    [
        ([0.25, 1.0], [[0.75, 0.25], [0.0, 1.0]]),
        ([1, 0], [[0.0, 1.0], [1.0, 0.0]]),
        ([True, False], [[0.0, 1.0], [1.0, 0.0]]),
        ([[0.75, 0.25], [0, 1]], [[0.75, 0.25], [0.0, 1.0]]),
        ([[3, 1], [0, 2]], [[0.75, 0.25], [0.0, 1.0]]),
        ([[2, 1, 1], [0, 2, 0]], [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]),
        ([-1e-12, 1 + 1e-12], [[1.0, 0.0], [0.0, 1.0]]),
        ([[0.33, 0.33, 0.33], [0.5, 0.5, 0.0]], [[1 / 3] * 3, [0.5, 0.5, 0.0]]),
    ],
    ids=["shares", "pure", "booleans", "vectors", "counts", "counts of three", "rounding", "two digits"],
)
def test_spellings_of_shares(weak, expected):
    """One number is the share of class 1; vectors are shares, or counts where all sum to the sizes of their bags."""
    found = read_shares(np.array(weak), READ)
    assert np.allclose(found, expected, atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


def boxed(entries):
    """An array of objects, as ragged or mixed weak labels come."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


@pytest.mark.parametrize(
    ("weak", "said"),
    [
        ([25.0, 50.0], ("'a'", "25", "[0, 1]", "percentages by 100")),
        ([0.5, 1.01], ("'b'", "1.01", "[0, 1]")),
        ([2, 1], ("'a'", "2", "counts as vectors")),
        ([-0.01, 0.5], ("'a'", "-0.01", "never negative")),
        ([0.5, np.nan], ("'b'", "nan", "drop this bag")),
        ([np.inf, 0.5], ("'a'", "inf")),
        (boxed([None, 0.5]), ("'a'", "no weak label")),
        (boxed([0.5, "0.5"]), ("'b'", "'0.5'", "no number")),
        (["0.5", "0.5"], ("'a'", "'0.5'", "no number")),
        ([[0.5, 0.5], [0.5, 0.2]], ("'b'", "sum to 0.7", "within 0.01")),
        ([[0.5, 0.5], [0.5, 0.52]], ("'b'", "sum to 1.02", "within 0.01")),
        ([[50, 50], [100, 0]], ("'a'", "50", "percentages")),
        ([[3, 1], [1, 0]], ("'a'", "3", "sum to the size of every bag")),
        ([[1.5, -0.5], [0.5, 0.5]], ("'a'", "-0.5", "never negative")),
        (boxed([(0.5, 0.5), (0.2, 0.3, 0.5)]), ("'b'", "(0.2, 0.3, 0.5)", "vectors of 2 shares")),
        (boxed([0.5, (0.5, 0.5)]), ("'b'", "(0.5, 0.5)", "single numbers")),
        (boxed([(0.5, None), (0.5, 0.5)]), ("'a'", "None", "no number")),
        ([[1.0], [1.0]], ("(2, 1)", "single class")),
        (np.ones((2, 2, 2)), ("(2, 2, 2)",)),
    ],
)
def test_what_is_no_share_is_refused(weak, said):
    """One sentence names the bag, what was found and what is allowed."""
    with pytest.raises(DataError) as caught:
        read_shares(np.asarray(weak), READ)
    for part in said:
        assert part in str(caught.value)


def test_vectors_in_lists_are_read():
    """A vector for each bag may come as a list, as a column of lists does from a data frame."""
    assert read_shares(boxed([[0.5, 0.5], np.array([1, 0])]), READ).tolist() == [[0.5, 0.5], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("weak", "said"),
    [
        ([0.0, 0.0], "class 0 only, so"),
        ([[0, 1, 0], [0, 1, 0]], "class 1 only, so"),
        ([0.1, 0.2], "class 0 only when shares are rounded to counts"),
    ],
)
def test_a_single_class_is_refused(weak, said):
    """Where all instances are of one class there is nothing to learn."""
    with pytest.raises(DataError, match=said):
        LlpRegime().check(np.array(weak), READ)


def test_test_bags_may_be_few_and_of_one_class():
    """What cannot be learnt from can be compared with."""
    weak = LlpRegime().check_test(np.array([0.0, 0.0]), READ, ("no", "yes"))
    assert (weak.values.tolist(), weak.classes) == ([[1.0, 0.0], [1.0, 0.0]], ("no", "yes"))
    with pytest.raises(DataError, match=r"2 classes, and there were 3 in training: \[0, 1, 2\]"):
        LlpRegime().check_test(np.array([0.0, 0.0]), READ, (0, 1, 2))


def warned(weak, sizes):
    """Return the warnings of a check."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LlpRegime().check(np.asarray(weak), Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes)))
    return [str(one.message) for one in caught if issubclass(one.category, BlissWarning)]


def test_identical_shares_are_warned_of():
    """With the same share everywhere polarity would be a coin flip, and the user reads so."""
    assert "All bags have the same shares" in warned([0.5] * 8, [8] * 8)[0]
    assert warned([0.5] * 7 + [0.25], [8] * 8) == []


def test_few_bags_are_warned_of():
    """Fewer than six bags often leave open which class is which."""
    assert "There are 5 bags" in warned([0.25, 0.5, 0.75, 0.25, 0.5], [4] * 5)[0]
    assert warned([0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [4] * 6) == []


def test_names_of_classes():
    """Classes are 0, 1, ... or have the names that the regime is given, one for each share."""
    weak = np.array([0.25, 0.5])
    with pytest.warns(BlissWarning):
        assert LlpRegime().check(weak, READ).classes == (0, 1)
    with pytest.warns(BlissWarning):
        assert LlpRegime(classes=["no", "yes"]).check(weak, READ).classes == ("no", "yes")
    with pytest.raises(DataError, match=r"2 classes, but the regime's classes are \['a', 'b', 'c'\]"), quiet_warnings():
        LlpRegime(classes=["a", "b", "c"]).check(weak, READ)


def quiet_warnings():
    """Ignore warnings in a block."""
    return warnings.catch_warnings(action="ignore")


@pytest.mark.parametrize("parameters", [{"classes": ["a"]}, {"classes": ["a", "a"]}, {"assignments": "some"}])
def test_parameters_of_the_regime(parameters):
    """What a parameter may be is said when the regime is made."""
    with pytest.raises(SettingsError, match=next(iter(parameters))):
        LlpRegime(**parameters)


# Counts


@pytest.mark.parametrize(
    ("shares", "size", "expected"),
    [
        ([0.67, 0.33], 4, [3, 1]),
        ([0.5, 0.5], 3, [2, 1]),
        ([0.95, 0.05], 4, [4, 0]),
        ([0.4, 0.3, 0.3], 2, [1, 1, 0]),
        ([1 / 3, 1 / 3, 1 / 3], 3, [1, 1, 1]),
        ([0.1 + 0.2, 0.7, 0.0], 10, [3, 7, 0]),
    ],
)
def test_counts_by_largest_remainder(shares, size, expected):
    """Shares that a bag cannot reach mean the nearest counts; equal remainders go to the first class."""
    assert nearest_counts(np.array([shares]), np.array([size])).tolist() == [expected]


@PROPERTY
@given(st.lists(st.integers(0, 20), min_size=2, max_size=4).filter(sum), st.integers(1, 12))
def test_no_counts_are_nearer(parts, size):
    """Of all counts that fill the bag, none is nearer to the shares in the sum of absolute differences."""
    shares = np.array(parts) / sum(parts)
    found = nearest_counts(shares[None], np.array([size]))[0]
    assert found.sum() == size
    everything = [c for c in itertools.product(range(size + 1), repeat=len(parts)) if sum(c) == size]
    distances = np.abs(np.array(everything) - shares * size).sum(axis=1)
    assert np.abs(found - shares * size).sum() <= distances.min() + 1e-6


@PROPERTY
@given(st.integers(2, 4), st.integers(1, 7), st.integers(0, 10**6))
def test_counts_of_whole_bags_are_recovered(n_classes, size, seed):
    """Shares that come from counts give the same counts back."""
    counts = np.bincount(np.random.default_rng(seed).integers(n_classes, size=size), minlength=n_classes)
    assert nearest_counts((counts / size)[None], np.array([size]))[0].tolist() == counts.tolist()
    assert np.allclose(reachable_shares((counts / size)[None], np.array([size])), counts / size)


def test_pure_bags_carry_no_arms():
    """A bag of one class, be it after rounding, has one candidate; a class without count is none."""
    part = part_of(list("aaaabbbbcccc"), [[0.75, 0.25], [1.0, 0.0], [0.05, 0.95]])
    assert part.space.free.tolist() == [True] * 4 + [False] * 8
    assert part.space.known.tolist() == [-1] * 4 + [0] * 4 + [1] * 4
    several = part_of(list("aaaa"), [[0.5, 0.0, 0.5]])
    assert several.space.candidates.tolist() == [[True, False, True]] * 4


def random_problem(n_classes, seed):
    """Values of instances in bags of 1 to 6 whose rows are mixed, and counts."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(np.repeat(np.arange(5), rng.integers(1, 7, 5)))
    bags = Bags.from_ids(ids)
    labels = rng.integers(n_classes, size=len(ids))
    counts = np.array(counts_of(labels, bags, n_classes))
    values = np.where((counts > 0)[bags.index], rng.random((len(ids), n_classes)), -np.inf)
    return values, counts, bags


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(8))
def test_best_assignment_by_enumeration(n_classes, seed):
    """In each bag no assignment with the same counts has a larger sum."""
    values, counts, bags = random_problem(n_classes, seed)
    found = best_within_counts(values, counts, bags)
    assert counts_of(found, bags, n_classes) == counts.tolist()
    for b in range(bags.n_bags):
        rows = np.flatnonzero(bags.index == b)
        places = np.repeat(np.arange(n_classes), counts[b])
        best = max(values[rows, list(order)].sum() for order in set(itertools.permutations(places.tolist())))
        assert values[rows, found[rows]].sum() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_classes_put_right(seed):
    """By pairs the counts are kept as well, no exchange of two instances gains, and for two classes it is exact."""
    values, counts, bags = random_problem(3, seed)
    found = pairwise_best(values, counts, bags)
    assert counts_of(found, bags, 3) == counts.tolist()
    for i, j in itertools.combinations(range(len(found)), 2):
        if bags.index[i] == bags.index[j]:
            assert values[i, found[i]] + values[j, found[j]] >= values[i, found[j]] + values[j, found[i]] - 1e-9
    values, counts, bags = random_problem(2, seed)
    assert np.array_equal(pairwise_best(values, counts, bags), best_within_counts(values, counts, bags))


def test_large_bags_of_several_classes():
    """Bags above and below the limit of exact assignment stand side by side."""
    rng = np.random.default_rng(0)
    bags = Bags.from_ids(rng.permutation(np.repeat([0, 1], [350, 9])))
    counts = np.array([[100, 150, 100], [4, 3, 2]])[bags.ids]
    values = rng.random((359, 3))
    found = best_within_counts(values, counts, bags)
    assert counts_of(found, bags, 3) == counts.tolist()
    small = bags.rows_of(np.flatnonzero(bags.ids == 1))
    alone = best_within_counts(values[small], np.array([[4, 3, 2]]), Bags.from_ids([0] * 9))
    assert np.array_equal(found[small], alone)


def test_an_assignment_by_hand():
    """Bag a wants one of class 1: the instance whose bound gains most, .9 - .2; bag b is pure."""
    part = part_of(list("abaaab"), [[0.75, 0.25], [0.0, 1.0]])
    bounds = np.array([[0.8, 0.9], [-np.inf, 0.0], [0.2, 0.9], [0.1, 0.3], [0.9, 1.0], [-np.inf, 0.0]])
    assert keep_counts(bounds, part).tolist() == [0, 1, 1, 0, 0, 1]


def test_rows_of_other_bags_that_are_known_stay_as_they_are():
    """In later passes single rows of other bags join with known labels; counts hold for the free bags alone."""
    part = part_of(list("aaaabb"), [[0.5, 0.5], [0.25, 0.75]])
    known = part.with_known(np.array([4, 5]), np.array([1, 1]))
    bounds = np.where(known.space.candidates, np.arange(12.0).reshape(6, 2) ** 2, -np.inf)
    assert keep_counts(bounds, known).tolist() == [0, 0, 1, 1, 1, 1]


def test_bags_without_a_free_instance_change_nothing_for_the_others():
    """A pure bag stands first; of three classes the bags beside it, one of them large, are labelled as without it."""
    ids = [0] * 5 + [1] * 320 + [2] * 8
    shares = np.array([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    bounds = np.random.default_rng(0).random((333, 3))
    found = keep_counts(bounds, part_of(ids, shares))
    assert found[:5].tolist() == [1] * 5
    assert np.array_equal(found[5:], keep_counts(bounds[5:], part_of(ids[5:], shares[1:])))
    assert [np.bincount(found[rows]).tolist() for rows in (slice(5, 325), slice(325, 333))] == [
        [160, 80, 80],
        [2, 2, 4],
    ]


def test_a_pure_data_set_leaves_nothing_to_choose():
    """Without a free instance the assignment is what is known."""
    part = part_of(list("aabb"), [[1.0, 0.0], [0.0, 1.0]])
    assert keep_counts(np.zeros((4, 2)), part).tolist() == [0, 0, 1, 1]


class Watched(LlpRegime):
    """A regime that notes down every assignment of a round."""

    seen: ClassVar[list] = []

    def constraint(self):
        """Note down what the counts gave."""

        def noting(bounds, part):
            assignment = keep_counts(bounds, part)
            self.seen.append((assignment, part))
            return assignment

        return noting


@quiet
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_assignment_of_a_round_keeps_the_counts(n_classes):
    """In a whole inference with two passes, all rounds give each bag that is inferred exactly its counts."""
    Watched.seen.clear()
    data = example(n_classes)
    model = BlissClassifier(regime=Watched(), n_rounds=6, n_folds=2, n_passes=2, n_inferences=2, random_state=0)
    model.set_params(n_first_draws=None, train_on="one").fit(data.X, data.weak, bags=data.bags)
    assert len(Watched.seen) == (6 * 2 + 1) * 2 * 2 + 2  # Rounds and the end of both folds; the end of both passes.
    for assignment, part in Watched.seen:
        whole = part.bags.mean(part.space.free) == 1
        expected = nearest_counts(part.weak.values, part.bags.sizes)
        found = np.array(counts_of(assignment, part.bags, n_classes))
        assert whole.any()
        assert np.array_equal(found[whole], expected[whole])


def test_first_draws_follow_the_shares():
    """The chance of the first labels, and the soft label of the control, is the share of the bag."""
    part = part_of(list("aab"), [[0.25, 0.75], [1.0, 0.0]])
    assert LlpRegime().draw_prior(part).tolist() == [[0.25, 0.75], [0.25, 0.75], [1.0, 0.0]]
    assert LlpRegime().inherited(part.weak, part.bags).tolist() == [[0.25, 0.75], [0.25, 0.75], [1.0, 0.0]]


def test_free_assignments_have_no_constraint():
    """assignments = "free" is the paper's choice, each instance by itself."""
    assert LlpRegime(assignments="free").constraint() is None
    assert LlpRegime().constraint() is keep_counts


# Strata and measures


@PROPERTY
@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(0, 10**6))
def test_strata_are_ranges_of_five_bags_or_more(numerators, seed):
    """Strata are in order of the share, equal shares are in one, and the order of bags changes nothing."""
    ones = np.array(numerators) / 8
    shares = np.stack([1 - ones, ones], axis=1)
    found = strata_of_shares(shares)
    sizes = np.bincount(found)
    assert sizes.min() >= min(5, len(ones))
    for a, b in itertools.pairwise(np.argsort(ones, kind="stable")):
        assert found[a] == found[b] if ones[a] == ones[b] else found[a] <= found[b]
    order = np.random.default_rng(seed).permutation(len(ones))
    assert np.array_equal(strata_of_shares(shares[order]), found[order])


def test_strata_of_several_classes():
    """Bags with the same largest class are together; a rare one joins the next rarest."""
    largest = np.repeat([0, 1, 2, 3], [10, 2, 8, 6])
    found = strata_of_shares(np.eye(4)[largest] * 0.7 + 0.075)
    assert len({tuple(found[largest == c]) for c in range(4)}) == 4
    assert [len(set(found[largest == c])) for c in range(4)] == [1] * 4
    assert found[largest == 1][0] == found[largest == 3][0]
    assert len(set(found.tolist())) == 3


def test_bag_scores_and_labels():
    """A bag is the share of its instances that score above 0 or the threshold, or whose column is largest."""
    bags, scores = Bags.from_ids([0, 0, 0, 0, 1]), np.array([-1.0, 0.2, 0.6, 2.0, -3.0])
    regime = LlpRegime()
    assert regime.reading.bag_scores(scores, bags).tolist() == [0.75, 0.0]
    assert regime.reading.bag_labels(scores, bags, 0.5).tolist() == [0.5, 0.0]
    columns = np.array([[1, 0, 0], [0, 1, 0], [0, 2, 1], [3, 0, 0], [0, 0, 1.0]])
    assert regime.reading.bag_scores(columns, bags).tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert regime.reading.bag_labels(columns, bags, 9.0).tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("n_classes", [2, 5])
def test_error_is_the_least_share_of_wrong_instances(n_classes):
    """Half the sum of differences is the least share of instances that must change class to meet the shares."""
    rng = np.random.default_rng(n_classes)
    a, b = (np.bincount(rng.integers(n_classes, size=10), minlength=n_classes) for _ in range(2))
    moved = np.maximum(a - b, 0).sum() / 10
    assert proportion_error(a[None] / 10, b[None] / 10) == pytest.approx(moved)


def test_measures_of_two_classes():
    """Predicted shares may have one column or two; accuracy, 1 less the error, comes first."""
    weak = WeakLabels(np.array([[0.75, 0.25], [0.5, 0.5]]), (0, 1))
    for predicted in (np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.5, 0.5]])):
        found = LlpRegime().reading.evaluate(predicted, np.zeros(2), weak)
        assert list(found.items()) == [("proportion_accuracy", 0.875), ("proportion_error", 0.125)]


@pytest.mark.parametrize("check", regime_checks(example()), ids=str)
@quiet
def test_conformance(check):
    """The regime passes the kit with two classes."""
    check()


@pytest.mark.parametrize("check", regime_checks(example(3)), ids=str)
@quiet
def test_conformance_with_three_classes(check):
    """The regime passes the kit with vectors of shares."""
    check()


# Generated bags and readers


@pytest.mark.parametrize("kind", ["random", "skewed"])
@pytest.mark.parametrize(("n", "size"), [(100, 8), (103, 10), (17, 8), (40, 1)])
def test_bags_use_every_instance_once(kind, n, size):
    """Sizes are equal to within one, shares are those of the true classes, and the seed decides everything."""
    X, y = np.arange(n)[:, None], np.arange(n) % 3
    data = make_llp_bags(X, y, size, kind, seed=1)
    bags = Bags.from_ids(data.bags)
    assert sorted(data.X[:, 0].tolist()) == list(range(n))
    assert np.array_equal(data.instance_labels, data.X[:, 0] % 3)
    assert bags.n_bags == max(2, round(n / size))
    assert np.ptp(bags.sizes) <= 1
    assert counts_of(data.instance_labels, bags, 3) == np.round(data.weak * bags.sizes[:, None]).astype(int).tolist()
    assert data.sha256() == make_llp_bags(X, y, size, kind, seed=1).sha256()
    assert data.sha256() != make_llp_bags(X, y, size, kind, seed=2).sha256()


def test_skewed_bags_differ_strongly():
    """In bags of 50 random shares deviate by about .07, skewed ones by several times that, in no order of bags."""
    y = np.arange(1000) % 2
    random, skewed = (make_llp_bags(np.zeros((1000, 1)), y, 50, kind).weak for kind in ("random", "skewed"))
    assert random.std() < 0.12
    assert skewed.std() > 0.3
    assert abs(np.corrcoef(skewed, np.arange(20))[0, 1]) < 0.6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_alike_bags_do_not_differ(n_classes):
    """Every bag has its part of every class, to within one instance, and a fit warns that nothing can be learnt."""
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(n_classes), 80))
    data = make_llp_bags(np.random.default_rng(1).normal(size=(len(y), 2)), y, 16, "alike")
    bags = Bags.from_ids(data.bags)
    counts = np.array([np.bincount(data.instance_labels[data.bags == bag], minlength=n_classes) for bag in bags.ids])
    assert (np.abs(counts - bags.sizes[:, None] / n_classes) <= 1.0).all()
    with pytest.warns(BlissWarning, match="All bags have the same shares"):
        LlpRegime().check(data.weak, bags)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_random_bags_are_not_alike(size):
    """Tiny random bags differ by no more than an instance or two, and still teach."""
    y = np.random.default_rng(0).integers(2, size=160)
    data = make_llp_bags(np.zeros((160, 1)), y, size)
    assert warned(data.weak, Bags.from_ids(data.bags).sizes) == []


def test_digits_in_bags():
    """Ten classes; the shares are those of the true digits in each bag."""
    data = load_digits_bags(bag_size=32)
    bags = Bags.from_ids(data.bags)
    assert data.weak.shape == (56, 10)
    assert np.allclose(data.weak, bags.mean(np.eye(10)[data.instance_labels]))


def test_names_and_sparse_rows_are_kept():
    """Classes of any kind become 0 .. C - 1 in sorted order; rows may be sparse."""
    data = make_llp_bags(sp.eye(9, format="csr"), np.array(list("cabcabcab")), 3)
    assert (data.label_names, data.regime, data.weak.shape) == (("a", "b", "c"), "llp", (3, 3))
    assert sp.issparse(data.X)
    assert set(data.instance_labels.tolist()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bag_size": 0}, "bag_size must be an integer"),
        ({"bag_size": 6}, "choose 5 at most"),
        ({"bags": "odd"}, "bags must be one of 'random', 'skewed'"),
        ({"seed": -1}, "bag_seed must be"),
        ({"y": np.zeros(10)}, "All 10 instances are of class 0.0"),
    ],
)
def test_options_of_the_generator(options, said):
    """What an option may be is said in one sentence."""
    with pytest.raises(SettingsError, match=said):
        make_llp_bags(**{"X": np.zeros((10, 1)), "y": np.arange(10) % 2, "bag_size": 2, **options})


def test_breast_cancer_bags():
    """Class 1 is malignant, and rows belong to their true classes."""
    data, stored = load_breast_cancer_bags(), load_breast_cancer()
    assert (data.X.shape, len(data.weak), data.instance_labels.sum()) == ((569, 30), 71, 212)
    malignant = {tuple(row) for row in stored.data[stored.target == 0].tolist()}
    assert all(
        (tuple(row) in malignant) == label for row, label in zip(data.X.tolist(), data.instance_labels, strict=True)
    )
    assert load_breast_cancer_bags(bag_size=32, bags="skewed").weak.std() > 0.3


@pytest.fixture
def labelled(tmp_path):
    """A file of rows and classes."""
    path = tmp_path / "small.npz"
    np.savez(path, X=np.arange(40, dtype=np.float32).reshape(20, 2), y=np.arange(20, dtype=np.int8) % 2)
    return path


def test_labelled_files_become_bags(labelled, tmp_path):
    """Only archives of rows and classes without bags are recognised; the rest is left to other readers."""
    reader = LabelledNpzReader()
    data = reader.read(labelled, bag_size=5, bags="skewed", bag_seed=3)
    assert (data.name, data.regime, len(data.weak), data.X.dtype) == ("small", "llp", 4, np.float64)
    assert np.array_equal(data.instance_labels, data.X[:, 0] // 2 % 2)
    np.savez(tmp_path / "bags.npz", X=np.zeros((2, 1)), y=np.zeros(2), bag=np.zeros(2))
    np.savez(tmp_path / "rows.npz", X=np.zeros((2, 1)))
    assert [reader.sniff(tmp_path / name) for name in ("small.npz", "bags.npz", "rows.npz")] == [True, False, False]


def test_labelled_files_need_a_bag_size(labelled):
    """Without a size a file whose bags were forgotten would be read as something else."""
    with pytest.raises(SettingsError, match=r"small\.npz holds rows and classes, but no bags.*bag_size"):
        LabelledNpzReader().read(labelled)


@pytest.mark.parametrize(
    "arrays", [{"X": np.zeros(3), "y": np.zeros(3, int)}, {"X": np.zeros((3, 1)), "y": np.zeros(3)}]
)
def test_labelled_files_of_other_shapes_are_refused(tmp_path, arrays):
    """Rows are a table, and classes are integers or text."""
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(DataError, match=r"odd\.npz holds X of shape"):
        LabelledNpzReader().read(tmp_path / "odd.npz", bag_size=1)


def test_reader_conformance(labelled):
    """The reader passes the kit."""
    for check in reader_checks(LabelledNpzReader(), labelled, bag_size=4):
        check()


def test_shared_sets_by_name(shared):
    """The sets of LLP papers are read with their published sizes."""
    data = LabelledNpzReader().read(shared / "data" / "llp" / "wdbc.npz", bag_size=32)
    assert (data.X.shape, len(data.weak), data.instance_labels.sum()) == ((569, 30), 18, 212)


# Whole fits


def blobs(n, size, n_classes=2, seed=0, kind="random"):
    """Clusters that are far apart, in bags."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    centres = 4.0 * np.eye(max(n_classes, 3))[:n_classes, :3] if n_classes > 2 else np.array([[0, 0, 0], [3, 3, 0.0]])
    return make_llp_bags(centres[y] + rng.normal(size=(n, 3)), y, size, kind, seed)


@pytest.mark.parametrize("reward", ["llp-marginal", "llp"])
@pytest.mark.parametrize("size", [8, 32])
def test_two_clusters_are_told_apart(reward, size):
    """From shares alone more than 95 % of the inferred labels are right, in bags of 8 and of 32."""
    data = blobs(640, size)
    model = BlissClassifier(**RULE, reward=reward).fit(data.X, data.weak, bags=data.bags)
    assert np.mean(model.labels_ == data.instance_labels) > 0.95
    new = blobs(200, 10, seed=1)
    assert np.mean(model.predict(new.X) == new.instance_labels) > 0.95
    assert model.evaluate(new.X, new.weak, new.bags)["proportion_error"] < 0.05


def test_three_clusters_are_told_apart():
    """The same with vectors of shares."""
    data = blobs(480, 8, 3)
    model = BlissClassifier(**RULE).fit(data.X, data.weak, bags=data.bags)
    assert np.mean(model.labels_ == data.instance_labels) > 0.95
    ids, shares = model.predict_bags(data.X, data.bags)
    assert (len(ids), shares.shape) == (60, (60, 3))


def test_large_skewed_bags_are_easy():
    """Shares that differ strongly tell classes apart even in bags of 80."""
    data = blobs(640, 80, kind="skewed")
    model = BlissClassifier(**RULE).fit(data.X, data.weak, bags=data.bags)
    assert np.mean(model.labels_ == data.instance_labels) > 0.95


def test_shares_the_other_way_round_turn_labels_round():
    """Polarity is in the shares."""
    data = blobs(320, 8)
    model = BlissClassifier(**RULE).fit(data.X, 1 - data.weak, bags=data.bags)
    assert np.mean(model.labels_ == 1 - data.instance_labels) > 0.95


def test_digits_in_bags_of_eight():
    """Ten classes of handwritten digits: more than 90 % of 800 labels from shares alone."""
    X, y = load_digits(return_X_y=True)
    data = make_llp_bags(X[:800], y[:800], 8)
    model = BlissClassifier(**RULE).fit(data.X, data.weak, bags=data.bags)
    assert np.mean(model.labels_ == data.instance_labels) > 0.9
    assert np.mean(model.predict(X[800:]) == y[800:]) > 0.85


def test_order_of_rows_and_names_of_bags_change_nothing():
    """Rows in another order, bags under other names, and shares by name give the same labels, bit for bit."""
    data = blobs(160, 8)
    first = BlissClassifier(**RULE).fit(data.X, data.weak, bags=data.bags)
    order = np.random.default_rng(1).permutation(160)
    names = np.array([f"bag {i}" for i in np.random.default_rng(2).permutation(20)])
    by_name = pd.Series(data.weak, index=names)
    other = BlissClassifier(**RULE).fit(data.X[order], by_name, bags=names[data.bags][order])
    assert np.array_equal(other.labels_, first.labels_[order])
    assert np.array_equal(other.label_means_, first.label_means_[order], equal_nan=True)


def test_shares_vectors_and_counts_give_the_same_labels():
    """Three spellings of the same weak labels."""
    data = blobs(160, 8)
    vectors = np.stack([1 - data.weak, data.weak], axis=1)
    fits = [
        BlissClassifier(**{**RULE, "n_rounds": 5}).fit(data.X, weak, bags=data.bags).label_means_
        for weak in (data.weak, vectors, np.round(vectors * 8).astype(int))
    ]
    assert np.array_equal(fits[0], fits[1], equal_nan=True)
    assert np.array_equal(fits[0], fits[2], equal_nan=True)


@quiet
def test_k35_unreachable_shares():
    """.33 of 4 is one instance, .5 of 3 one or two, .05 of 4 none, without an exception."""
    X = np.random.default_rng(0).normal(size=(11, 2))
    bags = np.array(list("aaaabbbcccc"))
    model = BlissClassifier(**{**RULE, "n_folds": 2, "n_neighbors": 4}).fit(
        X, {"a": 0.33, "b": 0.5, "c": 0.05}, bags=bags
    )
    assert model.labels_[bags == "c"].tolist() == [0] * 4
    assert (model.confidence_[bags == "c"] == 1).all()
    assert np.isnan(model.label_means_[bags == "c"]).all()


@quiet
def test_k34_through_the_estimator(untouched):
    """What is no share is refused before any pull, naming the bag."""
    bags = np.repeat(["a", "b", "c"], 4)
    for bad in (25, -0.01, 1.01, np.nan, np.inf, "0.5", None):
        with pytest.raises(DataError, match="'a'"):
            BlissClassifier(regime="llp", classifier=untouched).fit(
                np.eye(12), {"a": bad, "b": 0.5, "c": 0.0}, bags=bags
            )


@quiet
def test_rows_that_are_their_own_bags_are_classification():
    """With bags of one instance every label is known, and the model is an ordinary classifier."""
    data = blobs(60, 5)
    model = BlissClassifier(**RULE).fit(data.X, data.instance_labels)
    assert np.array_equal(model.labels_, data.instance_labels)
    assert np.mean(model.predict(data.X) == data.instance_labels) > 0.95


def test_names_of_classes_in_predictions():
    """Instances are called as the regime names classes."""
    data = blobs(160, 8)
    regime = {"name": "llp", "classes": ["calm", "angry"]}
    model = BlissClassifier(**{**RULE, "regime": regime}).fit(data.X, data.weak, bags=data.bags)
    assert set(model.predict(data.X)) == {"calm", "angry"}
    assert np.mean((model.labels_ == "angry") == data.instance_labels) > 0.95


@quiet
@pytest.mark.parametrize("n_classes", [2, 3])
def test_inferred_labels_keep_the_counts(n_classes):
    """Every bag has as many labels of each class as its shares say, also where several settings are averaged."""
    data = example(n_classes)
    bags = Bags.from_ids(data.bags)
    weak = LlpRegime().check(np.asarray(data.weak), bags)
    for more in ({}, {"settings": "select", "grid": {"classifier.width": [0.25, 1.0]}}):
        model = BlissClassifier(regime="llp", n_rounds=4, n_neighbors=3, random_state=0, **more)
        model.fit(data.X, data.weak, bags=data.bags)
        assert np.array_equal(counts_of(model.labels_, bags, n_classes), nearest_counts(weak.values, bags.sizes))


def test_settings_of_the_regime():
    """LLP has defaults of its own, and `select` chooses the width on held-out bags with all else as there."""
    data = blobs(160, 8)
    model = BlissClassifier(regime="llp", random_state=0).fit(data.X, data.weak, bags=data.bags)
    assert np.mean(model.predict(data.X) == data.instance_labels) > 0.95
    assert model.inference_["n_folds"] == 3
    assert model.inference_["n_pulls"] == 3 * 4 * (10 + 80)
    assert model.members_[0].scaling.mode == "standard"
    chosen = BlissClassifier(regime="llp", settings="select", random_state=0).fit(data.X, data.weak, bags=data.bags)
    assert sorted(one["classifier.width"] for one in chosen.inference_["chosen"]) == [0.1, 0.25, 0.5]
    assert np.mean(chosen.predict(data.X) == data.instance_labels) > 0.95


@pytest.mark.parametrize(("size", "final"), [(2, "same"), (4, "same"), (5, "svm-rbf"), (64, "svm-rbf")])
def test_the_final_classifier_depends_on_the_size_of_bags(size, final):
    """Least squares, like label inference, where bags hold four instances or fewer in the mean."""
    chosen = LlpRegime().presets.defaults_for(Profile(n_rows=10 * size, n_bags=10))["final_classifier"]
    assert (chosen if isinstance(chosen, str) else chosen["name"]) == final


def test_the_control_is_cut_at_the_known_share():
    """Without a bandit as many training instances are called positive as the shares of all bags say, about."""
    data = blobs(400, 8)
    model = BlissClassifier(regime="llp", inherited_share=1.0, final_classifier="same", random_state=0)
    model.fit(data.X, data.weak, bags=data.bags)
    assert model.predict(data.X).mean() == pytest.approx(data.weak.mean(), abs=0.05)
    assert model.instance_threshold_ != 0


def test_several_final_classifiers_predict_shares_together():
    """Where several settings are averaged, the shares of bags are those of the joint instance predictions."""
    data = blobs(160, 8)
    grid = {"n_rounds": [5], "classifier.width": [0.25, 1.0], "inherited_share": [0.0, 0.5]}
    model = BlissClassifier(regime="llp", settings="select", grid=grid, n_members=3, random_state=0)
    model.fit(data.X, data.weak, bags=data.bags)
    assert len(model.members_) == 3
    ids, shares = model.predict_bags(data.X, data.bags)
    predicted = model.predict(data.X)
    assert np.allclose(shares, [predicted[data.bags == bag].mean() for bag in ids])
    assert np.allclose(model.score_bags(data.X, data.bags)[1], shares)
    assert model.score(data.X, data.weak, data.bags) == pytest.approx(1 - np.abs(shares - data.weak).mean())


def test_folds_have_about_the_same_shares():
    """Bags dealt by strata give folds whose mean shares are nearer than those of bags dealt blindly."""
    rng = np.random.default_rng(0)
    ones = rng.binomial(32, 0.4, 30) / 32
    strata = strata_of_shares(np.stack([1 - ones, ones], axis=1))

    def unlike(y):
        parts = [list(BagKFold(3, s).split(np.zeros((30, 1)), y, np.arange(30))) for s in range(40)]
        return np.mean([np.std([ones[test].mean() for _, test in part]) for part in parts])

    assert unlike(strata) < 0.6 * unlike(None)


def test_components_are_installed():
    """Regime, rewards and data come through the entry point like any third party's."""
    assert isinstance(resolve("regime", "llp"), LlpRegime)
    assert resolve("reward", LlpRegime().presets.defaults["reward"]).steepness == 3.4


def test_label_space_has_one_label_for_each_class():
    """Labels are classes."""
    space = part_of(list("aabb"), [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]).space
    assert isinstance(space, LabelSpace)
    assert space.class_of_label.tolist() == [0, 1, 2]


# Weak labels as mappings from classes to shares

TRUE_SHARES = np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [0.5, 0.5]])
FOURS = Bags.from_ids(np.repeat(np.arange(6), 4))


def boxed(entries):
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found


@pytest.mark.parametrize(
    ("entries", "classes", "found"),
    [
        ([{0: p, 1: q} for p, q in TRUE_SHARES], None, (0, 1)),
        ([{1: q, 0: p} for p, q in TRUE_SHARES], None, (0, 1)),
        ([{"malignant": q, "benign": p} for p, q in TRUE_SHARES], None, ("benign", "malignant")),
        ([{"malignant": p, "benign": q} for p, q in TRUE_SHARES], ("malignant", "benign"), ("malignant", "benign")),
        ([{"1": q, "0": p} for p, q in TRUE_SHARES], (0, 1), (0, 1)),
        ([{k: v for k, v in {"a": p, "b": q}.items() if v} for p, q in TRUE_SHARES], None, ("a", "b")),
        ([{"a": int(4 * p), "b": int(4 * q)} for p, q in TRUE_SHARES], None, ("a", "b")),
    ],
)
def test_mappings_are_read_by_class(entries, classes, found):
    """Shares and counts go to the class that they are given for, in whatever order the keys of a bag stand."""
    weak = LlpRegime(classes=classes).check(boxed(entries), FOURS)
    assert np.allclose(weak.values, TRUE_SHARES)
    assert weak.classes == found
    again = LlpRegime(classes=classes).check_test(boxed(entries[:3]), FOURS.take(np.arange(12))[0], found)
    assert np.allclose(again.values, TRUE_SHARES[:3])


@pytest.mark.parametrize(
    ("entries", "classes", "said"),
    [
        (
            [{"a": 1.0}] * 5 + [{"b": 1.0}],
            ("a", "c"),
            "Bag 5 has a share of 'b', which is none of the classes ['a', 'c']",
        ),
        ([{"a": 0.5, "b": 0.5}] * 5 + [0.5], None, "Bag 5 has the weak label 0.5, and others have mappings"),
        ([{"a": 0.5, "b": 0.9}] * 6, None, "The shares of bag 0 sum to 1.4"),
        ([{"a": "x", "b": 0.5}] * 6, None, "Bag 0 has the weak label ['x', 0.5], which is no number"),
        ([{"a": 1.0}] * 6, None, "a single class cannot be learnt"),
    ],
)
def test_mappings_that_cannot_be_read(entries, classes, said):
    """A key that is no class, numbers among mappings, and wrong shares are refused by bag."""
    with pytest.raises(DataError) as caught:
        LlpRegime(classes=classes).check(boxed(entries), FOURS)
    assert said in str(caught.value)


@quiet
def test_fits_on_mappings():
    """A fit on mappings by number or name is that on vectors, and predicts the names."""
    data = example()
    X, bags = data.X, data.bags
    shares = np.stack([1.0 - data.weak, data.weak], axis=1)
    expected = BlissClassifier(**RULE).fit(X, shares, bags=bags)
    by_number = BlissClassifier(**RULE).fit(X, [{1: q, 0: p} for p, q in shares], bags=bags)
    by_name = BlissClassifier(**RULE).fit(X, [{"ill": q, "healthy": p} for p, q in shares], bags=bags)
    assert (by_number.labels_ == expected.labels_).all()
    assert (by_name.labels_ == np.where(expected.labels_ == 1, "ill", "healthy")).all()


def test_a_class_that_no_bag_has():
    """One sentence names the class of which there is no share."""
    shares = np.concatenate([TRUE_SHARES, np.zeros((6, 1))], axis=1)
    with pytest.warns(BlissWarning, match="No bag has any share of the class 'c'; nothing can be learnt of it"):
        LlpRegime(classes=("a", "b", "c")).check(shares, FOURS)
