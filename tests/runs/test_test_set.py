"""A test set of its own: every method is fitted to all bags, and judged on bags from elsewhere."""

import numpy as np
import pytest
from attrs import evolve, frozen

from bliss_framework import BlissClassifier, Component, DataError, RunError, SettingsError, WeakDataset
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.plugin import WeakLabels
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.data.find import find_dataset
from bliss_framework.runs.evaluation.fits import run_fits
from bliss_framework.runs.evaluation.methods import Method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, MethodSettings, RunSettings
from bliss_mil.regime.mil_regime import MilRegime

SHORT = {"n_rounds": 6, "n_folds": 3, "n_neighbors": 5, "n_inferences": 1}


def silent(event):
    """Listen to nothing."""


@pytest.fixture
def tested(toy_file):
    """A function that prepares an experiment on a toy file with another one as its test set."""

    def make(test=None, cv=None, repeats=1, compare=("bag-mean-svm",), **bliss):
        train = toy_file("train", gap=1.5)
        other = toy_file("other", **{"seed": 1, "gap": 1.5, "n_neg": 9, **(test or {})})
        return prepare(
            RunSettings(
                DataSettings(str(train), test={"source": str(other)}),
                {**SHORT, **bliss},
                EvaluationSettings(cv, repeats),
                tuple(MethodSettings(one) for one in compare),
            ),
            default_plugins(),
            [],
        )

    return make


class TestFigures:
    def test_each_method_is_fitted_to_all_bags_and_judged_on_the_test_set(self, tested, mean_above_limit):
        """Doing it by hand: learn from all of one file, count right bags and instances of the other."""
        problem, seen = tested().problem, []
        method = Method("stub", lambda data, seed, emit: mean_above_limit(seen).fit(data.X, data.weak, bags=data.ids))
        fits = plan_fits(problem, [method], EvaluationSettings(None, 2), 0)
        pieces = run_fits(problem, fits, 1, Checkpoint(None), silent)
        assert [size for _, size in seen] == [48, 48]
        model = mean_above_limit().fit(problem.dataset.X, problem.dataset.weak, np.asarray(problem.dataset.bags))
        other = problem.test.dataset
        ids, predicted = model.predict_bags(other.X, np.asarray(other.bags))
        right = np.mean([label == other.weak[position] for position, label in enumerate(predicted)])
        piece = pieces["stub", 1, 0]
        assert len(ids) == 15
        assert piece["measures"]["bag_accuracy"] == right
        assert np.array_equal(piece["instance_classes"], model.predict(other.X))
        assert list(piece["rows"]) == list(range(60))

    def test_result(self, tested):
        """The result says what the test set is, and has the measures of BLISS fitted once, and of the baselines."""
        events = []
        prepared = tested()
        document = run(prepared, events.append).document
        evaluation = document["evaluation"]
        assert "cv" not in evaluation
        assert evaluation["repeats"] == 1
        assert document["data"]["test"] == {
            "name": "other",
            "n_bags": 15,
            "n_instances": 60,
            "sha256": prepared.problem.test.dataset.sha256(),
        }
        started = [event.method for event in events if type(event).__name__ == "FitStarted"]
        assert started == ["bliss", "bag-mean-svm"]
        train, other = prepared.problem.dataset, prepared.problem.test.dataset
        model = BlissClassifier(**SHORT, random_state=0).fit(train.X, train.weak, train.bags)
        assert evaluation["bag_accuracy"]["mean"] == model.score(other.X, other.weak, other.bags)
        truth = np.asarray(other.instance_labels)
        own = evaluation["instance_accuracy"]["test"]["overall"]["mean"]
        assert own == np.mean(model.predict(other.X) == truth)
        assert set(evaluation["instance_accuracy"]) == {"inferred", "train", "test"}
        assert evaluation["baselines"][0]["instance_accuracy"]["test"]["overall"]["mean"] > 0

    def test_a_repeat_is_another_seed(self, tested):
        """The second repeat is the fit of the next seed, whether BLISS of the first is at hand or not."""
        one = run(tested(repeats=2, compare=()), silent).document["evaluation"]["bag_auc"]["runs"]
        other = run(tested(compare=(), random_state=1), silent).document["evaluation"]["bag_auc"]["runs"]
        again = compare(tested(repeats=2, compare=()), ["bliss"], silent).document["methods"][0]["evaluation"]
        assert one[1:] == other
        assert again["bag_auc"]["runs"] == one


class TestRefusals:
    def test_folds_and_a_test_set(self, tested):
        """One of them is enough."""
        with pytest.raises(SettingsError, match=r"There is a test set \(data.test\), so there are no folds"):
            tested(cv=3)

    def test_bags_that_speak_other_words_than_instances(self, tested):
        """Weak labels of a test set are read by the words of bags, so figures are those of the plain regime."""

        @frozen
        class Spoken(MilRegime):
            def check(self, weak, bags):
                read = super().check(weak, bags)
                return WeakLabels(read.values, ("benign", "malignant"), bag_classes=read.classes)

        plain, spoken = (tested(compare=(), regime=regime) for regime in (MilRegime(), Spoken()))
        assert spoken.problem.weak.classes == ("benign", "malignant")
        figures = [run(one, lambda event: None).document["evaluation"] for one in (plain, spoken)]
        assert [one["bag_accuracy"] for one in figures] == [figures[0]["bag_accuracy"]] * 2
        assert figures[0]["bag_auc"] == figures[1]["bag_auc"]

    def test_columns_in_another_order(self, tmp_path):
        """Columns of a test set are matched by name with those of training, for BLISS and for its baselines."""
        rng = np.random.default_rng(0)
        bags, y = np.repeat(np.arange(12), 3), np.arange(12) % 2
        X = rng.normal(size=(36, 2)) + 3.0 * np.column_stack([y[bags], np.zeros(36)])
        found = []
        np.savez(tmp_path / "train.npz", X=X, bag=bags, y=y, feature_names=np.array(["a", "b"]))
        for name, order in (("same", [0, 1]), ("swapped", [1, 0])):
            names = np.array(["a", "b"])[order]
            np.savez(tmp_path / f"{name}.npz", X=X[:, order], bag=bags, y=y, feature_names=names)
            data = DataSettings(str(tmp_path / "train.npz"), test={"source": str(tmp_path / f"{name}.npz")})
            compared = (MethodSettings("bag-mean-svm"),)
            prepared = prepare(RunSettings(data, {**SHORT}, compare=compared), default_plugins(), [])
            evaluation = run(prepared, lambda event: None).document["evaluation"]
            found.append((evaluation["bag_auc"], evaluation["baselines"][0]["bag_auc"]))
        assert found[0] == found[1]

    def test_other_columns(self, tested):
        """A test set with other columns is refused before anything is computed."""
        with pytest.raises(DataError, match="'other' has 3 features, but the training data have 2"):
            tested({"d": 3})

    def test_other_test_set_later(self, tested, tmp_path):
        """A finished run does not go on with another test set."""
        run(tested(), silent, RunFolder(tmp_path / "out"))
        with pytest.raises(RunError, match=r"record\.test_sha256 was"):
            run(tested({"seed": 2}), silent, RunFolder(tmp_path / "out", resume=True))

    def test_source_that_is_no_text(self, tmp_path):
        """The table is checked as its parent is."""
        path = tmp_path / "one.toml"
        path.write_text('[data]\nsource = "musk1"\ntest = { source = 3 }\n')
        with pytest.raises(SettingsError, match=r"data\.test\.source must be a name or a path; got 3"):
            read_experiments(path)


class TestSettings:
    def test_options_are_laid_over_those_of_training(self, tmp_path):
        """Only what differs has to be said."""
        path = tmp_path / "one.toml"
        path.write_text('[data]\nsource = "digits-multiclass"\nbag_size = [3, 5]\nn_bags = 50\ntest = { seed = 1 }\n')
        (settings,) = read_experiments(path).rows
        assert settings.data.of_test == DataSettings("digits-multiclass", {"bag_size": [3, 5], "n_bags": 50, "seed": 1})
        assert settings.data.options == {"bag_size": [3, 5], "n_bags": 50}
        prepared = prepare(settings, default_plugins(), [])
        assert len(prepared.problem.test.weak.values) == 50
        assert prepared.document()["data"]["test"] == {"seed": 1}

    def test_run_toml_runs_again(self, tested, tmp_path, lasting):
        """The settings that a run leaves behind lead to the same result."""
        first = run(tested(), silent, RunFolder(tmp_path / "out"))
        (settings,) = read_experiments(tmp_path / "out" / "run.toml").rows
        again = run(prepare(settings, default_plugins(), []), silent)
        assert lasting(again.document)["evaluation"] == lasting(first.document)["evaluation"]


def of_folders(data_dirs=(), n_bags=2):
    return WeakDataset(" ".join(data_dirs), np.zeros((n_bags, 1)), np.arange(n_bags), np.arange(n_bags) % 2)


class TestWhatDataTell:
    def test_data_sets_are_told_the_folders(self, tmp_path):
        """A data set with a parameter data_dirs gets the folders of the run, unless the user names others."""
        registry = Registry((Registration("dataset", Component("own", of_folders), "own", "bliss-own"),))
        found = find_dataset("own", registry=registry, data_dirs=[tmp_path], options={"n_bags": 3})
        assert found.dataset.name == str(tmp_path)
        options = {"data_dirs": ["elsewhere"]}
        assert find_dataset("own", registry=registry, data_dirs=[tmp_path], options=options).dataset.name == "elsewhere"

    def test_names_of_labels_reach_regime_and_baselines(self, tmp_path):
        """What a file calls its labels is what results call them; a name that the user gave stays."""
        rng = np.random.default_rng(0)
        Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 4)
        path = tmp_path / "named.npz"
        np.savez(path, X=rng.normal(size=(32, 3)), bag=np.arange(32) // 2, Y=Y, label_names=np.array(["cat", "dog"]))
        settings = RunSettings(DataSettings(str(path)), compare=(MethodSettings("one-vs-rest-bag-mean-svm"),))
        prepared = prepare(settings, default_plugins(), [])
        assert prepared.problem.weak.classes == ("negative", "cat", "dog")
        assert prepared.bliss["regime"]["label_names"] == ["cat", "dog"]
        own = {"label_names": ["cat", "dog"], "negative_label": "negative", "separator": ";"}
        assert prepared.baselines[0].settings == own
        model = prepared.baselines[0].fit(evolve(prepared.problem.data, weak=Y), 0, print).model
        assert model.classes_.tolist() == ["negative", "cat", "dog"]
