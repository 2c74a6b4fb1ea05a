"""Columns that give the weak labels away are noted: the label in other words, and numbers of rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bliss_framework import check_training
from bliss_framework.errors import BlissWarning
from bliss_framework.estimator.suspect_columns import suspect_columns
from bliss_llp.regime.llp_regime import LlpRegime
from bliss_mil.regime.mil_regime import MilRegime
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime

BAGS = np.repeat(np.arange(12), 4)
LABELS = np.arange(12) % 2


def notes(column, labels=LABELS, regime=None, bags=BAGS, name="c"):
    """Return what is said of a column beside two of noise."""
    noise = np.random.default_rng(0).normal(size=(len(bags), 2))
    frame = pd.DataFrame(noise, columns=["a", "b"]).assign(**{name: column})
    return suspect_columns(check_training(frame, labels, bags).read_by(regime or MilRegime()))


@pytest.mark.parametrize(
    "values",
    [LABELS, 1 - LABELS, 7.0 * LABELS - 3.0, np.where(LABELS, 5.0 + np.arange(12), -1.0 - np.arange(12))],
    ids=["label", "its negation", "scaled", "a score"],
)
def test_a_column_that_says_the_label_of_the_bag_is_named(values):
    """Constant in bags and enough to tell every bag: the column is named, once."""
    (said,) = notes(values[BAGS], name="outcome")
    assert said.startswith('Column "outcome": the same in all rows of a bag')


@pytest.mark.parametrize(
    "column",
    [
        np.where(np.arange(12) == 3, 0, LABELS)[BAGS],
        np.ones(48),
        np.random.default_rng(1).normal(size=12)[BAGS],
        LABELS[BAGS] + np.random.default_rng(1).normal(size=48) * 1e-3,
    ],
    ids=["wrong in one bag", "constant", "age of the patient", "differs within bags"],
)
def test_other_columns_are_not(column):
    """One bag that is not told apart, or rows of a bag that differ, are no reason for a word."""
    assert notes(column) == ()


def test_shares_and_label_sets_are_given_away_too():
    """In every regime: a column in the order of a share, or that marks a label, tells the weak label."""
    shares = np.linspace(0.1, 0.9, 12)
    assert notes(np.exp(shares)[BAGS], shares, LlpRegime()) != ()
    sets = [{"cat"} if i % 3 else {"dog"} for i in range(12)]
    assert notes(np.array([i % 3 == 0 for i in range(12)], float)[BAGS], sets, MultiClassMilRegime()) != ()


def test_numbers_of_rows_are_named():
    """A column that counts the rows is what data frames write as their index."""
    (said,) = notes(np.arange(48) + 5.0, name="Unnamed: 0")
    assert said.startswith('Column "Unnamed: 0": counts the rows')
    assert 'Column "c": counts the rows' in notes(np.arange(48)[::-1].copy())[0]
    assert notes(np.arange(48) ** 2) == notes(np.tile(np.arange(4), 12)) == ()


def test_few_bags_single_rows_and_sparse_rows_are_left_alone():
    """With few bags, or one row a bag, columns separate labels by chance or by right; words are no cells."""
    assert notes(LABELS[:4][np.repeat(np.arange(4), 4)], LABELS[:4], bags=np.repeat(np.arange(4), 4)) == ()
    assert notes(LABELS, bags=np.arange(12)) == ()
    sparse = sp.csr_matrix(np.c_[LABELS[BAGS], BAGS])
    assert suspect_columns(check_training(sparse, LABELS, BAGS).read_by(MilRegime())) == ()


def test_fit_warns_of_them(toy, bliss):
    """From Python the sentence is a warning, and the fit goes on."""
    X, bags, weak = toy()
    leak = np.array([[weak[one]] for one in bags])
    with pytest.warns(BlissWarning, match='Column "2": the same in all rows of a bag'):
        bliss().fit(np.c_[X, leak], weak, bags=bags)
