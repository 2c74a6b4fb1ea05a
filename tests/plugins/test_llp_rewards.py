"""The rewards of LLP against their formulas in plain loops, and the marginal effect against finite differences."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import Bags, Fold, Outcome, Part, SettingsError, WeakLabels
from bliss_framework.extension.components import resolve
from bliss_framework.kernel.pull import outcome_of
from bliss_framework.testing import Example, reward_checks
from bliss_llp.regime.llp_regime import LlpRegime
from bliss_llp.rewards.marginal_effect import LlpMarginalReward, share_slopes
from bliss_llp.rewards.recall_precision_of_shares import LlpReward, precision, recall

PROPERTY = settings(max_examples=80, deadline=None)


class Linear:
    """Stands for a prepared classifier with this smoother."""

    def __init__(self, smoother):
        self.smoother = np.asarray(smoother)


def part_of(ids, shares, X=None):
    """Rows with these bag ids, and the shares of each bag in order of first appearance."""
    bags, weak = Bags.from_ids(np.asarray(ids)), WeakLabels(np.asarray(shares, dtype=float), (0, 1))
    return Part(np.zeros((len(ids), 1)) if X is None else X, bags, weak, LlpRegime().label_space(weak, bags))


def outcome_on(train, heldout, assignment, labels, outputs, k=1, scores=None):
    """One pull: labels that were assigned and predicted, and held-out outputs (m,) or (m, C)."""
    outputs = np.asarray(outputs, dtype=float)
    columns = outputs[:, None] if outputs.ndim == 1 else outputs
    held = (outputs > 0).astype(np.intp) if outputs.ndim == 1 else outputs.argmax(axis=1)
    own = np.zeros((len(assignment), columns.shape[1])) if scores is None else np.asarray(scores, dtype=float)[:, None]
    return Outcome(Fold(train, heldout, k), np.asarray(assignment), np.asarray(labels), own, held, columns)


# The slopes of the error of shares


def chances_of(columns, steepness):
    """Class probabilities of rows of outputs that are already in units of their deviation."""
    powers = [[math.exp(steepness / 2 * (z - max(row))) for z in row] for row in columns]
    return [[p / sum(row) for p in row] for row in powers]


def loss(columns, ids, shares, steepness):
    """Half the squared error of the shares of bags, each bag as often as it has instances."""
    chances, total = chances_of(columns, steepness), 0.0
    for name, share in shares.items():
        rows = [p for p, own in zip(chances, ids, strict=True) if own == name]
        for c, wanted in enumerate(share):
            total += len(rows) * (wanted - sum(p[c] for p in rows) / len(rows)) ** 2 / 2
    return total


@PROPERTY
@given(st.integers(2, 4), st.integers(2, 12), st.floats(0.5, 4.0), st.integers(0, 10**6))
def test_slopes_are_those_of_the_squared_error(n_classes, n, steepness, seed):
    """A small step of one output changes half the squared error of shares by minus its slope, up to the steepness."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(3, size=n).tolist()
    shares = {name: rng.dirichlet(np.ones(n_classes)).tolist() for name in dict.fromkeys(ids)}
    columns = rng.normal(size=(n, n_classes))
    columns /= np.sqrt(columns.var(axis=0).mean())
    found = share_slopes(columns, Bags.from_ids(ids), np.array(list(shares.values())), steepness)
    step = 1e-5
    for i, c in itertools.product(range(n), range(n_classes)):
        ends = []
        for side in (-step, step):
            moved = columns.copy()
            moved[i, c] += side
            ends.append(loss(moved.tolist(), ids, shares, steepness))
        assert -found[i, c] * steepness / 2 == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-3, abs=1e-7)
    assert np.allclose(found.sum(axis=1), 0)


@PROPERTY
@given(st.integers(2, 12), st.floats(0.5, 4.0), st.integers(0, 10**6))
def test_slopes_of_two_classes(n, steepness, seed):
    """With one output z and s = logistic(a z / std z) they are (p - q) s (1 - s), times 2, the factor that is free."""
    rng = np.random.default_rng(seed)
    ids, z = rng.integers(3, size=n).tolist(), rng.normal(size=n)
    shares = {name: rng.random() for name in dict.fromkeys(ids)}
    weak = np.array([[1 - p, p] for p in shares.values()])
    found = share_slopes(z[:, None], Bags.from_ids(ids), weak, steepness)
    s = [(1 + math.tanh(steepness * one / float(np.std(z)) / 2)) / 2 for one in z.tolist()]
    for i, name in enumerate(ids):
        own = [p for p, other in zip(s, ids, strict=True) if other == name]
        expected = (shares[name] - sum(own) / len(own)) * s[i] * (1 - s[i])
        assert found[i].tolist() == pytest.approx([-2 * expected, 2 * expected], abs=1e-9)
    assert np.allclose(share_slopes(np.stack([-z, z], axis=1), Bags.from_ids(ids), weak, steepness), found)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_slopes_have_no_units(scale):
    """Outputs count in their own standard deviation."""
    outputs, bags = np.array([[0.3], [-1.0], [2.0], [0.1]]), Bags.from_ids([0, 0, 1, 1])
    weak = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert np.allclose(share_slopes(outputs * scale, bags, weak, 2.0), share_slopes(outputs, bags, weak, 2.0))


@pytest.mark.parametrize("outputs", [[0.0, 0.0], [7.0, 7.0], [1e100, -1e100]])
def test_slopes_stay_finite(outputs):
    """Outputs that are all alike say 1/2 everywhere, and certain ones do not overflow."""
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = share_slopes(np.array(outputs)[:, None], Bags.from_ids([0, 0]), np.array([[0.0, 1.0]]), 1000.0)
    assert np.isfinite(found).all()
    if outputs[0] == outputs[1]:
        assert np.allclose(found, [[-0.25, 0.25]] * 2)


# The marginal reward


def test_reward_of_a_small_case_by_hand():
    """Two free training instances; held-out bags P of share 1 and N of share 0, one instance each.

    The outputs 1 and -1 deviate by 1, so with steepness ln 3 s is 3/4 and 1/4, and (p - q) s (1 - s) is 3/64 and
    -3/64. E = 3/64 * (0.8 - 0.2) and minus that, both of mean size; tanh(ln 2) = 0.6.
    """
    train, heldout = part_of(["T", "T"], [[0.5, 0.5]]), part_of(["P", "N"], [[0.0, 1.0], [1.0, 0.0]])
    reward = LlpMarginalReward(steepness=math.log(3), gain=math.log(2))
    prepared = reward.prepare(Fold(train, heldout, 1), Linear([[0.8, 0.2], [0.2, 0.8]]))
    for assignment, expected in (([1, 0], [0.8, 0.8]), ([0, 1], [0.2, 0.2]), ([1, 1], [0.8, 0.2])):
        found = prepared(outcome_on(train, heldout, assignment, assignment, [1.0, -1.0]))
        assert np.allclose(found, expected)


def naive_rewards(outcome, ids, shares, effect, steepness, gain):
    """The formula of the docstring for several classes, in loops; one output z counts as the two outputs -z and z."""
    columns = [[-z[0], z[0]] if len(z) == 1 else z for z in outcome.heldout_scores.tolist()]
    n_classes = len(columns[0])
    unit = math.sqrt(np.mean([np.var([row[c] for row in columns]) for c in range(n_classes)]))
    s = chances_of([[z / unit for z in row] for row in columns], steepness)
    effects = np.zeros((len(outcome.assignment), n_classes))
    for x, other in itertools.product(range(len(effects)), range(len(ids))):
        own = [p for p, name in zip(s, ids, strict=True) if name == ids[other]]
        r = [shares[ids[other]][c] - sum(p[c] for p in own) / len(own) for c in range(n_classes)]
        inner = sum(a * b for a, b in zip(r, s[other], strict=True))
        for c in range(n_classes):
            effects[x, c] += s[other][c] * (r[c] - inner) * effect[other, x]
    space = outcome.fold.train.space
    sizes = [abs(effects[x, c]) for x, c in np.argwhere(space.candidates) if space.free[x]]
    rewards = []
    for x, (label, said) in enumerate(zip(outcome.assignment.tolist(), outcome.labels.tolist(), strict=True)):
        helps = math.tanh(gain * effects[x, label] / np.mean(sizes))
        rewards.append(0.5 + 0.5 * helps if label == said else 0.0)
    return rewards


HELD = ["P", "Q", "P", "N", "N", "Q"]


@pytest.fixture
def random_pull():
    """A function that makes a pull of random outputs, assignment and predictions; the last two rows are known."""

    def make(n_classes, seed):
        rng = np.random.default_rng(seed)
        pure = np.eye(n_classes)[0]
        mixed = np.array([2, 1, 2][:n_classes]) / sum([2, 1, 2][:n_classes])
        train = part_of(["A", "A", "A", "A", "A", "M", "M"], [mixed, pure])
        shares = {name: rng.dirichlet(np.ones(n_classes)).tolist() for name in ("P", "Q", "N")}
        heldout = part_of(HELD, list(shares.values()))
        assignment, labels = np.where(train.space.free, rng.integers(n_classes, size=(2, 7)), 0)
        labels[:2] = (assignment[0] + 1) % n_classes, assignment[1]
        outputs = rng.normal(size=6) if n_classes == 2 else rng.normal(size=(6, n_classes))
        return outcome_on(train, heldout, assignment, labels, outputs), shares, rng.normal(size=(6, 7))

    return make


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_reward_is_the_formula(random_pull, n_classes, seed):
    """The mean size of effects is that of arms alone; labels that were not learnt earn nothing."""
    outcome, shares, effect = random_pull(n_classes, seed)
    found = LlpMarginalReward(2.0, 0.9).prepare(outcome.fold, Linear(effect))(outcome)
    assert np.allclose(found, naive_rewards(outcome, HELD, shares, effect, 2.0, 0.9))
    refused = outcome.assignment != outcome.labels
    assert refused.any()
    assert (found[refused] == 0).all()


def test_effect_of_two_classes_is_that_of_the_issue(random_pull):
    """R(1) is 1/2 + tanh(gain E / mean |E|) / 2 with E the sum of (p - q) s (1 - s) k; both labels sum to 1."""
    outcome, shares, effect = random_pull(2, 0)
    train, heldout = outcome.fold.train, outcome.fold.heldout
    z = outcome.heldout_scores[:, 0]
    s = 1 / (1 + np.exp(-3.4 * z / z.std()))
    q = {name: np.mean([p for p, own in zip(s, HELD, strict=True) if own == name]) for name in shares}
    weights = np.array([shares[name][1] - q[name] for name in HELD]) * s * (1 - s)
    effects = weights @ effect
    expected = 0.5 + 0.5 * np.tanh(0.7 * effects / np.abs(effects[:5]).mean())
    both = [
        LlpMarginalReward().prepare(outcome.fold, Linear(effect))(outcome_on(train, heldout, labels, labels, z))
        for labels in (np.zeros(7, dtype=int), np.ones(7, dtype=int))
    ]
    assert np.allclose(both[1], expected)
    assert np.allclose(both[0] + both[1], 1.0)


def test_a_step_of_a_target_changes_the_error_by_the_effect():
    """Through a linear classifier, raising one target by a little lowers the error of held-out shares by E, in order.

    The effects of all instances are compared with finite differences of the error, up to one common factor.
    """
    rng = np.random.default_rng(0)
    smoother, targets = rng.normal(size=(9, 6)), rng.normal(size=6)
    ids, shares = np.repeat(["P", "Q", "N"], 3), {"P": [0.2, 0.8], "Q": [0.6, 0.4], "N": [0.9, 0.1]}
    heldout, train = part_of(ids, list(shares.values())), part_of(["T"] * 6, [[0.5, 0.5]])
    z = smoother @ targets
    unit, step = z.std(), 1e-5

    def error(moved):
        outputs = smoother @ moved / unit
        return loss(np.stack([-outputs, outputs], axis=1).tolist(), ids.tolist(), shares, 3.4)

    lowered = [-(error(targets + step * one) - error(targets - step * one)) / (2 * step) for one in np.eye(6)]
    labels = np.ones(6, dtype=int)
    found = LlpMarginalReward(gain=0.1).prepare(Fold(train, heldout, 1), Linear(smoother))(
        outcome_on(train, heldout, labels, labels, z)
    )
    assert np.allclose(np.arctanh(2 * found - 1) / 0.1, lowered / np.abs(lowered).mean(), rtol=1e-4)


def test_without_any_effect_every_label_earns_a_half(random_pull):
    """A smoother of zeros tells nothing, and nothing is divided by 0; nor is it where nothing is free."""
    outcome, _, effect = random_pull(2, 0)
    labels = outcome.assignment
    own = outcome_on(outcome.fold.train, outcome.fold.heldout, labels, labels, outcome.heldout_scores[:, 0])
    assert LlpMarginalReward().prepare(own.fold, Linear(effect * 0))(own).tolist() == [0.5] * 7
    pure = outcome_on(part_of(["M", "M"], [[1.0, 0.0]]), own.fold.heldout, [0, 0], [0, 0], own.heldout_scores[:, 0])
    assert LlpMarginalReward().prepare(pure.fold, Linear(effect[:, :2]))(pure).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", ["kernel-ridge", "svm-rbf"])
def test_influence_of_real_classifiers(name):
    """Kernel ridge lends its smoother, an SVM the similarity of rows."""
    rng = np.random.default_rng(0)
    shares = {i: [0.5, 0.5] if i % 2 else [0.25, 0.75] for i in range(4)}
    ids = np.repeat(np.arange(4), 4)
    train, heldout = (part_of(ids, list(shares.values()), rng.normal(size=(16, 2))) for _ in range(2))
    fold = Fold(train, heldout, 3)
    prepared = resolve("classifier", name).prepare(train, heldout, np.random.default_rng(0))
    assignment = (np.arange(16) % 2).astype(np.intp)
    outcome = outcome_of(fold, assignment, prepared.pull(assignment[None], None), 0)
    if name == "svm-rbf":
        variance = float(((train.X - train.X.mean(axis=0)) ** 2).sum(axis=1).mean())
        effect = np.array([[math.exp(-float((x - z) @ (x - z)) / variance) for z in train.X] for x in heldout.X])
    else:
        outputs = prepared.respond(np.concatenate([[np.zeros(16)], np.eye(16)]).T)
        effect = outputs[:, 1:] - outputs[:, :1]
    expected = naive_rewards(outcome, ids.tolist(), shares, effect, 3.4, 0.7)
    assert np.allclose(LlpMarginalReward().prepare(fold, prepared)(outcome), expected, atol=1e-4)
    if name == "svm-rbf":
        assert np.allclose(LlpMarginalReward().prepare(fold, None)(outcome), expected)


# Recall and precision


def test_recall_and_precision_by_hand():
    """Bag a wants .5 and has .25 of class 1; bag b wants none and has .5; bag c of three classes lacks class 2."""
    bags = Bags.from_ids(list("aaaabb"))
    shares, predicted = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, 0, 0, 0, 1, 0])
    assert np.allclose(recall(predicted, bags, shares), [(1 + 0.5) / 2] * 4 + [0.5] * 2)
    assert np.allclose(precision(predicted, bags, shares), [1.0, 2 / 3, 2 / 3, 2 / 3, 0.0, 1.0])
    one, three = Bags.from_ids(list("cccc")), np.array([[0.25, 0.5, 0.25]])
    assert np.allclose(recall(np.array([0, 1, 1, 1]), one, three), (1 + 1 + 0) / 3)
    assert np.allclose(precision(np.array([0, 1, 1, 1]), one, three), [1, 2 / 3, 2 / 3, 2 / 3])


def test_a_bag_with_one_positive_has_the_recall_of_mil():
    """With one positive of four, the term of class 1 is 1 as soon as one instance is predicted positive, else 0."""
    bags, shares = Bags.from_ids([0] * 4), np.array([[0.75, 0.25]])
    for n_positive in range(5):
        predicted = (np.arange(4) < n_positive).astype(int)
        negative_term = min(1.0, (4 - n_positive) / 4 / 0.75)
        assert recall(predicted, bags, shares)[0] == pytest.approx((negative_term + (n_positive > 0)) / 2)


@pytest.mark.parametrize("alpha", [0.0, 0.9, 1.0])
def test_k35_nearest_counts_earn_most(alpha):
    """Of the 2^4 predictions of a bag of .33, the four with one positive earn most, and no alpha is out of reach."""
    train, heldout = part_of(["T"] * 4, [[0.75, 0.25]]), part_of(["a"] * 4, [[0.67, 0.33]])
    earned = {}
    for labels in itertools.product([0, 1], repeat=4):
        outputs = np.where(np.array(labels) == 1, 1.0, -1.0)
        outcome = outcome_on(train, heldout, labels, labels, outputs, k=4, scores=outputs)
        earned[labels] = LlpReward(alpha=alpha).prepare(outcome.fold, None)(outcome).sum()
    best = max(earned.values())
    assert {labels for labels, one in earned.items() if one >= best - 1e-9} == {
        labels for labels in earned if sum(labels) == 1
    }
    assert best == pytest.approx(4.0)


@pytest.mark.parametrize(("gamma", "alpha"), [(0.5, 0.0), (0.25, 0.8), (1 / 7, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_recall_precision_reward_is_the_formula(gamma, alpha, seed):
    """Means over the k nearest held-out instances in output, the gate of alpha, and 1[pi = f]."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(5), 4)
    heldout = part_of(ids, [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.75, 0.25], [0.5, 0.5]])
    train = part_of(["T"] * 8, [[0.5, 0.5]])
    outputs, scores = rng.normal(size=20), rng.normal(size=8)
    assignment, labels = rng.integers(2, size=8), (scores > 0).astype(int)
    outcome = outcome_on(train, heldout, assignment, labels, outputs, 3, scores)
    found = LlpReward(gamma, alpha).prepare(outcome.fold, None)(outcome)
    predicted = (outputs > 0).astype(int)
    rec, prec = (f(predicted, heldout.bags, heldout.weak.values) for f in (recall, precision))
    for x in range(8):
        near = np.argsort(np.abs(outputs - scores[x]))[:3]
        expected = gamma * rec[near].mean() + (1 - gamma) * (rec[near].mean() >= alpha) * prec[near].mean()
        assert found[x] == pytest.approx(expected if assignment[x] == labels[x] else 0.0)


def test_diagnostic_where_alpha_is_never_reached():
    """A fold in which no neighbourhood reaches alpha says so, with a hint."""
    train, heldout = part_of(["T"] * 2, [[0.5, 0.5]]), part_of(["a"] * 4, [[0.5, 0.5]])
    outcome = outcome_on(train, heldout, [1, 1], [1, 1], np.ones(4), k=2)
    said = LlpReward(alpha=0.9).prepare(outcome.fold, None).diagnostic(outcome)
    assert "alpha = 0.9 (the highest was 0.50)" in said
    assert LlpReward(alpha=0.5).prepare(outcome.fold, None).diagnostic(outcome) is None


# Both


def example(n_classes):
    """Twelve bags of several sizes with random shares."""
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(12), (1, 4, 3, 5, 2, 4, 3, 6, 4, 4, 5, 2))
    y = rng.integers(n_classes, size=len(bags))
    shares = Bags.from_ids(bags).mean(y[:, None] == np.arange(n_classes))
    return Example(LlpRegime(), rng.normal(size=(len(bags), 3)), bags, shares[:, 1] if n_classes == 2 else shares)


CHECKS = [
    (type(reward).__name__, n_classes, check)
    for reward in (LlpReward(), LlpMarginalReward())
    for n_classes in (2, 3)
    for check in reward_checks(reward, example(n_classes))
]


@pytest.mark.parametrize(("reward", "n_classes", "check"), CHECKS, ids=str)
def test_conformance(reward, n_classes, check):
    """Both pass the kit that plugin authors run, with two and with three classes."""
    check()


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (LlpMarginalReward, {"steepness": 0.0}),
        (LlpMarginalReward, {"gain": float("nan")}),
        (LlpReward, {"gamma": 1.5}),
        (LlpReward, {"alpha": -0.1}),
    ],
)
def test_parameters(make, parameters):
    """What a parameter may be is said when the reward is made."""
    with pytest.raises(SettingsError, match=next(iter(parameters))):
        make(**parameters)
