"""The multi-class MIL reward, worked out by hand and from its formula, and beside the binary one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import Bags, Fold, LabelSpace, Outcome, Part, SettingsError, WeakLabels
from bliss_framework.plugin import label_set_precision, label_set_recall
from bliss_framework.testing import Example, reward_checks
from bliss_mil.rewards.paper_reward import MilReward
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime
from bliss_multiclass_mil.rewards.paper_reward import MultiClassMilReward

PROPERTY = settings(max_examples=80, deadline=None)
G = Fraction(1, 7)


def part(ids, sets, class_of_label, n_labels):
    bags = Bags.from_ids(np.asarray(ids))
    values = np.array(
        [[int(c in sets[name]) for c in range(1, n_labels + 1)] for name in bags.ids.tolist()], dtype=np.int8
    )
    space = LabelSpace(np.ones((len(ids), len(class_of_label)), dtype=bool), np.asarray(class_of_label))
    return Part(np.zeros((len(ids), 1)), bags, WeakLabels(values, tuple(range(n_labels + 1))), space)


def outcome(pi, scores, held_scores, held_bags, sets, k, class_of_label=(0, 1, 2)):
    """A pull whose predictions are the labels with the largest scores."""
    n_labels = max(class_of_label)
    train = part(range(len(pi)), {i: {1} for i in range(len(pi))}, class_of_label, n_labels)
    heldout = part(held_bags, sets, class_of_label, n_labels)
    scores, held = np.asarray(scores, dtype=float), np.asarray(held_scores, dtype=float)
    return Outcome(Fold(train, heldout, k), np.asarray(pi), scores.argmax(1), scores, held.argmax(1), held)


# Held-out bags: P has labels 1 and 2, Q has label 1, N has none. Scores of the labels 0, 1, 2 for two rows of each.
HELD = {
    "held_scores": [
        [0, 3, 0],  # P: predicted 1, in the set
        [1, 0, 0],  # P: predicted 0; so P has one of its two labels: Rec = 1/2
        [0, 0, 2],  # Q: predicted 2, which Q has not: Prec = 0
        [0, 1, 0],  # Q: predicted 1: Rec = 1
        [4, 0, 0],  # N: predicted 0
        [0, 2, 0],  # N: predicted 1, which N has not: Prec = 0; Rec = 1 for the empty set
    ],
    "held_bags": ["P", "P", "Q", "Q", "N", "N"],
    "sets": {"P": {1, 2}, "Q": {1}, "N": set()},
}


def test_recall_and_precision_by_hand():
    """Rec is the share of a bag's labels that are found, 1 for the empty set; Prec knows the set of each bag."""
    case = outcome([1], [[0, 1, 0]], **HELD, k=1)
    assert label_set_recall(case).tolist() == [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    assert label_set_precision(case).tolist() == [True, True, False, True, True, False]


@pytest.mark.parametrize(
    ("scores", "pi", "k", "alpha", "expected"),
    [
        # Predicted 1 with output 3: along output 1 (3, 0, 0, 1, 0, 2) the nearest is P's first row: Rec 1/2, Prec 1.
        ([0, 3, 0], 1, 1, 1.0, G * Fraction(1, 2)),
        ([0, 3, 0], 1, 1, 0.5, G * Fraction(1, 2) + (1 - G)),
        # The two nearest are the first and the last row: Rec (1/2 + 1)/2 = 3/4, Prec 1/2.
        ([0, 3, 0], 1, 2, 0.75, G * Fraction(3, 4) + (1 - G) * Fraction(1, 2)),
        ([0, 3, 0], 1, 2, 0.76, G * Fraction(3, 4)),
        # Predicted 2 with output 2: along output 2 the nearest is Q's first row: Rec 1, Prec 0.
        ([0, 0, 2], 2, 1, 1.0, G),
        # Predicted 0 with output 4: along output 0 the nearest is N's first row: Rec 1, Prec 1.
        ([4, 0, 0], 0, 1, 1.0, Fraction(1)),
        # All six: Rec (1/2 + 1/2 + 4)/6 = 5/6, Prec 4/6.
        ([4, 0, 0], 0, 6, 0.8, G * Fraction(5, 6) + (1 - G) * Fraction(4, 6)),
        # The label given is not the one predicted.
        ([4, 0, 0], 1, 6, 0.8, Fraction(0)),
    ],
)
def test_reward_by_hand(scores, pi, k, alpha, expected):
    """The neighbours are those along the output of the predicted label."""
    case = outcome([pi], [scores], **HELD, k=k)
    assert MultiClassMilReward(alpha=alpha)(case) == pytest.approx([float(expected)])


def test_two_negative_labels():
    """Either negative label means class 0 for Rec and Prec, but the label given must be the very one predicted."""
    held = {**HELD, "held_scores": [[row[0], -1, *row[1:]] for row in HELD["held_scores"]]}
    held["held_scores"][4] = [-1, 4, 0, 0]  # the other negative label: still class 0
    case = outcome([0, 1, 0], [[4, 0, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0]], **held, k=1, class_of_label=(0, 0, 1, 2))
    assert label_set_precision(case).tolist() == [True, True, False, True, True, False]
    # Along output 0 the nearest to 4 is P's second row (1): Rec 1/2. Along output 1 it is N's first row: Rec 1, Prec 1.
    assert MultiClassMilReward(alpha=0.5)(case) == pytest.approx([float(G / 2 + (1 - G)), 1.0, 0.0])


def by_formula(case, gamma, alpha):
    """The reward written out for one instance after the other, in fractions."""
    fold, rewards = case.fold, []
    heldout, of_label = fold.heldout, fold.train.space.class_of_label
    predicted = of_label[case.heldout_labels]
    rec, prec = [], []
    for row, bag in enumerate(heldout.bags.index):
        wanted = set((np.flatnonzero(heldout.weak.values[bag]) + 1).tolist())
        there = set(predicted[heldout.bags.index == bag].tolist())
        rec.append(Fraction(len(wanted & there), len(wanted)) if wanted else Fraction(1))
        prec.append(Fraction(int(predicted[row] == 0 or predicted[row] in wanted)))
    for given_, label, scores in zip(case.assignment, case.labels, case.scores, strict=True):
        distance = [abs(s - scores[label]) for s in case.heldout_scores[:, label]]
        furthest = sorted(distance)[min(fold.n_neighbors, len(distance)) - 1]
        near = [i for i, d in enumerate(distance) if d <= furthest]
        mean_rec, mean_prec = (sum(part[i] for i in near) / len(near) for part in (rec, prec))
        rewards.append((gamma * mean_rec + (1 - gamma) * (mean_rec >= alpha) * mean_prec) * int(given_ == label))
    return [float(r) for r in rewards]


@given(st.data())
@PROPERTY
def test_reward_by_its_formula(data):
    """Random outcomes with many ties earn what the formula says, one instance after the other."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    class_of_label = data.draw(st.sampled_from([(0, 1), (0, 1, 2), (0, 0, 1, 2, 3)]))
    n, m, n_arms = 4, data.draw(st.integers(1, 9)), len(class_of_label)
    held_bags = rng.integers(0, 3, m)
    sets = {b: set((np.flatnonzero(rng.random(max(class_of_label)) < 0.5) + 1).tolist()) for b in range(3)}
    draw = lambda rows: rng.integers(-2, 3, (rows, n_arms)) / 2  # noqa: E731
    k = data.draw(st.integers(1, m))
    case = outcome(rng.integers(0, n_arms, n), draw(n), draw(m), held_bags, sets, k, class_of_label)
    alpha = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
    found = MultiClassMilReward(alpha=float(alpha))(case)
    assert found == pytest.approx(by_formula(case, G, alpha))


@given(st.integers(0, 10**6))
@PROPERTY
def test_one_label_is_binary_mil(seed):
    """With one label the reward has the bits of the binary one."""
    rng = np.random.default_rng(seed)
    bags = rng.integers(0, 4, 12)
    sets = {b: {1} if b % 2 else set() for b in range(4)}
    case = outcome(rng.integers(0, 2, 5), rng.normal(size=(5, 2)), rng.normal(size=(12, 2)), bags, sets, 4, (0, 1))
    binary = Part(
        case.fold.heldout.X,
        case.fold.heldout.bags,
        WeakLabels(case.fold.heldout.weak.values[:, 0], (0, 1)),
        case.fold.heldout.space,
    )
    as_binary = Outcome(
        Fold(case.fold.train, binary, 4),
        case.assignment,
        case.labels,
        case.scores,
        case.heldout_labels,
        case.heldout_scores,
    )
    assert np.array_equal(MultiClassMilReward(alpha=0.8)(case), MilReward(alpha=0.8)(as_binary))


def test_diagnostic():
    """Where no neighbourhood reaches alpha, one sentence says so and what to do; else there is none."""
    sets = {"P": {1, 2}, "Q": {1, 2}}
    case = outcome([1], [[0, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 0]], ["P", "P", "Q"], sets, 2)
    assert "never reached alpha = 0.9 (the highest was 0.50)" in MultiClassMilReward(alpha=0.9).diagnostic(case)
    assert MultiClassMilReward(alpha=0.5).diagnostic(case) is None


@pytest.mark.parametrize("name", ["gamma", "alpha"])
@pytest.mark.parametrize("value", [-0.1, 1.1, "1", None, float("nan")])
def test_parameters(name, value):
    """Both parameters lie in [0, 1]."""
    with pytest.raises(SettingsError, match=name):
        MultiClassMilReward(**{name: value})


def example():
    """Twelve bags of four labels, of several sizes."""
    rng = np.random.default_rng(0)
    sizes = [1, 4, 3, 5, 2, 4, 3, 6, 1, 4, 5, 2]
    sets = np.empty(len(sizes), dtype=object)
    sets[:] = [frozenset("abcd"[i] for i in rng.permutation(4)[: rng.integers(0, min(size, 3) + 1)]) for size in sizes]
    bags = np.repeat([f"bag {i}" for i in range(len(sizes))], sizes)
    return Example(MultiClassMilRegime(n_negative=2), rng.normal(size=(len(bags), 3)), bags, sets)


@pytest.mark.parametrize("check", reward_checks(MultiClassMilReward(alpha=0.7), example()), ids=str)
def test_conformance(check):
    """The reward passes the kit, on an example of its own regime."""
    check()
