"""Methods on the same folds."""

import json

import pytest

from bliss_framework import RunError, SettingsError, UnknownNameError
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.run_folder import RunFolder


def silent(event):
    """Listen to nothing."""


class TestControl:
    def test_it_is_bliss_with_inherited_labels_on_the_same_folds(self, experiment):
        """Its figures are those of a run of BLISS with inherited_share=1; nothing else differs."""
        methods = compare(experiment(compare=("no-bandit",)), ["bliss", "no-bandit"], silent).document["methods"]
        own, control = (row["evaluation"] for row in methods)
        (alone,) = compare(experiment(inherited_share=1.0), ["bliss"], silent).document["methods"]
        assert control == alone["evaluation"]
        assert control != own
        assert methods[1]["settings"] == {}

    def test_it_chooses_settings_as_bliss_does(self, experiment):
        """With chosen settings the control chooses too, from the same grid but for the inherited share."""
        grid = {"final_classifier": ["same"], "inherited_share": [0.0, 0.5], "classifier.width": [0.5, 2.0]}
        chosen = {"settings": "select", "grid": grid, "n_members": 1}
        prepared = experiment(cv=2, compare=("no-bandit",), **chosen)
        control = compare(prepared, ["no-bandit"], silent).document["methods"][0]["evaluation"]
        alone = compare(experiment(cv=2, inherited_share=1.0, **chosen), ["bliss"], silent).document["methods"][0]
        assert control == alone["evaluation"]


class TestComparison:
    def test_keys(self, experiment):
        """A comparison has the promised keys, its methods in the order that was asked for."""
        document = compare(experiment(compare=None), ["bag-mean-svm", "bliss"], silent).document
        assert list(document) == ["format", "data", "protocol", "methods", "comparison"]
        assert document["protocol"] == {"cv": 3, "repeats": 1, "random_state": 0}
        assert [row["name"] for row in document["methods"]] == ["bag-mean-svm", "bliss"]
        for row in document["methods"]:
            assert set(row) == {"name", "evaluation", "seconds", "settings"}
            of_instances = {"instance_accuracy", "instance_auc"}
            assert set(row["evaluation"]) == {"cv", "repeats", "bag_accuracy", "bag_auc", *of_instances}
            assert row["seconds"] > 0
        assert document["methods"][0]["settings"] == {"C": 10.0, "scaling": "auto"}
        assert document["methods"][1]["settings"]["strategy"] == {"name": "cucb", "exploration": 1.0}

    def test_it_agrees_with_a_run(self, experiment):
        """A comparison and a run of the same experiment find the same figures on the same folds."""
        in_run = run(experiment(), silent).document["evaluation"]
        bliss, baseline = compare(experiment(), ["bliss", "bag-mean-svm"], silent).document["methods"]
        assert bliss["evaluation"]["bag_auc"] == in_run["bag_auc"]
        assert baseline["evaluation"]["bag_auc"] == in_run["baseline"]["bag_auc"]

    def test_a_name_that_is_asked_for_twice(self, experiment):
        """A method is evaluated once, however often it is named."""
        methods = compare(experiment(), ["bliss", "bliss"], silent).document["methods"]
        assert [row["name"] for row in methods] == ["bliss"]

    def test_refusals(self, experiment):
        """A method that the experiment does not have, and a comparison without folds, are refused."""
        with pytest.raises(UnknownNameError, match=r'no method "blis"\. Did you mean "bliss"\?'):
            compare(experiment(), ["blis"], silent)
        with pytest.raises(SettingsError, match="needs folds"):
            compare(experiment(cv=None), ["bliss"], silent)


class TestFolder:
    def test_what_is_kept(self, experiment, tmp_path, lasting):
        """The folder holds the settings with the methods, the result and the events; the state is gone."""
        result = compare(experiment(), ["bliss", "bag-mean-svm"], silent, RunFolder(tmp_path / "out"))
        assert {path.name for path in (tmp_path / "out").iterdir()} == {
            "run.toml",
            "result.json",
            "events.jsonl",
            "tests.csv",
        }
        assert json.loads((tmp_path / "out" / "result.json").read_text()) == result.document
        assert 'methods = [\n    "bliss",\n    "bag-mean-svm",\n]' in (tmp_path / "out" / "run.toml").read_text()
        assert lasting(result.document) == lasting(compare(experiment(), ["bliss", "bag-mean-svm"], silent).document)

    def test_an_interruption(self, experiment, tmp_path, listen, lasting):
        """Ctrl-C after the second fit, and going on: only the others are fitted, and the figures are the same."""
        names = ["bag-mean-svm", "bliss"]
        expected = compare(experiment(cv=2), names, silent).document
        straight = listen()
        compare(experiment(cv=2), names, straight)
        second = [n for n, name in enumerate(straight.names(), start=1) if name == "FitFinished"][1]
        with pytest.raises(KeyboardInterrupt):
            compare(experiment(cv=2), names, listen(second), RunFolder(tmp_path / "out"))
        rest = listen()
        again = compare(experiment(cv=2), names, rest, RunFolder(tmp_path / "out", resume=True))
        assert [(e.method, e.fold) for e in rest.events if type(e).__name__ == "FitFinished"] == [
            ("bag-mean-svm", 1),
            ("bliss", 1),
        ]
        assert lasting(again.document) == lasting(expected)

    def test_a_finished_comparison(self, experiment, tmp_path, listen):
        """Going on with a finished comparison computes nothing."""
        first = compare(experiment(), ["bag-mean-svm"], silent, RunFolder(tmp_path / "out")).document
        listener = listen()
        again = compare(experiment(), ["bag-mean-svm"], listener, RunFolder(tmp_path / "out", resume=True))
        assert (again.document, listener.events) == (first, [])
        assert again.notes == (f"{tmp_path / 'out'} holds the finished run; nothing was computed.",)

    def test_other_methods(self, experiment, tmp_path):
        """A comparison cannot go on with other methods, and a run cannot go on in the folder of a comparison."""
        compare(experiment(), ["bag-mean-svm"], silent, RunFolder(tmp_path / "out"))
        with pytest.raises(RunError, match=r"methods was \['bag-mean-svm'\] and is now \['bliss'\]"):
            compare(experiment(), ["bliss"], silent, RunFolder(tmp_path / "out", resume=True))
        with pytest.raises(RunError, match=r"methods was \['bag-mean-svm'\] and is now not set"):
            run(experiment(), silent, RunFolder(tmp_path / "out", resume=True))
