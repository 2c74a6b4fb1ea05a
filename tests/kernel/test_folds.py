"""Folds of whole bags: sizes, strata, and how many of them the bags allow."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bliss_framework.kernel.folds import deal_folds, strata_of_groups, train_and_heldout, usable_folds

STRATA = st.lists(st.integers(0, 3), min_size=2, max_size=40)


@given(STRATA, st.data(), st.integers(0, 2**32 - 1))
def test_folds_share_bags_and_strata_evenly(strata, data, seed):
    """Any two folds differ by at most one bag, and by at most one bag of each stratum; no fold is empty."""
    n_folds = data.draw(st.integers(2, len(strata)))
    folds = deal_folds(np.array(strata), n_folds, np.random.default_rng(seed)).tolist()
    sizes = Counter(folds)
    assert sorted(sizes) == list(range(n_folds))
    assert max(sizes.values()) - min(sizes.values()) <= 1
    for stratum in set(strata):
        shares = Counter(fold for fold, s in zip(folds, strata, strict=True) if s == stratum)
        counts = [shares[fold] for fold in range(n_folds)]
        assert max(counts) - min(counts) <= 1


def test_folds_are_random_and_repeatable():
    """The same generator deals the same folds; another one deals others."""
    strata = np.repeat([0, 1], 15)
    first, again, other = (deal_folds(strata, 3, np.random.default_rng(seed)).tolist() for seed in (7, 7, 8))
    assert first == again != other


@pytest.mark.parametrize(("train_on", "expected"), [("one", {0, 2}), ("rest", {1, 3, 4})])
def test_one_fold_or_the_rest(train_on, expected):
    """Training on one fold holds out all others; training on the rest holds out that fold."""
    folds = np.array([0, 1, 0, 2, 1])
    train, heldout = next(iter(train_and_heldout(folds, train_on)))
    assert set(train.tolist()) == expected
    assert set(heldout.tolist()) == {0, 1, 2, 3, 4} - expected


@given(STRATA, st.integers(2, 6), st.sampled_from(["one", "rest"]), st.integers(0, 2**32 - 1))
def test_every_bag_is_on_one_side_of_each_fold(strata, n_folds, train_on, seed):
    """A bag is trained on by one fold (or by all but one), and is held out everywhere else."""
    n_folds = min(n_folds, len(strata))
    folds = deal_folds(np.array(strata), n_folds, np.random.default_rng(seed))
    trained: Counter[int] = Counter()
    for train, heldout in train_and_heldout(folds, train_on):
        assert sorted([*train.tolist(), *heldout.tolist()]) == list(range(len(strata)))
        assert len(train) > 0
        assert len(heldout) > 0
        trained.update(train.tolist())
    assert set(trained.values()) == {1 if train_on == "one" else n_folds - 1}


@pytest.mark.parametrize(
    ("counts", "asked", "train_on", "expected"),
    [
        ((1, 2), 5, "one", 3),  # three bags
        ((2, 38), 10, "one", 10),
        ((2, 38), 10, "rest", 2),  # both held-out folds need one of the two
        ((3, 38), 10, "rest", 3),
        ((1, 9), 5, "rest", 5),  # the only bag of its stratum cannot be everywhere
        ((1, 1), 5, "one", 2),
        ((1, 1), 2, "rest", 2),
        ((50, 50), 5, "rest", 5),
    ],
)
def test_how_many_folds_the_bags_allow(counts, asked, train_on, expected):
    """Every fold needs a bag, and a fold that is held out alone needs one of every stratum that has two."""
    strata = np.repeat(np.arange(len(counts)), counts)
    assert usable_folds(strata, asked, train_on) == expected


@given(
    st.integers(2, 6),
    st.integers(2, 30),
    st.integers(2, 10),
    st.sampled_from(["one", "rest"]),
    st.integers(0, 2**32 - 1),
)
def test_two_positive_bags_are_enough_to_judge(n_positive, n_negative, asked, train_on, seed):
    """Where two positive bags exist every held-out set has one, and so has every training part of the rest."""
    strata = np.repeat([1, 0], [n_positive, n_negative])
    n_folds = usable_folds(strata, asked, train_on)
    folds = deal_folds(strata, n_folds, np.random.default_rng(seed))
    for train, heldout in train_and_heldout(folds, train_on):
        assert strata[heldout].any()
        if train_on == "rest" or n_folds <= n_positive:
            assert strata[train].any()


@given(STRATA, st.data(), st.integers(0, 2**32 - 1))
def test_groups_are_dealt_whole(strata, data, seed):
    """No group is split, no fold is empty, and folds differ by at most one group, and by one of each rarest stratum."""
    strata = np.array(strata)
    groups = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(strata), max_size=len(strata))))
    names = sorted(set(groups.tolist()))
    if len(names) < 2:
        return
    n_folds = data.draw(st.integers(2, len(names)))
    folds = deal_folds(strata, n_folds, np.random.default_rng(seed), groups)
    assert all(len(set(folds[groups == name].tolist())) == 1 for name in names)
    fold_of = {name: int(folds[groups == name][0]) for name in names}
    sizes = Counter(fold_of.values())
    assert sorted(sizes) == list(range(n_folds))
    assert max(sizes.values()) - min(sizes.values()) <= 1
    counts = Counter(strata.tolist())
    rarest = {name: min((counts[s], s) for s in strata[groups == name].tolist())[1] for name in names}
    number, of_group = strata_of_groups(strata, groups)
    assert [of_group[number[groups == name][0]] for name in names] == [rarest[name] for name in names]
    for stratum in set(rarest.values()):
        shares = Counter(fold_of[name] for name in names if rarest[name] == stratum)
        assert max(shares[fold] for fold in range(n_folds)) - min(shares[fold] for fold in range(n_folds)) <= 1


def test_groups_of_one_bag_each_do_not_depend_on_their_names():
    """What a group is called changes no fold: only which bags are together counts."""
    strata, groups = np.array([0, 1, 0, 1, 0, 1]), np.array([5, 5, 9, 2, 2, 7])
    renamed = np.array([0, 0, 1, 2, 2, 3])
    deals = [deal_folds(strata, 2, np.random.default_rng(3), one).tolist() for one in (groups, renamed)]
    assert deals[0] == deals[1]


def test_large_groups_go_to_different_folds():
    """Groups of many bags are dealt first, so that folds have about as many bags."""
    groups = np.repeat(np.arange(6), [10, 10, 10, 1, 1, 1])
    folds = deal_folds(np.zeros(33, dtype=np.intp), 3, np.random.default_rng(0), groups)
    assert sorted(Counter(folds.tolist()).values()) == [11, 11, 11]


def test_folds_are_no_more_than_groups():
    """Held-out folds need a group of each stratum that two groups or more have."""
    strata, groups = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 3, 4])
    assert usable_folds(strata, 5, "one", groups) == 5
    assert usable_folds(strata, 5, "rest", groups) == 2
