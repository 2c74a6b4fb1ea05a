"""CUCB and KL-UCB: bounds against numbers, bisection and closed forms, and their regret on a bandit problem."""

from collections.abc import Callable
from math import exp, expm1, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest
from attrs import fields
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import entropy

from bliss_bandits.cucb import Cucb
from bliss_bandits.kl_ucb import KlUcb, kl_upper_bound
from bliss_framework import ArmStatistics, Bags, Fold, LabelSpace, Part, Predictions, SettingsError, WeakLabels
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.extension.components import resolve
from bliss_framework.kernel.inference import FoldProblem, InferenceSettings, run_algorithm_1

RNG = np.random.default_rng(0)
PROPERTY = settings(max_examples=150, deadline=None)


GENERAL = {one.name: TABLE[one.name].default for one in fields(InferenceSettings)} | {"n_inferences": 1}


def settings_of(**chosen: Any) -> InferenceSettings:
    """Return settings of Algorithm 1, the general ones but for what is chosen."""
    return InferenceSettings(**{**GENERAL, **chosen})


def bound(strategy: Any, mean: float, pulls: float, t: int) -> float:
    """The bound of one arm."""
    arms = ArmStatistics(np.array([[pulls]]), np.array([[mean * pulls]]), np.array([[True]]))
    return float(strategy.bounds(arms, t, RNG)[0, 0])


def bisected(p: float, divergence: float) -> float:
    """The largest q with kl(p, q) <= divergence, by 200 bisections of [p, 1]."""
    if divergence <= 0 or p >= 1:
        return min(p, 1.0)

    def kl(q: float) -> float:
        return (p * log(p / q) if p > 0 else 0.0) + (1 - p) * log((1 - p) / (1 - q))

    low, high = p, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle < 1 and kl(middle) <= divergence:
            low = middle
        else:
            high = middle
    return low


# CUCB


@pytest.mark.parametrize(
    ("s", "T", "t", "expected"), [(3, 4, 1, 0.75), (3, 4, 10, 1.679231), (0, 1, 10, 1.858461), (1, 2, 2, 1.221013)]
)
def test_cucb_numbers(s, T, t, expected):
    """The bound is s/T + sqrt(3 log t / (2T)), as Algorithm 1 has it: for (1, 2, 2) that is 0.5 + sqrt(0.519860)."""
    assert bound(Cucb(), s / T, T, t) == pytest.approx(expected, abs=5e-7)


@PROPERTY
@given(st.integers(1, 60), st.floats(0, 1), st.integers(1, 10**6), st.sampled_from([0.0, 0.3, 1.0, 2.0]))
def test_cucb_is_its_formula(T, mean, t, exploration):
    """Each bound is the mean plus exploration times the paper's bonus; at t = 1 it is the mean."""
    expected = mean + exploration * sqrt(3 * log(t) / (2 * T))
    assert bound(Cucb(exploration), mean, T, t) == pytest.approx(expected, abs=1e-12)


def test_cucb_of_a_table():
    """Every arm of a table has the bound of its own pulls and rewards."""
    arms = ArmStatistics(np.array([[1.0, 5.0], [2.0, 3.0]]), np.array([[1.0, 2.0], [0.5, 3.0]]), np.ones((2, 2), bool))
    bonus = [[sqrt(1.5 * log(7) / T) for T in row] for row in arms.pulls.tolist()]
    expected = np.array([[1.0, 0.4], [0.25, 1.0]]) + bonus
    assert Cucb().bounds(arms, 7, RNG) == pytest.approx(expected)


# KL-UCB


@pytest.mark.parametrize(
    ("mean", "T", "t", "expected"),
    [
        (0.0, 1, 10, 0.9),
        (0.0, 4, 10, 0.437659),
        (0.75, 4, 10, 0.989101),
        (1.0, 3, 10, 1.0),
        (1.0, 1, 1, 1.0),
        (0.5, 2, 1, 0.5),
    ],
)
def test_kl_ucb_numbers(mean, T, t, expected):
    """Bounds at means 0 and 1 are those of the closed form, and at t = 1 the bound is the mean."""
    assert bound(KlUcb(), mean, T, t) == pytest.approx(expected, abs=5e-7)


@PROPERTY
@given(st.integers(1, 1000), st.integers(1, 10**6))
def test_kl_ucb_of_mean_zero_has_a_closed_form(T, t):
    """At mean 0 the bound solves -log(1 - q) = log t / T, so it is 1 - t^(-1/T)."""
    assert bound(KlUcb(), 0.0, T, t) == pytest.approx(1 - exp(-log(t) / T), abs=1e-9)


@PROPERTY
@given(st.floats(0, 1), st.one_of(st.just(0.0), st.floats(1e-8, 1e-3), st.floats(1e-3, 40)))
def test_kl_ucb_agrees_with_bisection(p, divergence):
    """The bound is that of 200 bisections, to 1e-9."""
    found = float(kl_upper_bound(np.array([p]), np.array([divergence]))[0])
    assert found == pytest.approx(bisected(p, divergence), abs=1e-9)
    assert p <= found <= 1


@PROPERTY
@given(
    st.one_of(st.floats(0, 1, exclude_max=True), st.floats(1e-15, 0.1).map(lambda r: 1 - r)),
    st.floats(-5, 1.5).map(lambda power: 10**power),
)
def test_kl_ucb_is_exact_next_to_one_as_well(p, divergence):
    """The bound is 1 - exp(-y) with the root y of kl(p, 1 - exp(-y)) = d that scipy's brentq finds, to 1e-12."""

    def gap(y: float) -> float:
        return float(rel_entr(p, -expm1(-y)) + rel_entr(1 - p, exp(-y))) - divergence

    ceiling = 700.0  # exp(-700) is the smallest that a float can tell from 0.
    y = brentq(gap, -log1p(-p), ceiling, xtol=1e-13) if gap(ceiling) > 0 else ceiling
    found = float(kl_upper_bound(np.array([p]), np.array([divergence]))[0])
    assert found == pytest.approx(-expm1(-y), abs=1e-12)


def test_kl_ucb_of_many_arms_is_that_of_each():
    """A hundred thousand arms have the bits that every hundredth of them has alone, and nothing is left unsolved."""
    rng = np.random.default_rng(0)
    p, divergence = rng.random(100_000), np.log(50) / rng.integers(1, 40, 100_000)
    found = kl_upper_bound(p, divergence)
    some = slice(None, None, 100)
    assert np.array_equal(found[some], kl_upper_bound(p[some], divergence[some]))
    spent = rel_entr(p, found) + rel_entr(1 - p, 1 - found)
    away_from_one = found < 1 - 1e-9
    assert away_from_one.mean() > 0.9
    assert spent[away_from_one] == pytest.approx(divergence[away_from_one], rel=1e-6)


@PROPERTY
@given(st.floats(0, 0.999), st.sampled_from([0.0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-6]))
def test_kl_ucb_where_pinskers_bound_is_next_to_one(p, below):
    """Starting from p + sqrt(d/2) = 1 - 1e-14, where the divergence is steep, does not stop short of the bound."""
    divergence = 2 * ((1 - p) * (1 - below)) ** 2
    found = float(kl_upper_bound(np.array([p]), np.array([divergence]))[0])
    assert found == pytest.approx(bisected(p, divergence), abs=1e-9)


@PROPERTY
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 5)), min_size=1, max_size=8))
def test_kl_ucb_of_an_arm_has_the_same_bits_in_any_company(table):
    """The bound of an arm does not depend on the arms that are solved beside it, to the last bit."""
    together = kl_upper_bound(*np.array(table).T)
    assert together.tolist() == [float(kl_upper_bound(np.array([p]), np.array([d]))[0]) for p, d in table]


def test_kl_ucb_agrees_with_scipy():
    """The divergence of the bound, as scipy computes it, spends exactly the budget log t / T."""
    for p, T, t in [(0.2, 5, 40), (0.9, 12, 1000), (0.5, 3, 7)]:
        found = bound(KlUcb(), p, T, t)
        assert T * entropy([p, 1 - p], [found, 1 - found]) == pytest.approx(log(t), abs=1e-7)
        root = brentq(lambda q, p=p, T=T, t=t: T * entropy([p, 1 - p], [q, 1 - q]) - log(t), p, 1 - 1e-12, xtol=1e-14)
        assert found == pytest.approx(root, abs=1e-9)


@PROPERTY
@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=12),
    st.integers(1, 10**5),
    st.sampled_from([0.0, 1.0, 3.0, 100.0]),
)
def test_kl_ucb_lies_between_the_mean_and_one(table, t, c):
    """mean <= bound <= 1 for every arm and every c, without a warning; each arm is solved on its own."""
    pulls = np.array([[float(T) for T, _ in table]])
    arms = ArmStatistics(pulls, pulls * [[mean for _, mean in table]], np.ones(pulls.shape, dtype=bool))
    found = KlUcb(c).bounds(arms, t, RNG)
    budget = max(0.0, log(t) + c * log(log(t))) if c and t > 1 else log(t)
    for q, T, s in zip(found[0].tolist(), pulls[0].tolist(), arms.reward_sum[0].tolist(), strict=True):
        assert s / T - 1e-15 <= q <= 1
        assert q == pytest.approx(bisected(min(s / T, 1.0), budget / T), abs=1e-9)


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0])
def test_kl_ucb_without_a_budget(t, mean):
    """With c = 3 the budget log t + 3 log log t is -inf at t = 1 and -0.406 at t = 2: cut to 0, bound = mean."""
    assert bound(KlUcb(c=3.0), mean, 4, t) == mean


def test_kl_ucb_with_log_log():
    """With c = 3 and t = 10 the budget is log 10 + 3 log log 10 = 4.804682, so mean 0 has 1 - exp(-4.804682/4)."""
    assert bound(KlUcb(c=3.0), 0.0, 4, 10) == pytest.approx(1 - exp(-4.804682 / 4), abs=1e-6)


def test_kl_ucb_is_tighter_than_cucb():
    """For the same arm KL-UCB is never above CUCB: Pinsker's inequality gives it sqrt(log t / 2T) at most."""
    T, means = np.meshgrid(np.arange(1.0, 30.0), np.linspace(0, 1, 21))
    arms = ArmStatistics(T, T * means, np.ones(T.shape, dtype=bool))
    assert (KlUcb().bounds(arms, 50, RNG) <= Cucb().bounds(arms, 50, RNG) + 1e-12).all()


def test_rewards_past_the_ends_by_rounding():
    """A reward sum above the number of pulls by rounding is a mean of 1."""
    arms = ArmStatistics(np.array([[3.0]]), np.array([[3.0000000000000004]]), np.array([[True]]))
    assert KlUcb().bounds(arms, 10, RNG).tolist() == [[1.0]]


@pytest.mark.parametrize("strategy", [Cucb(), KlUcb()])
def test_unpulled_arms_have_some_number(strategy):
    """Arms without a pull get a number, not NaN, and no warning: what it is does not matter."""
    arms = ArmStatistics(np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]]), np.array([[True, True]]))
    assert not np.isnan(strategy.bounds(arms, 5, RNG)).any()


@pytest.mark.parametrize("strategy", [Cucb(), KlUcb()])
def test_bounds_change_no_statistics(strategy):
    """Asking for bounds leaves pulls and reward sums alone, and draws no random number."""
    arms = ArmStatistics(np.array([[3.0, 2.0]]), np.array([[1.0, 1.0]]), np.array([[True, True]]))
    rng = np.random.default_rng(1)
    strategy.bounds(arms, 5, rng)
    assert (arms.pulls.tolist(), arms.reward_sum.tolist()) == ([[3.0, 2.0]], [[1.0, 1.0]])
    assert rng.random() == np.random.default_rng(1).random()


@pytest.mark.parametrize(("name", "kind"), [("cucb", Cucb), ("kl-ucb", KlUcb)])
def test_strategies_are_found_by_name(name, kind):
    """Both are installed under the names that users type."""
    assert isinstance(resolve("strategy", name), kind)


@pytest.mark.parametrize("value", [-1, 101, np.nan, "1", None, True])
def test_parameters_are_checked(value):
    """Parameters outside [0, 100], and what is no number, are refused by name."""
    with pytest.raises(SettingsError, match="c must be a number from 0 to 100"):
        KlUcb(c=value)
    with pytest.raises(SettingsError, match="exploration must be a number from 0 to 100"):
        Cucb(exploration=value)


# The bandit checked as a bandit

ARMS = [[0.8, 0.4], [0.9, 0.5, 0.3], [0.7, 0.3, 0.2, 0.1], [0.6, 0.2]]
REPEATS = 40
HORIZONS = (10, 100, 1000, 10000)


class Nothing:
    """A classifier that learns nothing and costs nothing."""

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        heldout = np.zeros((len(assignments), 1), dtype=np.intp)
        return Predictions(assignments, assignments[:, :, None], heldout, heldout[:, :, None])


class BernoulliArms:
    """Pays 0 or 1 with the probability of each chosen arm, and keeps the cumulative regret of each instance."""

    def __init__(self, chances: NDArray[np.float64], seed: int) -> None:
        self.chances, self.rng = chances, np.random.default_rng(seed)
        self.best = chances.max(axis=1)
        self.rows = np.arange(len(chances))
        self.regret = np.zeros(len(chances))

    def __call__(self, outcome: Any) -> NDArray[np.float64]:
        expected = self.chances[self.rows, outcome.assignment]
        self.regret += self.best - expected
        return (self.rng.random(len(expected)) < expected).astype(np.float64)

    def diagnostic(self, outcome: Any) -> None:
        return None


def bernoulli_problem(strategy: Any, repeats: int, seed: int) -> tuple[FoldProblem, BernoulliArms]:
    """Instances with 2 to 4 arms of known chances, each several times over."""
    chances = np.full((len(ARMS) * repeats, 4), -1.0)
    for i in range(len(chances)):
        chances[i, : len(ARMS[i % len(ARMS)])] = ARMS[i % len(ARMS)]
    bags = Bags.from_ids(np.arange(len(chances)))
    space = LabelSpace(chances >= 0, np.arange(4))
    train = Part(np.zeros((len(chances), 1)), bags, WeakLabels(np.zeros(len(chances)), (0, 1, 2, 3)), space)
    reward = BernoulliArms(chances, seed)
    return FoldProblem(
        Fold(train, train.take(np.array([0])), 1), Nothing(), reward, strategy, space.draw_weights()
    ), reward


def regret_of(strategy: Any) -> dict[int, NDArray[np.float64]]:
    """Run Algorithm 1 and return the mean regret of the instances of each kind at the horizons: {t: (kinds,)}."""
    problem, reward = bernoulli_problem(strategy, REPEATS, seed=1)
    at: dict[int, NDArray[np.float64]] = {}

    def look(t: int, mean_reward: float) -> None:
        if t in HORIZONS:
            at[t] = reward.regret.reshape(REPEATS, len(ARMS)).mean(axis=0)

    run_algorithm_1(problem, settings_of(n_rounds=HORIZONS[-1]), [np.random.default_rng(2)], look)
    return at


def per_decade(constant: Callable[[float, float], float]) -> float:
    """What a regret of sum over arms of constant(best, other) * log t adds when t grows tenfold, on average."""
    return log(10) * float(np.mean([sum(constant(arms[0], other) for other in arms[1:]) for arms in ARMS]))


def test_regret_grows_like_log_t():
    """The regret of both strategies grows by about the same for each factor of ten, and KL-UCB's is the smaller.

    In theory tenfold t adds log(10) * sum of 1.5 / gap for CUCB (its bonus is sqrt(1.5 log t / T)) and log(10) * sum of
    gap / kl(p, best) for KL-UCB (Lai and Robbins). A regret like sqrt(t) would add 3.2 times more in each decade than
    in the one before, a linear one 10 times more.
    """
    theory = {
        "cucb": per_decade(lambda best, other: 1.5 / (best - other)),
        "kl-ucb": per_decade(lambda best, other: (best - other) / float(entropy([other, 1 - other], [best, 1 - best]))),
    }
    regrets = {"cucb": regret_of(Cucb()), "kl-ucb": regret_of(KlUcb())}
    print("\nregret at t     " + "".join(f"{t:>9}" for t in HORIZONS) + "   +100-1000  +1000-10000  theory")  # noqa: T201
    for name, at in regrets.items():
        mean = [float(at[t].mean()) for t in HORIZONS]
        first, second = mean[2] - mean[1], mean[3] - mean[2]
        numbers = "".join(f"{value:9.2f}" for value in mean)
        print(f"{name:<16}{numbers}{first:12.2f}{second:13.2f}{theory[name]:8.2f}")  # noqa: T201
        assert second < 1.6 * first
        assert 0.5 * theory[name] < second < 1.6 * theory[name]
    for t in HORIZONS:
        assert regrets["kl-ucb"][t].mean() <= regrets["cucb"][t].mean()
    assert (regrets["kl-ucb"][HORIZONS[-1]] < regrets["cucb"][HORIZONS[-1]]).all()


@pytest.mark.parametrize("strategy", [Cucb(), KlUcb()])
def test_the_best_arm_is_inferred(strategy):
    """After 600 rounds the best empirical mean is that of the best arm in nearly every instance."""
    problem, reward = bernoulli_problem(strategy, repeats=40, seed=5)
    means = run_algorithm_1(problem, settings_of(n_rounds=600), [np.random.default_rng(6)]).means
    right = np.where(reward.chances >= 0, means, -1).argmax(axis=1) == reward.chances.argmax(axis=1)
    assert right.mean() > 0.98
