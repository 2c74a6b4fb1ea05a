"""A regime's own defaults: laid over what the user left alone, and over nothing else."""

import numpy as np
import pytest
from attrs import frozen
from sklearn.naive_bayes import GaussianNB

from bliss_framework import Bags, BlissClassifier, PluginError
from bliss_framework.estimator.own_defaults import GENERAL, filled, is_given, with_values
from bliss_framework.extension.loading.manager import default_plugins
from bliss_framework.runs.preparation import prepare
from bliss_framework.runs.settings.records import DataSettings, RunSettings
from bliss_mil.regime.mil_regime import MilRegime

DEFAULTS = BlissClassifier().get_params(deep=False)


@frozen
class Eager(MilRegime):
    """MIL with few rounds, more where rows are sparse or bags are many, and another classifier."""

    def defaults(self, bags, sparse):
        """Depend on bags and rows."""
        return {"n_rounds": bags.n_bags + 100 * sparse, "n_inferences": 1, "classifier.width": 0.75}


@frozen
class Mistyped(MilRegime):
    """MIL with a default for what is no parameter."""

    name: str = "n_round"

    def defaults(self, bags, sparse):
        """Misspell."""
        return {self.name: 3}


@pytest.fixture(scope="module")
def bags_of_rows():
    """20 bags of 3 rows, half of them positive."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(60, 2))
    X[::3] += 3.0 * y[:, None]
    return X, y, np.repeat(np.arange(20), 3)


def fitted(rows, regime, **parameters):
    """Fit on the rows."""
    X, y, bags = rows
    return BlissClassifier(regime=regime, n_folds=2, n_neighbors=5, random_state=0, **parameters).fit(X, y, bags=bags)


def pulls(model):
    """Rounds of each of two folds, beside the two pulls of the initial sweep."""
    return model.inference_["n_pulls"] / 2 - 2


def test_they_are_laid_over_what_is_left_alone(bags_of_rows):
    """The rounds of the regime are used, and they may depend on its bags."""
    assert pulls(fitted(bags_of_rows, Eager())) == 20


def test_what_the_user_sets_stays(bags_of_rows):
    """A parameter that is given is the user's, also where it is as the general default is."""
    assert pulls(fitted(bags_of_rows, Eager(), n_rounds=7)) == 7
    assert pulls(fitted(bags_of_rows, Eager(), n_rounds=GENERAL["n_rounds"])) == 100


def test_as_given_takes_none(bags_of_rows):
    """`settings="as-given"` has nothing but general defaults for what is left alone."""
    assert pulls(fitted(bags_of_rows, Eager(), settings="as-given", n_inferences=1)) == GENERAL["n_rounds"]


def test_the_same_as_if_they_were_written_down(bags_of_rows):
    """All labels and scores are those of a fit with the same values, as given."""
    written = {"n_rounds": 20, "n_inferences": 1, "classifier": {"name": "kernel-ridge", "width": 0.75}}
    one, other = fitted(bags_of_rows, Eager()), fitted(bags_of_rows, "mil", settings="as-given", **written)
    assert np.array_equal(one.label_means_, other.label_means_, equal_nan=True)
    assert np.array_equal(one.training_scores_, other.training_scores_)


def test_they_lie_under_a_grid(bags_of_rows):
    """What a grid does not vary has the regime's default, and what it varies has not."""
    chosen = fitted(bags_of_rows, Eager(), settings="select", grid={"n_rounds": [3]}, n_members=1)
    assert pulls(chosen) == 3
    left = fitted(bags_of_rows, Eager(), settings="select", grid={"inherited_share": [0.0]}, n_members=1)
    assert pulls(left) == 20


def test_those_of_mil_depend_on_the_size_of_the_data():
    """Every bag counts alike where a few are huge, and one fold trains where rows are many."""
    even, huge = (
        Bags.from_ids(np.repeat(np.arange(50), 4)),
        Bags.from_ids(np.repeat([0, *range(60)], [6000, *[1] * 60])),
    )
    few, many = MilRegime().defaults(even, sparse=False), MilRegime().defaults(huge, sparse=False)
    assert (few["train_on"], few["n_folds"], few["regime.weights"]) == ("rest", 3, "instance")
    assert (many["train_on"], many["n_folds"], many["regime.weights"]) == ("one", 10, "bag")


def test_a_run_says_what_its_settings_were():
    """The settings of a run hold the defaults of its regime, and what is given stays even where it is a default."""
    settings = RunSettings(data=DataSettings("musk1"), bliss={"n_inferences": 3, "classifier": {"ridge": 0.5}})
    found = prepare(settings, default_plugins(), []).settings.bliss
    assert (found["settings"], found["n_inferences"], found["n_rounds"]) == ("as-given", 3, 60)
    assert found["classifier"] == {"name": "kernel-ridge", "ridge": 0.5, "width": 1.0}
    assert found["regime"] == {"name": "mil", "weights": "instance", "bag_score": "max-mean"}


@pytest.mark.parametrize("name", ["n_round", "classifer.width"])
def test_a_default_of_nothing(bags_of_rows, name):
    """A misspelt name is the plugin's mistake, and the message says whose."""
    with pytest.raises(PluginError, match=f'Mistyped.defaults returned "{name}", which is no parameter; allowed are'):
        fitted(bags_of_rows, Mistyped(name=name))


def test_a_component_of_the_users_keeps_its_own_parameters():
    """The width of the regime is meant for its classifier, so it is not laid over another one, or over a width."""
    other = {**DEFAULTS, "classifier": "svm-rbf"}
    assert is_given("classifier.width", other)
    assert is_given("classifier.width", {**DEFAULTS, "classifier": {"name": "kernel-ridge", "width": 2.0}})
    assert not is_given("classifier.width", {**DEFAULTS, "classifier": {"name": "kernel-ridge", "ridge": 2.0}})


def test_an_object_keeps_all_its_parameters():
    """Whoever passes a regime as an object has said all that there is to say of it."""
    assert is_given("regime.bag_score", {**DEFAULTS, "regime": MilRegime()})
    assert is_given("classifier.width", {**DEFAULTS, "classifier": GaussianNB()})
    assert not is_given("regime.weights", {**DEFAULTS, "regime": "multiclass-mil"})
    assert not is_given("reward.gamma", DEFAULTS)


def test_values_make_a_table_of_a_name():
    """A parameter of a component joins what the user said of it; the reward that None means is named."""
    laid = with_values(filled(DEFAULTS), {"classifier.ridge": 3.0, "reward.alpha": 0.5})
    assert laid["classifier"] == {"name": "kernel-ridge", "ridge": 3.0}
    assert laid["reward"] == {"name": "mil", "alpha": 0.5}
    assert GENERAL["classifier"] == "kernel-ridge"
