"""The area under the ROC curve and the average precision, with ties and weights."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from bliss_framework import DataError
from bliss_framework.readings.ranking import average_precision, roc_auc

# Few distinct scores, so that many of them tie.
BAG = st.tuples(st.integers(0, 1), st.integers(-3, 3), st.integers(1, 4))
BAGS = st.lists(BAG, min_size=2, max_size=30).filter(lambda bags: len({truth for truth, _, _ in bags}) == 2)


@given(BAGS, st.booleans())
def test_the_area_is_the_share_of_pairs_in_order(bags, weighted):
    """Of all pairs of a positive and a negative it counts those in order, and half of those that tie, by weight."""
    won = possible = Fraction(0)
    for (one, high, w), (other, low, v) in product(bags, bags):
        if one == 1 and other == 0:
            pair = w * v if weighted else 1
            won += pair * Fraction((high > low) + (high >= low), 2)
            possible += pair
    truth, scores, weights = (np.array(column, dtype=float) for column in zip(*bags, strict=True))
    found = roc_auc(truth, scores / 8, weights if weighted else None)
    assert found == pytest.approx(float(won / possible), abs=1e-12)
    assert found == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights if weighted else None), abs=1e-12)


@given(BAGS, st.booleans())
def test_the_average_precision_is_that_of_scikit_learn(bags, weighted):
    """Bags of equal score come together, and weights count."""
    truth, scores, weights = (np.array(column, dtype=float) for column in zip(*bags, strict=True))
    own = weights if weighted else None
    expected = average_precision_score(truth, scores / 8, sample_weight=own)
    assert average_precision(truth, scores / 8, own) == pytest.approx(expected, abs=1e-12)


def test_many_real_scores():
    """Of ten thousand weighted scores both are those of scikit-learn to 1e-12."""
    rng = np.random.default_rng(0)
    truth, weights = rng.integers(0, 2, 10_000), rng.random(10_000)
    scores = rng.normal(size=10_000) + truth
    assert roc_auc(truth, scores, weights) == pytest.approx(
        roc_auc_score(truth, scores, sample_weight=weights), abs=1e-12
    )
    assert average_precision(truth, scores, weights) == pytest.approx(
        average_precision_score(truth, scores, sample_weight=weights), abs=1e-12
    )


@pytest.mark.parametrize("measure", [roc_auc, average_precision])
def test_a_bag_without_weight_counts_for_nothing(measure):
    """A weight of 0 leaves a bag out, also one that scores highest."""
    truth, scores = np.array([0, 1, 0, 1]), np.array([9.0, 2.0, 3.0, 4.0])
    assert measure(truth, scores, np.array([0.0, 1, 1, 1])) == measure(truth[1:], scores[1:])


@pytest.mark.parametrize("measure", [roc_auc, average_precision])
def test_scores_that_are_no_numbers_are_refused(measure):
    """NaN ranks nothing, and the message says so; infinity is larger than all."""
    with pytest.raises(DataError, match="Some scores are NaN"):
        measure(np.array([0, 1]), np.array([0.0, np.nan]))
    assert measure(np.array([0, 1]), np.array([0.0, np.inf])) == 1.0
