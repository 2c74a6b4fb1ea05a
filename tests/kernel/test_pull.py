"""Parts, predictions and outcomes."""

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import Predictions
from bliss_framework.kernel.pull import outcome_of


def test_taking_rows_of_a_part_takes_everything_along(make_part):
    """Rows, bags, weak labels, candidates and weights of the kept rows still belong together."""
    candidates = [[True, False], [True, True], [True, True], [False, True], [True, True]]
    part = make_part([2, 1, 2], weak=[0, 1, 1], candidates=candidates, weights=np.arange(5.0) + 1)
    kept = part.take(np.array([4, 1]))
    assert kept.n_rows == 2
    assert kept.X[:, 0].tolist() == [4.0, 1.0]
    assert kept.bags.ids.tolist() == [2, 0]
    assert kept.weak.values.tolist() == [1, 0]
    assert kept.space.candidates.tolist() == [candidates[4], candidates[1]]
    assert kept.weights.tolist() == [5.0, 2.0]


def test_sparse_rows_stay_sparse(make_part):
    """Taking rows of a CSR matrix gives a CSR matrix."""
    part = make_part([2, 2], X=sp.csr_matrix(np.eye(4)))
    kept = part.take(np.array([3, 0]))
    assert sp.issparse(kept.X)
    assert kept.X.toarray().tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]


def test_fixing_a_label_leaves_one_candidate(make_part):
    """A row whose label is fixed is no bandit problem any more, and the original part is as before."""
    part = make_part([3])
    fixed = part.with_known(np.array([2, 0]), np.array([1, 0]))
    assert fixed.space.candidates.tolist() == [[True, False], [True, True], [False, True]]
    assert fixed.space.known.tolist() == [0, -1, 1]
    assert part.space.candidates.all()


def test_a_decision_value_above_zero_means_label_one():
    """Two labels need one output; exactly 0 is label 0."""
    found = Predictions.from_scores(np.array([[0.5, 0.0, -1.0]]), np.array([[1e-9]]))
    assert found.train_labels.tolist() == [[1, 0, 0]]
    assert found.heldout_labels.tolist() == [[1]]
    assert found.train_scores.shape == (1, 3, 1)


def test_the_largest_output_decides_among_several_labels():
    """With one output for each label the largest wins, for every pull on its own."""
    train = np.array([[[0.1, 0.2, -3.0]], [[1.0, -1.0, 2.0]]])
    found = Predictions.from_scores(train, train[:, :, ::-1])
    assert found.train_labels.tolist() == [[1], [2]]
    assert found.heldout_labels.tolist() == [[1], [0]]


def test_an_outcome_is_one_pull_of_a_batch(make_part, make_problem):
    """Pull p of a batch comes with its own labels and scores."""
    problem = make_problem(make_part([2]), lambda outcome: None)
    predictions = problem.puller.pull(np.array([[0, 1], [1, 1]]), None)
    outcome = outcome_of(problem.fold, np.array([1, 1]), predictions, 1)
    assert outcome.labels.tolist() == [1, 1]
    assert outcome.scores[:, 0].tolist() == [1.0, 1.0]
    assert outcome.heldout_scores.shape == (2, 1)


@pytest.mark.parametrize(("label", "expected"), [(0, ([1.0], [5.0])), (1, ([2.0], [6.0]))])
def test_output_of_a_label(make_part, make_outcome, label, expected):
    """The output that belongs to a label is its own column; there is only one where S = 1."""
    outcome = make_outcome(make_part([1]), [0], [0], [[1.0, 2.0]], make_part([1]), [0], [[5.0, 6.0]], 1)
    assert tuple(values.tolist() for values in outcome.output(label)) == expected
    single = make_outcome(make_part([1]), [0], [0], [1.0], make_part([1]), [0], [5.0], 1)
    assert tuple(values.tolist() for values in single.output(label)) == ([1.0], [5.0])


def test_predicted_classes_join_labels_of_one_meaning(make_part, make_outcome):
    """Labels 0 and 1 both mean class 0 here, label 2 means class 1."""
    part = make_part([3], class_of_label=(0, 0, 1))
    heldout = make_part([2], class_of_label=(0, 0, 1))
    outcome = make_outcome(part, [0, 1, 2], [0, 1, 2], np.eye(3), heldout, [2, 1], np.eye(3)[:2], 1)
    assert outcome.classes.tolist() == [0, 0, 1]
    assert outcome.heldout_classes.tolist() == [1, 0]
