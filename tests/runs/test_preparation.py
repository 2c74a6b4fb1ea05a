"""What is checked and filled in before anything is computed."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve, frozen

from bliss_framework import BlissClassifier, DataError, PluginError, SettingsError, UnknownNameError
from bliss_framework.estimator.component_tables import fill_defaults
from bliss_framework.extension.loading.plugins import default_plugins, load_plugins
from bliss_framework.extension.registry import Registration
from bliss_framework.plugin import Component
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.records import (
    DataSettings,
    EvaluationSettings,
    MethodSettings,
    RunSettings,
    with_component_parameters,
)
from bliss_mil.regime.mil_regime import MilRegime


def refused(error, source="musk1", data_dirs=(), block=(), **settings):
    with pytest.raises(error) as caught:
        prepare(RunSettings(DataSettings(str(source)), **settings), load_plugins(block=block), list(data_dirs))
    return str(caught.value)


class TestDocument:
    def test_every_setting_is_there(self, experiment):
        """The record of a run holds each parameter of BLISS, and of each component its name with its defaults."""
        document = experiment(name="row", n_rounds=6).document()
        bliss = document["bliss"]
        assert bliss["classifier"] == {"name": "kernel-ridge", "ridge": 1.0, "width": 2.0, "n_landmarks": 0}
        assert bliss["reward"] == {"name": "mil", "gamma": 1 / 7, "alpha": 1.0}
        assert bliss["strategy"] == {"name": "cucb", "exploration": 1.0}
        known = {"negative_bags": "known", "weights": "instance", "bag_score": "max", "bag_head": "none"}
        assert bliss["regime"] == {"name": "mil", **known}
        assert (bliss["n_rounds"], bliss["n_folds"], bliss["random_state"], bliss["train_on"]) == (6, 3, 0, "one")
        assert document["compare"] == [{"method": "bag-mean-svm", "C": 10.0, "scaling": "auto"}]
        assert document["evaluation"] == {"cv": 3, "repeats": 1}
        assert document["name"] == "row"

    def test_a_file_is_recorded_by_its_whole_path(self, experiment, tmp_path):
        """A run can be repeated from any folder; the name of a plugin's data set stays as it is."""
        assert experiment().document()["data"] == {"source": str(tmp_path / "toy.npz")}
        packaged = prepare(RunSettings(DataSettings("musk1")), default_plugins(), [])
        assert packaged.document()["data"] == {"source": "musk1"}

    def test_a_component_by_import_path_stays(self):
        """What is no name of a component is recorded as the user gave it."""
        registry = default_plugins().registry
        for spec in ("sklearn.svm.SVC", {"name": "sklearn.svm.SVC", "C": 3}, 5):
            assert fill_defaults("classifier", spec, registry) == spec
        assert fill_defaults("classifier", {"name": "svm-rbf", "C": 3.0}, registry) == {
            "name": "svm-rbf",
            "C": 3.0,
            "width": 2.0,
            "n_landmarks": 0,
        }

    def test_versions_and_digest(self, experiment):
        """The record names what the bits may depend on."""
        record = experiment().record()
        assert set(record) == {"data_sha256", "versions", "components"}
        assert record["components"]["reward:mil"]["distribution"] == "bliss-framework"
        assert set(record["versions"]) >= {"bliss_framework", "python", "numpy", "scipy", "scikit-learn"}
        assert record["versions"]["numpy"] == np.__version__


class TestFilledIn:
    def test_parameters_of_the_components_in_use(self, toy_file):
        """--set speaks of the component in use, the regime's where the user names none; the rest is as advised."""
        settings = with_component_parameters(
            RunSettings(DataSettings(str(toy_file()))),
            ["reward.gain=1.0", "classifier.ridge=0.5", "final_classifier.ridge=0.3", "regime.weights=bag"],
        )
        bliss = prepare(settings, default_plugins(), []).bliss
        assert bliss["reward"] == {"name": "mil-marginal", "steepness": 3.4, "gain": 1.0}
        assert bliss["classifier"] == {"name": "kernel-ridge", "ridge": 0.5, "width": 1.0, "n_landmarks": 0}
        assert bliss["final_classifier"] == {"name": "kernel-ridge", "ridge": 0.3, "width": 1.0, "n_landmarks": 0}
        own = {"name": "mil", "negative_bags": "known", "weights": "bag", "bag_score": "max-mean", "bag_head": "none"}
        assert bliss["regime"] == own

    def test_baselines_are_those_of_the_regime(self, experiment):
        """Without [[compare]] a run stands beside the control and the baselines of MIL; with an empty list alone."""
        names = [one.name for one in experiment(compare=None).baselines]
        assert names == ["no-bandit", "inherited-label-svm", "bag-mean-svm"]
        assert experiment(compare=()).baselines == ()

    def test_the_control_has_the_parameters_of_bliss(self, experiment):
        """`no-bandit` is BLISS with inherited_share=1, whatever else the user set, and one process for each fit."""
        prepared = experiment(compare=("no-bandit",), inherited_share=0.25, settings="select", n_members=2, n_jobs=2)
        (control,) = prepared.baselines
        model = control.fit(prepared.problem.data, 7, lambda event: None)
        given = {**prepared.bliss, "inherited_share": 1.0, "n_jobs": None, "random_state": 7}
        assert model.get_params(deep=False) == given
        assert model.inference_["n_pulls"] == 0
        assert prepared.document()["compare"] == [{"method": "no-bandit"}]

    def test_a_baseline_with_parameters(self, toy_file):
        """Parameters of [[compare]] reach the baseline, freshly made for each fit."""
        chosen = (MethodSettings("bag-mean-svm", {"C": 3.0}),)
        prepared = prepare(RunSettings(DataSettings(str(toy_file())), compare=chosen), default_plugins(), [])
        first, second = (prepared.baselines[0].fit(prepared.problem.data, seed, print).model for seed in (0, 1))
        assert (first.C, second.C) == (3.0, 3.0)
        assert first is not second


class TestRefusals:
    def test_an_unknown_regime_of_the_user(self):
        """The regime that the user names is looked for before the data are."""
        said = refused(UnknownNameError, source="nothing", bliss={"regime": "mill"})
        assert said.startswith('No regime "mill" is installed. Did you mean "mil"? Installed regimes: ')
        assert "nothing" not in said

    @pytest.mark.parametrize("regime", ["mil", {"name": "mil"}])
    def test_the_regime_is_gone(self, regime):
        """Without the plugin of the regime the user reads so, whether or not the regime was named."""
        said = refused(UnknownNameError, block=["mil"], bliss={"regime": regime})
        assert said.startswith('No regime "mil" is installed. ')

    def test_regime_and_data_set_are_gone(self):
        """Where one plugin ships both, both are said: first that there is no regime, then that there are no data."""
        said = refused(UnknownNameError, block=["mil"])
        assert said.startswith('No regime "mil" is installed. ')
        assert 'No file and no data set is called "musk1".' in said

    def test_only_the_data_set_is_unknown(self):
        """Where the regime is there, it is not complained of."""
        assert refused(UnknownNameError, source="musk").startswith(
            'No file and no data set is called "musk". Did you mean "musk1"?'
        )

    def test_data_for_a_regime_that_is_gone(self, toy_file, monkeypatch):
        """A data file that is for a regime which is not installed is no reason to start."""
        path = toy_file()
        monkeypatch.setenv("BLISS_BLOCK_PLUGINS", "mil")
        assert refused(UnknownNameError, source=path).startswith('No regime "mil" is installed. ')

    @pytest.mark.parametrize(
        ("bliss", "said"),
        [
            ({"n_rounds": 0}, "n_rounds must be an integer, at least 1; got 0."),
            ({"random_state": -1}, "random_state must be an integer from 0 to 4294967295; got -1."),
            ({"random_state": "x"}, "random_state must be an integer from 0 to 4294967295; got 'x'."),
            ({"random_state": True}, "random_state must be an integer from 0 to 4294967295; got True."),
            ({"n_jobs": 0}, "n_jobs must be None, a positive integer, or -1 for all cores; got 0."),
            ({"bag_threshold": "x"}, "bag_threshold must be"),
            ({"classifier": {"name": "ridge", "rigde": 1}}, 'The classifier "ridge" has no parameter "rigde". Did you'),
            ({"reward": {"gamma": 2.0}}, 'The reward "mil-marginal" has no parameter "gamma".'),
            ({"reward": {"gain": -1.0}}, "gain must be a finite number above 0; got -1.0."),
            ({"regime": {"weights": "x"}}, "weights must be one of 'instance', 'bag'; got 'x'."),
        ],
    )
    def test_settings(self, bliss, said):
        """A setting that cannot be is refused with its name and what is allowed."""
        assert refused(SettingsError, bliss=bliss).startswith(said)

    def test_an_unknown_baseline(self):
        """A baseline that is not installed is refused with the nearest one."""
        said = refused(UnknownNameError, compare=(MethodSettings("bag-mean-svn"),))
        assert said.startswith('No baseline "bag-mean-svn" is installed. Did you mean "bag-mean-svm"?')

    def test_a_parameter_that_a_baseline_lacks(self):
        """So is a parameter that it does not have."""
        assert "no parameter" in refused(SettingsError, compare=(MethodSettings("bag-mean-svm", {"k": 3}),))

    def test_a_parameter_of_the_control(self):
        """The control has none of its own."""
        said = refused(SettingsError, compare=(MethodSettings("no-bandit", {"ridge": 1.0}),))
        assert said == 'The method "no-bandit" takes no parameters: it has those of BLISS, but infers nothing.'

    def test_data(self, toy_file):
        """Data that the regime cannot use are refused, here a set without a negative bag."""
        assert "negative" in refused(DataError, source=toy_file(n_neg=0))

    def test_an_ambiguous_regime(self, monkeypatch):
        """A regime that two plugins register is not chosen by luck."""
        plugins = load_plugins()
        registry = plugins.registry

        twice = evolve(
            registry,
            registrations=tuple(
                evolve(one, distribution="third-party", plugin=p) for one in registry.registrations for p in ("a", "b")
            ),
        )
        with pytest.raises(PluginError, match="ambiguous"):
            prepare(
                RunSettings(DataSettings("musk1"), bliss={"regime": "mil"}), evolve(plugins, registry=twice), [Path()]
            )


class TestRegistryInHand:
    def test_a_blocked_plugin_is_out_of_a_prepared_run(self):
        """What is not in the registry in hand is not found elsewhere, and the message says why it is missing."""
        plugins = load_plugins(block=["bandits"])
        assert plugins.registry.names("strategy") == ()
        with pytest.raises(UnknownNameError) as caught:
            prepare(RunSettings(DataSettings("generated-mil")), plugins, [])
        assert str(caught.value).startswith('No strategy "cucb" is installed.')
        assert "blocked" in str(caught.value)
        assert "bandits" in str(caught.value)

    def test_an_estimator_finds_the_active_plugins(self):
        """Within `with plugins.active():` names mean what these plugins offer, and outside what is installed."""
        plugins = load_plugins(block=["bandits"])
        with plugins.active(), pytest.raises(UnknownNameError, match='No strategy "cucb"'):
            BlissClassifier().check_parameters()
        BlissClassifier().check_parameters()

    def test_no_environment_variable_is_written(self, monkeypatch):
        """A run with plugins in hand leaves the environment as it was."""
        monkeypatch.delenv("BLISS_BLOCK_PLUGINS", raising=False)
        before = dict(os.environ)
        settings = RunSettings(DataSettings("generated-mil"), bliss={"n_rounds": 1, "n_jobs": 2})
        prepared = prepare(settings, load_plugins(block=["llp"]), [])
        prepared.model().fit_configured(prepared.problem.data, prepared.config)
        assert dict(os.environ) == before


class TestRowsThatAreBags:
    @frozen
    class Rows(MilRegime):
        """MIL in which each row is a bag."""

        rows_are_bags = True

    def prepared(self, folder, factory):
        """Prepare a table without bag ids for a regime."""
        lines = [f"{row % 7},{row * row % 5},{row % 2}" for row in range(20)]
        (folder / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
        plugins = load_plugins()
        added = Registration("regime", Component("rows", factory), "own", "own", "1.0")
        registry = evolve(plugins.registry, registrations=(*plugins.registry.registrations, added))
        settings = RunSettings(DataSettings(str(folder / "rows.csv")), bliss={"regime": "rows"})
        return prepare(settings, evolve(plugins, registry=registry), [])

    def test_a_table_needs_no_bag_ids(self, tmp_path):
        """Where the regime says that rows are bags, their numbers are ids; all columns but the label are features."""
        problem = self.prepared(tmp_path, self.Rows).problem
        assert problem.bags.ids.tolist() == [str(row) for row in range(20)]
        assert problem.data.columns == ("a", "b")
        assert problem.weak.values.tolist() == [row % 2 for row in range(20)]

    def test_other_regimes_ask_for_them(self, tmp_path):
        """Bags are what other regimes are about."""
        with pytest.raises(DataError, match='has no column "bag"'):
            self.prepared(tmp_path, MilRegime)


class TestBeforeWork:
    """What the folds of an evaluation leave to train on is checked before any fit."""

    @pytest.mark.parametrize("evaluation", [EvaluationSettings(5), EvaluationSettings(2), EvaluationSettings(3, 4)])
    def test_one_positive_bag_cannot_be_in_every_training_part(self, toy_file, evaluation):
        """The message names cv, the fold, what the regime says of its training bags, and the numbers of bags."""
        said = refused(DataError, source=toy_file(n_pos=1, n_neg=11), evaluation=evaluation)
        assert re.match(rf"With cv = {evaluation.cv}, fold \d leaves \d+ of 12 bags to train on", said)
        assert "have the same class (negative)" in said
        assert "All data have 1 positive bag, 11 negative bags." in said

    def test_so_it_is_with_one_negative_bag(self, toy_file):
        """The rare class may be the negative one."""
        said = refused(DataError, source=toy_file(n_pos=5, n_neg=1), evaluation=EvaluationSettings(3))
        assert "have the same class (positive)" in said
        assert "All data have 5 positive bags, 1 negative bag." in said

    def test_a_share_to_test_on(self, toy_file):
        """The bags that are drawn to test on are checked alike, in every repeat."""
        evaluation = EvaluationSettings(None, 20, test_share=0.5)
        said = refused(DataError, source=toy_file(n_pos=1, n_neg=5), evaluation=evaluation)
        assert said.startswith("With test_share = 0.5, fold 1 leaves 3 of 6 bags to train on")

    def test_folds_on_which_settings_are_scored(self, toy_file):
        """With settings="select" the training part of each fold is divided again."""
        select = {"settings": "select", "grid": {"scaling": ["auto", "unit"]}}
        said = refused(DataError, source=toy_file(n_pos=2), bliss=select, evaluation=EvaluationSettings(2))
        assert said.startswith(
            'With settings = "select", which scores settings on held-out bags in each fold of cv = 2'
        )
        assert "All data have 1 positive bag, 3 negative bags." in said

    def test_enough_bags(self, toy_file):
        """Two bags of each class are enough for any number of folds, and one without an evaluation."""
        for source, evaluation in (
            (toy_file("two", n_pos=2, n_neg=2), EvaluationSettings(4, 3)),
            (toy_file("one", n_pos=1), EvaluationSettings()),
        ):
            prepare(RunSettings(DataSettings(str(source)), evaluation=evaluation), default_plugins(), [])

    def test_a_fit_that_selects(self, toy, bliss, untouched):
        """A fit that selects settings checks its folds before any inference, too."""
        X, bags, weak = toy(n_pos=1)
        model = bliss(classifier=untouched, settings="select", grid={"scaling": ["auto", "unit"]})
        with pytest.raises(DataError, match=r'With settings = "select".*All data have 1 positive bag, 6 negative bags'):
            model.fit(X, weak, bags=bags)

    def test_a_bag_that_is_alone_with_its_class(self, toy, bliss):
        """One positive bag among many can be fitted, and a warning says that nothing like it is held out."""
        X, bags, weak = toy(n_pos=1, n_neg=9)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bliss().fit(X, weak, bags=bags)
        said = [str(one.message) for one in caught]
        assert sum(one.startswith("Bag 'b0' is the only one of its class among 10 bags") for one in said) == 1

    def test_labels_that_only_some_training_parts_have(self, tmp_path):
        """A baseline is told of all labels, so that one which its training bags lack stops nothing after hours."""
        rng = np.random.default_rng(0)
        lines = ["bag,f1,f2,label"]
        for bag in range(12):
            label = {0: "cat|emu", 2: ""}.get(bag, ("cat", "dog")[bag % 2])
            lines += [f"b{bag},{a:.3f},{b:.3f},{label}" for a, b in rng.normal(size=(4, 2))]
        path = tmp_path / "rare.csv"
        path.write_text("\n".join(lines))
        settings = RunSettings(
            DataSettings(str(path)),
            bliss={"n_rounds": 3, "n_inferences": 1},
            evaluation=EvaluationSettings(3),
            compare=(MethodSettings("one-vs-rest-bag-mean-svm"),),
        )
        prepared = prepare(settings, default_plugins(), [])
        (baseline,) = prepared.baselines
        assert baseline.settings["label_names"] == ["cat", "dog", "emu"]
        (row,) = compare(prepared, ["one-vs-rest-bag-mean-svm"], lambda event: None).document["methods"]
        assert row["evaluation"]["label_set_f1"]["runs"]


class TestManyRows:
    """A baseline whose cost grows with the square of the rows says above how many it is not run."""

    @pytest.fixture
    def plugins(self):
        """The installed plugins, with another limit of `inherited-label-svm`, which is a default of MIL."""

        def limited(most):
            plugins = default_plugins()
            changed = tuple(
                evolve(one, component=evolve(one.component, most_rows=most))
                if one.component.name == "inherited-label-svm"
                else one
                for one in plugins.registry.registrations
            )
            return evolve(plugins, registry=evolve(plugins.registry, registrations=changed))

        return limited

    @pytest.mark.parametrize(("most", "is_run"), [(475, False), (476, True), (None, True)])
    def test_a_default_is_left_out(self, plugins, most, is_run):
        """MUSK1 has 476 rows: with a limit below that the baseline is left out, with a note that says so."""
        settings = RunSettings(DataSettings("musk1"), evaluation=EvaluationSettings(2))
        prepared = prepare(settings, plugins(most), [])
        others = ["no-bandit", "bag-mean-svm"]
        names = [one.name for one in prepared.baselines]
        assert names == (["no-bandit", "inherited-label-svm", "bag-mean-svm"] if is_run else others)
        note = (
            'The baseline "inherited-label-svm" was left out: it is not run on more than 475 rows, and there are 476.'
        )
        assert (note in prepared.notes) != is_run
        assert "compare" in prepared.document()

    def test_without_an_evaluation_nobody_is_told(self, plugins):
        """Where nothing is compared nothing is left out."""
        prepared = prepare(RunSettings(DataSettings("musk1")), plugins(100), [])
        assert not [note for note in prepared.notes if "left out" in note]

    def test_asked_for_by_name(self, plugins):
        """It is refused, with the limit and what to do."""
        settings = RunSettings(DataSettings("musk1"), compare=(MethodSettings("inherited-label-svm"),))
        with pytest.raises(SettingsError) as caught:
            prepare(settings, plugins(475), [])
        assert str(caught.value) == (
            'The baseline "inherited-label-svm" is not run on more than 475 rows, because its cost grows with their '
            "square or faster; there are 476. Leave it out, or compare on fewer rows."
        )

    def test_built_in_limits(self):
        """Baselines that hold or visit all pairs of rows have a limit; those of bag means and linear ones have none."""
        registry = default_plugins().registry
        limits = {one.name: one.most_rows for one in registry.components("baseline")}
        quadratic = {
            "inherited-label-svm",
            "mi-svm",
            "mi-svm-bag",
            "set-kernel-svm",
            "citation-knn",
            "miles",
            "bayesian-knn",
        }
        quadratic |= {"mi-graph-svm", "inv-cal", "alter-psvm", "llp-k-means"}
        assert {name for name, most in limits.items() if most is not None} == quadratic
        assert all(10_000 <= limits[name] <= 30_000 for name in quadratic)
