"""Settings chosen for one data set, and the experiment file that they become."""

import json
import tomllib

import numpy as np
import pytest

from bliss_framework import BlissClassifier, SettingsError
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.runs.experiment import run
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments
from bliss_framework.runs.tuning import tune

GRID = {"final_classifier": ["same"], "classifier.width": [0.5, 2.0], "inherited_share": [0.0, 0.5]}


def silent(event):
    """Listen to nothing."""


@pytest.fixture
def tuned(experiment):
    """A function that tunes a short experiment on a toy file which is not easy."""

    def make(**bliss):
        return tune(experiment(data={"gap": 1.5}, **{"grid": GRID, "settings": "select", **bliss}), silent)

    return make


def test_the_document(tuned):
    """Every combination is there with its score, best first; the document is plain."""
    document = tuned().document
    assert list(document) == ["format", "data", "candidates", "kind", "seconds"]
    assert (document["format"], document["data"]["n_bags"]) == (1, 12)
    scores = [one["score"] for one in document["candidates"]]
    assert scores == sorted(scores, reverse=True)
    chosen = [one["settings"] for one in document["candidates"]]
    assert len({json.dumps(one) for one in chosen}) == 4
    assert all(set(one) == set(GRID) for one in chosen)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_scores_are_those_of_the_estimator(experiment):
    """What is printed is what `rank_settings` finds with the seed of a run."""
    prepared = experiment(data={"gap": 1.5}, grid=GRID, settings="select")
    dataset = prepared.problem.dataset
    short = {name: prepared.bliss[name] for name in ("n_rounds", "n_folds", "n_neighbors", "n_inferences")}
    model = BlissClassifier(settings="select", grid=GRID, random_state=0, **short)
    ranked = model.rank_settings(dataset.X, dataset.weak, dataset.bags)
    assert [one["score"] for one in tune(prepared, silent).document["candidates"]] == [one.score for one in ranked]


def test_the_file_has_the_best_settings(tuned, experiment, tmp_path):
    """It names the data by their whole path and gives every parameter, and neither a grid nor a choice."""
    result = tuned()
    best = result.document["candidates"][0]["settings"]
    table = tomllib.loads(result.toml)
    assert set(table) == {"data", "bliss"}
    assert table["data"] == {"source": str(tmp_path / "toy.npz")}
    bliss = table["bliss"]
    assert bliss["inherited_share"] == best["inherited_share"]
    assert bliss["classifier"] == {
        "name": "kernel-ridge",
        "ridge": 1.0,
        "width": best["classifier.width"],
        "n_landmarks": 0,
    }
    assert (bliss["final_classifier"], bliss["reward"]["name"], bliss["train_on"]) == ("same", "mil-marginal", "rest")
    assert (bliss["n_rounds"], bliss["n_folds"], bliss["n_neighbors"], bliss["random_state"]) == (6, 3, 5, 0)
    assert not {"settings", "grid", "n_members", "n_jobs"} & set(bliss)


def test_the_file_runs(tuned, tmp_path):
    """It can be read again, and a run of it predicts as a model with the best settings does."""
    result = tuned(random_state=3)
    path = tmp_path / "tuned.toml"
    path.write_text(result.toml, encoding="utf-8")
    (settings,) = read_experiments(path).rows
    prepared = prepare(settings, default_plugins(), [])
    assert (prepared.seed, prepared.bliss["settings"]) == (3, "default")
    best = result.document["candidates"][0]["settings"]
    assert prepared.bliss["inherited_share"] == best["inherited_share"]
    assert prepared.bliss["classifier"]["width"] == best["classifier.width"]
    assert run(prepared, silent).document["evaluation"]["instance_accuracy"]["inferred"]["overall"] > 0.5


def test_what_the_user_set_stays(tuned):
    """It is neither chosen nor lost on the way to the file."""
    result = tuned(classifier={"name": "kernel-ridge", "width": 1.5}, strategy="kl-ucb", scaling="standard")
    assert all("classifier.width" not in one["settings"] for one in result.document["candidates"])
    bliss = tomllib.loads(result.toml)["bliss"]
    assert (bliss["classifier"]["width"], bliss["strategy"]["name"], bliss["scaling"]) == (1.5, "kl-ucb", "standard")


def test_the_grid_of_the_regime(experiment):
    """Without a grid it is the regime's own; the settings in the file are values of it."""
    result = tune(experiment(data={"gap": 1.5}, settings="select", n_folds=None, n_inferences=None), silent)
    assert len(result.document["candidates"]) == 72
    bliss = tomllib.loads(result.toml)["bliss"]
    assert (bliss["reward"]["name"], bliss["n_folds"], bliss["n_inferences"], bliss["n_rounds"]) == (
        "mil-marginal",
        3,
        1,
        6,
    )
    assert bliss["regime"]["bag_score"] in ("max", "mean", "max-mean")


def test_settings_that_are_not_to_be_chosen(experiment):
    """An experiment that is prepared for anything but a choice has no candidates."""
    with pytest.raises(SettingsError, match='settings are not "select"; prepare it with settings = "select"'):
        tune(experiment(grid=GRID), silent)


def test_events(experiment, listen):
    """It starts with what it works on, tells of each inference, and ends; nothing is fitted."""
    listener = listen()
    tune(experiment(grid=GRID, settings="select"), listener)
    assert listener.names()[:2] == ["RunStarted", "SelectionStarted"]
    assert listener.names()[2:-1] == ["SelectionAdvanced"] * 10
    assert listener.names()[-1] == "RunFinished"
    assert listener.events[0].n_instances == 48


def test_processes_change_nothing(tuned, lasting):
    """With two processes every score has the same bits, and the number of processes is not in the file."""
    one, two = tuned(), tuned(n_jobs=2)
    assert lasting(one.document) == lasting(two.document)
    assert one.toml == two.toml
    assert np.isfinite([row["score"] for row in one.document["candidates"]]).all()
