"""What was reported of other packages in public issues, which are cited, must not go wrong here; on small data."""

import json
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from attrs import field, frozen
from sklearn import config_context
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from bliss_framework import (
    BagKFold,
    BlissClassifier,
    DataError,
    Outcome,
    PluginError,
    Reward,
    RewardError,
    check_training,
)
from bliss_framework.errors import BlissWarning

quiet = pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")


def caught_in(model, X, y, bags, category=Warning):
    """Fit, and return the warnings of a category."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, bags=bags)
    return [one for one in caught if issubclass(one.category, category)]


# Bags of one instance: garydoranjr/misvm #8.


def test_every_bag_has_one_instance(bliss):
    """Bags of one instance are ordinary classification: labels are the weak labels, and shapes do not collapse."""
    rng = np.random.RandomState(0)
    X, bags = np.r_[rng.randn(12, 2) + 4, rng.randn(12, 2)], np.arange(24)
    model = bliss().fit(X, {i: int(i < 12) for i in range(24)}, bags=bags)
    assert model.labels_.tolist() == [1] * 12 + [0] * 12
    assert model.predict(X[:1]).shape == (1,)
    assert [len(part) for part in model.predict_bags(X[:1], bags[:1])] == [1, 1]
    assert (model.predict(X) == model.labels_).mean() >= 0.85


@quiet
def test_negative_singletons_may_be_free(bliss):
    """With negative bags that are inferred too, bags of one instance still go through label inference."""
    rng = np.random.RandomState(0)
    X, bags = np.r_[rng.randn(12, 2) + 4, rng.randn(12, 2)], np.arange(24)
    regime = {"name": "mil", "negative_bags": "free"}
    model = bliss(regime=regime, n_rounds=60, n_inferences=1).fit(X, (bags < 12).astype(int), bags=bags)
    assert model.label_pulls_.sum(axis=1).tolist() == [62.0] * 24


# Rows in any order: theislab/multimil #70.


@quiet
def test_rows_of_a_bag_are_not_contiguous(toy, bliss):
    """Predictions of bags carry their ids, and predictions of rows keep the order of rows."""
    X, bags, weak = toy()
    order = np.random.RandomState(1).permutation(len(bags))
    model = bliss().fit(X, weak, bags=bags)
    shuffled, plain = model.predict_bags(X[order], bags[order]), model.predict_bags(X, bags)
    assert dict(zip(*shuffled, strict=True)) == dict(zip(*plain, strict=True))
    assert (model.predict(X[order]) == model.predict(X)[order]).all()


def test_rows_find_their_bag_wherever_they_stand(shared, bliss):
    """In the file of the case, bag z9 has rows 0, 2 and 6, and its label comes from the other file by id."""
    rows = pd.read_csv(shared / "cases" / "files" / "bags_unsorted.csv")
    labels = pd.read_csv(shared / "cases" / "files" / "bags_unsorted_labels.csv", index_col=0).iloc[:, 0]
    ids = rows.iloc[:, 0]
    given = check_training(rows.iloc[:, 1:], labels, ids)
    assert np.flatnonzero(given.bags.index == given.bags.ids.tolist().index("z9")).tolist() == [0, 2, 6]
    assert given.weak.tolist() == [labels[name] for name in dict.fromkeys(ids)]


# Ids of bags: koaning/scikit-lego #158.


@quiet
def test_names_of_bags_change_nothing(toy, bliss):
    """Small numbers, negative and huge ones, and text are only names: the labels are the same."""
    X, bags, weak = toy()
    numbers = np.array([int(name[1:]) for name in bags])
    spellings = {
        "small": lambda i: i,
        "huge": dict(zip(range(12), [-3, 7, *range(100, 109), 10**9 + 7], strict=True)).get,
        "text": "p{:02d}".format,
        "zeros": lambda i: "0" * i + "7",
        "mixed": lambda i: i if i % 2 else str(i - 1),
    }
    expected = bliss().fit(X, weak, bags=bags)
    for spelling in spellings.values():
        ids = [spelling(int(i)) for i in numbers]
        named = {spelling(int(name[1:])): label for name, label in weak.items()}
        model = bliss().fit(X, named, bags=ids)
        assert (model.labels_ == expected.labels_).all()
        assert (model.confidence_ == expected.confidence_).all()
        found = model.predict_bags(X, ids)[0].tolist()
        assert found == list(dict.fromkeys(ids))


def test_ids_come_back_with_their_own_type(toy, bliss):
    """Integers stay integers, text stays text, in predictions and in explanations."""
    X, bags, weak = toy()
    model = bliss().fit(X, weak, bags=bags)
    for ids, kind in (
        (np.repeat(np.arange(12, dtype=np.int32), 4), "i"),
        (np.repeat([f"p{i}" for i in range(12)], 4), "U"),
        (pd.Series(np.repeat([f"p{i}" for i in range(12)], 4)).astype("category"), "O"),
    ):
        found = model.predict_bags(X, ids)[0]
        assert found.dtype.kind == kind
        assert found.tolist() == list(dict.fromkeys(np.asarray(ids).tolist()))
    assert isinstance(model.explain(0).bag, str)
    numbered = bliss().fit(X, np.arange(12) < 6, bags=np.repeat(np.arange(12), 4))
    assert type(numbered.explain(0).bag) is int


def test_huge_ids_need_no_more_memory(toy, bliss):
    """Ids are not used as positions: ids of a billion need less than twice the memory of small ones."""
    X, _, _ = toy()
    peaks = []
    for ids in (np.repeat(np.arange(12), 4), np.repeat(np.arange(12) * 10**8 - 3, 4)):
        tracemalloc.start()
        bliss().fit(X, np.arange(12) < 6, bags=ids)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


# Folds and bags: scikit-learn PR #33176.


@quiet
def test_more_folds_than_bags_are_reduced_with_one_warning(toy, bliss):
    """Five folds of three bags become three, said once with both numbers."""
    X, bags, weak = toy(n_pos=2, n_neg=1)
    model = bliss(n_folds=5, n_neighbors=2)
    (told,) = [one for one in caught_in(model, X, weak, bags) if "n_folds" in str(one.message)]
    assert "reduced from 5 to 3: there are 3 bags" in str(told.message)
    assert model.inference_["n_folds"] == 3


def test_one_bag_is_refused(toy, bliss):
    """One bag leaves nothing to hold out."""
    X, bags, _ = toy()
    with pytest.raises(DataError, match="at least two bags"):
        bliss().fit(X[:4], {"b0": 1}, bags=bags[:4])


@frozen
class Watcher(Reward):
    """Keeps the bags of both parts of every fold, and rewards nothing."""

    seen: list = field(factory=list)

    def prepare(self, fold, classifier):
        self.seen.append((set(fold.train.bags.ids.tolist()), set(fold.heldout.bags.ids.tolist())))
        return self

    def __call__(self, outcome):
        return np.zeros(len(outcome.assignment))


@quiet
@pytest.mark.parametrize("train_on", ["one", "rest"])
@pytest.mark.parametrize("n_folds", [2, 3, 6])
def test_training_and_held_out_bags_never_meet(train_on, n_folds, toy, bliss):
    """In every fold no bag is on both sides, neither side is empty, and together they are all bags."""
    X, bags, weak = toy()
    watcher = Watcher()
    bliss(reward=watcher, train_on=train_on, n_folds=n_folds, n_rounds=1, n_neighbors=2).fit(X, weak, bags=bags)
    assert len(watcher.seen) == n_folds
    for train, heldout in watcher.seen:
        assert train
        assert heldout
        assert not train & heldout
        assert train | heldout == set(weak)


# Types of weak labels: scikit-learn #16987, #6049, #14104.


@quiet
@pytest.mark.parametrize(
    "cast",
    [
        pytest.param(lambda w, kind=kind: {k: kind(v) for k, v in w.items()}, id=kind.__name__)
        for kind in (float, bool, str, np.int8, np.float32, np.bool_, np.uint64)
    ]
    + [
        pytest.param(lambda w, kind=kind: pd.Series(w).astype(kind), id=f"series-{kind}")
        for kind in ("Int64", "Float64", "boolean", "bool", "object", "category", "string", "int8")
    ]
    + [
        pytest.param(lambda w: [str(v) for v in w.values()], id="text"),
        pytest.param(lambda w: np.array(list(w.values()), dtype=object), id="objects"),
        pytest.param(lambda w: pd.Categorical(list(w.values())), id="categorical"),
        pytest.param(lambda w: {k: 2 * v - 1 for k, v in w.items()}, id="minus-one"),
    ],
)
def test_two_classes_of_any_type_give_the_same_labels(cast, toy, bliss):
    """Numbers, booleans, their text and pandas' types mean the same two classes."""
    X, bags, weak = toy()
    expected = bliss().fit(X, weak, bags=bags)
    model = bliss().fit(X, cast(weak), bags=bags)
    assert (np.where(model.labels_ == 1, 1, 0) == expected.labels_).all()
    assert model.classes_[1] == 1
    assert model.score(X, cast(weak), bags) == expected.score(X, weak, bags)


@quiet
def test_two_names_need_a_positive_one(toy, bliss):
    """Which of "cat" and "dog" is positive must be said, and is said through the regime."""
    X, bags, weak = toy()
    named = {name: "cat" if label else "dog" for name, label in weak.items()}
    with pytest.raises(DataError, match="which one is positive") as caught:
        bliss().fit(X, named, bags=bags)
    assert "positive_label" in str(caught.value)
    model = bliss(regime={"name": "mil", "positive_label": "cat"}).fit(X, named, bags=bags)
    expected = bliss().fit(X, weak, bags=bags)
    assert (model.labels_ == np.where(expected.labels_ == 1, "cat", "dog")).all()
    other = bliss(regime={"name": "mil", "positive_label": "dog"}).fit(X, named, bags=bags)
    assert other.classes_.tolist() == ["cat", "dog"]


def test_a_fraction_is_refused_with_the_way_out(toy, bliss):
    """0.3 as a binary label is a proportion, and there is a regime for those."""
    X, bags, weak = toy()
    with pytest.raises(DataError, match=r"0\.3.*proportions.*llp"):
        bliss().fit(X, {**weak, "b0": 0.3}, bags=bags)


# Imbalance and collapse: garydoranjr/misvm #16.


@pytest.mark.parametrize("shape", [{"n_pos": 2, "n_neg": 38}, {"n_pos": 38, "n_neg": 2}], ids=str)
@pytest.mark.parametrize("seed", [0, 2])
def test_collapse_is_told_exactly_once(shape, seed, toy):
    """If all free instances end with one label, one BlissWarning says so and what to try; else there is none."""
    X, bags, weak = toy(gap=6.0, **shape)
    model = BlissClassifier(n_folds=2, n_rounds=150, random_state=seed)
    told = caught_in(model, X, weak, bags)
    free = [weak[name] == 1 for name in bags]
    collapsed = len(set(model.labels_[free])) == 1
    assert len(told) == (1 if collapsed else 0)
    assert model.inference_["collapsed"] == collapsed
    for one in told:
        assert one.category is BlissWarning
        assert 'train_on="rest"' in str(one.message)
        assert f"({model.labels_[free][0]})" in str(one.message)
        assert one.filename == __file__


@quiet
def test_both_parts_of_each_fold_hold_a_positive_bag(toy, bliss):
    """With two positive bags of forty and two folds, one is on each side."""
    X, bags, weak = toy(n_pos=2, n_neg=38)
    watcher = Watcher()
    bliss(reward=watcher, n_folds=2, n_rounds=1).fit(X, weak, bags=bags)
    assert [len({"b0", "b1"} & part) for sides in watcher.seen for part in sides] == [1, 1, 1, 1]


# Duplicates and ties: scikit-learn PR #370, #15592.

FIT_WITH_TIES = """
import json, sys, warnings
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from bliss_framework import BlissClassifier
warnings.simplefilter("ignore")
X, bags, weak = json.load(sys.stdin)
tree = DecisionTreeClassifier(max_depth=2, random_state=0)
model = BlissClassifier(classifier=tree, final_classifier=tree, n_rounds=15, n_folds=3, n_neighbors=5, random_state=0)
model.fit(np.array(X), weak, bags=np.array(bags))
print(json.dumps([model.labels_.tolist(), model.confidence_.tolist(), model.decision_function(np.array(X)).tolist()]))
"""


def test_ties_are_broken_alike_in_every_process(toy):
    """Equal rows in bags of both classes, and a tree with few distinct scores: two processes give the same bits."""
    X, bags, weak = toy()
    data = json.dumps(
        [np.r_[X, X].tolist(), [*bags, *np.char.add(bags, "x")], {**weak, **{f"{k}x": 1 - v for k, v in weak.items()}}]
    )
    command = [sys.executable, "-c", FIT_WITH_TIES]
    first, second = (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    )
    outputs = [process.communicate(data)[0] for process in (first, second)]
    assert outputs[0] == outputs[1]
    labels, confidence, scores = json.loads(outputs[0])
    assert len(labels) == len(confidence) == 96
    # The same row has the same final score wherever it stands.
    assert scores[:48] == scores[48:]


@quiet
def test_duplicate_rows_in_equal_bags_are_shuffled_without_effect(toy, bliss):
    """Where whole bags are equal, shuffling the rows changes no more than which of two equal bags is which."""
    X, bags, weak = toy()
    X2, bags2 = np.r_[X, X], np.r_[bags, np.char.add(bags, "x")]
    weak2 = {**weak, **{f"{name}x": label for name, label in weak.items()}}
    order = np.random.default_rng(0).permutation(96)
    one = bliss().fit(X2, weak2, bags=bags2)
    other = bliss().fit(X2[order], weak2, bags=bags2[order])

    def table(model, rows):
        return sorted(zip(rows[:, 0].tolist(), model.labels_.tolist(), model.confidence_.tolist(), strict=True))

    assert table(one, X2) == table(other, X2[order])


# More neighbours than held-out rows: scikit-learn PR #23317.


def test_k_above_the_held_out_set_is_reduced_with_one_warning(toy, bliss):
    """Two bags of four rows hold out four: k = 50 becomes 4, said once per fit and not once per round."""
    X, bags, weak = toy(n_pos=1, n_neg=1)
    model = bliss(n_folds=2, n_neighbors=50)
    told = [one for one in caught_in(model, X, weak, bags) if "n_neighbors" in str(one.message)]
    assert len(told) == 1
    assert "reduced from 50 to 4" in str(told[0].message)
    assert model.labels_.shape == (8,)


@quiet
def test_reduced_k_is_the_size_of_the_held_out_set(toy, bliss):
    """k = 50 gives the bits of k = 4 where four rows are held out."""
    X, bags, weak = toy(n_pos=1, n_neg=1)
    with pytest.warns(UserWarning, match="n_neighbors was reduced"):
        large = bliss(n_folds=2, n_neighbors=50).fit(X, weak, bags=bags)
    small = bliss(n_folds=2, n_neighbors=4).fit(X, weak, bags=bags)
    assert np.array_equal(large.label_means_, small.label_means_, equal_nan=True)


# Sparse rows: scikit-learn #29862, #21067, #31073.


def with_wide_indices(X):
    S = sp.csr_matrix(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


@quiet
@pytest.mark.parametrize(
    "make", [with_wide_indices, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array, sp.lil_matrix]
)
@pytest.mark.parametrize(
    "classifier",
    [SVC(kernel="linear"), LinearSVC(), SGDClassifier(random_state=0), LogisticRegression(solver="liblinear")],
)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_sparse_rows_of_any_form_give_the_same_labels(make, classifier, toy, bliss):
    """64-bit indices, arrays, and formats that cannot be sliced by row give the labels of a plain CSR matrix."""
    X, bags, weak = toy()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    given = make(X)
    model = bliss(classifier=classifier, n_rounds=3).fit(given, weak, bags=bags)
    expected = bliss(classifier=classifier, n_rounds=3).fit(sp.csr_matrix(X), weak, bags=bags)
    assert (model.labels_ == expected.labels_).all()
    assert (model.decision_function(given) == expected.decision_function(sp.csr_matrix(X))).all()


@pytest.mark.parametrize("scaling", ["auto", "standard", "none"])
def test_callers_matrix_is_not_modified(scaling, toy, bliss):
    """Unsorted entries and 64-bit indices of the caller are there as before, after fit and predictions."""
    X, bags, weak = toy()
    S = with_wide_indices(X)
    S.indices, S.data = S.indices.reshape(-1, 2)[:, ::-1].ravel().copy(), S.data.reshape(-1, 2)[:, ::-1].ravel().copy()
    S.has_sorted_indices = False
    kept = S.data.copy(), S.indices.copy(), S.indptr.copy()
    model = bliss(scaling=scaling, final_classifier=SVC()).fit(S, weak, bags=bags)
    model.predict_bags(S, bags)
    model.predict(S)
    for before, after in zip(kept, (S.data, S.indices, S.indptr), strict=True):
        assert (before == after).all()
        assert before.dtype == after.dtype


# Lists of bags: mskcc/mimsi #32.


@quiet
def test_list_of_bags_of_different_lengths(bliss):
    """A ragged list of arrays is fitted as it is."""
    rng = np.random.RandomState(0)
    model = bliss(n_folds=2, n_neighbors=1).fit([rng.randn(3, 2), rng.randn(1, 2), rng.randn(5, 2)], [1, 0, 0])
    assert model.labels_.shape == (9,)
    assert model.bag_index_.tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("widths", "y", "words"), [((2, 4), [1, 0], ("bag 1", "4", "2")), ((2, 2), [1], ("2 bags", "1 label"))]
)
def test_lists_that_do_not_fit_name_bag_and_numbers(widths, y, words, bliss):
    """Another number of features, or of labels, is said with both numbers."""
    with pytest.raises(DataError) as caught:
        bliss().fit([np.ones((2, width)) for width in widths], y)
    assert all(word in str(caught.value) for word in words)


# Assignments of one class: scikit-learn PR #1009, #10599.


@frozen
class Record(Reward):
    """The reward of the assignment "everything has one label", whenever it is drawn."""

    found: list = field(factory=list)

    def __call__(self, outcome: Outcome):
        if len(set(outcome.assignment.tolist())) == 1:
            self.found.append(
                (outcome.assignment[0], set(outcome.labels.tolist()), set(outcome.heldout_labels.tolist()))
            )
        return np.where(outcome.assignment == outcome.labels, 0.5, 0.0)


@quiet
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "classifier",
    [
        SVC(),
        LinearSVC(),
        LogisticRegression(),
        SGDClassifier(),
        GaussianProcessClassifier(),
        GradientBoostingClassifier(n_estimators=2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_assignments_of_one_class_work_with_every_classifier(classifier, toy, bliss):
    """Small folds draw assignments of one class; the prediction is then that class for all rows, and the fit ends."""
    X, bags, weak = toy(n_pos=4, n_neg=2, size=2)
    record = Record()
    parameters = {"regime": {"name": "mil", "negative_bags": "free"}, "n_folds": 6, "n_rounds": 10, "n_neighbors": 2}
    model = bliss(classifier=classifier, reward=record, **parameters).fit(X, weak, bags=bags)
    assert set(model.labels_) <= {0, 1}
    assert record.found
    for label, train, heldout in record.found:
        assert train == heldout == {label}


@quiet
@pytest.mark.parametrize("classifier", [SVC(C=-1.0), LogisticRegression(solver="no such solver")])
def test_other_errors_of_a_classifier_come_through(classifier, toy, bliss):
    """An error for another reason is not swallowed, and the message names the classifier, the pull and the fold."""
    X, bags, weak = toy()
    name = type(classifier).__name__
    said = (
        rf'classifier "{name}": the classifier raised .* in round 0: The .* parameter of {name} must be .*fold 1 of 3'
    )
    with pytest.raises(PluginError, match=said):
        bliss(classifier=classifier).fit(X, weak, bags=bags)


# Nested parallelism: scikit-learn #12389.


@quiet
def test_parallel_classifier_in_parallel_folds(toy, bliss):
    """A forest with n_jobs=-1 in two processes: no warning, equal to one process, in time; the forest is untouched."""
    X, bags, weak = toy()
    forest = RandomForestClassifier(10, n_jobs=-1, random_state=0)
    bliss(n_rounds=1, n_jobs=2).fit(X, weak, bags=bags)  # starts the processes, which takes seconds once
    seconds = []
    models = []
    for n_jobs in (1, 2):
        start = time.perf_counter()
        model = bliss(classifier=forest, n_rounds=5, n_jobs=n_jobs)
        assert not caught_in(model, X, weak, bags, RuntimeWarning)
        models.append(model)
        seconds.append(time.perf_counter() - start)
    assert np.array_equal(models[0].label_means_, models[1].label_means_, equal_nan=True)
    assert (models[0].labels_ == models[1].labels_).all()
    assert seconds[1] < 3 * seconds[0] + 5
    assert forest.n_jobs == -1
    assert not hasattr(forest, "estimators_")


# Searches over parameters: optuna #4084.


@quiet
def test_search_over_rewards_clones_and_never_fits_what_was_passed(toy, bliss):
    """The gamma of the reward is searched in whole rewards and does not mix with the gamma of an SVM."""
    X, bags, weak = toy()
    classifier = SVC(C=2.0)
    model = bliss(classifier=classifier, n_rounds=3).set_params(classifier__C=7.0)
    grid = {"reward": [{"name": "mil", "gamma": 1 / 7}, {"name": "mil", "gamma": 0.5}]}
    search = GridSearchCV(model, grid, cv=BagKFold(2), error_score="raise")
    with config_context(enable_metadata_routing=True):
        search.fit(X, [weak[name] for name in bags], bags=bags)
    assert search.best_params_["reward"] in grid["reward"]
    assert search.best_estimator_.classifier.gamma == "scale"
    assert search.best_estimator_.classifier.C == 7.0
    assert not hasattr(classifier, "classes_")
    assert not hasattr(model.classifier, "classes_")


# Rewards outside their contract: SMPyBandits #13.


@frozen
class Wild(Reward):
    """A reward of somebody else that misbehaves in one way, and counts how often it is called."""

    answer: object = field()
    calls: list = field(factory=list)

    def __call__(self, outcome):
        self.calls.append(1)
        return self.answer(len(outcome.assignment))


def nearly(value):
    """Return rewards of 0.5, but for one."""

    def answer(n):
        rewards = np.full(n, 0.5)
        rewards[1] = value
        return rewards

    return answer


def broken(n):
    raise KeyError("weights")


@quiet
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (nearly(-0.2), ("-0.2", "instance 1", "[0, 1]")),
        (nearly(1.5), ("1.5", "instance 1", "[0, 1]")),
        (nearly(np.nan), ("nan", "instance 1", "[0, 1]")),
        (nearly(np.inf), ("inf", "instance 1", "[0, 1]")),
        (lambda n: np.full(n - 1, 0.5), ("shape (15,)", "16 numbers")),
        (lambda n: np.full((n, 1), 0.5), ("shape (16, 1)", "16 numbers")),
        (lambda n: 0.5, ("shape ()", "16 numbers")),
        (lambda n: None, ("None", "16 numbers")),
        (lambda n: ["good"] * n, ("<U4", "16 numbers")),
    ],
)
def test_reward_outside_its_contract_stops_the_fit_at_once(answer, words, toy, bliss):
    """At the first wrong reward a RewardError, which is a ValueError, names the reward, the value and the round."""
    X, bags, weak = toy()
    reward = Wild(answer)
    with pytest.raises(RewardError) as caught:
        bliss(reward=reward).fit(X, weak, bags=bags)
    text = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert 'reward "Wild"' in text
    assert "fold 1 of 3" in text
    assert all(word in text for word in words), text
    assert len(reward.calls) == 1


@quiet
def test_reward_that_raises_is_named_with_its_error(toy, bliss):
    """An exception of a reward becomes a PluginError that holds its kind, its text and the reward's name."""
    X, bags, weak = toy()
    with pytest.raises(PluginError, match=r'reward "Wild".*KeyError.*weights') as caught:
        bliss(reward=Wild(broken)).fit(X, weak, bags=bags)
    assert any(isinstance(one, KeyError) for one in causes(caught.value))


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__


@quiet
@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.arange(n) % 2,
        lambda n: np.arange(n) % 2 == 0,
        lambda n: [0.5] * n,
        lambda n: np.full(n, 1 + 1e-12),
        lambda n: np.full(n, -1e-12),
        lambda n: np.full(n, 0.5, dtype=np.float32),
    ],
)
def test_rewards_of_any_number_type_and_rounding_are_taken(answer, toy, bliss):
    """Whole numbers, booleans and lists are numbers in [0, 1]; rounding beyond the ends is clipped."""
    X, bags, weak = toy()
    model = bliss(reward=Wild(answer)).fit(X, weak, bags=bags)
    means = model.label_means_[~model.known_]
    assert means.min() >= 0.0
    assert means.max() <= 1.0
