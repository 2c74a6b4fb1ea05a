"""Ready readings: what a bag is, given the scores of its instances."""

import numpy as np
import pytest

from bliss_framework.errors import SettingsError
from bliss_framework.plugin import (
    Bags,
    BinaryReading,
    ClassReading,
    LabelSetReading,
    ShareReading,
    WeakLabels,
    is_possible,
)

BAGS = Bags.from_ids(["a", "a", "b"])
SCORES = np.array([-1.0, 3.0, -0.5])


@pytest.mark.parametrize(
    ("bag_score", "expected"), [("max", [3.0, -0.5]), ("mean", [1.0, -0.5]), ("max-mean", [2.0, -0.5])]
)
def test_scores_of_binary_bags(bag_score, expected):
    """A bag is scored by its best instance, by all of them, or by both."""
    reading = BinaryReading(bag_score)
    assert reading.bag_scores(SCORES, BAGS).tolist() == expected
    assert reading.bag_labels(SCORES, BAGS, 0.0).tolist() == [1, 0]


def test_an_unknown_bag_score_is_refused():
    """The error names the parameter and the values that are allowed."""
    with pytest.raises(SettingsError, match="bag_score must be one of"):
        BinaryReading("median")


def test_shares_count_predicted_classes():
    """Shares are of predicted classes, of two or of several."""
    assert ShareReading().bag_scores(SCORES, BAGS).tolist() == [0.5, 0.0]
    assert ShareReading().bag_labels(np.eye(3), BAGS, 0.0).tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert ShareReading.from_instances


def test_a_bag_has_the_labels_that_lead_somewhere():
    """A label is in the set of a bag where it is the best class of some instance."""
    found = LabelSetReading().bag_labels(np.eye(3), BAGS, 0.0)
    assert found.tolist() == [[1, 0], [0, 1]]


class TestClassReading:
    """Rows that are bags are of one class."""

    @pytest.mark.parametrize(("scores", "expected"), [(SCORES, [1, 0]), (np.eye(3)[[0, 0, 2]], [0, 2])])
    def test_classes(self, scores, expected):
        """Two classes are told apart by the threshold, several by the largest score."""
        assert ClassReading().bag_labels(scores, BAGS, 0.0).tolist() == expected

    def test_measures(self):
        """A class is right where it is that of the bag, or among the possible ones."""
        predicted = np.array([1, 0])
        right = ClassReading().evaluate(predicted, SCORES[:2], WeakLabels(np.array([1, 1]), (0, 1)))
        possible = ClassReading().evaluate(predicted, SCORES[:2], WeakLabels(np.array([[1, 1], [0, 1]]), (0, 1)))
        assert right == possible == {"bag_accuracy": 0.5}

    def test_possible(self):
        """A matrix marks the classes that are possible."""
        assert is_possible(np.array([0, 2]), np.array([[1, 1, 0], [1, 1, 0]])).tolist() == [True, False]
