"""Instance AUC: over instances whose label their bag leaves open, fold by fold."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bliss_framework import BlissClassifier
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.evaluation.measures import instance_auc
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.experiment import run


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
    assert found == {"inferred": roc_auc_score(np.asarray(dataset.instance_labels)[free], lead)}


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
    from attrs import evolve

    from bliss_framework.runs.evaluation.methods import Method

    prepared = experiment(cv=2)
    plain = Method("bag-mean-svm", lambda data, seed, emit: mean_above_limit().fit(data.X, data.weak, bags=data.ids))
    (row,) = compare(evolve(prepared, baselines=(plain,)), ["bag-mean-svm"], silent).document["methods"]
    assert "instance_accuracy" in row["evaluation"]
    assert "instance_auc" not in row["evaluation"]
