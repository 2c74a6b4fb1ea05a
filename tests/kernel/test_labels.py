"""Candidates, classes of labels, and the chances of a random first draw."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bliss_framework.errors import DataError
from bliss_framework.plugin import LabelSpace, WeakLabels, class_indicators


@st.composite
def spaces(draw):
    """A label space whose rows have at least one candidate each."""
    class_of_label = draw(st.lists(st.integers(0, 2), min_size=1, max_size=5))
    row = st.lists(st.booleans(), min_size=len(class_of_label), max_size=len(class_of_label)).filter(any)
    return LabelSpace(np.array(draw(st.lists(row, min_size=1, max_size=8))), np.array(class_of_label))


def test_an_instance_with_one_candidate_is_known():
    """One candidate means a known label, several mean an arm each."""
    space = LabelSpace(np.array([[0, 0, 1], [1, 0, 1], [1, 1, 1]], dtype=bool), np.array([0, 0, 1]))
    assert space.free.tolist() == [False, True, True]
    assert space.known.tolist() == [2, -1, -1]
    assert np.argwhere(space.arms).tolist() == [[1, 0], [1, 2], [2, 0], [2, 1], [2, 2]]
    assert (space.n_labels, space.n_classes) == (3, 2)


def test_taking_instances_keeps_their_candidates():
    """Kept instances come in the order asked for."""
    space = LabelSpace(np.array([[True, False], [True, True], [False, True]]), np.array([0, 1]))
    assert space.take(np.array([2, 0])).candidates.tolist() == [[False, True], [True, False]]


def test_taking_bags_keeps_their_weak_labels():
    """Kept weak labels come in the order asked for, with the user's classes."""
    kept = WeakLabels(np.array([0, 1, 1]), ("no", "yes")).take(np.array([1, 0]), np.arange(2))
    assert kept.values.tolist() == [1, 0]
    assert kept.classes == ("no", "yes")


def test_a_draw_picks_a_class_first():
    """With five negative labels and one positive label, half of all draws are positive."""
    space = LabelSpace(np.ones((1, 6), dtype=bool), np.array([0, 0, 0, 0, 0, 1]))
    assert space.draw_weights() == pytest.approx(np.array([[0.1] * 5 + [0.5]]))


def test_a_draw_stays_among_candidates():
    """A label that is no candidate has no chance, and the rest share it by class."""
    space = LabelSpace(np.array([[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], dtype=bool), np.array([0, 0, 1, 2]))
    expected = [[0.25, 0.25, 0.5, 0.0], [0.0, 0.5, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0]]
    assert space.draw_weights() == pytest.approx(np.array(expected))


@given(spaces())
def test_chances_are_those_of_two_loops(space):
    """The chance of a label is 1 / (classes among the candidates) / (candidates of its class), row by row."""
    chances = space.draw_weights()
    for row, candidates in enumerate(space.candidates):
        labels = [label for label in range(space.n_labels) if candidates[label]]
        classes = [int(space.class_of_label[label]) for label in labels]
        for label in range(space.n_labels):
            cls = int(space.class_of_label[label])
            expected = 1 / len(set(classes)) / classes.count(cls) if label in labels else 0.0
            assert chances[row, label] == pytest.approx(expected)


def test_what_is_known_of_rows_is_taken_with_them():
    """Rows come in the order asked for, and the words of bags stay."""
    weak = WeakLabels(np.array([0, 1]), (0, 1), np.array([[1.0], [2.0], [3.0]]), ("differ", "agree"))
    kept = weak.take(np.array([1]), np.array([2, 0]))
    assert kept.of_rows is not None
    assert kept.of_rows.tolist() == [[3.0], [1.0]]
    assert kept.bag_words == ("differ", "agree")
    assert WeakLabels(np.array([0]), (0, 1)).bag_words == (0, 1)


def test_sets_of_classes_become_a_matrix():
    """A column says for each bag whether it may be of the class; what is no class is refused."""
    sets = np.empty(2, dtype=object)
    sets[:] = [{"cat"}, ("dog", "cat")]
    assert class_indicators(sets, ("cat", "dog")).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(DataError, match="'dog'"):
        class_indicators(sets, ("cat", "cow"))
