"""Classifiers of scikit-learn, all of them: those that can learn any labels do, and others are named with the pull."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from bliss_framework import BlissClassifier, BlissError

CLASSES = dict(all_estimators(type_filter="classifier"))
# What they say of these rows, or of one label for each row; the rest of scikit-learn's classifiers work.
CANNOT = {
    "CategoricalNB": "Negative values|out of bounds",
    "ComplementNB": "Negative values",
    "MultinomialNB": "Negative values",
    "RadiusNeighborsClassifier": "No neighbors found",
    "NuSVC": "nu is infeasible",
    "ClassifierChain": "tuple index out of range",
    "MultiOutputClassifier": "at least two dimensions",
}
SLOW = ("TunedThresholdClassifierCV",)  # A search in each pull.
CAN = [name for name in CLASSES if name not in CANNOT and name not in SLOW]
FEWER = {"n_estimators": 3, "max_iter": 50, "cv": 2}  # Where a classifier has these, it is faster with less.


def made(name):
    """Make a classifier, around a logistic regression if it trains others."""
    cls = CLASSES[name]
    try:
        one = cls()
    except TypeError:
        of = LogisticRegression()
        one = cls([("one", of)]) if name in ("StackingClassifier", "VotingClassifier") else cls(of)
    if name == "SelfTrainingClassifier":
        one.set_params(estimator=LogisticRegression())
    known = one.get_params(deep=False)
    return one.set_params(**{key: value for key, value in FEWER.items() if known.get(key) is not None})


def fit(classifier, **parameters):
    """Infer labels of sixteen small bags, in which folds may draw a class once, twice or never."""
    rng = np.random.default_rng(0)
    bags, weak = np.repeat(np.arange(16), 4), np.arange(16) % 2
    X = rng.normal(size=(64, 3)) + 3.0 * (weak[bags] * (np.arange(64) % 4 == 0))[:, None]
    given = {"n_rounds": 3, "n_folds": 2, "n_inferences": 1, "n_neighbors": 3, "random_state": 0, **parameters}
    return BlissClassifier(classifier=classifier, **given).fit(X, weak, bags=bags)


def test_there_are_many():
    """Thirty and more of them work."""
    assert len(CAN) >= 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CAN)
def test_a_classifier_learns_assignments(name):
    """Labels are inferred, and all rows have a class."""
    assert set(fit(made(name)).labels_) <= {0, 1}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CANNOT)
def test_a_classifier_that_cannot_is_named(name):
    """The message has the classifier, what it said, and in label inference the round and the fold."""
    with pytest.raises(BlissError, match=CANNOT[name]) as caught:
        fit(made(name))
    assert f'"{name}"' in str(caught.value)
    assert re.search(r"in round \d+: .*fold \d of 2|final classifier", str(caught.value), re.DOTALL)


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline():
    """Steps before the classifier are learnt in each pull."""
    assert set(fit(make_pipeline(StandardScaler(), LogisticRegression())).labels_) <= {0, 1}


@pytest.mark.filterwarnings("ignore")
def test_a_final_classifier_that_cannot_is_named():
    """Labels were inferred by then, and the message says what stopped the training on them."""
    with pytest.raises(BlissError, match=r'final classifier "SVC": the final classifier raised InvalidParameterError'):
        fit("kernel-ridge", final_classifier=SVC(C=-1.0))
