"""Support vector machines that end."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from bliss_classifiers.estimators import GramSvc
from bliss_framework.primal import svc
from bliss_framework.primal.svc import bounded_svc

PLUGINS = Path(__file__).parents[2] / "plugins"


def noise():
    """Rows and labels that have nothing to do with one another."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 3)), rng.integers(0, 2, 80)


def test_a_machine_that_ends_by_itself_is_the_same():
    """Below the limit every bit is that of scikit-learn."""
    X, y = noise()
    assert np.array_equal(bounded_svc(C=3.0).fit(X, y).decision_function(X), SVC(C=3.0).fit(X, y).decision_function(X))


def test_one_that_does_not_is_stopped_and_says_so(monkeypatch):
    """After the limit there is a machine, and a warning."""
    X, y = noise()
    monkeypatch.setattr(svc, "MOST_STEPS", 7)
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        found = GramSvc(kernel="linear", C=100.0).fit(X, y)
    assert found.svc_.n_iter_.max() == 7
    assert np.isfinite(found.decision_function(X)).all()


def test_every_built_in_has_the_limit():
    """No built-in plugin makes an SVC of scikit-learn without it."""
    without = [path for path in PLUGINS.rglob("*.py") if re.search(r"(?<![A-Za-z_])SVC\(", path.read_text())]
    assert without == []
