"""BagKFold: bags stay whole, weak labels are spread evenly, and scikit-learn can use it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from bliss_framework import BagKFold, DataError, SettingsError
from bliss_framework.estimator.splitting import strata_of

PROPERTY = settings(max_examples=60, deadline=None)


@PROPERTY
@given(st.lists(st.integers(0, 8), min_size=2, max_size=60), st.integers(2, 5), st.integers(0, 99))
def test_every_split_keeps_bags_whole_and_covers_all_rows(ids, n_splits, seed):
    """Training and test rows never share a bag; the test parts are a partition of the rows, none of them empty."""
    bags = np.array(ids)
    if len(set(ids)) < n_splits:
        return
    y = np.array([i % 2 for i in ids])
    tested = []
    for train, test in BagKFold(n_splits, random_state=seed).split(np.zeros((len(ids), 1)), y, bags):
        assert not set(bags[train]) & set(bags[test])
        assert len(train)
        assert len(test)
        assert sorted([*train, *test]) == list(range(len(ids)))
        tested += test.tolist()
    assert sorted(tested) == list(range(len(ids)))


def test_folds_have_equal_numbers_of_bags_and_of_positive_bags():
    """30 bags, 10 of them positive, give five folds of 6 bags and 2 positive ones, whatever the size of bags."""
    sizes = np.random.default_rng(0).integers(1, 9, size=30)
    bags, y = np.repeat(np.arange(30), sizes), np.repeat(np.arange(30) < 10, sizes)
    for _, test in BagKFold(5).split(np.zeros((len(bags), 1)), y, bags):
        held = np.unique(bags[test])
        assert len(held) == 6
        assert (held < 10).sum() == 2


@pytest.mark.parametrize("form", ["rows", "mapping", "series", "bags"])
def test_weak_labels_may_have_any_form(form):
    """Labels by row, by bag id or in order of first appearance give the same folds."""
    bags, weak = np.repeat(["c", "a", "b", "d"], 2), {"a": 1, "b": 0, "c": 1, "d": 0}
    by_row = [weak[i] for i in bags]
    y = {"rows": by_row, "mapping": weak, "series": pd.Series(weak), "bags": [1, 1, 0, 0]}[form]
    splits = [test.tolist() for _, test in BagKFold(2).split(np.zeros((8, 1)), y, bags)]
    assert splits == [test.tolist() for _, test in BagKFold(2).split(np.zeros((8, 1)), by_row, bags)]


def test_without_bags_there_is_no_split():
    """Like GroupKFold it needs to know what belongs together; rows that are bags are said to be."""
    y = [1, 0] * 6
    with pytest.raises(DataError, match=r"BagKFold needs the bag id of each row.*np\.arange"):
        next(BagKFold(3).split(np.zeros((12, 1)), y))
    for _, test in BagKFold(3).split(np.zeros((12, 1)), y, np.arange(12)):
        assert np.array(y)[test].sum() == 2


@PROPERTY
@given(st.lists(st.integers(0, 5), min_size=8, max_size=40), st.integers(0, 9))
def test_groups_above_bags_are_never_split(patients, seed):
    """Slides of one patient are on one side of every split, and bags stay whole; every row is tested once."""
    patients = np.array([0, 1, *patients])
    slides, rows = np.arange(len(patients)), np.repeat(np.arange(len(patients)), 2)
    y = slides % 2
    tested = []
    for train, test in BagKFold(2, random_state=seed).split(
        np.zeros((len(rows), 1)), y, groups=patients[rows], bags=slides[rows]
    ):
        assert not set(patients[rows][train]) & set(patients[rows][test])
        assert len(train)
        assert len(test)
        tested += test.tolist()
    assert sorted(tested) == list(range(len(rows)))


def test_groups_that_are_the_bags_change_nothing():
    """Bag ids passed as both give the folds of bag ids alone."""
    bags = np.repeat(np.arange(12), 3)
    y = bags % 2
    once = [test.tolist() for _, test in BagKFold(3).split(bags[:, None], y, bags)]
    assert once == [test.tolist() for _, test in BagKFold(3).split(bags[:, None], y, bags, bags)]
    assert once == [test.tolist() for _, test in BagKFold(3).split(bags[:, None], y, bags=bags)]


def test_a_bag_in_two_groups_is_refused():
    """A slide has one patient."""
    with pytest.raises(DataError, match="Row 1 of bag 0 is in another group"):
        next(BagKFold(2).split(np.zeros((4, 1)), None, groups=[7, 8, 8, 9], bags=[0, 0, 1, 2]))
    with pytest.raises(DataError, match="3 folds, but there are 2 groups"):
        next(BagKFold(3).split(np.zeros((4, 1)), None, groups=[7, 7, 8, 8], bags=[0, 1, 2, 3]))


def test_same_seed_same_folds_and_other_seed_other_folds():
    """Splitting twice gives the same rows; the seed decides which."""
    bags = np.arange(40)
    first, again, other = (
        [test.tolist() for _, test in BagKFold(4, random_state=s).split(bags[:, None], None, bags)] for s in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_rows_may_be_a_plain_list():
    """Only the number of rows counts."""
    assert len(list(BagKFold(2).split([[0.0], [1.0]], [0, 1], ["a", "b"]))) == 2


def test_too_few_bags_name_both_numbers():
    """Five folds cannot be made of three bags."""
    with pytest.raises(DataError, match="5 folds, but there are 3 bags"):
        next(BagKFold(5).split(np.zeros((6, 1)), None, [1, 1, 2, 2, 3, 3]))


def test_wrong_number_of_ids_is_refused():
    """Bag ids are one for each row."""
    with pytest.raises(DataError, match="6 rows, but groups has 3 ids"):
        next(BagKFold(2).split(np.zeros((6, 1)), None, [1, 2, 3]))


@pytest.mark.parametrize("n_splits", [1, 0, -2, 2.5, "3", None])
def test_wrong_number_of_folds_is_refused(n_splits):
    """At least two folds, in whole numbers."""
    with pytest.raises(SettingsError, match=r"n_splits must be an integer, at least 2; got "):
        next(BagKFold(n_splits).split(np.zeros((6, 1)), None, range(6)))


def test_scikit_learn_takes_it_as_cv():
    """cross_validate passes the bag ids as groups and gets one score for each fold."""
    bags = np.repeat(np.arange(10), 3)
    y = bags % 2
    scores = cross_validate(GaussianNB(), y[:, None] + 0.01 * np.c_[bags], y, groups=bags, cv=BagKFold(5))
    assert scores["test_score"].tolist() == [1.0] * 5
    assert BagKFold(5).get_n_splits() == 5


def test_strata_of_proportions_are_five_ranges():
    """Numbers with many values are cut into five ranges of equal size; label sets are compared whole."""
    shares = np.random.default_rng(0).permutation(np.linspace(0, 1, 100))
    assert np.bincount(strata_of(shares)).tolist() == [20] * 5
    assert np.bincount(strata_of(np.c_[shares, 1 - shares])).tolist() == [20] * 5
    sets = np.empty(3, dtype=object)
    sets[:] = [{"cat"}, set(), {"cat"}]
    assert strata_of(sets).tolist() == [1, 0, 1]
