"""A word list helps where bags are few, and the reward keeps its contract."""

import numpy as np
import pytest
from bliss_framework import BlissClassifier
from bliss_framework.testing import check_reward
from sklearn.feature_extraction.text import CountVectorizer

from bliss_lexicon.reward import LexiconReward

FILLER = "the a of to and in is it that was for on with as his her they at be this from have or by one had not but".split()
COMPLAINTS = "broken refund late damaged rude faulty".split()


def threads(n_bags, seed):
    """Make threads of six messages; in every other one a message complains."""
    rng = np.random.default_rng(seed)
    texts, bags, truth = [], [], []
    for bag in range(n_bags):
        for message in range(6):
            complains = bag % 2 == 0 and message == 0
            words = list(rng.choice(FILLER, 8))
            if complains:
                words[:2] = rng.choice(COMPLAINTS, 2, replace=False)
            texts.append(" ".join(words))
            bags.append(bag)
            truth.append(int(complains))
    return texts, np.array(bags), np.arange(1, n_bags + 1) % 2, np.array(truth)


def test_contract():
    """The reward passes the kit."""
    check_reward(LexiconReward(columns=(0,)))


def test_word_list_helps_to_find_the_message():
    """With half of the words on the list, complaints inside positive threads are ranked better than without it."""
    texts, bags, weak, truth = threads(24, seed=0)
    vectorizer = CountVectorizer().fit(texts)
    X = vectorizer.transform(texts).astype(float)
    columns = [vectorizer.vocabulary_[word] for word in COMPLAINTS[:3]]
    found = {}
    for name, reward in (("without", "mil"), ("with", LexiconReward(columns, weight=0.7))):
        model = BlissClassifier(reward=reward, scaling="none", n_folds=3, n_inferences=5, random_state=0)
        model.fit(X, weak, bags=bags)
        positive_bags = np.isin(bags, np.flatnonzero(weak))
        lead = model.label_means_[positive_bags, 1] - model.label_means_[positive_bags, 0]
        found[name] = lead[truth[positive_bags] == 1].mean() - lead[truth[positive_bags] == 0].mean()
    print({name: round(float(gap), 3) for name, gap in found.items()})
    assert found["with"] > found["without"]


def test_no_weight_changes_nothing():
    """With weight 0 the reward is the wrapped one."""
    texts, bags, weak, _ = threads(12, seed=1)
    X = CountVectorizer().fit_transform(texts).astype(float)
    settings = {"scaling": "none", "n_folds": 2, "n_rounds": 20, "random_state": 0}
    plain = BlissClassifier(reward="mil", **settings).fit(X, weak, bags=bags)
    mixed = BlissClassifier(reward=LexiconReward([0], {"name": "mil", "gamma": 1 / 7}, weight=0.0), **settings).fit(X, weak, bags=bags)
    assert np.array_equal(plain.labels_, mixed.labels_)


def test_an_empty_list_is_refused():
    """Without columns there is no prior."""
    with pytest.raises(ValueError, match="columns"):
        LexiconReward(columns=())
