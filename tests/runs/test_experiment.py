"""An experiment from settings to result."""

import csv
import json

import numpy as np
import pytest

from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments

MEASURE = {"mean", "sd", "runs"}


def silent(event):
    """Listen to nothing."""


class TestResult:
    def test_keys_with_an_evaluation(self, experiment):
        """The document has the promised keys at every level, and those of ours that the reference names."""
        document = run(experiment(repeats=2), silent).document
        assert list(document) == [
            "format",
            "name",
            "bliss_framework",
            "settings",
            "data",
            "components",
            "inference",
            "findings",
            "evaluation",
            "seconds",
            "notes",
        ]
        assert document["format"] == 1
        assert set(document["data"]) == {"name", "n_bags", "n_instances", "n_features", "classes", "sha256", "reader"}
        assert set(document["inference"]) == {
            "mean_reward",
            "n_undecided",
            "collapsed",
            "weak_score",
            "n_pulls",
            "n_folds",
            "label_counts",
            "reward_curves",
        }
        evaluation = document["evaluation"]
        assert set(evaluation) == {
            "cv",
            "repeats",
            "bag_accuracy",
            "bag_auc",
            "instance_accuracy",
            "instance_auc",
            "instance_confidence",
            "baseline",
            "baselines",
            "comparison",
        }
        assert set(evaluation["bag_accuracy"]) - {"interval"} == set(evaluation["bag_auc"]) == MEASURE
        assert set(evaluation["bag_accuracy"]["interval"]) == {"low", "high", "level", "by"}
        assert set(document["findings"]) == {"witnesses", "out_of_fold", "kind"}
        assert len(evaluation["bag_accuracy"]["runs"]) == 2
        assert set(evaluation["instance_accuracy"]) == {"inferred", "train", "test"}
        for what, value in evaluation["instance_accuracy"].items():
            assert set(value) == {"overall", "per_class"}
            assert set(value["per_class"]) == {"0", "1"}
            assert (what == "test") == isinstance(value["overall"], dict)
        assert set(evaluation["instance_auc"]) == {"inferred", "test"}
        assert 0 <= evaluation["instance_auc"]["inferred"] <= 1
        assert set(evaluation["instance_auc"]["test"]) == MEASURE
        assert {"name", "bag_accuracy"} <= set(evaluation["baseline"])
        assert set(document["seconds"]) == {"total", "classifier", "reward", "strategy"}
        assert all(seconds >= 0 for seconds in document["seconds"].values())

    def test_keys_without_an_evaluation(self, experiment):
        """Without folds there is no evaluation, unless truth is known: then there is what needs no folds."""
        assert "evaluation" not in run(experiment(cv=None, data={"truth": False}), silent).document
        evaluation = run(experiment(cv=None), silent).document["evaluation"]
        assert set(evaluation) == {"instance_accuracy", "instance_auc", "instance_confidence"}
        assert set(evaluation["instance_accuracy"]) == {"inferred", "train"}
        assert set(evaluation["instance_auc"]) == {"inferred"}

    def test_the_document_is_plain(self, experiment):
        """The document is what JSON reads back from it: no arrays, no NaN, no keys that are numbers."""
        document = run(experiment(), silent).document
        assert json.loads(json.dumps(document, allow_nan=False)) == document

    def test_what_is_said_of_the_data(self, experiment):
        """Twelve bags of four rows with two columns."""
        data = run(experiment(cv=None), silent).document["data"]
        assert {**data, "sha256": None} == {
            "name": "toy",
            "n_bags": 12,
            "n_instances": 48,
            "n_features": 2,
            "classes": [0, 1],
            "sha256": None,
            "reader": "npz",
        }
        assert len(data["sha256"]) == 64

    def test_instance_accuracy_is_that_of_the_files(self, experiment, tmp_path):
        """Counting in labels.csv gives the accuracy of the inferred labels, overall and for each true class."""
        prepared = experiment(cv=None, n_rounds=2, data={"gap": 1.0})
        accuracy = run(prepared, silent, RunFolder(tmp_path / "out")).document["evaluation"]["instance_accuracy"]
        with (tmp_path / "out" / "labels.csv").open() as file:
            labels = [int(row["label"]) for row in csv.DictReader(file)]
        truth = prepared.problem.dataset.instance_labels.tolist()
        right = [label == true for label, true in zip(labels, truth, strict=True)]
        assert accuracy["inferred"]["overall"] == sum(right) / 48
        assert accuracy["inferred"]["per_class"]["1"] == sum(r for r, t in zip(right, truth, strict=True) if t) / 6
        assert sum(right) < 48

    def test_label_counts_add_up(self, experiment):
        """Each instance is counted once under its inferred label."""
        counts = run(experiment(cv=None), silent).document["inference"]["label_counts"]
        assert set(counts) == {"0", "1"}
        assert sum(counts.values()) == 48

    def test_row_of_a_table(self, experiment):
        """The name of an [[experiment]] is that of its result; else it is that of the data."""
        assert run(experiment(cv=None, name="row 3"), silent).document["name"] == "row 3"
        assert run(experiment(cv=None), silent).document["name"] == "toy"


class TestBaselines:
    @pytest.fixture
    def measured(self, monkeypatch):
        """A function that sets the bag accuracy of each method, whatever its fits found."""

        def set_to(**means):
            def evaluation_of(problem, method, pieces, evaluation):
                mean = means[method.replace("-", "_")]
                return {"cv": 3, "repeats": 1, "bag_accuracy": {"mean": mean, "sd": 0.0, "runs": [mean]}}

            monkeypatch.setattr("bliss_framework.runs.experiment.evaluation_of", evaluation_of)

        return set_to

    @pytest.mark.parametrize(("inherited", "mean", "best"), [(0.5, 0.75, 2), (0.75, 0.5, 1), (0.5, 0.5, 1)])
    def test_baseline_is_the_best_of_them(self, experiment, measured, inherited, mean, best):
        """All baselines are listed in their order, and the one with the best main measure stands alone."""
        measured(bliss=0.6, no_bandit=0.25, inherited_label_svm=inherited, bag_mean_svm=mean)
        evaluation = run(experiment(compare=None), silent).document["evaluation"]
        names = [row["name"] for row in evaluation["baselines"]]
        assert names == ["no-bandit", "inherited-label-svm", "bag-mean-svm"]
        assert evaluation["baseline"] == evaluation["baselines"][best]
        assert evaluation["baseline"]["bag_accuracy"]["mean"] == max(inherited, mean)

    @pytest.fixture
    def compared(self, measured, monkeypatch):
        """A function that sets what the test of the difference says, too."""

        def set_to(p_value, **means):
            measured(**means)
            found = (p_value, "mcnemar-exact")
            monkeypatch.setattr("bliss_framework.runs.evaluation.measures.paired_p_value", lambda *pair: found)

        return set_to

    def test_a_baseline_that_wins_is_a_note(self, experiment, compared):
        """The user reads which baseline won, by how much and how surely, on the screen and in the result."""
        compared(0.01, bliss=0.8125, bag_mean_svm=0.875)
        result = run(experiment(), silent)
        (note,) = [note for note in result.notes if "beats BLISS" in note]
        assert note.startswith(
            'The baseline "bag-mean-svm" beats BLISS here: bag_accuracy 0.875 against 0.812 on the same bags, '
            "p = 0.01 by McNemar's exact test."
        )
        assert note in result.document["notes"]
        assert result.document["evaluation"]["comparison"] == {
            "measure": "bag_accuracy",
            "better": "bag-mean-svm",
            "other": "bliss",
            "difference": 0.0625,
            "p_value": 0.01,
            "by": "mcnemar-exact",
            "winner": "bag-mean-svm",
        }

    def test_noise_makes_no_winner(self, experiment, compared):
        """Of several baselines one may be better by chance: the chance of one is multiplied by their number."""
        compared(0.03, bliss=0.8125, no_bandit=0.5, inherited_label_svm=0.5, bag_mean_svm=0.875)
        result = run(experiment(compare=None), silent)
        assert not [note for note in result.notes if "beats" in note]
        found = result.document["evaluation"]["comparison"]
        assert (found["winner"], found["p_value"]) == (None, pytest.approx(0.09))

    @pytest.mark.parametrize("own", [0.875, 0.9])
    def test_a_baseline_that_does_not_win_is_none(self, experiment, compared, own):
        """Where BLISS is as good as every baseline, or better, there is no such note."""
        compared(0.01, bliss=own, bag_mean_svm=0.875)
        result = run(experiment(), silent)
        assert not [note for note in result.notes if "beats" in note]
        assert result.document["evaluation"]["comparison"]["winner"] == ("bliss" if own > 0.875 else None)

    def test_no_baselines(self, experiment):
        """A run that compares with nothing has neither baseline nor note of one."""
        assert "baseline" not in run(experiment(compare=()), silent).document["evaluation"]

    def test_fewer_bags_than_folds(self, experiment):
        """With ten folds of six bags the user reads that there were six."""
        result = run(experiment(cv=10, n_folds=2, data={"n_pos": 3, "n_neg": 3}), silent)
        assert result.document["evaluation"]["cv"] == 6
        assert "cv was reduced from 10 to 6, the number of bags." in result.notes


class TestEvents:
    def test_order(self, experiment, listen):
        """A run announces its fits, infers all labels, fits each method on each fold, and says when it is over."""
        listener = listen()
        run(experiment(cv=2), listener)
        assert listener.names()[:2] == ["RunStarted", "FitStarted"]
        assert listener.names()[-1] == "RunFinished"
        started = listener.events[0]
        assert (started.name, started.n_bags, started.n_instances, started.n_fits) == ("toy", 12, 48, 5)
        assert started.origin.endswith("toy.npz")
        fits = [(e.method, e.repeat, e.fold) for e in listener.events if type(e).__name__ == "FitFinished"]
        assert fits == [
            ("bliss", None, None),
            ("bliss", 0, 0),
            ("bag-mean-svm", 0, 0),
            ("bliss", 0, 1),
            ("bag-mean-svm", 0, 1),
        ]
        # The label inference of the whole data set and of two fits, three folds of six rounds each.
        assert listener.names().count("RoundFinished") == 3 * 3 * 6


class TestAgain:
    @pytest.mark.parametrize("bliss", [{}, {"classifier": "sklearn.svm.SVC", "n_folds": 2}], ids=["defaults", "path"])
    def test_run_toml_gives_the_same_result(self, experiment, tmp_path, lasting, bliss):
        """The settings that a run leaves behind run again, from another folder, to the same result but for seconds."""
        first = run(experiment(name="row", repeats=2, **bliss), silent, RunFolder(tmp_path / "first")).document
        (settings,) = read_experiments(tmp_path / "first" / "run.toml").rows
        again = prepare(settings, default_plugins(), [])
        assert lasting(run(again, silent, RunFolder(tmp_path / "again")).document) == lasting(first)
        files = [(tmp_path / folder / "labels.csv").read_bytes() for folder in ("first", "again")]
        assert files[0] == files[1]

    def test_processes_change_nothing(self, experiment, lasting):
        """With two processes the result is the same, in all but seconds and the number of processes."""
        one, two = (lasting(run(experiment(cv=2, n_jobs=n_jobs), silent).document) for n_jobs in (1, 2))
        assert two["settings"]["bliss"].pop("n_jobs") == 2
        assert one["settings"]["bliss"].pop("n_jobs") == 1
        assert one == two


def test_sparse_rows_and_text_labels(tmp_path, experiment, toy):
    """Rows in another sparse layout, and weak labels of text, are evaluated like any others."""
    import scipy.sparse as sp
    from attrs import evolve

    from bliss_framework import WeakDataset
    from bliss_framework.extension.contracts import Component
    from bliss_framework.extension.registry import Registration, Registry
    from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, RunSettings

    X, bags, weak = toy()
    labels = np.array(["yes" if label else "no" for label in weak.values()])
    made = WeakDataset("texts", sp.coo_matrix(X), bags, labels)
    plugins = default_plugins()
    registrations = (
        *plugins.registry.registrations,
        Registration("dataset", Component("texts", lambda: made), "own", "bliss-own"),
    )
    regime = {"name": "mil", "positive_label": "yes"}
    settings = RunSettings(
        DataSettings("texts"),
        bliss={"n_rounds": 3, "n_folds": 2, "regime": regime},
        evaluation=EvaluationSettings(2),
        compare=(),
    )
    document = run(prepare(settings, evolve(plugins, registry=Registry(registrations)), []), silent).document
    assert set(document["inference"]["label_counts"]) == {"no", "yes"}
    assert document["evaluation"]["bag_accuracy"]["mean"] > 0.5
