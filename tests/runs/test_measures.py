"""Measures of instances: AUC where the bag leaves a label open, and accuracy, in whatever words classes have."""

import numpy as np
import pytest
from attrs import evolve
from sklearn.metrics import roc_auc_score

from bliss_framework import BlissClassifier, DataError, PluginError
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.evaluation.measures import instance_auc
from bliss_framework.runs.evaluation.methods import Method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.evaluation.truth import Alphabet, true_classes
from bliss_framework.runs.experiment import run
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, MethodSettings, RunSettings


def silent(event):
    """Listen to nothing."""


def test_it_is_that_of_scikit_learn():
    """Class 1 is positive, equal scores count half, and an instance whose class is not known does not count."""
    scores, truth = np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1])
    assert instance_auc(scores, truth) == roc_auc_score(truth, scores) == 0.875
    assert instance_auc(-scores, truth) == 0.125
    assert instance_auc(np.array([0.1, 0.4, 0.4, 0.9, 5.0]), np.array([0, 0, 1, 1, -1])) == 0.875


@pytest.mark.parametrize("truth", [[1, 1, 1], [0, 0, 0], [0, 1, 2], [0, 2], [-1, 1], []])
def test_without_two_classes_there_is_none(truth):
    """One class alone, or three, cannot be told apart by one score."""
    assert instance_auc(np.arange(float(len(truth))), np.array(truth)) is None


def test_test_bags_fold_by_fold(experiment):
    """Fits by hand on the same folds: AUC over the rows of positive test bags, averaged over folds, not pooled."""
    prepared = experiment(data={"gap": 1.5, "n_pos": 7, "n_neg": 7}, repeats=2)
    problem, truth = prepared.problem, np.asarray(prepared.problem.dataset.instance_labels)
    found = run(prepared, silent).document["evaluation"]["instance_auc"]["test"]
    weak, position = np.asarray(problem.dataset.weak), problem.bags.index
    own = {name: prepared.bliss[name] for name in prepared.config.values}
    runs = []
    for repeat in range(2):
        aucs = []
        for fit in plan_fits(problem, prepared.baselines, prepared.settings.evaluation, 0):
            if fit.repeat != repeat:
                continue
            held = np.isin(position, fit.test_bags)
            model = BlissClassifier(random_state=repeat, **own)
            model.fit(problem.dataset.X[~held], weak[position][~held], bags=position[~held])
            free = held & (weak[position] == 1)
            aucs.append(roc_auc_score(truth[free], model.decision_function(problem.dataset.X[free])))
        runs.append(float(np.mean(aucs)))
    assert np.allclose(found["runs"], runs)
    assert np.isclose(found["mean"], np.mean(runs))
    assert 0.5 < found["mean"] < 1.0


def test_inferred_labels_are_ranked_by_their_lead(experiment):
    """In training it is the lead of the mean reward of label 1 over that of label 0."""
    prepared = experiment(cv=None, data={"gap": 1.5})
    dataset = prepared.problem.dataset
    found = run(prepared, silent).document["evaluation"]["instance_auc"]
    own = {name: prepared.bliss[name] for name in prepared.config.values}
    model = BlissClassifier(random_state=0, **own).fit(dataset.X, dataset.weak, bags=dataset.bags)
    free = np.repeat(np.asarray(dataset.weak) == 1, 4)
    lead = model.label_means_[free, 1] - model.label_means_[free, 0]
    expected = roc_auc_score(np.asarray(dataset.instance_labels)[free], lead)
    assert found == pytest.approx({"inferred": expected}, abs=1e-12)


def test_truth_of_one_class_has_none(experiment, tmp_path):
    """Where the free instances are all of one class, in every fold, the key is left out; so it is without truth."""
    prepared = experiment(cv=2)
    prepared.problem.truth[:] = 0
    evaluation = run(prepared, silent).document["evaluation"]
    assert "instance_auc" not in evaluation
    assert "instance_accuracy" in evaluation
    assert "instance_auc" not in run(experiment(cv=2, data={"truth": False}), silent).document["evaluation"]


def test_a_method_without_scores_of_instances(experiment, mean_above_limit):
    """A baseline that has no `decision_function` has an instance accuracy and no instance AUC."""
    prepared = experiment(cv=2)
    plain = Method("bag-mean-svm", lambda data, seed, emit: mean_above_limit().fit(data.X, data.weak, bags=data.ids))
    (row,) = compare(evolve(prepared, baselines=(plain,)), ["bag-mean-svm"], silent).document["methods"]
    assert "instance_accuracy" in row["evaluation"]
    assert "instance_auc" not in row["evaluation"]


# Alphabets: whatever the words of bags and instances, the figures are those of 0 and 1.

SAME = {
    "-1/1 beside 0/1": ([-1, 1], [0, 1]),
    "0/1 beside -1/1": ([0, 1], [-1, 1]),
    "-1/1 on both sides": ([-1, 1], [-1, 1]),
    "booleans beside numbers": ([False, True], [0, 1]),
    "numbers beside booleans": ([0, 1], [False, True]),
    "floats": ([0.0, 1.0], [-1.0, 1.0]),
    "text beside numbers": (["0", "1"], [0, 1]),
    "numbers beside text": ([0, 1], ["0", "1"]),
    "words beside numbers": (["no", "yes"], [0, 1]),
    "numbers beside words": ([0, 1], ["negative", "positive"]),
    "words beside other words": (["normal", "abnormal"], ["no", "yes"]),
    "words beside booleans": (["normal", "tumor"], [False, True]),
    "the positive word first in the alphabet": (["normal", "abnormal"], ["normal", "abnormal"]),
    "upper case": (["No", "Yes"], ["NO", "YES"]),
    "one and two beside 0/1": ([1, 2], [0, 1]),
    "one and two": ([1, 2], [1, 2]),
}


def _in_words(file, name, words, positive=None):
    """Write the data of a file in other words for bags and instances, and prepare an experiment on them."""
    bags, instances = (np.array(pair) for pair in words)
    with np.load(file) as data:
        parts = {**data, "y": bags[data["y"]], "inst_y": instances[data["inst_y"]]}
    path = file.with_name(f"{name}.npz")
    np.savez(path, **parts)
    regime = {"name": "mil"} if positive is None else {"name": "mil", "positive_label": positive}
    settings = RunSettings(
        DataSettings(str(path)),
        bliss={"regime": regime, "n_rounds": 4, "n_inferences": 1},
        evaluation=EvaluationSettings(2),
        compare=tuple(MethodSettings(one) for one in ("no-bandit", "bag-mean-svm", "mi-svm")),
    )
    return prepare(settings, default_plugins(), [])


def _figures(prepared):
    evaluation = run(prepared, silent).document["evaluation"]
    rows = [evaluation, *evaluation["baselines"]]
    keys = [key for key in evaluation if key.startswith(("instance", "bag"))]
    shares = [list(row["instance_accuracy"][part]["per_class"].values()) for row in rows for part in ("test",)]
    overall = [row["instance_accuracy"]["test"]["overall"] for row in rows]
    own = [evaluation["instance_accuracy"][part]["overall"] for part in ("inferred", "train")]
    return [[row.get(key) for row in rows if not key.startswith("instance_acc")] for key in keys], shares, overall, own


@pytest.fixture(scope="module")
def numbers():
    """The figures of 0 and 1 on both sides, once for all alphabets."""
    return {}


@pytest.mark.parametrize("words", SAME.values(), ids=SAME)
def test_figures_do_not_depend_on_words(words, toy_file, numbers):
    """Accuracy and AUC of BLISS, the control and baselines, inferred, train and test, are those of 0 and 1."""
    file = toy_file(gap=2.0)
    if not numbers:
        numbers["of 0 and 1"] = _figures(_in_words(file, "plain", ([0, 1], [0, 1])))
    positive = 2 if words[0] == [1, 2] else None
    assert _figures(_in_words(file, "words", words, positive)) == numbers["of 0 and 1"]


@pytest.mark.parametrize(
    ("words", "positive", "said"),
    [
        (([0, 1], [1, 2]), None, "instance labels 2, 1, and the classes are 0, 1: 2 (row 0; 6 of 48 rows)"),
        (([0, 1], ["cat", "dog"]), None, "instance labels 'dog', 'cat', and the classes are 0, 1: 'dog' (row 0"),
        ((["cat", "dog"], ["emu", "dog"]), "dog", "the classes are 'cat', 'dog': 'emu' (row 1; 42 of 48 rows)"),
        ((["yes", "no"], [0, 1]), "no", "the classes are 'yes', 'no': 1 (row 0"),
        (([0, 1], [0, 7]), None, "7 (row 0; 6 of 48 rows) is none of them"),
    ],
)
def test_alphabets_that_do_not_meet_are_refused(words, positive, said, toy_file):
    """An instance label that can be no class, or either, is refused before any work, with both alphabets."""
    with pytest.raises(DataError) as caught:
        _in_words(toy_file(), "words", words, positive)
    assert said in str(caught.value)
    assert "Write both in the same words" in str(caught.value)


def test_translations_are_noted(toy_file):
    """What is read in other words is said in a note of the run, on the screen and in result.json."""
    result = run(_in_words(toy_file(), "words", (["no", "yes"], [0, 1])), silent)
    said = [
        "Of the weak labels 'yes' is taken for positive and 'no' for negative; positive_label says otherwise.",
        "'words' has instance labels in other words than the classes; 1 as 'yes', 0 as 'no' was read.",
    ]
    assert [note for note in result.document["notes"] if note in said] == said
    assert [note for note in result.notes if note in said] == said
    plain = run(_in_words(toy_file(), "plain", ([0, 1], ["0", "1"])), silent)
    assert not any("words" in note or "taken" in note for note in plain.notes)


def test_instances_whose_class_is_not_known(toy_file):
    """Where some instance labels are missing, figures are over the others, and a note says how many there are."""
    file = toy_file(gap=2.0)
    whole, part = _in_words(file, "whole", ([0, 1], [0.0, 1.0])), _in_words(file, "part", ([0, 1], [np.nan, 1.0]))
    assert "'part' has no instance label in 42 of 48 rows; they are left out of the figures of instances." in part.notes
    whole, part = (run(one, silent).document["evaluation"] for one in (whole, part))
    inferred = whole["instance_accuracy"]["inferred"]["per_class"]["1"]
    assert part["instance_accuracy"]["inferred"] == {"overall": inferred, "per_class": {"1": inferred}}
    assert "instance_auc" not in part


def test_test_sets_have_alphabets_too(toy_file):
    """Instance labels of a test set are read in the classes of the training data, or refused."""
    file, other = toy_file(gap=2.0), toy_file("other", seed=1, gap=2.0)
    documents = []
    for words in ([0, 1], [-1, 1], ["no", "yes"], [3, 4]):
        with np.load(other) as data:
            parts = {**data, "inst_y": np.array(words)[data["inst_y"]]}
        np.savez(file.with_name("new.npz"), **parts)
        settings = RunSettings(
            DataSettings(str(file), test={"source": str(file.with_name("new.npz"))}),
            bliss={"n_rounds": 4, "n_inferences": 1},
            compare=(MethodSettings("mi-svm"),),
        )
        if words == [3, 4]:
            with pytest.raises(DataError, match=r"'new' has the instance labels 4, 3, and the classes are 0, 1"):
                prepare(settings, default_plugins(), [])
        else:
            evaluation = run(prepare(settings, default_plugins(), []), silent).document["evaluation"]
            documents.append([evaluation["instance_accuracy"]["test"], evaluation["instance_auc"]["test"]])
    assert documents[0] == documents[1] == documents[2]


def test_bags_of_test_sets_in_other_words(toy_file):
    """Labels of test bags in other words are read as those of training where everybody knows them, with a note."""
    file, other = toy_file(gap=2.0), toy_file("other", seed=1, gap=2.0)
    figures, notes = [], []
    for words in ([0, 1], [-1, 1], ["no", "yes"], ["0", "1"], ["cat", "dog"]):
        with np.load(other) as data:
            np.savez(file.with_name("new.npz"), **{**data, "y": np.array(words)[data["y"]]})
        settings = RunSettings(
            DataSettings(str(file), test={"source": str(file.with_name("new.npz"))}),
            bliss={"n_rounds": 4, "n_inferences": 1},
            compare=(MethodSettings("mi-svm"),),
        )
        if words == ["cat", "dog"]:
            with pytest.raises(DataError, match=r"The test set 'new': y has the weak label 'dog'.*\[0, 1\]"):
                prepare(settings, default_plugins(), [])
            continue
        prepared = prepare(settings, default_plugins(), [])
        evaluation = run(prepared, silent).document["evaluation"]
        rows = [evaluation, *evaluation["baselines"]]
        figures.append([[row["bag_accuracy"], row["bag_auc"]] for row in rows])
        notes.append([note for note in prepared.notes if "other words than those of training" in note])
    assert figures == [figures[0]] * 4
    assert [len(own) for own in notes] == [0, 1, 1, 0]
    assert "-1 as 0" in notes[1][0]


def test_a_method_that_predicts_other_words(experiment, mean_above_limit):
    """Predictions in other words are read alike; what is no class is refused with the method's name."""

    class InWords(mean_above_limit):
        words = np.array([-1, 1])

        def predict(self, X):
            return self.words[super().predict(X)]

    def accuracy(kind):
        plain = Method("stub", lambda data, seed, emit: kind().fit(data.X, data.weak, bags=data.ids))
        (row,) = compare(evolve(experiment(cv=2), baselines=(plain,)), ["stub"], silent).document["methods"]
        return row["evaluation"]["instance_accuracy"]["test"]

    expected = accuracy(mean_above_limit)
    assert accuracy(InWords) == expected
    InWords.words = np.array(["cat", "dog"])
    with pytest.raises(PluginError, match=r"The method 'stub' predicted the instance labels .*classes are 0, 1"):
        accuracy(InWords)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (["negative", "cat", "dog"], None),
        ([0, "cat", "dog"], None),
        (["", "cat", "dog"], "they count as 'negative'"),
        ([None, "cat", "dog"], "they count as 'negative'"),
        ([0, 1, 2], "1 as 'cat'"),
        (["emu", "cat", "dog"], DataError),
    ],
)
def test_label_sets(truth, said):
    """Instances without a label are called by the negative class, 0 or nothing; a label that is no class is refused."""
    alphabet = Alphabet(("negative", "cat", "dog"), ("negative", "cat", "dog"), False, True)
    labels = np.empty(6, dtype=object)
    labels[:] = truth * 2
    if said is DataError:
        with pytest.raises(DataError, match=r"'emu' \(row 0; 2 of 6 rows\) is none of them"):
            true_classes(labels, alphabet, "x")
        return
    codes, notes = true_classes(labels, alphabet, "x")
    assert codes.tolist() == [0, 1, 2] * 2
    assert said is None or any(said in note for note in notes)


@pytest.mark.parametrize(
    ("classes", "truth", "codes"),
    [
        ((0, 1), [-1, 1], [0, 1]),
        (("benign", "malignant"), [0, 1], [0, 1]),
        (("malignant", "benign"), [0, 1], None),
        (("a", "b", "c"), [0, 2], [0, 2]),
        (("a", "b", "c"), [0, 3], None),
        ((0, 1, 2), ["0", "2"], [0, 2]),
        ((0, 1), ["benign", "malignant"], None),
    ],
)
def test_classes_of_which_none_is_positive(classes, truth, codes):
    """Where classes stand in the user's order numbers are places in it, unless the words say the contrary."""
    alphabet = Alphabet(classes, classes, False, False)
    if codes is None:
        with pytest.raises(DataError):
            true_classes(truth, alphabet, "x")
    else:
        assert true_classes(truth, alphabet, "x")[0].tolist() == codes
