"""The paper's form of a reward, against its formula in plain loops."""

import numpy as np
import pytest

from bliss_framework.plugin import (
    MarginalEffect,
    alpha_diagnostic,
    effect_rewards,
    neighbourhood,
    recall_precision_rewards,
)
from bliss_framework.testing import mil_example
from bliss_framework.testing.examples import fold_of, outcomes, random_outcome


@pytest.mark.parametrize(("gamma", "alpha"), [(1 / 7, 1.0), (0.5, 0.4), (0.0, 0.0), (1.0, 1.0)])
def test_rewards_are_the_formula(gamma, alpha):
    """R is gamma Rec + (1 - gamma) 1[Rec >= alpha] Prec in the mean of neighbours, for labels that are predicted."""
    for outcome in outcomes(fold_of(mil_example())):
        rng = np.random.default_rng(0)
        recall, precision = rng.random((2, outcome.fold.heldout.n_rows)).round(1)
        near = neighbourhood(outcome)
        expected = [
            (gamma * r + (1 - gamma) * (r >= alpha - 1e-9) * p) * (given == predicted)
            for r, p, given, predicted in zip(
                near.mean(recall), near.mean(precision), outcome.assignment, outcome.labels, strict=True
            )
        ]
        assert np.allclose(recall_precision_rewards(outcome, recall, precision, gamma, alpha), expected)


def test_diagnostic_names_what_was_reached():
    """Where no neighbourhood reaches alpha, the sentence says how far recall came and what to try."""
    outcome = random_outcome(fold_of(mil_example()), 0)
    none = np.zeros(outcome.fold.heldout.n_rows)
    said = alpha_diagnostic(outcome, none, 0.5, of="shares", lower=0.25)
    assert said is not None
    assert "mean recall of shares never reached alpha = 0.5 (the highest was 0.00)" in said
    assert "--set reward.alpha=0.25" in said
    assert alpha_diagnostic(outcome, none, 0.0, of="shares", lower=0.0) is None


def test_marginal_effect_of_one_and_of_several_labels():
    """Slopes of label 1 alone mean the opposite for label 0, and a column for each label says the same."""
    outcome = random_outcome(fold_of(mil_example()), 1)
    rng = np.random.default_rng(0)
    influence = rng.normal(size=(outcome.fold.heldout.n_rows, outcome.fold.train.n_rows))
    slopes = rng.normal(size=outcome.fold.heldout.n_rows)
    effects = slopes @ influence
    expected = effect_rewards(outcome, np.stack([-effects, effects], axis=1), 0.7)
    for given in (slopes, slopes[:, None], np.stack([-slopes, slopes], axis=1)):
        found = MarginalEffect(influence, lambda _, given=given: given, 0.7)(outcome)
        assert np.allclose(found, expected)
