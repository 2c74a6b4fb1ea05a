"""A regime that is given the weak labels of another one names the other one."""

import warnings

import numpy as np
import pytest

from bliss_framework.errors import BlissError
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.plugin import Bags

N = 12
ROWS = Bags.from_ids(np.arange(N))
BAGS = Bags.from_ids(np.repeat(np.arange(N), 4))
KNOWN_AND_PAIRS = Bags.from_ids(np.concatenate([np.arange(4), 4 + np.repeat(np.arange(8), 2)]))
KNOWN_AND_THREES = Bags.from_ids(np.concatenate([np.arange(4), 4 + np.repeat(np.arange(8), 3)]))
PARAMETERS = {"positive-unlabelled": {"prior": 0.3}, "unlabelled-unlabelled": {"shares": [0.3, 0.7]}}


def objects(values):
    weak = np.empty(len(values), dtype=object)
    weak[:] = values
    return weak


CLASSES = np.array(["a", "b", "c"] * 4)
ZERO_OR_ONE = np.array([0, 1] * 6)
CHANCES = np.array([0.1, 0.3, 0.5, 0.7] * 3)
SETS = objects([{"a", "b"}, {"b", "c"}, {"a"}] * 4)
SOME_MISSING = objects(["a", "b", None] * 4)
ANNOTATIONS = np.array([["a", "b", None], ["b", "b", "a"], [None, "a", "b"]] * 4, dtype=object)
MARKS = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]] * 4)
INTERVALS = np.array([[0, 0], [1, 2], [3, 4]] * 4)
SHARES = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]] * 6)
COUNTS = np.array([[3, 1], [0, 4], [2, 2]] * 4)
SIMILAR = objects(["a", "b", "a", "b", *["similar", "dissimilar"] * 4])
NEARER = objects(["a", "b", "a", "b", *["nearer"] * 8])


def said(regime, weak, bags):
    """Return the error of a check, or its warnings and notes where there is none."""
    made = default_plugins().registry.create("regime", {"name": regime, **PARAMETERS.get(regime, {})})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            read = made.check(weak, bags)
        except BlissError as error:
            return str(error)
    return " ".join([*(str(one.message) for one in warned), *read.notes])


@pytest.mark.parametrize(
    ("regime", "weak", "bags", "other"),
    [
        ("mil", CHANCES, BAGS, "llp"),
        ("mil", SHARES, BAGS, "llp"),
        ("mil", objects([{"a": 0.3, "b": 0.7}] * N), BAGS, "llp"),
        ("mil", SETS, BAGS, "multiclass-mil"),
        ("mil", MARKS, BAGS, "multiclass-mil"),
        ("mil", INTERVALS, BAGS, "count-intervals"),
        ("mil", SETS, ROWS, "partial-labels"),
        ("mil", MARKS, ROWS, "partial-labels"),
        ("mil", SOME_MISSING, ROWS, "semi-supervised"),
        ("mil", ANNOTATIONS, ROWS, "several-annotators"),
        ("mil", CLASSES, ROWS, "noisy-labels"),
        ("mil", CHANCES, ROWS, "positive-confidences"),
        ("collective-mil", CHANCES, BAGS, "llp"),
        ("two-condition-mil", SETS, BAGS, "multiclass-mil"),
        ("llp", INTERVALS, BAGS, "count-intervals"),
        ("llp", np.array([0, 2, 3] * 4), BAGS, "count-intervals"),
        ("llp", SETS, BAGS, "multiclass-mil"),
        ("llp", MARKS, BAGS, "multiclass-mil"),
        ("llp", SETS, ROWS, "partial-labels"),
        ("count-intervals", CHANCES, BAGS, "llp"),
        ("count-intervals", SHARES, BAGS, "llp"),
        ("count-intervals", COUNTS, BAGS, "llp"),
        ("count-intervals", objects([{"a": 0.3, "b": 0.7}] * N), BAGS, "llp"),
        ("count-intervals", SETS, BAGS, "multiclass-mil"),
        ("partial-labels", CHANCES, BAGS, "llp"),
        ("partial-labels", SHARES, BAGS, "llp"),
        ("partial-labels", CHANCES, ROWS, "positive-confidences"),
        ("partial-labels", ZERO_OR_ONE, ROWS, "positive-unlabelled"),
        ("partial-labels", CLASSES, ROWS, "noisy-labels"),
        ("partial-labels", SOME_MISSING, ROWS, "semi-supervised"),
        ("partial-labels", ANNOTATIONS, ROWS, "several-annotators"),
        ("complementary-labels", ANNOTATIONS, ROWS, "several-annotators"),
        ("complementary-labels", CHANCES, ROWS, "positive-confidences"),
        ("noisy-labels", SETS, ROWS, "partial-labels"),
        ("noisy-labels", SOME_MISSING, ROWS, "semi-supervised"),
        ("noisy-labels", ANNOTATIONS, ROWS, "several-annotators"),
        ("semi-supervised", CLASSES, ROWS, "noisy-labels"),
        ("semi-supervised", SETS, ROWS, "partial-labels"),
        ("semi-supervised", ANNOTATIONS, ROWS, "several-annotators"),
        ("several-annotators", CLASSES, ROWS, "noisy-labels"),
        ("several-annotators", CLASSES[:, None], ROWS, "noisy-labels"),
        ("several-annotators", SETS, ROWS, "partial-labels"),
        ("positive-unlabelled", CLASSES, ROWS, "noisy-labels"),
        ("positive-unlabelled", CLASSES, ROWS, "semi-supervised"),
        ("positive-unlabelled", np.array(["ward A", "ward B"] * 6), ROWS, "unlabelled-unlabelled"),
        ("positive-unlabelled", SETS, ROWS, "partial-labels"),
        ("unlabelled-unlabelled", CLASSES, ROWS, "noisy-labels"),
        ("unlabelled-unlabelled", CHANCES, BAGS, "llp"),
        ("positive-confidences", ZERO_OR_ONE, ROWS, "positive-unlabelled"),
        ("positive-confidences", SETS, ROWS, "partial-labels"),
        ("similar-pairs", ZERO_OR_ONE, BAGS, "mil"),
        ("similar-pairs", CHANCES, BAGS, "llp"),
        ("similar-pairs", SETS, ROWS, "partial-labels"),
        ("similar-pairs", NEARER, KNOWN_AND_THREES, "triplets"),
        ("ordered-pairs", SIMILAR, KNOWN_AND_PAIRS, "similar-pairs"),
        ("triplets", SIMILAR, KNOWN_AND_PAIRS, "similar-pairs"),
    ],
)
def test_the_other_one_is_named(regime, weak, bags, other):
    """The message holds the name of the regime whose weak labels these are, in quotes."""
    assert f'"{other}"' in said(regime, weak, bags)


@pytest.mark.parametrize(
    ("regime", "weak", "bags"),
    [
        ("mil", ZERO_OR_ONE, BAGS),
        ("llp", CHANCES, BAGS),
        ("llp", COUNTS, BAGS),
        ("count-intervals", INTERVALS, BAGS),
        ("multiclass-mil", SETS, BAGS),
        ("partial-labels", SETS, ROWS),
        ("partial-labels", MARKS, ROWS),
        ("complementary-labels", CLASSES, ROWS),
        ("noisy-labels", CLASSES, ROWS),
        ("semi-supervised", SOME_MISSING, ROWS),
        ("several-annotators", ANNOTATIONS, ROWS),
        ("positive-unlabelled", ZERO_OR_ONE, ROWS),
        ("unlabelled-unlabelled", np.array(["ward A", "ward B"] * 6), ROWS),
        ("positive-confidences", CHANCES, ROWS),
        ("similar-pairs", SIMILAR, KNOWN_AND_PAIRS),
        ("triplets", NEARER, KNOWN_AND_THREES),
    ],
)
def test_its_own_data_are_taken_without_a_word(regime, weak, bags):
    """Weak labels of its own kind raise no error, no warning and no note."""
    assert said(regime, weak, bags) == ""


def test_lists_are_no_words_and_no_grades():
    """A list for each bag is refused in words, although it cannot be looked up among words and grades."""
    assert '"llp"' in said("count-intervals", objects([[2, 1, 1]] * N), BAGS)
    assert "one word" in said("triplets", objects([["a", "b"]] * N), BAGS)
