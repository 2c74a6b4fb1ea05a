"""A second distribution, built and installed as a third party would, brings a regime, a reward and a classifier."""

import ast
import json
import zipfile

import pytest

import bliss_framework

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "bliss-half"
version = "0.2.1"
dependencies = ["bliss-framework"]

[project.entry-points.bliss_framework]
half = "bliss_half"
mean = "bliss_half.mean"
"""
MODULE = '''
"""A bag is positive where at least half of its instances are."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.plugin import (
    BagReading, Bags, Component, DataError, LabelSpace, Outcome, Presets, Regime, Reward, WeakLabels, hookimpl
)
from bliss_framework.validators import between


@frozen
class Half(Regime):
    """Instances of all bags are free; the score of a bag is the median of its instances."""

    presets = Presets(defaults={"reward": "matching"})

    def check(self, weak: Any, bags: Bags) -> WeakLabels:
        if not set(np.unique(weak).tolist()) <= {0, 1}:
            raise DataError("The regime half takes 0 and 1.")
        return WeakLabels(np.asarray(weak).astype(np.int8), (0, 1))

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        return LabelSpace(np.ones((bags.n_rows, 2), dtype=bool), np.arange(2))

    def strata(self, weak: WeakLabels) -> Any:
        return weak.values.astype(np.intp)

    @property
    def reading(self) -> BagReading:
        return Median()


class Median(BagReading):
    """A bag is as positive as the median of its instances."""

    def bag_scores(self, scores: Any, bags: Bags) -> Any:
        return np.array([np.median(scores[bags.index == bag]) for bag in range(bags.n_bags)])

    def bag_labels(self, scores: Any, bags: Bags, threshold: float) -> Any:
        return (self.bag_scores(scores, bags) > threshold).astype(np.intp)

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        return {"bag_accuracy": matched(outcome)}

    def evaluate(self, predicted: Any, scores: Any, weak: WeakLabels) -> Mapping[str, float]:
        return {"bag_accuracy": float(np.mean(predicted == weak.values))}


@frozen
class Matching(Reward):
    """The share of held-out bags that the classifier gets right, for labels that it agrees with."""

    floor: float = field(default=0.0, validator=between(0.0, 1.0))

    def __call__(self, outcome: Outcome) -> Any:
        agreed = outcome.assignment == outcome.labels
        return np.where(agreed, max(self.floor, matched(outcome)), 0.0)


def matched(outcome: Outcome) -> float:
    bags = outcome.fold.heldout.bags
    positive = bags.mean((outcome.heldout_classes > 0).astype(float)[:, None])[:, 0] >= 0.5
    return float(np.mean(positive == outcome.fold.heldout.weak.values))


@hookimpl
def bliss_regimes() -> list[Component]:
    return [Component("half", Half, "A bag is positive where half of its instances are")]


@hookimpl
def bliss_rewards() -> list[Component]:
    return [Component("matching", Matching, "The share of held-out bags that are right")]
'''

CLASSIFIER = '''
"""A classifier with a final estimator of its own."""

from typing import Any

import numpy as np
from attrs import frozen
from bliss_framework.plugin import Classifier, Component, Part, Predictions, PreparedClassifier, hookimpl
from sklearn.base import BaseEstimator, ClassifierMixin


class MeanEstimator(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> "MeanEstimator":
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == one].mean(axis=0) for one in self.classes_])
        return self

    def predict(self, X: Any) -> Any:
        distances = ((X[:, None, :] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


@frozen
class Mean(Classifier):
    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        return PreparedMean(train, heldout)

    def estimator(self, random_state: int) -> Any:
        return MeanEstimator()


class PreparedMean(PreparedClassifier):
    def __init__(self, train: Part, heldout: Part) -> None:
        self.train, self.heldout = train, heldout

    def pull(self, assignments: Any, weights: Any) -> Predictions:
        scores = [self.scores(assignment) for assignment in assignments]
        return Predictions.from_scores(*(np.stack(part) for part in zip(*scores)))

    def scores(self, assignment: Any) -> Any:
        means = [self.train.X[assignment == label].mean(axis=0) for label in (0, 1)]
        away = [[((part.X - mean) ** 2).sum(axis=1) for mean in means] for part in (self.train, self.heldout)]
        return [negative - positive for negative, positive in away]


@hookimpl
def bliss_classifiers() -> list[Component]:
    saved = ("bliss_half.mean.MeanEstimator",)
    return [Component("mean", Mean, "The class whose mean is nearest", saved_types=saved)]
'''


@pytest.fixture(scope="module")
def site(pip, tmp_path_factory):
    """A folder into which the distribution was installed by pip, and nothing else."""
    source, site = tmp_path_factory.mktemp("bliss-half"), tmp_path_factory.mktemp("site")
    (source / "bliss_half").mkdir()
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "bliss_half" / "__init__.py").write_text(MODULE)
    (source / "bliss_half" / "mean.py").write_text(CLASSIFIER)
    pip("install", "--target", str(site), str(source))
    return site


def test_it_imports_public_names_only():
    """All that the plugin takes from the framework is public."""
    for node in ast.walk(ast.parse(MODULE + CLASSIFIER)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bliss_framework"):
            assert node.module in ("bliss_framework", "bliss_framework.plugin", "bliss_framework.validators")
            if node.module == "bliss_framework":
                assert {one.name for one in node.names} <= set(bliss_framework.__all__)


def test_it_is_listed(site, bliss_at):
    """`bliss plugins --json` shows the plugin with its distribution, its version and both components."""
    done = bliss_at(site, "plugins", "--json")
    (half,) = [one for one in json.loads(done.stdout)["plugins"] if one["name"] == "half"]
    parameters = [[told["name"] for told in one.pop("parameters")] for one in half["components"]]
    assert parameters == [["floor"], []]
    assert half == {
        "name": "half",
        "distribution": "bliss-half",
        "version": "0.2.1",
        "state": "ok",
        "door": None,
        "reason": None,
        "remedy": None,
        "components": [
            {"kind": "reward", "name": "matching", "summary": "The share of held-out bags that are right"},
            {"kind": "regime", "name": "half", "summary": "A bag is positive where half of its instances are"},
        ],
    }


def test_it_runs_by_name(site, bliss_at, toy_file):
    """Regime and reward are used by their names on a data file, with parameters, folds and two processes."""
    words = "--regime half --set reward.floor=0.125 --cv 2 --n-rounds 3 --n-folds 2 --n-jobs 2 --json --output out"
    done = bliss_at(site, "run", str(toy_file), *words.split())
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["settings"]["bliss"]["regime"] == "half"
    assert document["settings"]["bliss"]["reward"] == {"name": "matching", "floor": 0.125}
    assert set(document["inference"]["weak_score"]) == {"bag_accuracy"}
    assert set(document["evaluation"]) == {"cv", "repeats", "bag_accuracy", "baseline", "baselines", "comparison"}
    assert [row["name"] for row in document["evaluation"]["baselines"]] == ["no-bandit"]
    record = (toy_file.parent / "out" / "run.toml").read_text()
    assert 'bliss-half = "0.2.1"' in record


def test_it_is_gone_without_its_folder(bliss_at, tmp_path, toy_file):
    """Without the distribution there is no such regime."""
    done = bliss_at(tmp_path / "nowhere", "run", str(toy_file), "--regime", "half")
    assert done.returncode == 1
    assert done.stderr.startswith('Error: No regime "half" is installed.')


def test_its_saved_model_loads_where_it_is_installed(site, bliss_at, toy_file):
    """A model with the plugin's own estimator predicts without further trust; without the plugin it is refused."""
    done = bliss_at(
        site, "run", str(toy_file), *["--classifier", "mean", "--n-rounds", "3", "--n-folds", "2", "--output", "out"]
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(toy_file.parent / "out" / "model.skops") as model:
        assert "MeanEstimator" in model.read("schema.json").decode()
    done = bliss_at(site, "predict", "out", str(toy_file))
    assert done.returncode == 0, done.stderr
    refused = bliss_at(toy_file.parent / "nowhere", "predict", "out", str(toy_file))
    assert refused.returncode == 1
    assert "not trusted: bliss_half.mean.MeanEstimator" in refused.stderr
