"""Runs on tables with empty cells and categories: every fit prepares its own training rows."""

import numpy as np
import pytest

from bliss_framework import BlissClassifier, SettingsError
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.kernel.events import silent
from bliss_framework.runs.evaluation.fits import run_fit
from bliss_framework.runs.evaluation.methods import bliss_method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.experiment import run
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, MethodSettings, RunSettings
from bliss_mil.baselines.simple_svms import BagMeanSvm

SHORT = {"n_rounds": 4, "n_folds": 3, "n_neighbors": 4}
HUES = ("blue", "green", "red")


def rows_of(seed, n_bags=12):
    """Return (n, 2) numbers with empty cells, a hue for each row, and the bag of each row."""
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), 3)
    X = rng.normal(size=(len(bags), 2)) * [1.0, 50.0]
    X[::3, 0] += 4.0 * (np.arange(n_bags) % 2)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.choice(HUES, len(bags)), bags


def write(path, seed=0):
    X, hues, bags = rows_of(seed)
    lines = [
        f"{bag},{bag % 2},{hue},{','.join('' if np.isnan(x) else repr(x) for x in row.tolist())}"
        for bag, hue, row in zip(bags, hues, X, strict=True)
    ]
    path.write_text("\n".join(["bag,label,hue,a,b", *lines]))
    return path


def by_hand(X, hues, train):
    """Fill with the medians of some rows, and make a column of each hue that they have; numbers come first."""
    filled = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    return np.column_stack([filled, *((hues == hue).astype(float) for hue in sorted(set(hues[train])))])


@pytest.fixture
def prepared(tmp_path):
    """A function that prepares a run on such a table."""

    def make(cv=None, test=None, **bliss):
        data = DataSettings(str(write(tmp_path / "toy.csv")), test=test)
        settings = RunSettings(data, {**SHORT, **bliss}, EvaluationSettings(cv), (MethodSettings("bag-mean-svm"),))
        return prepare(settings, default_plugins(), [])

    return make


@pytest.mark.parametrize("method", ["bliss", "bag-mean-svm"])
def test_each_fold_learns_from_its_training_bags(prepared, method):
    """Scores of held-out bags are those of rows prepared by hand with the medians and hues of the other bags alone."""
    experiment = prepared(cv=3)
    own = bliss_method(experiment.config) if method == "bliss" else experiment.baselines[0]
    X, hues, bags = rows_of(0)
    for fit in plan_fits(experiment.problem, [own], experiment.settings.evaluation, 0):
        train = ~np.isin(bags, fit.test_bags)
        rows = by_hand(X, hues, train)
        hand = BlissClassifier(**SHORT, random_state=fit.seed) if method == "bliss" else BagMeanSvm()
        hand.fit(rows[train], (bags[train] % 2)[::3], bags=bags[train])
        expected = hand.score_bags(rows[~train], bags[~train])[1]
        assert np.array_equal(run_fit(experiment.problem, fit)["scores"], expected)


def test_what_was_done_is_said_once(prepared):
    """The notes of a run say in one sentence how many cells were filled and what became of the category."""
    X, _, _ = rows_of(0)
    n_cells = int(np.isnan(X).sum())
    said = (
        f'{n_cells} empty cells of 2 columns were filled with the medians of their columns; "hue" (3 values) became 3 '
        f"columns."
    )
    document = run(prepared(), silent).document
    assert [note for note in document["notes"] if "filled" in note] == [said]
    assert document["settings"]["bliss"]["prepare"] == "auto"
    assert document["data"]["n_features"] == 3


def test_a_test_set_is_read_and_prepared_as_training_data(prepared, tmp_path):
    """Its category is one though it says so in few rows, and its cells are filled with the medians of training."""
    X, hues, bags = rows_of(1)
    write(tmp_path / "new.csv", seed=1)
    experiment = prepared(test={"source": str(tmp_path / "new.csv")})
    model, problem = experiment.model(), experiment.problem
    model.fit_configured(problem.data, experiment.config)
    old, old_hues, _ = rows_of(0)
    train = np.arange(len(old) + len(X)) < len(old)
    rows = by_hand(np.vstack([old, X]), np.concatenate([old_hues, hues]), train)
    hand = BlissClassifier(**SHORT, random_state=0).fit(rows[train], np.arange(12) % 2, bags=bags)
    assert np.array_equal(model.decision_function(problem.test.data), hand.decision_function(rows[~train]))


def test_preparation_has_a_table_of_its_own(tmp_path):
    """[prepare] is the parameter of the estimator; said twice, or of a key that is none, it is refused."""
    path = tmp_path / "experiment.toml"
    path.write_text('[data]\nsource = "toy.csv"\n[prepare]\nmissing = "mean"\n')
    assert read_experiments(path).rows[0].bliss == {"prepare": {"missing": "mean"}}
    path.write_text('prepare = "none"\n[data]\nsource = "toy.csv"\n')
    assert read_experiments(path).rows[0].bliss == {"prepare": "none"}
    path.write_text('prepare = "none"\n[data]\nsource = "toy.csv"\n[bliss]\nprepare = "auto"\n')
    with pytest.raises(SettingsError, match=r"prepare stands in both \[prepare\] and \[bliss\]"):
        read_experiments(path)
    path.write_text('[data]\nsource = "toy.csv"\n[prepare]\nmising = "mean"\n')
    with pytest.raises(SettingsError, match=r'bliss.prepare has no key "mising"\. Did you mean "missing"'):
        read_experiments(path)
