"""The marginal-effect reward of MIL against its formula in plain loops, and against finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import Bags, Fold, Part, SettingsError, WeakLabels
from bliss_framework.extension.components import resolve
from bliss_framework.kernel.pull import Outcome, outcome_of
from bliss_framework.testing import reward_checks
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.marginal_effect import MilMarginalReward, bag_slopes

PROPERTY = settings(max_examples=80, deadline=None)


class Linear:
    """Stands for a prepared classifier with this smoother."""

    def __init__(self, smoother):
        self.smoother = np.asarray(smoother)


def part_of(ids, weak, X=None):
    """Rows with these bag ids, and the weak label of each bag in order of first appearance."""
    bags, labels = Bags.from_ids(np.asarray(ids)), WeakLabels(np.asarray(weak, dtype=np.int8), (0, 1))
    X = np.zeros((len(ids), 1)) if X is None else X
    return Part(X, bags, labels, MilRegime().label_space(labels, bags))


def outcome_on(train, heldout, assignment, labels, outputs):
    """One pull: labels that were assigned and predicted, and held-out outputs."""
    outputs = np.asarray(outputs, dtype=float)
    nothing = np.zeros((len(assignment), 1))
    held_labels = (outputs > 0).astype(np.intp)
    return Outcome(
        Fold(train, heldout, 1), np.asarray(assignment), np.asarray(labels), nothing, held_labels, outputs[:, None]
    )


def log_likelihood(outputs, ids, weak, steepness):
    """The log-likelihood of the weak labels under a noisy-or, bag by bag and instance by instance."""
    total = 0.0
    for name in dict.fromkeys(ids):
        none = 1.0
        for z, own in zip(outputs, ids, strict=True):
            if own == name:
                none *= 1.0 - 1.0 / (1.0 + math.exp(-steepness * z))
        total += math.log(1.0 - none) if weak[name] else math.log(none)
    return total


# The slopes of the bags' likelihood


@PROPERTY
@given(
    st.lists(st.tuples(st.floats(-2.0, 2.0), st.integers(0, 3)), min_size=2, max_size=12),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
    st.floats(0.5, 3.0),
)
def test_slopes_are_those_of_the_likelihood(rows, weak, steepness):
    """A small step of one output changes the log-likelihood by its slope times the step, in steepened units."""
    outputs, ids = [z for z, _ in rows], [bag for _, bag in rows]
    spread = float(np.std(outputs))
    if spread < 0.5:
        return  # Outputs of many deviations below 0 leave a positive bag no chance, and its slope is bounded there.
    names = list(dict.fromkeys(ids))
    found = bag_slopes(np.array(outputs), Bags.from_ids(ids), np.array([weak[name] for name in names]), steepness)
    steep, step = [z / spread for z in outputs], 1e-5
    for i in range(len(rows)):
        ends = [
            log_likelihood([z + side * (j == i) for j, z in enumerate(steep)], ids, weak, steepness)
            for side in (-step, step)
        ]
        assert found[i] * steepness == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_slopes_have_no_units(scale):
    """Outputs count in their own standard deviation."""
    outputs, bags, weak = np.array([0.3, -1.0, 2.0, 0.1]), Bags.from_ids([0, 0, 1, 1]), np.array([1, 0])
    assert np.allclose(bag_slopes(outputs * scale, bags, weak, 2.0), bag_slopes(outputs, bags, weak, 2.0))


@pytest.mark.parametrize("outputs", [[-1.0, -1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [1e100, -1e100, 1e100, -1e100]])
def test_slopes_stay_finite(outputs):
    """However steep the curve, a bag that is certainly wrong neither pulls without end nor overflows."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        found = bag_slopes(np.array(outputs), Bags.from_ids([0, 0, 1, 1]), np.array([1, 0]), 1000.0)
    assert np.isfinite(found).all()
    assert (found[:2] >= 0).all()
    assert (found[2:] <= 0).all()


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_outputs_that_are_all_alike(value):
    """Without deviation s is 1/2 everywhere: a positive bag of two has (1/4) / (3/4) * 1/2, a negative one -1/2."""
    found = bag_slopes(np.full(4, value), Bags.from_ids([0, 0, 1, 1]), np.array([1, 0]), 3.4)
    assert np.allclose(found, [1 / 6, 1 / 6, -0.5, -0.5])


# The reward


def test_reward_of_a_small_case_by_hand():
    """Two training instances of a positive bag, a positive and a negative held-out bag of one instance each.

    The outputs 1 and -1 deviate by 1, so with steepness ln 3 s is 3/4 and 1/4; the slopes are (1/4)/(3/4) * 3/4 = 1/4
    and -1/4. E = 1/4 * (0.8 - 0.2) = 0.15 and -0.15, both of mean size; tanh(ln 2) = 0.6.
    """
    train, heldout = part_of(["T", "T"], [1]), part_of(["P", "N"], [1, 0])
    reward = MilMarginalReward(steepness=math.log(3), gain=math.log(2))
    prepared = reward.prepare(Fold(train, heldout, 1), Linear([[0.8, 0.2], [0.2, 0.8]]))
    for assignment, expected in (([1, 0], [0.8, 0.8]), ([0, 1], [0.2, 0.2]), ([1, 1], [0.8, 0.2])):
        outcome = outcome_on(train, heldout, assignment, assignment, [1.0, -1.0])
        assert np.allclose(prepared(outcome), expected)


def naive_rewards(outcome, weak, ids, effect, steepness, gain):
    """The formula of the docstring, in loops over held-out and training instances."""
    outputs = outcome.heldout_scores[:, 0].tolist()
    spread = math.sqrt(sum((z - sum(outputs) / len(outputs)) ** 2 for z in outputs) / len(outputs))
    s = [1.0 / (1.0 + math.exp(-steepness * z / spread)) for z in outputs]
    effects = []
    for x in range(len(outcome.assignment)):
        total = 0.0
        for other, name in enumerate(ids):
            not_positive = math.prod(1.0 - s[j] for j, own in enumerate(ids) if own == name)
            g = not_positive / (1.0 - not_positive) * s[other] if weak[name] else -s[other]
            total += g * float(effect[other, x])
        effects.append(total)
    free = [abs(e) for e, is_free in zip(effects, outcome.fold.train.space.free, strict=True) if is_free]
    size = sum(free) / len(free)
    rewards = []
    for label, said, e in zip(outcome.assignment.tolist(), outcome.labels.tolist(), effects, strict=True):
        rewards.append((0.5 + (2 * label - 1) / 2 * math.tanh(gain * e / size)) if label == said else 0.0)
    return rewards


HELD = ["P", "Q", "P", "N", "N", "Q"]
WEAK = {"P": 1, "Q": 1, "N": 0}


@pytest.fixture
def random_pull():
    """A function that makes a pull of random outputs, assignment and predictions; the last two rows are known."""

    def make(seed):
        rng = np.random.default_rng(seed)
        train = part_of(["A", "A", "A", "B", "B", "M", "M"], [1, 1, 0])
        heldout = part_of(HELD, [1, 1, 0])
        assignment, labels = np.where(train.space.free, rng.integers(2, size=(2, 7)), 0)
        labels[0] = 1 - assignment[0]
        outcome = outcome_on(train, heldout, assignment, labels, rng.normal(size=6))
        return outcome, rng.normal(size=(6, 7))

    return make


@pytest.mark.parametrize("seed", range(6))
def test_reward_is_the_formula(random_pull, seed):
    """The mean size of effects is that of free instances alone; labels that were not learnt earn nothing."""
    outcome, effect = random_pull(seed)
    found = MilMarginalReward(2.0, 0.9).prepare(outcome.fold, Linear(effect))(outcome)
    assert np.allclose(found, naive_rewards(outcome, WEAK, HELD, effect, 2.0, 0.9))
    refused = outcome.assignment != outcome.labels
    assert refused.any()
    assert (found[refused] == 0).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_effect_changes_its_sign_with_the_label(random_pull):
    """What label 1 earns above 1/2, label 0 loses: with the same outputs both rewards of an instance sum to 1."""
    outcome, effect = random_pull(0)
    reward = MilMarginalReward().prepare(outcome.fold, Linear(effect))
    outputs = outcome.heldout_scores[:, 0]
    both = [
        reward(outcome_on(outcome.fold.train, outcome.fold.heldout, labels, labels, outputs))
        for labels in (np.zeros(7, dtype=int), np.ones(7, dtype=int))
    ]
    assert np.allclose(both[0] + both[1], 1.0)
    assert (np.abs(both[1] - 0.5) > 1e-3).all()


def test_without_any_effect_every_label_earns_a_half(random_pull):
    """A smoother of zeros tells nothing, and nothing is divided by 0."""
    outcome, effect = random_pull(0)
    train, heldout = outcome.fold.train, outcome.fold.heldout
    own = outcome_on(train, heldout, outcome.assignment, outcome.assignment, outcome.heldout_scores[:, 0])
    assert MilMarginalReward().prepare(own.fold, Linear(effect * 0))(own).tolist() == [0.5] * 7


def test_without_free_instances(random_pull):
    """A fold of negative bags has no arms; the reward is asked nevertheless in the last pull."""
    train, heldout = part_of(["M", "M"], [0]), part_of(["P", "N"], [1, 0])
    outcome = outcome_on(train, heldout, [0, 0], [0, 0], [1.0, -1.0])
    assert MilMarginalReward().prepare(outcome.fold, Linear(np.ones((2, 2))))(outcome).tolist() == [0.5, 0.5]


def data(n_bags, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * 3, 2))
    weak = np.arange(n_bags) % 2
    X[::3, 0] += 3.0 * weak
    return part_of(np.repeat(np.arange(n_bags), 3), weak, X)


@pytest.mark.parametrize("name", ["kernel-ridge", "ridge", "svm-rbf"])
def test_influence_of_real_classifiers(name):
    """Kernel ridge and ridge lend their smoother, an SVM the similarity of rows; a reward of a fold is its formula."""
    train, heldout = data(6, 0), data(4, 1)
    fold = Fold(train, heldout, 3)
    prepared = resolve("classifier", name).prepare(train, heldout, np.random.default_rng(0))
    assignment = np.where(train.space.free, np.arange(18) % 3 == 0, 0).astype(np.intp)
    outcome = outcome_of(fold, assignment, prepared.pull(assignment[None], None), 0)
    if name == "svm-rbf":
        variance = float(((train.X - train.X.mean(axis=0)) ** 2).sum(axis=1).mean())
        effect = np.array([[math.exp(-float((x - z) @ (x - z)) / variance) for z in train.X] for x in heldout.X])
    else:
        steps = np.concatenate([[np.zeros(18)], np.eye(18)]).T
        outputs = prepared.respond(steps)
        effect = outputs[:, 1:] - outputs[:, :1]
    ids = np.repeat(np.arange(4), 3).tolist()
    expected = naive_rewards(outcome, [0, 1, 0, 1], ids, effect, 3.4, 0.7)
    assert np.allclose(MilMarginalReward().prepare(fold, prepared)(outcome), expected, atol=1e-5)
    if name == "svm-rbf":
        assert np.allclose(MilMarginalReward().prepare(fold, None)(outcome), expected)


@pytest.mark.parametrize("check", reward_checks(MilMarginalReward()), ids=str)
def test_conformance(check):
    """It passes the kit that plugin authors run."""
    check()


@pytest.mark.parametrize("parameters", [{"steepness": 0.0}, {"gain": -1.0}, {"gain": float("nan")}])
def test_parameters_are_above_zero(parameters):
    """Both parameters are finite numbers above 0."""
    with pytest.raises(SettingsError, match="above 0"):
        MilMarginalReward(**parameters)


@pytest.mark.parametrize("value", [1e308, 1e-308])
def test_parameters_can_be_computed_with(value):
    """What would overflow is refused before any pull, with what is allowed, instead of a warning of numpy's."""
    with pytest.raises(SettingsError, match=r"steepness must be a number from 1e-30 to 1e\+30; got 1e[+-]308"):
        MilMarginalReward(steepness=value)
