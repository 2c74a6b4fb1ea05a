"""Pulls, reward sums and empirical means."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import ArmStatistics


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


@settings(max_examples=50, deadline=None)
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
