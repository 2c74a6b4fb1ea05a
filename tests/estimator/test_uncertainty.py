"""Intervals of figures over bags, and whether two methods differ beyond noise."""

from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from bliss_framework.estimator.uncertainty import Judged, interval_of, paired_p_value, wilson
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.readings.binary import BinaryReading
from bliss_framework.readings.label_sets import LabelSetReading
from bliss_framework.readings.shares import ShareReading


def judged(right, reading=None, groups=None):
    """Judge bags of label 1 of which those are predicted rightly that are marked, in one repeat or several."""
    right = np.atleast_2d(np.asarray(right, dtype=np.intp))
    weak = WeakLabels(np.ones(right.shape[1], dtype=np.intp), (0, 1))
    repeats = [(one, one.astype(float)) for one in right]
    return Judged(reading or BinaryReading(), weak, groups, repeats)


def test_wilson_is_that_of_scipy():
    """The interval of a share is the score interval without a correction for continuity."""
    for hits, n in ((79, 92), (0, 10), (10, 10), (1, 3)):
        expected = binomtest(hits, n).proportion_ci(method="wilson")
        assert wilson(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_share_of_bags_has_the_interval_of_wilson():
    """Bags that are right or wrong once are counted."""
    found = interval_of(judged([1] * 15 + [0] * 5), "bag_accuracy")
    assert (found["by"], found["level"]) == ("wilson", 0.95)
    assert (found["low"], found["high"]) == wilson(0.75, 20)


def test_groups_are_drawn_as_a_whole():
    """Bags of a group that are right or wrong together say less than as many bags on their own."""
    right = np.repeat([1, 0, 1, 1], 25)
    alone = interval_of(judged(right), "bag_accuracy")
    together = interval_of(judged(right, groups=np.repeat(np.arange(4), 25)), "bag_accuracy")
    assert together["by"] == "bootstrap"
    assert together["high"] - together["low"] > 3 * (alone["high"] - alone["low"])


def test_errors_of_shares_are_resampled():
    """The interval of a mean over bags is near that of the normal distribution."""
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.3, 0.7, size=200)
    off = np.clip(truth + rng.normal(scale=0.1, size=200), 0, 1)
    weak = WeakLabels(np.stack([1 - truth, truth], axis=1), (0, 1))
    found = interval_of(Judged(ShareReading(), weak, None, [(off, off)]), "proportion_error")
    error = np.abs(truth - off)
    half = 1.96 * error.std() / np.sqrt(200)
    assert found["by"] == "bootstrap"
    assert found["low"] == pytest.approx(error.mean() - half, abs=half / 5)
    assert found["high"] == pytest.approx(error.mean() + half, abs=half / 5)


def test_a_measure_that_is_no_mean_over_bags():
    """F1 of label sets is taken of all bags of a draw: its interval lies around it."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(60, 3))
    predicted = np.where(rng.random((60, 3)) < 0.8, truth, 1 - truth)
    weak = WeakLabels(truth, ("none", "a", "b", "c"))
    own = Judged(LabelSetReading(), weak, None, [(predicted, predicted.astype(float))])
    found = interval_of(own, "label_set_f1")
    assert own.by_bag("label_set_f1") is None
    assert found["low"] < own.value("label_set_f1", np.arange(60)) < found["high"]
    assert found["high"] - found["low"] < 0.3


def test_a_measure_that_is_a_mean_over_the_first_bags_only():
    """Sixty bags of one label of which nothing is found come first: their F1 is 0 one by one and together."""
    truth = np.concatenate([np.tile([1, 0, 0], (60, 1)), np.tile([[1, 1, 0], [0, 1, 1], [0, 0, 1]], (20, 1))])
    predicted = np.concatenate([np.zeros((60, 3), dtype=np.intp), np.tile([[1, 0, 0], [0, 1, 1], [1, 1, 1]], (20, 1))])
    weak = WeakLabels(truth, ("none", "a", "b", "c"))
    own = Judged(LabelSetReading(), weak, None, [(predicted, predicted.astype(float))])
    found = interval_of(own, "label_set_f1")
    assert found["low"] < 2 * 80 / (160 + 120) < found["high"]


def test_two_methods_on_the_same_bags():
    """Only bags on which the methods disagree count: 6 against 1 of them is the tail of a fair coin, twice."""
    one, other = [1] * 26 + [0] * 4, [0] * 6 + [1] * 20 + [1] + [0] * 3
    p_value, by = paired_p_value(judged(one), judged(other), "bag_accuracy")
    assert by == "mcnemar-exact"
    assert p_value == pytest.approx(2 * (comb(7, 0) + comb(7, 1)) / 2**7)
    assert paired_p_value(judged(one), judged(one), "bag_accuracy")[0] == 1.0


def test_repeats_are_resampled_in_pairs():
    """Over several repeats the difference of each bag is drawn: a clear one is beyond noise, none is not."""
    rng = np.random.default_rng(0)
    good, bad = rng.random((3, 80)) < 0.9, rng.random((3, 80)) < 0.5
    p_value, by = paired_p_value(judged(good), judged(bad), "bag_accuracy")
    assert (by, p_value < 0.01) == ("paired-bootstrap", True)
    assert paired_p_value(judged(good), judged(good), "bag_accuracy")[0] == 1.0


class Fragile(BinaryReading):
    """A measure that cannot be taken of bags of one class."""

    def evaluate(self, predicted, scores, weak, weights=None):
        if len(np.unique(weak.values)) < 2:
            raise ValueError("one class")
        return {"bag_accuracy": float((predicted == weak.values).mean())}


def test_a_measure_that_fails_on_few_bags():
    """Where no draw can be judged there is no interval and no winner, and nothing ends the run."""
    own = judged([1, 1, 0], Fragile())
    found = interval_of(own, "bag_accuracy")
    assert np.isnan([found["low"], found["high"]]).all()
    assert paired_p_value(own, own, "bag_accuracy")[0] == 1.0
