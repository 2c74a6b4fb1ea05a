"""Pulls, reward sums and means of arms, and how an assignment is chosen from their bounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from bliss_framework import ArmStatistics
from bliss_framework.kernel.arms import TIE, best_label, draw_labels, draw_unpulled


def test_no_pull_at_all():
    """At the start every candidate arm is unpulled and every mean is 0."""
    arms = ArmStatistics.empty(np.array([[True, True], [False, True]]))
    assert arms.unpulled.tolist() == [[True, True], [False, True]]
    assert arms.means.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_an_arm_that_is_no_candidate_is_not_missed():
    """Only candidates wait for their first pull."""
    arms = ArmStatistics.empty(np.array([[True, False]]))
    arms.add(np.array([0]), np.array([0.5]))
    assert not arms.unpulled.any()


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8)), min_size=2, max_size=2), max_size=12))
def test_counting_pulls_one_by_one(history):
    """Each pull adds one to T and its reward to s of exactly the arm that was pulled."""
    arms = ArmStatistics.empty(np.ones((2, 3), dtype=bool))
    paid: dict[tuple[int, int], list[Fraction]] = {(row, label): [] for row in range(2) for label in range(3)}
    for pull in history:
        arms.add(np.array([label for label, _ in pull]), np.array([eighths / 8 for _, eighths in pull]))
        for row, (label, eighths) in enumerate(pull):
            paid[row, label].append(Fraction(eighths, 8))
    for (row, label), rewards in paid.items():
        assert arms.pulls[row, label] == len(rewards)
        assert arms.reward_sum[row, label] == float(sum(rewards))
        assert arms.means[row, label] == pytest.approx(float(sum(rewards)) / max(len(rewards), 1))


def test_tables_may_lie_in_memory_in_any_way():
    """Pulls of a table whose columns lie one after the other in memory count as those of any other."""
    arms = ArmStatistics(np.zeros((3, 2), order="F"), np.zeros((2, 3)).T, np.ones((3, 2), dtype=bool))
    arms.add(np.array([0, 1, 1]), np.array([0.25, 0.5, 1.0]))
    assert arms.pulls.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    assert arms.reward_sum.tolist() == [[0.25, 0.0], [0.0, 0.5], [0.0, 1.0]]


def test_an_assumed_pull_does_not_move_the_mean():
    """A pull whose reward is assumed adds one to T and the mean to s: 3/4 becomes 3.75/5."""
    arms = ArmStatistics(np.array([[4.0, 2.0]]), np.array([[3.0, 1.0]]), np.array([[True, True]]))
    arms.add_assumed(np.array([0]))
    assert arms.pulls.tolist() == [[5.0, 2.0]]
    assert arms.reward_sum.tolist() == [[3.75, 1.0]]


def test_a_copy_can_be_thrown_away():
    """Pulls of a copy leave the original alone."""
    arms = ArmStatistics.empty(np.ones((1, 2), dtype=bool))
    arms.copy().add(np.array([1]), np.array([1.0]))
    assert arms.pulls.sum() == arms.reward_sum.sum() == 0


BOUNDS = st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, -np.inf]), min_size=3, max_size=3).filter(lambda r: max(r) >= 0),
    min_size=1,
    max_size=10,
)


@given(BOUNDS, st.integers(0, 2**32 - 1))
def test_the_largest_bound_wins(bounds, seed):
    """The chosen label of each instance has the largest of its bounds."""
    chosen = best_label(np.array(bounds), np.random.default_rng(seed))
    assert [row[label] for row, label in zip(bounds, chosen, strict=True)] == [max(row) for row in bounds]


def test_ties_are_drawn_fairly():
    """Three labels that tie are chosen equally often, the lower one never."""
    chosen = best_label(np.tile([0.5, 0.1, 0.5, 0.5], (6000, 1)), np.random.default_rng(0))
    counts = np.bincount(chosen, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[[0, 2, 3]]).pvalue > 0.01


def test_ties_are_drawn_for_each_instance():
    """Instances with the same ties do not all get the same label, and the generator decides."""
    tied = np.zeros((50, 2))
    first, again, other = (best_label(tied, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert set(first.tolist()) == {0, 1}
    assert first.tolist() == again.tolist() != other.tolist()


def test_bounds_that_differ_by_rounding_tie():
    """(0.1 + 0.2) + 0.3 and 0.1 + (0.2 + 0.3) are one bound; a difference above 1e-12 is one to go by."""
    rounded = np.tile([(0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)], (200, 1))
    assert set(best_label(rounded, np.random.default_rng(0)).tolist()) == {0, 1}
    apart = np.tile([0.6, 0.6 + 10 * TIE], (200, 1))
    assert best_label(apart, np.random.default_rng(0)).all()


def test_an_infinite_bound_beats_all_others():
    """An arm that was never pulled has an infinite bound and is chosen."""
    bounds = np.array([[5.0, np.inf], [np.inf, -np.inf]])
    assert best_label(bounds, np.random.default_rng(0)).tolist() == [1, 0]


def test_draws_follow_their_chances():
    """Labels are drawn in proportion to their weights, which need not add up to 1."""
    drawn = draw_labels(np.tile([1.0, 0.0, 3.0], (8000, 1)), np.random.default_rng(5))
    counts = np.bincount(drawn, minlength=3)
    assert counts[1] == 0
    assert chisquare(counts[[0, 2]], [2000, 6000]).pvalue > 0.01


@given(st.data(), st.integers(0, 2**32 - 1))
def test_a_label_without_weight_is_never_drawn(data, seed):
    """Wherever the zeros are, first or last, only labels with a weight are drawn."""
    row = st.lists(st.sampled_from([0.0, 1e-9, 0.3, 7.0]), min_size=4, max_size=4).filter(any)
    weights = np.array(data.draw(st.lists(row, min_size=1, max_size=20)))
    drawn = draw_labels(weights, np.random.default_rng(seed))
    assert (weights[np.arange(len(weights)), drawn] > 0).all()


def test_the_lowest_lot_falls_to_the_first_label_with_a_chance():
    """A random number of exactly 0 draws the first label whose weight is not 0."""

    class Lowest:
        def random(self, n: int) -> np.ndarray:
            return np.zeros(n)

    assert draw_labels(np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 1.0]]), Lowest()).tolist() == [2, 0]


@given(st.data(), st.integers(0, 2**32 - 1))
def test_a_sweep_needs_one_pull_for_each_label(data, seed):
    """After as many draws as an instance has candidates, each of its arms was pulled; no other arm ever is."""
    row = st.lists(st.booleans(), min_size=4, max_size=4).filter(any)
    candidates = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
    weights = candidates / candidates.sum(axis=1, keepdims=True)
    rng, arms = np.random.default_rng(seed), ArmStatistics.empty(candidates)
    for n_draws in range(1, int(candidates.sum(axis=1).max()) + 1):
        arms.add(draw_unpulled(arms, weights, rng), np.zeros(len(candidates)))
        for x in range(len(candidates)):
            assert np.count_nonzero(arms.pulls[x]) == min(n_draws, candidates[x].sum())
    assert not arms.unpulled.any()
    assert (arms.pulls[~candidates] == 0).all()


def test_a_prior_cannot_keep_an_arm_from_its_first_pull():
    """An arm to which the prior gives no chance is drawn all the same once it alone is unpulled."""
    arms = ArmStatistics.empty(np.array([[True, True]]))
    rng, prior = np.random.default_rng(0), np.array([[1.0, 0.0]])
    drawn = []
    for _ in range(2):
        drawn.append(int(draw_unpulled(arms, prior, rng)[0]))
        arms.add(np.array(drawn[-1:]), np.zeros(1))
    assert drawn == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_a_sweep_is_random(seed):
    """The first draw of the sweep is fair: about half of 400 instances start with label 1."""
    arms = ArmStatistics.empty(np.ones((400, 2), dtype=bool))
    drawn = draw_unpulled(arms, np.full((400, 2), 0.5), np.random.default_rng(seed))
    assert abs(drawn.sum() - 200) < 4 * 10  # four standard deviations of a fair coin
