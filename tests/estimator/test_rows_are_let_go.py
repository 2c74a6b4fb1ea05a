"""A fit that nobody needs any more takes no memory: no cycle of references holds its rows until it is looked for."""

import gc
import weakref

import numpy as np
import pytest


@pytest.fixture
def without_collector():
    """Only counts of references free memory, as in the long stretches between two looks of the collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize(
    "parameters",
    [{}, {"inherited_share": 1.0}, {"settings": "select"}, {"self_training": 1}, {"regime": "llp"}],
    ids=["bandit", "control", "chosen settings", "self-training", "llp"],
)
def test_rows_are_let_go_with_the_model(parameters, toy, bliss):
    """The rows of a worker lie in a file that is taken away once they are let go: its parent waits for that."""
    X, bags, weak = toy(n_pos=10, n_neg=10)
    rows = np.array(X)
    if parameters.get("regime") == "llp":
        weak = {bag: float(label) for bag, label in weak.items()} if isinstance(weak, dict) else weak.astype(float)
    held = weakref.ref(rows)
    model = bliss(**parameters).fit(rows, weak, bags=bags)
    model.predict_bags(rows, bags=bags)
    del rows, model
    assert held() is None
