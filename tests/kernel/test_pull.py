"""Parts, predictions, outcomes and class balance."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from bliss_framework import LabelSpace, Predictions
from bliss_framework.kernel.pull import balance_weights, outcome_of


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


def space_of(class_of_label: list[int], n: int) -> LabelSpace:
    return LabelSpace(np.ones((n, len(class_of_label)), dtype=bool), np.array(class_of_label))


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.sampled_from([0.3, 0.5, 1.0, 2.0]),
    st.booleans(),
    st.data(),
)
def test_weights_are_those_of_the_formula(assignment, exponent, weighted, data):
    """An instance weighs w (sum of w / sum of w in its class)^b, scaled so that the mean is 1."""
    class_of_label = [0, 0, 1, 2]
    base = [data.draw(st.floats(0.1, 5)) if weighted else 1.0 for _ in assignment]
    classes = [class_of_label[label] for label in assignment]
    raw = []
    for weight, cls in zip(base, classes, strict=True):
        count = sum(w for w, c in zip(base, classes, strict=True) if c == cls)
        raw.append(weight * (sum(base) / count) ** exponent)
    expected = [value * len(raw) / sum(raw) for value in raw]
    space = space_of(class_of_label, len(assignment))
    found = balance_weights(np.array([assignment]), space, exponent, np.array(base) if weighted else None)
    assert found[0] == pytest.approx(expected)


def test_full_balance_is_that_of_scikit_learn():
    """With b = 1 the weights are proportional to scikit-learn's "balanced" ones."""
    assignment = np.array([0, 1, 1, 2, 2, 2])
    found = balance_weights(assignment[None], space_of([0, 1, 2], 6), 1.0, None)[0]
    expected = compute_sample_weight("balanced", assignment)
    assert found == pytest.approx(expected / expected.mean())


def test_negative_labels_are_one_class():
    """Two negative labels with 3 + 3 instances weigh like one negative label with 6: 4/6 each, and 4/2 for positives.

    Raw weights (8/6 and 8/2) have the mean (6 * 8/6 + 2 * 8/2) / 8 = 2.
    """
    spread = balance_weights(np.array([[0, 0, 0, 1, 1, 1, 2, 2]]), space_of([0, 0, 1], 8), 1.0, None)
    assert spread[0] == pytest.approx([4 / 6] * 6 + [2.0] * 2)


def test_no_balance_no_weights():
    """With b = 0 there is nothing to weigh, whether or not instances have weights."""
    assert balance_weights(np.array([[0, 1]]), space_of([0, 1], 2), 0.0, None) is None
    assert balance_weights(np.array([[0, 1]]), space_of([0, 1], 2), 0.0, np.array([1.0, 3.0])) is None


def test_one_class_alone_counts_alike():
    """An assignment of one class needs no balance: all weights are 1, in its row of the batch alone."""
    found = balance_weights(np.array([[1, 1, 1], [0, 1, 1]]), space_of([0, 1], 3), 1.0, None)
    assert found[0].tolist() == [1.0, 1.0, 1.0]
    assert found[1] == pytest.approx([1.5, 0.75, 0.75])
