"""Settings import from installed distributions, and from nowhere else."""

import sys

import pytest

from bliss_framework import BlissClassifier, SettingsError, UnknownNameError
from bliss_framework.extension.imports import imported_class, trusting


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A module beside the experiment, which leaves a trace when it runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stranger.py").write_text(
        "from pathlib import Path\nfrom sklearn.svm import SVC as C\nPath('RAN').touch()\n"
    )
    yield tmp_path / "RAN"
    sys.modules.pop("stranger", None)


def test_a_file_beside_the_experiment_is_not_run(stranger):
    """It can be imported, and is not: the message names it, and both ways out."""
    with pytest.raises(SettingsError, match=r"module stranger belongs to no installed.*--trust stranger; in Python"):
        imported_class("stranger.C")
    with pytest.raises(SettingsError, match="--trust stranger"):
        BlissClassifier(classifier="stranger.C").check_parameters()
    with pytest.raises(SettingsError, match="--trust stranger"):
        BlissClassifier(final_classifier={"name": "sklearn", "estimator": "stranger.C"}).check_parameters()
    assert not stranger.exists()


def test_a_distribution_beside_the_experiment_does_not_help(stranger):
    """Metadata in the current folder are as strange as the file."""
    info = stranger.parent / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("stranger\n")
    with pytest.raises(SettingsError, match="--trust stranger"):
        imported_class("stranger.C")
    assert not stranger.exists()


def test_a_module_that_is_trusted(stranger):
    """It is imported where the user says so, and only there."""
    with trusting(["stranger"]):
        assert imported_class("stranger.C").__name__ == "SVC"
    assert stranger.exists()
    with pytest.raises(SettingsError):
        imported_class("stranger.C")


@pytest.mark.parametrize("path", ["os.system", "subprocess.Popen", "builtins.eval", "antigravity.geohash", "this.s"])
def test_the_standard_library_is_no_classifier(path):
    """Modules of Python belong to no distribution, and some do things when they are imported."""
    before = set(sys.modules)
    with pytest.raises(SettingsError, match="belongs to no installed distribution"):
        imported_class(path)
    assert not {"antigravity", "this"} & (set(sys.modules) - before)


@pytest.mark.parametrize(
    "path",
    ["__main__.C", "sklearn.__main__.C", "SVC", "", ".", "sklearn..SVC", "sklearn.svm.SVC()", "a b.C", "sklearn/x.C"],
)
def test_what_is_no_path(path):
    """It is not tried, and the message shows what a path looks like."""
    with pytest.raises(UnknownNameError, match="it is no import path"):
        imported_class(path)


def test_what_is_installed():
    """Installed packages are imported, also one that is developed in place; what is missing is told."""
    assert imported_class("sklearn.svm.SVC").__name__ == "SVC"
    assert imported_class("bliss_classifiers.estimators.GramSvc").__name__ == "GramSvc"
    with pytest.raises(UnknownNameError, match="No module named 'no_such_package'"):
        imported_class("no_such_package.C")
    with pytest.raises(SettingsError, match="is no class"):
        imported_class("numpy.load")
