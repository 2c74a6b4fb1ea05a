"""Saved models: they predict the same in another process, and files with strange types are refused."""

import json
import os
import subprocess
import sys
import zipfile
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve, frozen
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

from bliss_framework import BlissClassifier, Component, MissingExtraError, Reward, RunError, load_model, save_model
from bliss_framework.estimator.persistence import declared_types
from bliss_framework.extension.loading.plugins import default_plugins, load_plugins
from bliss_framework.extension.naming import is_own
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.runs.folder.atomic import PARTIAL
from bliss_mil.baselines.simple_svms import BagMeanSvm, InheritedLabelSvm
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.paper_reward import MilReward

pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")

LOAD_AND_PREDICT = """
import json, sys
import numpy as np
from bliss_framework import load_model
X, bags = np.load("X.npy"), np.load("bags.npy")
found = {}
for name in sys.argv[1:]:
    model = load_model(name)
    ids, scores = model.score_bags(X, bags)
    found[name] = [model.decision_function(X).tolist(), ids.tolist(), scores.tolist(), model.predict(X).tolist()]
print(json.dumps(found))
"""


def can_be_made(kind, name):
    """Whether a component's extra is installed."""
    try:
        default_plugins().registry.create(kind, name)
    except MissingExtraError:
        return False
    return True


def built_in_classifiers():
    """The names of all built-in classifiers but the adapter, which is whatever it wraps, whose extras are installed."""
    names = default_plugins().registry.names("classifier")
    return [name for name in names if name != "sklearn" and can_be_made("classifier", name)]


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
def test_saved_model_predicts_the_same_in_another_process(toy, bliss, tmp_path):
    """Every built-in final classifier and every baseline loads in a fresh process and gives the same scores."""
    X, bags, weak = toy()
    models = {name: bliss(final_classifier=name, n_rounds=3) for name in built_in_classifiers()}
    models |= {"inherited": InheritedLabelSvm(), "mean": BagMeanSvm(), "bayes": bliss(final_classifier=GaussianNB())}
    expected = {}
    for name, model in models.items():
        save_model(model.fit(X, weak, bags=bags), tmp_path / f"{name}.skops")
        ids, scores = model.score_bags(X, bags)
        expected[f"{name}.skops"] = [
            model.decision_function(X).tolist(),
            ids.tolist(),
            scores.tolist(),
            model.predict(X).tolist(),
        ]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "bags.npy", bags)
    command = [sys.executable, "-W", "error", "-c", LOAD_AND_PREDICT, *expected]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    for name, values in expected.items():
        for ours, theirs in zip(values, found[name], strict=True):
            assert ours == theirs if isinstance(ours[0], str) else np.allclose(ours, theirs), name


@pytest.mark.parametrize("name", built_in_classifiers())
def test_model_of_sparse_rows_comes_back_whole(name, toy, bliss, tmp_path):
    """A model of sparse rows loads without further trust, with its parameters and all fitted arrays."""
    X, bags, weak = toy()
    S = sp.csr_matrix(X)
    model = bliss(final_classifier=name, n_rounds=3, regime=MilRegime(), reward=MilReward(gamma=0.5))
    model.fit(S, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert np.array_equal(again.decision_function(S), model.decision_function(S))
    assert again.get_params(deep=False) == model.get_params(deep=False)
    assert again.explain(3) == model.explain(3)
    assert again.score(S, weak, bags) == model.score(S, weak, bags)


@pytest.mark.parametrize("kind", ["classifier", "strategy", "reward", "regime"])
def test_objects_of_built_in_components_are_trusted(kind, tmp_path):
    """A parameter may be an object of a built-in component, not only its name."""
    path = tmp_path / "model.skops"
    registry = default_plugins().registry
    for name in registry.names(kind):
        spec = {"name": name, "estimator": GaussianNB()} if name == "sklearn" else name
        if not is_own(registry.registration(kind, name).distribution) or not can_be_made(kind, spec):
            continue
        component = registry.create(kind, spec)
        save_model(BlissClassifier(**{kind: component}), path)
        again = getattr(load_model(path), kind)
        assert type(again) is type(component), name
        if name != "sklearn":
            assert again == component


class Own(ClassifierMixin, BaseEstimator):
    """A classifier that we know nothing of: the first feature decides."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


@frozen
class OwnReward(Reward):
    """A reward that we know nothing of."""

    def __call__(self, outcome):
        return outcome.assignment == outcome.labels


def test_class_of_somebody_else_must_be_trusted_by_name(toy, bliss, tmp_path):
    """A model with classes that are not ours is refused with their full names, and loads when they are passed."""
    X, bags, weak = toy()
    model = bliss(final_classifier=Own(), reward=OwnReward()).fit(X, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    names = [f"{one.__module__}.{one.__qualname__}" for one in (Own, OwnReward)]
    with pytest.raises(RunError, match="types that are not trusted") as caught:
        load_model(tmp_path / "model.skops")
    assert all(name in str(caught.value) for name in names)
    assert "bliss_framework" not in str(caught.value).split("not trusted:")[1]
    assert f"on the command line as {' '.join(f'--trust {one}' for one in sorted(names))}." in str(caught.value)
    with pytest.raises(RunError, match="OwnReward"):
        load_model(tmp_path / "model.skops", trusted=(names[0],))
    assert (load_model(tmp_path / "model.skops", trusted=tuple(names)).predict(X) == model.predict(X)).all()


def test_declared_types_are_trusted(toy, bliss, tmp_path):
    """What the components of the registry in hand declare is trusted by whole names, third parties' included."""
    X, bags, weak = toy()
    model = bliss(final_classifier=Own(), reward=OwnReward()).fit(X, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    name = f"{Own.__module__}.{Own.__qualname__}"
    third_party = (
        Registration("reward", Component("own", OwnReward), "own", "bliss-own", "1.0"),
        Registration("classifier", Component("own", print, saved_types=(name,)), "own", "bliss-own", "1.0"),
    )
    registry = Registry((*default_plugins().registry.registrations, *third_party))
    again = load_model(tmp_path / "model.skops", registry=registry)
    assert (again.predict(X) == model.predict(X)).all()
    module_only = evolve(third_party[1], component=Component("own", print, saved_types=(Own.__module__,)))
    with pytest.raises(RunError, match="Own"):
        load_model(tmp_path / "model.skops", registry=Registry((*registry.registrations[:-1], module_only)))


def test_built_in_declarations_name_classes():
    """Every type that a built-in component declares is a class that can be imported by its name."""
    for name in declared_types(default_plugins().registry):
        module, _, attribute = name.rpartition(".")
        assert isinstance(getattr(import_module(module), attribute), type), name


def test_types_of_a_blocked_plugin_are_refused_with_its_name(toy, bliss, tmp_path):
    """Without the plugin that declares a type the type is not trusted, and the message names the blocked plugin."""
    X, bags, weak = toy()
    save_model(bliss(final_classifier="svm-linear").fit(X, weak, bags=bags), tmp_path / "model.skops")
    with (
        load_plugins(block=["classifiers"]).active(),
        pytest.raises(RunError, match=r'GramSvc.* Plugin "classifiers" from bliss-framework \S+ is blocked'),
    ):
        load_model(tmp_path / "model.skops")


def test_trees_must_be_trusted_by_name(toy, bliss, tmp_path):
    """scikit-learn's compiled trees believe what a file says, so a forest needs the caller's trust."""
    X, bags, weak = toy()
    model = bliss(final_classifier=RandomForestClassifier(3)).fit(X, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    with pytest.raises(RunError, match=r"sklearn\.tree\._tree\.Tree"):
        load_model(tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops", trusted=("sklearn.tree._tree.Tree",))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (os.system, "system"),
        (np.savetxt, "numpy.savetxt"),
        (sp.save_npz, "save_npz"),
        (load_model, "bliss_framework.estimator.persistence.load_model"),
    ],
)
def test_functions_in_a_file_are_refused(function, name, tmp_path):
    """A file that holds a function is refused, be it of Python, numpy, scipy or our own packages."""
    save_model(FunctionTransformer(func=function), tmp_path / "model.skops")
    with pytest.raises(RunError, match=name):
        load_model(tmp_path / "model.skops")


def json_node(value, number):
    return {
        "__class__": type(value).__name__,
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
        "__id__": number,
    }


def test_call_written_into_a_file_is_refused_and_does_not_happen(tmp_path):
    """A file that asks to call one of our own functions is refused before it is called: whole names are trusted."""
    target = tmp_path / "made.skops"
    arguments = [json_node(5, 1), json_node(str(target), 2)]
    schema = {
        "__class__": "save_model",
        "__module__": "bliss_framework.estimator.persistence",
        "__loader__": "ConstructorFromReduceNode",
        "content": {
            "__class__": "tuple",
            "__module__": "builtins",
            "__loader__": "TupleNode",
            "content": arguments,
            "__id__": 3,
        },
        "__id__": 4,
        "protocol": 2,
        "_skops_version": "0.16.0",
    }
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    with pytest.raises(RunError, match=r"not trusted: bliss_framework\.estimator\.persistence\.save_model"):
        load_model(path)
    assert not target.exists()
    with pytest.raises(RunError, match=r"it holds an object of type NoneType, which is no model"):
        load_model(path, trusted=("bliss_framework.estimator.persistence.save_model",))
    assert target.exists(), "the file does nothing even where it is trusted, so this test shows nothing"


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 half a file"])
def test_file_that_is_no_model_is_refused_by_name(content, tmp_path):
    """A broken or missing file is named in one message."""
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"model\.skops cannot be read as a model"):
        load_model(path)
    with pytest.raises(RunError, match=r"other\.skops cannot be read as a model"):
        load_model(tmp_path / "other.skops")


def test_file_is_written_whole_or_not_at_all(tmp_path):
    """A model that cannot be written leaves the older file as it was, and no half-written one."""
    path = tmp_path / "model.skops"
    save_model(InheritedLabelSvm(C=3.0), path)
    before = path.read_bytes()
    with pytest.raises(RunError, match=r"cannot be written to .*model\.skops"):
        save_model(InheritedLabelSvm(C=(i for i in ())), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.skops"]
    with pytest.raises(RunError, match="cannot be written"):
        save_model(InheritedLabelSvm(), tmp_path / "missing" / "model.skops")


def test_two_processes_write_parts_of_their_own(tmp_path, monkeypatch):
    """Until it is whole a model has a name with the number of its process, which a run that goes on sweeps."""
    found = []

    def stop(model, path):
        found.append(path.name)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skops.io.dump", stop)
    with pytest.raises(RunError, match=r"model\.skops cannot be written: No space left on device"):
        save_model(InheritedLabelSvm(), tmp_path / "model.skops")
    assert found == [f".model.skops.{os.getpid()}.part"]
    assert PARTIAL.fullmatch(found[0])


def test_saving_again_replaces_the_file(tmp_path):
    """The second model is the one that loads."""
    for C in (1.0, 2.0):
        save_model(InheritedLabelSvm(C=C), str(tmp_path / "model.skops"))
    assert load_model(str(tmp_path / "model.skops")).C == 2.0
