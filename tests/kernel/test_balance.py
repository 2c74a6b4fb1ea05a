"""Class balance against the formula (n / count of the class)^b, one instance at a time."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from bliss_framework import LabelSpace
from bliss_framework.kernel.pull import balance_weights

PROPERTY = settings(max_examples=60, deadline=None)


def space_of(class_of_label: list[int], n: int) -> LabelSpace:
    return LabelSpace(np.ones((n, len(class_of_label)), dtype=bool), np.array(class_of_label))


@PROPERTY
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.sampled_from([0.3, 0.5, 1.0, 2.0]),
    st.booleans(),
    st.data(),
)
def test_weights_are_those_of_the_formula(assignment, exponent, weighted, data):
    """An instance weighs w (sum of w / sum of w in its class)^b, scaled so that the mean is 1."""
    class_of_label = [0, 0, 1, 2]
    base = [data.draw(st.floats(0.1, 5)) if weighted else 1.0 for _ in assignment]
    classes = [class_of_label[label] for label in assignment]
    raw = []
    for weight, cls in zip(base, classes, strict=True):
        count = sum(w for w, c in zip(base, classes, strict=True) if c == cls)
        raw.append(weight * (sum(base) / count) ** exponent)
    expected = [value * len(raw) / sum(raw) for value in raw]
    space = space_of(class_of_label, len(assignment))
    found = balance_weights(np.array([assignment]), space, exponent, np.array(base) if weighted else None)
    assert found[0] == pytest.approx(expected)


def test_full_balance_is_that_of_scikit_learn():
    """With b = 1 the weights are proportional to scikit-learn's "balanced" ones."""
    assignment = np.array([0, 1, 1, 2, 2, 2])
    found = balance_weights(assignment[None], space_of([0, 1, 2], 6), 1.0, None)[0]
    expected = compute_sample_weight("balanced", assignment)
    assert found == pytest.approx(expected / expected.mean())


def test_negative_labels_are_one_class():
    """Two negative labels with 3 + 3 instances weigh like one negative label with 6: 4/6 each, and 4/2 for positives.

    Raw weights (8/6 and 8/2) have the mean (6 * 8/6 + 2 * 8/2) / 8 = 2.
    """
    spread = balance_weights(np.array([[0, 0, 0, 1, 1, 1, 2, 2]]), space_of([0, 0, 1], 8), 1.0, None)
    assert spread[0] == pytest.approx([4 / 6] * 6 + [2.0] * 2)


def test_no_balance_no_weights():
    """With b = 0 there is nothing to weigh, whether or not instances have weights."""
    assert balance_weights(np.array([[0, 1]]), space_of([0, 1], 2), 0.0, None) is None
    assert balance_weights(np.array([[0, 1]]), space_of([0, 1], 2), 0.0, np.array([1.0, 3.0])) is None


def test_one_class_alone_counts_alike():
    """An assignment of one class needs no balance: all weights are 1, in its row of the batch alone."""
    found = balance_weights(np.array([[1, 1, 1], [0, 1, 1]]), space_of([0, 1], 3), 1.0, None)
    assert found[0].tolist() == [1.0, 1.0, 1.0]
    assert found[1] == pytest.approx([1.5, 0.75, 0.75])
