"""What must not change a result: the order of rows, bags and columns, names of bags, units, processes, threads."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from bliss_framework import infer_labels

pytestmark = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")

VARIANTS = [
    {},
    {"train_on": "rest"},
    {"strategy": "kl-ucb"},
    {"n_parallel": 3, "n_inferences": 2},
    {"n_passes": 2},
    {"n_first_draws": 4, "class_balance": 0.5},
    {"scaling": "standard-unit"},
    {"classifier": "svm-rbf"},
    {"classifier": DecisionTreeClassifier(max_depth=2)},
    {"settings": "default"},
    {"regime": {"name": "mil", "negative_bags": "free", "weights": "bag"}},
]
# Trees choose the columns to look at by chance and position, so other columns are other draws.
WITHOUT_TREES = [one for one in VARIANTS if not isinstance(one.get("classifier"), DecisionTreeClassifier)]
EVERYTHING = ["labels_", "confidence_", "undecided_", "label_means_", "label_pulls_", "training_scores_"]


def assert_same(one, other, rows=slice(None), attributes=EVERYTHING):
    """Compare fitted arrays bit by bit; row i of `other` is row rows[i] of `one`."""
    for name in attributes:
        assert np.array_equal(getattr(one, name)[rows], getattr(other, name), equal_nan=name == "label_means_"), name
    assert one.bag_threshold_ == other.bag_threshold_
    assert one.probability_slope_ == other.probability_slope_


OTHER_COLUMNS = {
    "other units": lambda X: X * 1000.0 ** (np.arange(X.shape[1]) - 2) + 5.0,
    "columns in another order": lambda X: X[:, ::-1],
    "a constant column": lambda X: np.c_[np.full(len(X), 7.0), X],
    "columns doubled": lambda X: np.c_[X, X],
}


def assert_same_sample(one, other):
    """Compare what was drawn and found exactly, and scores as far as rounding lets solvers agree."""
    for name in ("labels_", "undecided_", "label_pulls_", "fold_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.allclose(one.label_means_, other.label_means_, rtol=1e-9, atol=0, equal_nan=True)
    # A support vector machine stops within 1e-3 of its optimum.
    assert np.allclose(one.training_scores_, other.training_scores_, rtol=0, atol=2e-3)


@pytest.mark.parametrize(
    ("form", "parameters"),
    [
        *((np.asarray, parameters) for parameters in VARIANTS),
        *((form, parameters) for form in (sp.csr_matrix, pd.DataFrame) for parameters in VARIANTS[-4:-1]),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_order_of_rows_and_bags_and_their_names_change_nothing(parameters, form, toy, bliss):
    """Shuffled rows, interleaved bags and renamed ids give the same bits for each row, and the same predictions."""
    X, bags, weak = toy(d=5)
    new = form(toy(seed=9, d=5)[0])
    first = bliss(**parameters).fit(form(X), weak, bags=bags)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(bags))
    name_of = dict(zip(weak, rng.permutation(10**6)[: len(weak)].tolist(), strict=True))
    names = [name_of[name] for name in bags[rows]]
    renamed = {name_of[name]: label for name, label in weak.items()}
    other = bliss(**parameters).fit(form(X[rows]), renamed, bags=names)
    assert_same(first, other, rows)
    assert np.array_equal(first.decision_function(new), other.decision_function(new))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), sizes=st.lists(st.integers(1, 5), min_size=6, max_size=12))
def test_any_shuffle_of_any_bags_changes_nothing(seed, sizes, bliss):
    """For bags of any sizes, single rows among them, a shuffle of the rows gives the same bits."""
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(len(sizes)), sizes)
    weak = {bag: bag % 2 for bag in range(len(sizes))}
    X = rng.normal(size=(len(bags), 3)) + 3.0 * (bags % 2)[:, None] * (rng.random(len(bags)) < 0.5)[:, None]
    rows = rng.permutation(len(bags))
    one = bliss(n_folds=2, n_rounds=5, n_neighbors=2).fit(X, weak, bags=bags)
    other = bliss(n_folds=2, n_rounds=5, n_neighbors=2).fit(X[rows], weak, bags=bags[rows])
    assert_same(one, other, rows)


def test_order_of_predicted_rows_is_the_callers(toy, bliss):
    """Predictions of shuffled rows are the shuffled predictions; bags come in order of first appearance."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    rows = np.random.default_rng(0).permutation(48)
    assert np.allclose(model.decision_function(X[rows]), model.decision_function(X)[rows])
    ids, labels = model.predict_bags(X[rows], bags[rows])
    assert ids.tolist() == list(dict.fromkeys(bags[rows].tolist()))
    expected = dict(zip(*(part.tolist() for part in model.predict_bags(X, bags)), strict=True))
    assert dict(zip(ids.tolist(), labels.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"classifier": RandomForestClassifier(4), "n_rounds": 4},
        {"train_on": "rest", "n_passes": 2, "n_inferences": 2},
    ],
    ids=str,
)
def test_number_of_processes_changes_nothing(parameters, toy, bliss):
    """One process, named or not, and two give the same bits."""
    X, bags, weak = toy()
    alone = bliss(**parameters).fit(X, weak, bags=bags)
    for n_jobs in (1, 2):
        assert_same(alone, bliss(**parameters, n_jobs=n_jobs).fit(X, weak, bags=bags))


def test_large_rows_reach_other_processes(bliss):
    """Rows that joblib shares between processes as read-only memory give the same bits."""
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(300, 500))
    alone, shared = (bliss(n_jobs=n, n_rounds=3).fit(X, np.arange(60) % 2, bags=bags) for n in (None, 2))
    assert_same(alone, shared)


def test_same_seed_same_bits_and_other_seed_other_draws(toy, bliss):
    """A seed decides every draw; another seed gives other pulls."""
    X, bags, weak = toy()
    first, again, other = (bliss(random_state=seed).fit(X, weak, bags=bags) for seed in (3, 3, 4))
    assert_same(first, again)
    assert not np.array_equal(first.label_pulls_, other.label_pulls_)


def test_random_state_object_moves_on(toy, bliss):
    """A RandomState gives another seed to each fit, and the same ones from the same start."""
    X, bags, weak = toy()
    rng = np.random.RandomState(7)
    first, second = (bliss(random_state=rng).fit(X, weak, bags=bags) for _ in range(2))
    assert not np.array_equal(first.label_pulls_, second.label_pulls_)
    assert_same(first, bliss(random_state=np.random.RandomState(7)).fit(X, weak, bags=bags))


@pytest.mark.parametrize("classifier", ["kernel-ridge", "svm-rbf", RandomForestClassifier(3)], ids=str)
def test_random_numbers_of_others_are_neither_used_nor_moved(classifier, toy, bliss):
    """The global generator of numpy has no effect on a fit with a seed, and keeps its state."""
    X, bags, weak = toy()
    np.random.seed(1)  # noqa: NPY002 - the global generator is what is tested
    first = bliss(classifier=classifier, n_rounds=3).fit(X, weak, bags=bags)
    after = np.random.random()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert np.random.random() == after  # noqa: NPY002
    assert_same(first, bliss(classifier=classifier, n_rounds=3).fit(X, weak, bags=bags))


def test_data_and_parameters_of_the_caller_are_not_changed(toy, bliss):
    """Rows, ids, weak labels and parameter objects are as they were after fit and predictions."""
    X, bags, weak = toy()
    kept = X.copy(), bags.copy(), dict(weak)
    reward, classifier = {"name": "mil", "gamma": 0.3}, LogisticRegression()
    X.flags.writeable = False
    model = bliss(reward=reward, classifier=classifier, n_rounds=3).fit(X, weak, bags=bags)
    model.predict_bags(X, bags)
    assert (kept[0] == X).all()
    assert (kept[1] == bags).all()
    assert kept[2] == weak
    assert reward == {"name": "mil", "gamma": 0.3}
    assert vars(classifier) == vars(LogisticRegression())


@pytest.mark.parametrize("parameters", WITHOUT_TREES, ids=str)
@pytest.mark.parametrize("change", OTHER_COLUMNS.values(), ids=OTHER_COLUMNS)
def test_units_and_order_of_columns_draw_the_same_sample(change, parameters, toy, bliss):
    """Other units, another order of columns, constant and doubled columns: the same pulls, labels and mean rewards."""
    X, bags, weak = toy(d=5)
    # The kernel-ridge of the other tests has a fixed width, which is one in units of a row's length.
    one, other = (
        bliss(**{"classifier": "kernel-ridge", **parameters}).fit(rows, weak, bags=bags) for rows in (X, change(X))
    )
    assert_same_sample(one, other)


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_powers_of_two_and_precision_change_no_bit(parameters, toy, bliss):
    """Columns times powers of two, and single precision that holds the values, give the same bits."""
    X, bags, weak = toy(d=5)
    X = X.astype(np.float32).astype(np.float64)
    one = bliss(**parameters).fit(X, weak, bags=bags)
    assert_same(one, bliss(**parameters).fit(X * 2.0 ** np.arange(-5, 15, 4), weak, bags=bags))
    assert_same(one, bliss(**parameters).fit(X.astype(np.float32), weak, bags=bags))


@pytest.mark.parametrize("classifier", ["ridge", "kernel-ridge", "svm-rbf", "logistic"])
def test_sparse_and_dense_rows_draw_the_same_sample(classifier, toy, bliss):
    """With one scaling of both, sparse rows have the pulls, labels and mean rewards of dense ones."""
    X, bags, weak = toy(d=5)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model = bliss(classifier=classifier, final_classifier="same", scaling="none")
    one, other = (clone(model).fit(form(X), weak, bags=bags) for form in (np.asarray, sp.csr_matrix))
    assert_same_sample(one, other)


THREADED = (
    "labels_",
    "label_means_",
    "training_scores_",
    "bag_threshold_",
    "instance_threshold_",
    "probability_slope_",
)


@pytest.mark.parametrize("settings", ["default", "select"])
@pytest.mark.parametrize("classifier", ["kernel-ridge", "ridge"])
def test_threads_of_linear_algebra_change_no_bit(classifier, settings, bliss):
    """Whether linear algebra may use one thread, two or four: the same fit, predictions and inferred labels."""
    rng = np.random.default_rng(0)
    bags, new = np.repeat(np.arange(150), 5), rng.normal(size=(700, 300))
    X, weak = rng.normal(size=(750, 300)), np.arange(150) % 2
    X[::5] += 0.5 * weak[:, None]
    own = {"classifier": classifier, "n_rounds": 1, "n_inferences": 1, "final_classifier": "same", "settings": settings}
    if settings == "select":
        own["grid"] = {"inherited_share": [0.0, 1.0]}

    def everything() -> list:
        model = bliss(**own).fit(X, weak, bags=bags)
        means = infer_labels(X, weak, bags, **{**model.get_params(), "settings": "default", "grid": None}).means
        fitted = [getattr(model, name) for name in THREADED]
        return [*fitted, means, model.decision_function(new), *model.score_bags(new, np.arange(700) // 7)]

    with threadpool_limits(limits=1):
        expected = everything()
    for limit in (2, 4):
        with threadpool_limits(limits=limit):
            found = everything()
        assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(found, expected, strict=True))


def test_the_callers_threads_are_given_back(toy, bliss):
    """After a fit and predictions linear algebra may use as many threads as before."""
    X, bags, weak = toy()
    with threadpool_limits(limits=2):
        before = threadpool_info()
        bliss(n_rounds=1).fit(X, weak, bags=bags).predict_bags(X, bags)
        assert threadpool_info() == before
