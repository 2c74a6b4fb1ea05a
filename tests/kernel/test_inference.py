"""Algorithm 1 against a literal walk through it, with a stub in the place of the classifier, and its settings."""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from attrs import evolve, fields
from hypothesis import given, strategies as st

from bliss_bandits.cucb import Cucb
from bliss_bandits.kl_ucb import KlUcb
from bliss_framework import DataError, PluginError, RewardError, SettingsError
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.kernel.inference import InferenceSettings, run_algorithm_1

CANDIDATES = [[1, 1, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
FREE = [0, 1, 3, 5]


GENERAL = {one.name: TABLE[one.name].default for one in fields(InferenceSettings)} | {"n_inferences": 1}


def settings_of(**chosen: Any) -> InferenceSettings:
    """Return settings of Algorithm 1, the general ones but for what is chosen."""
    return InferenceSettings(**{**GENERAL, **chosen})


def run(problem, n_rounds=5, seed=0, on_round=lambda t, reward: None, **options):
    """Run one inference."""
    return run_algorithm_1(problem, settings_of(n_rounds=n_rounds, **options), [np.random.default_rng(seed)], on_round)


def by_table(table) -> Callable:
    """Pay for each label what a table (n, L) says."""
    values = np.asarray(table, dtype=float)
    return lambda outcome: values[np.arange(len(values)), outcome.assignment]


def changing(n: int) -> Callable:
    """Pay other amounts in every pull, none of which are equal."""
    pull = iter(range(10**6))

    def pay(outcome):
        step = next(pull)
        return np.array([paid(step, x, int(outcome.assignment[x])) for x in range(n)])

    return pay


def paid(step: int, x: int, label: int) -> float:
    return (0.6180339 * (x + 1) + 0.4142135 * (label + 1) + 0.0732050 * step * (label + 2)) % 1.0


# The initial sweep


@st.composite
def tables(draw):
    """Candidates of a few instances, at least one of which is free."""
    row = st.lists(st.booleans(), min_size=3, max_size=3).filter(any)
    return draw(st.lists(row, min_size=1, max_size=7).filter(lambda rows: any(sum(r) > 1 for r in rows)))


@given(candidates=tables(), n_rounds=st.integers(1, 9), n_parallel=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_sweep_and_rounds_add_up(make_part, make_problem, candidates, n_rounds, n_parallel, seed):
    """The sweep pulls every candidate arm in at most L pulls; after N rounds T adds up to both for each free row."""
    part = make_part([len(candidates)], candidates=candidates, class_of_label=(0, 1, 2))
    problem = make_problem(part, by_table(np.full((len(candidates), 3), 0.5)), Cucb())
    found = run(problem, n_rounds, seed, n_parallel=n_parallel)
    pulled = problem.puller.assignments
    n_sweep = len(pulled) - n_rounds
    assert n_sweep == max(sum(row) for row in candidates if sum(row) > 1) <= 3
    assert found.n_pulls == n_sweep + n_rounds
    for x, row in enumerate(candidates):
        labels = [label for label in range(3) if row[label]]
        assert set(pulled[:, x].tolist()) <= set(labels)
        if len(labels) == 1:
            assert found.pulls[x].tolist() == found.means[x].tolist() == [0.0, 0.0, 0.0]
        else:
            assert set(pulled[:n_sweep, x].tolist()) == set(labels)
            assert found.pulls[x].tolist() == [np.count_nonzero(pulled[:, x] == label) for label in range(3)]


def test_sweep_is_random_and_repeatable(make_part, make_problem):
    """The same generator draws the same sweep and breaks the same ties; another one does not."""
    histories = []
    for seed in (4, 4, 5):
        problem = make_problem(make_part([12]), by_table(np.ones((12, 2))))
        run(problem, 6, seed)
        histories.append(problem.puller.assignments.tolist())
    assert histories[0] == histories[1] != histories[2]


def test_ties_are_broken_at_random_in_every_round(make_part, make_problem):
    """Arms that all earn the same are chosen by lot: neither label is pulled always, nor the same one by all rows."""
    problem = make_problem(make_part([40]), by_table(np.ones((40, 2))))
    run(problem, 20)
    rounds = problem.puller.assignments[2:]
    assert 0.3 < rounds.mean() < 0.7
    assert all(0 < pull.sum() < 40 for pull in rounds)


# The rounds


def literal(history: np.ndarray, candidates, n_sweep: int, n_rounds: int, n_parallel: int):
    """Walk through Algorithm 1 with dictionaries: CUCB, the given sweep, P assignments before any is pulled."""
    T = {(x, y): 0 for x in range(len(candidates)) for y in range(3)}
    s = dict.fromkeys(T, 0.0)
    chosen = []

    def count(step: int, assignment: list[int]) -> None:
        for x in FREE:
            T[x, assignment[x]] += 1
            s[x, assignment[x]] += paid(step, x, assignment[x])

    for step in range(n_sweep):
        count(step, history[step].tolist())
    for first in range(1, n_rounds + 1, n_parallel):
        batch = []
        assumed_T, assumed_s = dict(T), dict(s)
        for t in range(first, min(first + n_parallel, n_rounds + 1)):
            assignment = []
            for x, allowed in enumerate(candidates):
                bound = {
                    y: assumed_s[x, y] / assumed_T[x, y] + sqrt(3 * log(t) / (2 * assumed_T[x, y]))
                    for y in range(3)
                    if allowed[y] and x in FREE
                }
                best = max(bound, key=bound.__getitem__) if bound else allowed.index(1)
                assignment.append(best)
                if x in FREE:
                    assumed_s[x, best] += assumed_s[x, best] / assumed_T[x, best]
                    assumed_T[x, best] += 1
            batch.append(assignment)
        for assignment in batch:
            count(n_sweep + len(chosen), assignment)
            chosen.append(assignment)
    return chosen, T, s


@pytest.mark.parametrize("n_parallel", [1, 3, 4, 40])
@pytest.mark.parametrize("seed", [0, 1])
def test_rounds_are_those_of_the_paper(make_part, make_problem, n_parallel, seed):
    """Assignments, pulls and means are those of a literal walk, the log t = 0 of t = 1 and assumed rewards included."""
    part = make_part([3, 3], candidates=CANDIDATES, class_of_label=(0, 1, 2))
    problem = make_problem(part, changing(6), Cucb())
    found = run(problem, 30, seed, n_parallel=n_parallel)
    history = problem.puller.assignments
    chosen, T, s = literal(history, CANDIDATES, 3, 30, n_parallel)
    assert history[3:].tolist() == chosen
    for x in FREE:
        for label in range(3):
            assert found.pulls[x, label] == T[x, label]
            assert found.means[x, label] == pytest.approx(s[x, label] / T[x, label] if T[x, label] else 0.0)


def test_parallel_pulls_are_chosen_before_any_is_pulled(make_part, make_problem):
    """With P = 4 and N = 10 the rounds 1-4, 5-8 and 9-10 are chosen, then pulled as one batch each."""
    problem = make_problem(make_part([3]), by_table(np.ones((3, 2))))
    run(problem, 10, n_parallel=4)
    batches = [range(1, 5), range(5, 9), range(9, 11)]
    expected = [("pull", 1), ("pull", 1)]
    for batch in batches:
        expected += [("bounds", t) for t in batch] + [("pull", len(batch))]
    assert problem.puller.log == expected


def test_assumed_rewards_are_replaced_by_true_ones(make_part, make_problem):
    """After a batch the statistics hold what was paid: with everything paid 1 in rounds, no trace of assumed means.

    The sweep pays 0 to both arms, so each of 4 parallel pulls assumes 0; all of them pay 1.
    """
    pull = iter(range(100))
    problem = make_problem(make_part([5]), lambda outcome: np.full(5, 0.0 if next(pull) < 2 else 1.0))
    found = run(problem, 4, n_parallel=4)
    assert found.pulls.sum(axis=1).tolist() == [6.0] * 5
    assert (found.means * found.pulls).sum(axis=1) == pytest.approx([4.0] * 5)


def test_the_better_arm_is_pulled_ever_more(make_part, make_problem):
    """An arm that always pays 0.9 against 0.1 gets most of the pulls, with either strategy."""
    for strategy in (Cucb(), KlUcb()):
        problem = make_problem(make_part([4]), by_table([[0.9, 0.1], [0.1, 0.9]] * 2), strategy)
        pulls = run(problem, 200).pulls
        assert (pulls[[0, 1, 2, 3], [0, 1, 0, 1]] > 160).all()
        assert pulls.min() >= 3


def test_inferences_side_by_side_are_averaged(make_part, make_problem):
    """Means of several inferences are the average of each run alone with its own generator, pulls add up."""
    table = np.random.default_rng(0).random((6, 3))
    part = make_part([3, 3], candidates=CANDIDATES, class_of_label=(0, 1, 2))
    setting = settings_of(n_rounds=7, n_parallel=2)

    def inferred(*seeds: int):
        problem = make_problem(part, by_table(table), Cucb())
        found = run_algorithm_1(problem, setting, [np.random.default_rng(seed) for seed in seeds])
        return found, problem.puller

    together, puller = inferred(1, 2, 3)
    alone = [inferred(seed)[0] for seed in (1, 2, 3)]
    assert together.means == pytest.approx(sum(one.means for one in alone) / 3)
    assert together.pulls.tolist() == sum(one.pulls for one in alone).tolist()
    assert together.n_pulls == sum(one.n_pulls for one in alone)
    assert [len(assignments) for assignments, _ in puller.calls] == [3, 3, 3, 6, 6, 6, 3]


# First draws from a prior


@pytest.mark.parametrize("n_first_draws", [1, 3])
def test_first_draws_come_from_the_prior(make_part, make_problem, n_first_draws):
    """Exactly that many draws follow the prior, unpulled arms or not; then arms that were never pulled come first."""
    prior = np.tile([1.0, 0.0], (8, 1))
    problem = make_problem(make_part([8]), by_table(np.tile([1.0, 0.0], (8, 1))), Cucb(), prior)
    found = run(problem, 2, n_first_draws=n_first_draws)
    pulled = problem.puller.assignments
    assert len(pulled) == n_first_draws + 2
    assert (pulled[:n_first_draws] == 0).all()
    assert (pulled[n_first_draws] == 1).all()  # although its mean could only be lower
    assert found.pulls.tolist() == [[n_first_draws + 1.0, 1.0]] * 8


def test_first_draws_follow_the_chances(make_part, make_problem):
    """With a prior of 0.2 for label 1, a fifth of the draws have it (within four standard deviations)."""
    problem = make_problem(make_part([250]), by_table(np.ones((250, 2))), prior=np.tile([0.8, 0.2], (250, 1)))
    run(problem, 1, n_first_draws=8)
    drawn = problem.puller.assignments[:8]
    assert abs(drawn.sum() - 400) < 4 * sqrt(2000 * 0.2 * 0.8)


def test_unpulled_arms_share_a_batch(make_part, make_problem):
    """Parallel pulls after first draws try different unpulled arms, not the same one P times."""
    part = make_part([6], class_of_label=(0, 1, 2))
    problem = make_problem(part, by_table(np.ones((6, 3))), prior=np.tile([1.0, 0.0, 0.0], (6, 1)))
    run(problem, 2, n_first_draws=1, n_parallel=2)
    batch = problem.puller.assignments[1:3]
    assert {frozenset(column) for column in batch.T.tolist()} == {frozenset({1, 2})}


# Constraints


def one_positive_in_each_bag(seen: list):
    """A constraint: the instance of a bag with the largest lead of label 1 is positive, where the bag allows it."""

    def constrain(bounds, part):
        seen.append(bounds)
        assignment = np.zeros(part.n_rows, dtype=np.intp)
        for bag in range(part.bags.n_bags):
            rows = [r for r in range(part.n_rows) if part.bags.index[r] == bag and part.space.candidates[r, 1]]
            if rows:
                assignment[max(rows, key=lambda r: bounds[r, 1] - max(bounds[r, 0], -1e9))] = 1
        return assignment

    return constrain


@pytest.mark.parametrize("n_parallel", [1, 3])
def test_a_constraint_is_honoured(make_part, make_problem, n_parallel):
    """With "exactly one positive in each positive bag" every assignment of the rounds has one there."""
    candidates = [[1, 1]] * 3 + [[1, 0]] * 2 + [[1, 1]] * 4
    part = make_part([3, 2, 4], candidates=candidates)
    seen: list[np.ndarray] = []
    table = np.random.default_rng(1).random((9, 2))
    problem = make_problem(part, by_table(table), Cucb(), constrain=one_positive_in_each_bag(seen))
    run(problem, 12, n_parallel=n_parallel)
    for assignment in problem.puller.assignments[2:]:
        assert part.bags.sum(assignment).tolist() == [1, 0, 1]
    # The constraint sees all nine rows: 0 for the only label of a known row, -inf for what is no candidate.
    assert all(bounds.shape == (9, 2) for bounds in seen)
    assert all(bounds[3:5].tolist() == [[0.0, -np.inf]] * 2 for bounds in seen)
    assert all(np.isfinite(np.delete(bounds, [3, 4], axis=0)).all() for bounds in seen)


def test_a_constraint_sees_unpulled_arms_first(make_part, make_problem):
    """After first draws that were all negative, the arms never pulled have the largest bounds, in random order."""
    first = []
    for seed in range(8):
        seen: list[np.ndarray] = []
        prior = np.tile([1.0, 0.0], (4, 1))
        problem = make_problem(make_part([4]), by_table(np.ones((4, 2))), Cucb(), prior, one_positive_in_each_bag(seen))
        run(problem, 4, seed, n_first_draws=1)
        assert (seen[0][:, 1] > 1e5).all()
        assert (seen[0][:, 0] <= 1).all()
        # Four rounds are enough to give each of the four instances its first positive pull.
        assert problem.puller.assignments[1:].sum(axis=0).tolist() == [1, 1, 1, 1]
        first.append(int(problem.puller.assignments[1].argmax()))
    assert len(set(first)) > 1


# Class balance


def test_balance_weights_reach_the_classifier(make_part, make_problem):
    """Each pull is weighted by the classes of its own assignment, and all negative labels count as one class."""
    part = make_part([6], class_of_label=(0, 0, 1))
    problem = make_problem(part, by_table(np.random.default_rng(0).random((6, 3))), Cucb())
    run(problem, 6, n_parallel=2, class_balance=1.0)
    for assignments, weights in problem.puller.calls:
        for assignment, found in zip(assignments.tolist(), weights, strict=True):
            n_positive = assignment.count(2)
            raw = [6 / n_positive if label == 2 else 6 / (6 - n_positive) for label in assignment]
            assert found == pytest.approx([6 * w / sum(raw) for w in raw])


def test_without_balance_the_classifier_has_its_own_weights(make_part, make_problem):
    """With b = 0 no weights are passed: those of the training part hold."""
    problem = make_problem(make_part([3], weights=np.array([1.0, 2.0, 3.0])), by_table(np.ones((3, 2))))
    run(problem, 2)
    assert all(weights is None for _, weights in problem.puller.calls)


# Rewards and their contract


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-0.2, "-0.2"), (1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf"), (1 + 2e-9, "1.000000002"), (-1e-6, "-1e-06")],
)
def test_a_reward_outside_0_and_1_is_refused(make_part, make_problem, value, shown):
    """The first reward that is no number in [0, 1] stops the run; the message names value, row and round."""
    pull = iter(range(100))
    problem = make_problem(make_part([3]), lambda outcome: np.array([0.5, value if next(pull) == 4 else 0.5, 1.0]))
    with pytest.raises(RewardError) as raised:
        run(problem, 9)
    # Two pulls of the sweep, then rounds 1, 2, 3: the fifth pull is round 3.
    expected = f"the reward returned {shown} for training instance 1 in round 3; rewards lie in [0, 1]."
    assert str(raised.value) == expected
    assert problem.puller.log[-1] == ("pull", 1)
    assert len(problem.puller.assignments) == 5


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (None, "None"),
        (np.zeros(2), "an array of shape (2,) and dtype float64"),
        (np.zeros((3, 1)), "an array of shape (3, 1) and dtype float64"),
        (0.5, "an array of shape () and dtype float64"),
        (["a", "b", "c"], "an array of shape (3,) and dtype <U1"),
        (np.zeros(3, dtype=complex), "an array of shape (3,) and dtype complex128"),
        (np.array([0.5, None, 1.0]), "an array of shape (3,) and dtype object"),
    ],
)
def test_a_reward_of_another_shape_is_refused(make_part, make_problem, returned, shown):
    """Anything but one number for each instance is refused in the first pull, by shape and type."""
    problem = make_problem(make_part([3]), lambda outcome: returned)
    with pytest.raises(RewardError) as raised:
        run(problem)
    assert str(raised.value) == f"the reward returned {shown} in round 0; it must return 3 numbers, one an instance."
    assert len(problem.puller.calls) == 1


@pytest.mark.parametrize(
    "returned",
    [[1, 0, 1], [True, False, True], np.array([1.0 + 1e-12, -1e-12, 1.0]), np.array([1, 0, 1], dtype=np.float32)],
)
def test_rewards_that_are_as_good_as_numbers(make_part, make_problem, returned):
    """Integers, booleans and single precision are fine, and rounding past the ends is cut off."""
    found = run(make_problem(make_part([3]), lambda outcome: returned))
    assert found.means.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def test_the_caller_keeps_its_rewards(make_part, make_problem):
    """The array that a reward returned is not changed by cutting off."""
    returned = np.array([1.0 + 1e-12, 0.5, -1e-12])
    run(make_problem(make_part([3]), lambda outcome: returned))
    assert returned.tolist() == [1.0 + 1e-12, 0.5, -1e-12]


def test_a_reward_that_raises(make_part, make_problem):
    """What a reward raises becomes a PluginError with the round, the kind and the text of the error."""
    problem = make_problem(make_part([3]), lambda outcome: 1 / 0)
    with pytest.raises(
        PluginError, match=r"the reward raised ZeroDivisionError in round 0: division by zero"
    ) as raised:
        run(problem)
    assert not isinstance(raised.value, RewardError)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_reward_that_is_no_table_of_numbers(make_part, make_problem):
    """A ragged list cannot become an array, and that is the reward's fault as well."""
    with pytest.raises(PluginError, match=r"the reward raised ValueError in round 0"):
        run(make_problem(make_part([3]), lambda outcome: [0.5, [1.0], 0.5]))


def test_an_error_that_the_user_can_mend_passes_through(make_part, make_problem):
    """A reward that raises one of our own errors is not wrapped."""

    def pay(outcome):
        raise DataError("the bag has no picture")

    with pytest.raises(DataError, match=r"^the bag has no picture$"):
        run(make_problem(make_part([3]), pay))


# Strategies and their contract


class Wild:
    """A strategy that breaks its contract in round 2."""

    def __init__(self, bounds) -> None:
        self.wild = bounds

    def bounds(self, arms, round, rng):
        return self.wild if round == 2 else arms.means


@pytest.mark.parametrize("bounds", [np.zeros((3, 1)), np.full((3, 2), np.nan), np.array([[0, 1], [0, np.nan], [1, 1]])])
def test_bounds_outside_their_contract(make_part, make_problem, bounds):
    """Bounds of another shape or with NaN stop the run; the message names the round and what is expected."""
    problem = make_problem(make_part([3]), by_table(np.ones((3, 2))), Wild(bounds))
    with pytest.raises(PluginError, match=r"the strategy returned bounds .* in round 2, .* of shape \(3, 2\)"):
        run(problem)


class ReturnsSums:
    """A strategy whose bounds are the sums of rewards themselves, or a read-only view of them."""

    def __init__(self, read_only):
        self.read_only = read_only

    def bounds(self, arms, round, rng):
        bounds = arms.reward_sum.view()
        bounds.flags.writeable = not self.read_only
        return bounds


@pytest.mark.parametrize("read_only", [False, True])
def test_what_a_strategy_returns_is_not_written_to(make_part, make_problem, read_only):
    """Arms without a pull and labels that are no candidates are marked in a copy: the sums stay what was paid."""
    candidates = [[True, True, False], [True, False, True], [True, True, True]]
    part = make_part([3], candidates=candidates, class_of_label=(0, 1, 2))
    problem = make_problem(part, by_table(np.full((3, 3), 0.25)), ReturnsSums(read_only))
    found = run(problem, 6, n_first_draws=1)
    assert found.pulls.sum() == 3 * 7
    assert found.means.tolist() == np.where(found.pulls > 0, 0.25, 0.0).tolist()
    assert not found.pulls[~np.array(candidates)].any()


def test_infinite_bounds_are_bounds(make_part, make_problem):
    """A strategy may say that an arm has no upper bound; what is no candidate stays unchosen all the same."""
    problem = make_problem(
        make_part([3], candidates=[[1, 1, 0]] * 3, class_of_label=(0, 1, 2)),
        by_table(np.ones((3, 3))),
        Wild(np.full((3, 3), np.inf)),
    )
    run(problem, 6)
    assert problem.puller.assignments.max() == 1


# What is told of a run


@pytest.mark.parametrize(("n_parallel", "rounds"), [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (9, [7])])
def test_rounds_are_told_with_their_mean_reward(make_part, make_problem, n_parallel, rounds):
    """After each batch comes its last round, with the mean reward over its pulls and free instances alone."""
    told = []
    part = make_part([3], candidates=[[1, 1], [1, 0], [1, 1]])
    # The known row earns 1 and must not count; the free rows earn 0.25 and 0.5.
    problem = make_problem(part, lambda outcome: np.array([0.25, 1.0, 0.5]))
    run(problem, 7, on_round=lambda t, reward: told.append((t, reward)), n_parallel=n_parallel)
    assert [t for t, _ in told] == rounds
    assert [reward for _, reward in told] == pytest.approx([0.375] * len(rounds))


@pytest.mark.parametrize(("n_rounds", "n_parallel"), [(100, 1), (7, 1), (25, 25), (35, 6), (200, 16)])
def test_some_rounds_are_diagnosed(make_part, make_problem, n_rounds, n_parallel):
    """Of the rounds about ten are diagnosed, one at the very least, whatever the batches."""
    problem = make_problem(
        make_part([3]), by_table(np.ones((3, 2))), diagnose=lambda outcome: f"all {outcome.assignment.shape[0]} alike"
    )
    said = run(problem, n_rounds, n_parallel=n_parallel).diagnostics
    assert 1 <= len(said) <= 11
    assert set(said) == {"all 3 alike"}


def test_time_is_kept_by_kind(make_part, make_problem):
    """Seconds are told for the classifier, the reward and the strategy."""
    seconds = run(make_problem(make_part([3]), by_table(np.ones((3, 2))))).seconds
    assert set(seconds) == {"classifier", "reward", "strategy"}
    assert all(spent >= 0 for spent in seconds.values())


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned None"),
        (np.full((3, 2), 1j), "dtype complex128"),
        (np.full((3, 2), "1"), "dtype <U1"),
        (np.zeros((2, 2)), r"shape \(2, 2\)"),
        (np.full((3, 2), np.nan), "6 of them NaN"),
    ],
)
def test_bounds_of_another_kind_are_refused(make_part, make_problem, returned, said):
    """Bounds that are no table of numbers, one for each arm, stop the run with the round."""
    problem = evolve(make_problem(make_part([3]), by_table(np.ones((3, 2)))), strategy=ReturnsBounds(returned))
    with pytest.raises(PluginError, match=said) as raised:
        run(problem, 2)
    assert "in round 1" in str(raised.value)


def test_a_strategy_that_raises(make_part, make_problem):
    """What a strategy raises becomes an error of the plugin, with the round."""
    problem = evolve(make_problem(make_part([3]), by_table(np.ones((3, 2)))), strategy=ReturnsBounds(KeyError("x")))
    with pytest.raises(PluginError, match=r"the strategy raised KeyError in round 1"):
        run(problem, 2)


class ReturnsBounds:
    """A strategy that returns, or raises, what it was given."""

    def __init__(self, returned):
        self.returned = returned

    def bounds(self, arms, round, rng):
        """Return or raise it."""
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


def test_a_constraint_must_choose_candidates(make_part, make_problem):
    """A constraint that gives an instance a label which is no candidate stops the run and names both."""
    part = make_part([3], candidates=[[True, True], [True, False], [True, True]])
    problem = evolve(make_problem(part, by_table(np.ones((3, 2)))), constrain=lambda bounds, part: np.array([0, 1, 0]))
    with pytest.raises(PluginError, match=r"training instance 1 the label 1 in round 1, which is no candidate"):
        run(problem, 2)


@pytest.mark.parametrize("label", [-1, 2])
def test_a_constraint_must_choose_labels_that_there_are(make_part, make_problem, label):
    """A number below 0 or above the last label is no label, however Python counts from the end."""
    problem = evolve(
        make_problem(make_part([2]), by_table(np.ones((2, 2)))), constrain=lambda bounds, part: np.array([0, label])
    )
    with pytest.raises(PluginError, match=rf"training instance 1 the label {label} in round 1"):
        run(problem, 2)


def test_an_arm_is_averaged_over_the_inferences_that_pulled_it(make_part, make_problem):
    """An inference that never pulled an arm does not lower its mean."""
    table = np.array([[0.6, 0.9, 0.9]])
    problem = make_problem(make_part([1], class_of_label=(0, 1, 2)), by_table(table))
    rngs = [np.random.default_rng(seed) for seed in (0, 4)]
    found = run_algorithm_1(problem, settings_of(n_rounds=1, n_first_draws=1), rngs)
    assert found.pulls.tolist() == [[1, 2, 1]]
    assert found.means == pytest.approx(table)


def test_the_first_inference_stands_for_all_in_what_a_reward_says(make_part, make_problem):
    """Looks at outcomes cost time, so each look is at the first of several inferences only."""
    seen = []

    def look(outcome):
        seen.append(outcome.assignment.tolist())

    problem = make_problem(make_part([6]), by_table(np.ones((6, 2))), None, None, None, look)
    n_rounds, n_sweep = 4, 2
    rngs = [np.random.default_rng(seed) for seed in range(3)]
    run_algorithm_1(problem, settings_of(n_rounds=n_rounds), rngs)
    first = [assignments[0].tolist() for assignments, _ in problem.puller.calls[n_sweep:]]
    assert seen == first
    assert len(seen) == n_rounds


COUNTS = ["n_rounds", "n_inferences", "n_passes", "n_parallel", "n_neighbors", "n_first_draws"]


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", np.nan])
def test_counts_are_integers_from_one_on(name, value):
    """Zero, fractions, booleans and text are no counts; the message names the setting, the bound and the value."""
    with pytest.raises(SettingsError) as raised:
        TABLE[name].check(value)
    assert str(raised.value) == f"{name} must be an integer, at least 1; got {value!r}."


@pytest.mark.parametrize("value", [1, 0, 2.5])
def test_two_folds_at_least(value):
    """One fold leaves nothing to hold out."""
    with pytest.raises(SettingsError, match="n_folds must be an integer, at least 2"):
        TABLE["n_folds"].check(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pass_share", -0.1),
        ("pass_share", 1.1),
        ("pass_share", np.nan),
        ("pass_share", "0.2"),
        ("class_balance", -1),
        ("class_balance", np.inf),
        ("class_balance", True),
    ],
)
def test_shares_and_exponents_are_bounded(name, value):
    """A number outside its range, NaN, infinity and what is no number are refused by name."""
    with pytest.raises(SettingsError, match=f"{name} must be a number from 0 to"):
        TABLE[name].check(value)


@pytest.mark.parametrize("value", ["ONE", "both", 1])
def test_two_ways_to_train(value):
    """Only "one" and "rest" are ways to train."""
    with pytest.raises(SettingsError, match=r"train_on must be one of 'one', 'rest'; got"):
        TABLE["train_on"].check(value)


def test_numbers_of_numpy_are_numbers():
    """Integers and floats that come out of numpy are as good as Python's."""
    for name, value in (("n_rounds", np.int64(7)), ("pass_share", np.float64(0.5)), ("n_first_draws", np.int32(2))):
        TABLE[name].check(value)


def test_a_settings_error_is_a_value_error():
    """scikit-learn's tools expect ValueError for wrong parameters."""
    assert issubclass(SettingsError, ValueError)
