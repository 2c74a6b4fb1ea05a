"""Ready readings: what a bag is, given the scores of its instances."""

import numpy as np
import pytest
from scipy.optimize import minimize

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
from bliss_framework.readings.thresholds import best_threshold, logistic_threshold

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


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("n_positive", [1, 20, 39])
def test_logistic_threshold_is_where_both_classes_are_as_likely(n_positive, scale):
    """The curve of least loss, as a general search finds it, whatever the scale of the scores and the share of ones."""
    rng = np.random.default_rng(n_positive)
    truth = (np.arange(40) < n_positive).astype(int)
    scores = rng.normal(size=40) + 1.5 * truth + 3.0
    z, signs = (scores - scores.mean()) / scores.std(), 2 * truth - 1
    slope, shift = minimize(
        lambda curve: np.logaddexp(0.0, -signs * (curve[0] * z + curve[1])).sum() + 0.1 * curve[0] ** 2,
        np.zeros(2),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000},
    ).x
    expected = scores.mean() + scores.std() * np.clip(-shift / slope, z.min() - 1.0, z.max() + 1.0)
    assert logistic_threshold(scores * scale, truth) == pytest.approx(expected * scale, rel=1e-5)


@pytest.mark.parametrize("truth", [[1, 1, 0, 0], [0, 0, 0, 0]])
def test_logistic_threshold_of_scores_that_say_nothing_is_the_best_one(truth):
    """Where larger scores speak against label 1, or all are alike, no curve has a place where it turns."""
    scores, truth = np.array([0.0, 1.0, 2.0, 4.0]), np.array(truth)
    assert logistic_threshold(scores, truth) == best_threshold(scores, truth)
