"""A word list helps where bags are few, and the reward keeps its contract."""

import numpy as np
import pytest
from bliss_lexicon.reward import LexiconReward
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score

from bliss_framework import BlissClassifier
from bliss_framework.testing import check_reward

FILLER = (
    *("the", "a", "of", "to", "and", "in", "is", "it", "that", "was", "for", "on", "with", "as", "his", "her"),
    *("they", "at", "be", "this", "from", "have", "or", "by", "one", "had", "not", "but"),
)
# Without the word list nothing is learnt from so few threads, and a warning says so.
pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.BlissWarning")

COMPLAINTS = ["broken", "refund", "late", "damaged", "rude", "faulty"]


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
    """With half of the words on the list, complaints in positive threads are ranked far better than without it."""
    texts, bags, weak, truth = threads(24, seed=0)
    vectorizer = CountVectorizer().fit(texts)
    X = vectorizer.transform(texts).astype(float)
    columns = [vectorizer.vocabulary_[word] for word in COMPLAINTS[:3]]
    in_positive_thread = np.isin(bags, np.flatnonzero(weak))
    found = {}
    for name, reward in (("without", "mil"), ("with", LexiconReward(columns, weight=0.7))):
        settings = {"scaling": "none", "n_folds": 3, "train_on": "rest", "n_inferences": 5, "random_state": 0}
        settings |= {"n_rounds": 100, "classifier": {"name": "kernel-ridge", "width": 2.0}}
        model = BlissClassifier(reward=reward, **settings).fit(X, weak, bags=bags)
        lead = (model.label_means_[:, 1] - model.label_means_[:, 0])[in_positive_thread]
        found[name] = roc_auc_score(truth[in_positive_thread], lead)
    assert found["with"] > max(0.8, found["without"] + 0.2)


def test_no_weight_changes_nothing():
    """With weight 0 the reward is the wrapped one."""
    texts, bags, weak, _ = threads(12, seed=1)
    X = CountVectorizer().fit_transform(texts).astype(float)
    settings = {"scaling": "none", "n_folds": 2, "n_rounds": 20, "random_state": 0}
    plain = BlissClassifier(reward="mil", **settings).fit(X, weak, bags=bags)
    reward = LexiconReward([0], {"name": "mil", "gamma": 1 / 7}, weight=0.0)
    mixed = BlissClassifier(reward=reward, **settings).fit(X, weak, bags=bags)
    assert np.array_equal(plain.labels_, mixed.labels_)


def test_an_empty_list_is_refused():
    """Without columns there is no prior."""
    with pytest.raises(ValueError, match="columns"):
        LexiconReward(columns=())
