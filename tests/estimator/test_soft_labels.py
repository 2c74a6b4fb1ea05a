"""Soft labels: shares of the classes from confidence scores and candidates, and the class that leads."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_framework import LabelSpace
from bliss_framework.estimator.final import inferred_shares, leading
from bliss_framework.kernel.result import InferredLabels

PROPERTY = settings(max_examples=60, deadline=None)


def inferred(classes, confidence, known):
    n = len(classes)
    classes, confidence, known = np.array(classes), np.array(confidence, dtype=float), np.array(known)
    nothing = np.zeros((n, 2))
    return InferredLabels(classes, classes, confidence, ~known & (confidence == 0), known, nothing, nothing)


def space_of(candidates, class_of_label=(0, 1)):
    return LabelSpace(np.array(candidates, dtype=bool), np.array(class_of_label))


def test_two_classes_by_hand():
    """Confidence 0.1, 0.4 and 0.1 has mean 0.2: certainty 1/4, 1 and 1/4; what is left is halved."""
    labels = inferred([1, 1, 0], [0.1, 0.4, 0.1], [False] * 3)
    shares = inferred_shares(labels, space_of([[1, 1]] * 3))
    assert np.allclose(shares, [[0.375, 0.625], [0.0, 1.0], [0.625, 0.375]])


def test_known_instances_are_certain_and_do_not_count_in_the_mean():
    """An instance with one candidate has all of its share on it, whatever its confidence says."""
    labels = inferred([0, 1, 1], [1.0, 0.2, 0.4], [True, False, False])
    shares = inferred_shares(labels, space_of([[1, 0], [1, 1], [1, 1]]))
    # The mean of the free ones is 0.3, twice that 0.6: certainty 1/3 and 2/3.
    assert np.allclose(shares, [[1.0, 0.0], [1 / 3, 2 / 3], [1 / 6, 5 / 6]])


def test_what_is_left_goes_to_the_candidates_alone():
    """With candidates 0 and 2 of three classes, class 1 gets nothing; several labels of a class are one class."""
    space = space_of([[1, 0, 0, 1], [1, 1, 1, 1]], class_of_label=(0, 1, 2, 2))
    labels = inferred([0, 2], [0.0, 0.5], [False, False])
    # The mean is 0.25: certainty 0 and 1.
    assert np.allclose(inferred_shares(labels, space), [[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    both = inferred([0, 2], [0.25, 0.25], [False, False])
    assert np.allclose(inferred_shares(both, space), [[0.75, 0.0, 0.25], [1 / 6, 1 / 6, 4 / 6]])


def test_where_nothing_was_learnt_shares_are_those_of_the_candidates():
    """Without any confidence all candidates are as likely as any, and nothing is divided by 0."""
    labels = inferred([1, 0], [0.0, 0.0], [False, False])
    assert inferred_shares(labels, space_of([[1, 1]] * 2)).tolist() == [[0.5, 0.5]] * 2


def test_where_nothing_is_free_all_is_certain():
    """Ordinary classification: every label is known."""
    labels = inferred([1, 0], [1.0, 1.0], [True, True])
    assert inferred_shares(labels, space_of([[0, 1], [1, 0]])).tolist() == [[0.0, 1.0], [1.0, 0.0]]


@PROPERTY
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12), st.floats(0.01, 1.0))
def test_only_confidence_beside_that_of_others_counts(confidence, factor):
    """Rewards that differ by a factor give the same shares; they sum to 1 and favour the inferred class."""
    n = len(confidence)
    space, classes = space_of([[1, 1]] * n), [i % 2 for i in range(n)]
    shares = inferred_shares(inferred(classes, confidence, [False] * n), space)
    smaller = inferred_shares(inferred(classes, np.array(confidence) * factor, [False] * n), space)
    assert np.allclose(shares, smaller)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert (shares[np.arange(n), classes] > 0.5).all()


@pytest.mark.parametrize(
    ("shares", "best", "lead"),
    [
        ([[0.2, 0.8]], [1], [0.6]),
        ([[0.5, 0.5]], [0], [0.0]),
        ([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], [2, 0], [0.2, 0.3]),
        ([[1.0]], [0], [1.0]),
    ],
)
def test_the_class_that_leads(shares, best, lead):
    """The largest share and how far the runner-up is behind; equal ones have no lead, a single class all of it."""
    classes, found = leading(np.array(shares))
    assert classes.tolist() == best
    assert np.allclose(found, lead)
