"""The effective configuration: what the user gives, then what the regime advises, then the table of parameters."""

import json

import numpy as np
import pytest
from attrs import frozen
from sklearn.naive_bayes import GaussianNB

from bliss_framework import (
    Bags,
    BlissClassifier,
    PluginError,
    SettingsError,
    UnknownNameError,
    load_model,
    save_model,
)
from bliss_framework.estimator.component_tables import with_shared_parameters
from bliss_framework.estimator.configure import Config, configure
from bliss_framework.estimator.default_words import default_words
from bliss_framework.estimator.parameters import COMPONENTS, CONFIGURED, TABLE, named
from bliss_framework.extension.loading.plugins import default_plugins, load_plugins
from bliss_framework.plugin import Case, Presets, Profile, When
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_bliss
from bliss_framework.runs.settings.records import DataSettings, RunSettings
from bliss_mil.regime.mil_regime import MilRegime

SMALL = Profile(n_rows=476, n_bags=92)


@frozen
class Eager(MilRegime):
    """MIL with few rounds, more where rows are sparse or many, and another width."""

    presets = Presets(
        {"reward": "mil", "n_rounds": 20, "n_inferences": 1, "classifier": {"name": "kernel-ridge", "width": 0.75}},
        cases=(Case(When(sparse=True), {"n_rounds": 30}), Case(When(rows_above=1000), {"n_rounds": 40})),
    )


@frozen
class Mistyped(MilRegime):
    """MIL with a default for what is no parameter."""

    name: str = "n_round"

    @property
    def presets(self):
        """Misspell."""
        return Presets({"reward": "mil", self.name: 3})


def resolved(profile=SMALL, **given):
    """Configure with the installed plugins."""
    return configure(given, profile, default_plugins().registry)


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


class TestComponentsInUse:
    """`--set` speaks of the component in use; what it does not have is refused, and nothing is swapped in silence."""

    @pytest.mark.parametrize(
        ("given", "parameter", "table"),
        [
            ({"reward": {"gain": 1.0}}, "reward", {"name": "mil-marginal", "steepness": 3.4, "gain": 1.0}),
            (
                {"final_classifier": {"ridge": 0.3}},
                "final_classifier",
                {"name": "kernel-ridge", "ridge": 0.3, "width": 1.0, "n_landmarks": 0},
            ),
            (
                {"classifier": {"ridge": 0.5}},
                "classifier",
                {"name": "kernel-ridge", "ridge": 0.5, "width": 1.0, "n_landmarks": 0},
            ),
            ({"reward": {"name": "mil", "alpha": 0.8}}, "reward", {"name": "mil", "gamma": 1 / 7, "alpha": 0.8}),
            (
                {"classifier": "kernel-ridge"},
                "classifier",
                {"name": "kernel-ridge", "ridge": 1.0, "width": 1.0, "n_landmarks": 0},
            ),
            ({"classifier": "ridge"}, "classifier", {"name": "ridge", "ridge": 1.0}),
        ],
    )
    def test_a_parameter_is_set_on_it(self, given, parameter, table):
        """A table without a name, or with the name that is in use, is laid over what the regime advises."""
        assert resolved(**given)[parameter] == table

    def test_of_another_regime(self):
        """The classifier in use is the regime's, not the table's."""
        config = resolved(regime="multiclass-mil", classifier={"n_features": 100})
        assert (config["classifier"]["name"], config.classifier.n_features) == ("cooperative-softmax", 100)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"reward": {"alpha": 0.8}}, 'The reward "mil-marginal" has no parameter "alpha".'),
            ({"final_classifier": {"C": 1.0}}, 'The classifier "kernel-ridge" has no parameter "C".'),
            ({"regime": "multiclass-mil", "classifier": {"ridge": 0.5}}, 'The classifier "cooperative-softmax" has no'),
        ],
    )
    def test_one_that_it_lacks_is_refused(self, given, said):
        """The message names the component in use, so a parameter of another one never swaps it."""
        with pytest.raises(SettingsError) as caught:
            resolved(**given)
        assert str(caught.value).startswith(said)
        assert " in use is " in str(caught.value)
        assert "from bliss-framework" in str(caught.value)

    def test_an_object_is_taken_as_it_is(self):
        """Whoever passes an object has said all that there is to say of it."""
        regime, classifier = MilRegime(), GaussianNB()
        config = resolved(regime=regime, classifier=classifier, final_classifier="same")
        assert config.regime is regime
        assert config["regime"] is regime
        assert config.classifier is config.final

    def test_all_of_one_registry(self):
        """A plugin that is not in the registry in hand is not found anywhere else."""
        plugins = load_plugins(block=["bandits", "classifiers"])
        with pytest.raises(UnknownNameError, match=r'No (classifier|strategy) "'):
            configure({}, SMALL, plugins.registry)


class TestPresets:
    def test_they_are_laid_over_what_is_left_alone(self, bags_of_rows):
        """The rounds of the regime are used."""
        assert pulls(fitted(bags_of_rows, Eager())) == 20

    def test_what_the_user_sets_stays(self, bags_of_rows):
        """A parameter that is given is the user's, also where it is as the general default is."""
        assert pulls(fitted(bags_of_rows, Eager(), n_rounds=7)) == 7
        assert resolved(regime=Eager(), n_rounds=TABLE["n_rounds"].default)["n_rounds"] == 100

    def test_the_last_case_that_holds_wins(self):
        """Cases depend on the profile of the data."""
        profiles = [Profile(100, 10), Profile(100, 10, sparse=True), Profile(2000, 10, sparse=True)]
        assert [resolved(one, regime=Eager())["n_rounds"] for one in profiles] == [20, 30, 40]

    def test_a_preset_is_what_it_says(self, bags_of_rows):
        """All labels and scores are those of a fit in which the same values are given."""
        written = {"reward": "mil", "n_rounds": 20, "n_inferences": 1, "train_on": "one", "inherited_share": 0.0}
        written |= {"final_classifier": "svm-rbf", "instance_threshold": "auto"}
        written |= {"classifier": {"name": "kernel-ridge", "width": 0.75}}
        one = fitted(bags_of_rows, Eager())
        other = fitted(bags_of_rows, {"name": "mil", "bag_score": "max"}, **written)
        assert np.array_equal(one.label_means_, other.label_means_, equal_nan=True)
        assert np.array_equal(one.training_scores_, other.training_scores_)

    def test_they_lie_under_a_grid(self, bags_of_rows):
        """What a grid does not vary has the regime's default, and what it varies has not."""
        chosen = fitted(bags_of_rows, Eager(), settings="select", grid={"n_rounds": [3]}, n_members=1)
        assert pulls(chosen) == 3
        left = fitted(bags_of_rows, Eager(), settings="select", grid={"inherited_share": [0.0]}, n_members=1)
        assert pulls(left) == 20

    def test_those_of_mil_depend_on_the_size_of_the_data(self):
        """Every bag counts alike where a few are huge, and one fold trains where rows are many."""
        even = Bags.from_ids(np.repeat(np.arange(50), 4))
        huge = Bags.from_ids(np.repeat([0, *range(60)], [6000, *[1] * 60]))
        few, many = (resolved(Profile.of(bags, sparse=False)) for bags in (even, huge))
        assert (few["train_on"], few["n_folds"], few["regime"]["weights"]) == ("rest", 3, "instance")
        assert (many["train_on"], many["n_folds"], many["regime"]["weights"]) == ("one", 10, "bag")

    @pytest.mark.parametrize("name", ["n_round", "classifer.width", "settings"])
    def test_a_preset_of_nothing(self, name):
        """A misspelt name is the plugin's mistake, and the message says whose."""
        with pytest.raises(
            PluginError, match=f'Mistyped.presets speak of "{name}", which is no parameter; allowed are'
        ):
            resolved(regime=Mistyped(name=name))


class TestPaper:
    def test_it_is_the_paper(self):
        """One inference, an SVM is pulled, no clipping, no learnt thresholds, the paper's alpha and gamma."""
        config = resolved(settings="paper")
        assert (config["n_inferences"], config["n_passes"], config["train_on"]) == (1, 1, "one")
        assert (config["classifier"]["name"], config["final_classifier"]["name"]) == ("svm-rbf", "svm-rbf")
        assert config["reward"] == {"name": "mil", "gamma": 1 / 7, "alpha": 1.0}
        assert config["strategy"] == {"name": "cucb", "exploration": 1.0}
        assert (config["bag_threshold"], config["instance_threshold"]) == (0.0, 0.0)
        assert (config["scaling"], config["inherited_share"], config["regime"]["bag_score"]) == ("standard", 0.0, "max")
        assert not config["confidence_weights"]

    def test_what_is_given_stays(self):
        """It is a preset like the others."""
        assert resolved(settings="paper", n_rounds=7, classifier="ridge")["classifier"]["name"] == "ridge"

    def test_multi_class_pulls_a_cooperative_softmax(self):
        """As in the paper's section on multi-class MIL, without constraints on assignments."""
        config = resolved(regime="multiclass-mil", settings="paper")
        assert config["classifier"]["name"] == "cooperative-softmax"
        assert (config["reward"]["name"], config["regime"]["assignments"]) == ("multiclass-mil", "free")


class TestBaselines:
    def test_they_share_the_words_of_the_regime(self):
        """Each parameter of the regime that a baseline has, too, is handed to it, unless the user set it."""
        registry = default_plugins().registry
        config = resolved(regime={"name": "multiclass-mil", "negative_label": "background", "separator": "|"})
        spec = with_shared_parameters({"name": "one-vs-rest-mi-svm", "separator": ","}, config["regime"], registry)
        assert spec == {"name": "one-vs-rest-mi-svm", "negative_label": "background", "separator": ","}

    def test_of_a_regime_that_is_an_object(self):
        """Its attributes are handed over."""
        registry = default_plugins().registry
        spec = with_shared_parameters({"name": "mi-svm"}, MilRegime("yes"), registry)
        assert spec == {"name": "mi-svm", "positive_label": "yes"}

    def test_shares_of_classes(self):
        """The names of classes reach the baselines of LLP."""
        registry = default_plugins().registry
        config = resolved(regime={"name": "llp", "classes": ["a", "b"]})
        assert with_shared_parameters({"name": "mean-map"}, config["regime"], registry)["classes"] == ["a", "b"]


class TestConfig:
    def test_a_fitted_model_has_it(self, bags_of_rows):
        """It prints, compares, turns into JSON, and makes the same model once more."""
        model = fitted(bags_of_rows, "mil", n_rounds=3)
        again = BlissClassifier(**model.config_.to_dict()).fit(*bags_of_rows)
        assert np.array_equal(model.label_means_, again.label_means_, equal_nan=True)
        assert again.config_ == model.config_
        assert json.loads(model.config_.to_json())["n_rounds"] == 3
        assert "n_rounds = 3\n" in str(model.config_)
        assert Config({"n_rounds": 3}) != model.config_

    def test_a_model_knows_where_its_components_come_from(self, bags_of_rows, tmp_path):
        """They are saved with it, so that one that is gone can be asked for by its distribution."""
        save_model(fitted(bags_of_rows, "mil", n_rounds=3), tmp_path / "model.skops")
        origin = load_model(tmp_path / "model.skops").plugins_["reward:mil-marginal"]
        assert (origin["plugin"], origin["distribution"]) == ("mil", "bliss-framework")
        with load_plugins(block=["mil"]).active(), pytest.raises(UnknownNameError, match="blocked"):
            load_model(tmp_path / "model.skops").predict_bags(bags_of_rows[0], bags_of_rows[2])

    def test_a_file_of_it_gives_the_same_settings(self, bags_of_rows, tmp_path):
        """As TOML it is a file for `--settings`, by which another model has the same configuration."""
        model = fitted(bags_of_rows, "mil", n_rounds=3)
        (tmp_path / "mine.toml").write_text(model.config_.to_toml(), encoding="utf-8")
        assert BlissClassifier(**read_bliss(tmp_path / "mine.toml")).fit(*bags_of_rows).config_ == model.config_

    def test_a_run_says_what_its_settings_were(self):
        """The record of a run holds every parameter, and what is given stays even where it is a default."""
        settings = RunSettings(data=DataSettings("musk1"), bliss={"n_inferences": 3, "classifier": {"ridge": 0.5}})
        found = prepare(settings, default_plugins(), []).bliss
        assert (found["settings"], found["n_inferences"], found["n_rounds"]) == ("default", 3, 60)
        assert found["classifier"] == {"name": "kernel-ridge", "ridge": 0.5, "width": 1.0, "n_landmarks": 0}


class TestSize:
    """Classifiers have another form where rows are many: a rule of the component that is said, and can be overruled."""

    @pytest.mark.parametrize(
        ("n_rows", "landmarks"), [(5000, 0), (5001, 1000), (50_000, 1000), (50_001, 500), (10**6, 250)]
    )
    def test_the_default_classifier_compares_with_fewer_rows(self, n_rows, landmarks):
        """Up to 5,000 rows nothing is approximated; above, the number of landmarks is said, also at the end."""
        found = resolved(Profile(n_rows, 100))
        assert found["classifier"]["n_landmarks"] == found.final.n_landmarks == landmarks
        assert len(found.notes) == (n_rows > 5000)

    def test_what_is_said(self):
        """The note names the parameter, its value, and how to set another one."""
        (note,) = resolved(Profile(20_000, 100)).notes
        assert note == (
            'Of 20,000 rows the classifier "kernel-ridge" takes n_landmarks = 1000; set classifier.n_landmarks for '
            "another value."
        )

    @pytest.mark.parametrize("classifier", [{"n_landmarks": 0}, {"name": "kernel-ridge", "n_landmarks": 0}])
    def test_the_user_comes_first(self, classifier):
        """What the user sets holds for any number of rows, and nothing is said of it."""
        found = resolved(Profile(20_000, 100), classifier=classifier)
        assert (found["classifier"]["n_landmarks"], found.notes) == (0, ())

    def test_every_named_component_has_its_rule(self):
        """The rule goes with the component, whichever regime is in use and wherever the component stands."""
        found = resolved(Profile(20_000, 100), regime="llp", classifier="svm-linear")
        assert found["classifier"]["solver"] == "liblinear"
        assert found["final_classifier"]["n_landmarks"] == 1000
        assert len(found.notes) == 2


class TestTable:
    def test_every_parameter_has_one_row(self):
        """The signature of the constructor, the configuration and the groups are made of the same names."""
        assert list(BlissClassifier().get_params()) == sorted(TABLE)
        assert set(CONFIGURED) | set(named("rows", "selection", "run")) == set(TABLE)
        assert set(COMPONENTS) <= set(CONFIGURED)

    @pytest.mark.parametrize("name", list(TABLE))
    def test_a_row_is_whole(self, name):
        """It has a sentence, and its default and its value in the paper are allowed."""
        row = TABLE[name]
        assert row.text.endswith(".")
        row.check(row.default)
        row.check(row.paper)

    def test_an_unknown_parameter(self):
        """It is refused as by any constructor."""
        with pytest.raises(TypeError, match="unexpected keyword argument 'n_round'"):
            BlissClassifier(n_round=3)

    def test_defaults_in_words(self):
        """Help texts say what each installed regime advises, from the same data."""
        registry = default_plugins().registry
        assert default_words("n_rounds", registry) == "80 with llp, 60 with most regimes, 100 elsewhere"
        assert default_words("n_passes", registry) == "1"
        assert "60 with most regimes" in str(BlissClassifier.__doc__)
