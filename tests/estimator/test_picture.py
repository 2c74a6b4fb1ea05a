"""The first picture of a fitted model."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bliss_framework import BlissClassifier


@pytest.fixture(scope="module")
def fitted(bliss, toy):
    """A fitted model, one bag of which has markup for a name; and the events of its fit."""
    X, bags, weak = toy(gap=6.0)
    names = {"b0": "<b>0</b>"}
    heard = []
    bags = np.array([names.get(bag, bag) for bag in bags.tolist()])
    model = bliss().fit(X, {names.get(b, b): y for b, y in weak.items()}, bags=bags, progress=heard.append)
    return model, heard


def test_what_it_says(fitted):
    """The verdict, the counts of labels and the three strongest witnesses, as text."""
    model, _ = fitted
    lines = str(model.show()).splitlines()
    right = (model.out_of_fold_bags_ == model.weak_labels_).mean()
    assert lines[0].startswith(f"bag accuracy {right:.3f} out of fold on 12 bags (95% interval ")
    counts = model.inference_["label_counts"]
    assert lines[1].startswith(f"12 bags, 48 instances; inferred labels: {counts['0']} x 0, {counts['1']} x 1")
    assert lines[2].startswith("witnesses: 6 of 6 positive bags")
    rows = np.flatnonzero(model.labels_ == 1)
    ranked = rows[np.argsort(-model.out_of_fold_scores_[rows], kind="stable")][:3]
    assert [line.split(",")[0] for line in lines[3:]] == [f"  row {row}" for row in ranked]


def test_a_notebook_shows_it_above_the_diagram(fitted, bliss):
    """Names are text, scikit-learn's diagram follows, in a pipeline too; an unfitted model has the diagram alone."""
    model, _ = fitted
    shown = model._repr_html_()
    assert shown.startswith("<div><p>bag accuracy")
    assert "sk-estimator" in shown
    assert "<b>0</b>" not in shown
    assert "out of fold" not in bliss()._repr_html_()
    assert "BlissClassifier" in make_pipeline(StandardScaler(), model)._repr_html_()


def test_not_fitted():
    """A model that is not fitted has nothing to show."""
    with pytest.raises(NotFittedError):
        BlissClassifier().show()


def test_progress_is_told(fitted):
    """The callback hears of each fold as it starts and ends, and of rounds."""
    names = [type(event).__name__ for event in fitted[1]]
    assert names.count("FoldStarted") == names.count("FoldFinished") == 3
    assert names[0] == "FoldStarted"
    assert "RoundFinished" in names
