"""From empirical means to labels, confidence scores and what stays undecided."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest

from bliss_framework import Bags, LabelSpace, WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels, conclude


def concluded(means, candidates=None, class_of_label=(0, 1), pulls=None, seed=0) -> InferredLabels:
    means = np.array(means, dtype=float)
    candidates = np.ones(means.shape, dtype=bool) if candidates is None else np.array(candidates, dtype=bool)
    pulls = candidates * 2.0 if pulls is None else np.array(pulls, dtype=float)
    space = LabelSpace(candidates, np.array(class_of_label))
    bags = Bags.from_ids(np.arange(len(means)))
    part = Part(np.zeros((len(means), 1)), bags, WeakLabels(np.zeros(len(means)), (0, 1)), space)
    return conclude(means, pulls, part, None, 0, np.random.default_rng(seed))


def test_the_best_mean_wins_by_its_lead():
    """The label has the best empirical mean, the confidence score is its lead: 0.75 - 0.5 and 0.9 - 0.2."""
    found = concluded([[0.5, 0.75], [0.9, 0.2]])
    assert found.labels.tolist() == found.classes.tolist() == [1, 0]
    assert found.confidence == pytest.approx([0.25, 0.7])
    assert not found.undecided.any()


def test_a_tie_is_undecided():
    """Classes with equal means leave an instance undecided, with confidence 0 and one of the tied labels."""
    found = concluded([[0.4, 0.4, 0.1]] * 40, class_of_label=(0, 1, 2))
    assert found.undecided.all()
    assert (found.confidence == 0).all()
    assert set(found.labels.tolist()) == {0, 1}


def test_never_informed_is_undecided():
    """An instance whose arms earned nothing at all is undecided, never class 0 in silence."""
    found = concluded(np.zeros((400, 2)))
    assert found.undecided.all()
    assert (found.confidence == 0).all()
    assert binomtest(int(found.labels.sum()), 400).pvalue > 0.001


def test_the_label_of_an_undecided_instance_comes_from_the_generator():
    """The same generator decides ties the same way."""
    first, again, other = (concluded(np.zeros((50, 2)), seed=seed).labels.tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_a_known_label_is_certain():
    """An instance with one candidate keeps it, with confidence 1, whatever other means say."""
    found = concluded([[0.0, 0.9], [0.0, 0.0]], candidates=[[True, False], [False, True]], pulls=np.zeros((2, 2)))
    assert found.labels.tolist() == [0, 1]
    assert found.known.all()
    assert found.confidence.tolist() == [1.0, 1.0]
    assert not found.undecided.any()


def test_the_runner_up_is_of_another_class():
    """Two negative labels that tie mean negative for certain: the confidence score is 0.8 - 0.3."""
    found = concluded([[0.8, 0.8, 0.3]], class_of_label=(0, 0, 1))
    assert found.classes.tolist() == [0]
    assert found.confidence == pytest.approx([0.5])
    assert not found.undecided.any()


def test_no_other_class_among_the_candidates():
    """Where all candidates mean one class, that class is certain although its label is free."""
    found = concluded([[0.2, 0.6, 0.9]], candidates=[[True, True, False]], class_of_label=(0, 0, 1))
    assert found.labels.tolist() == [1]
    assert found.confidence.tolist() == [1.0]
    assert not found.known.any()
    assert not found.undecided.any()


def test_means_are_shown_where_there_is_an_arm():
    """The table of means has NaN where an arm was never pulled."""
    found = concluded([[0.5, 0.0]], candidates=[[True, True]], pulls=[[3.0, 0.0]])
    assert found.means[0, 0] == 0.5
    assert np.isnan(found.means[0, 1])
    assert found.pulls.tolist() == [[3.0, 0.0]]


def test_taking_rows_reorders_everything():
    """Kept rows come in the order asked for, in every field."""
    found = concluded([[0.5, 0.75], [0.9, 0.2], [0.1, 0.1]]).take(np.array([2, 0]))
    assert found.undecided.tolist() == [True, False]
    assert found.confidence == pytest.approx([0.0, 0.25])
    assert found.labels[1] == found.classes[1] == 1
    assert found.means.tolist() == [[0.1, 0.1], [0.5, 0.75]]
    assert found.pulls.tolist() == [[2.0, 2.0]] * 2
    assert found.known.tolist() == [False, False]


@given(st.data(), st.integers(0, 2**32 - 1))
def test_conclusions_are_those_of_loops(data, seed):
    """Label, class, confidence and undecided are what loops over candidates and classes find."""
    class_of_label = data.draw(st.lists(st.integers(0, 2), min_size=2, max_size=4))
    n_labels = len(class_of_label)
    row = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels).filter(any)
    candidates = data.draw(st.lists(row, min_size=1, max_size=6))
    eighths = st.lists(st.integers(0, 4).map(lambda i: i / 4), min_size=n_labels, max_size=n_labels)
    means = [data.draw(eighths) for _ in candidates]
    found = concluded(means, candidates, class_of_label, seed=seed)
    for x, (allowed, values) in enumerate(zip(candidates, means, strict=True)):
        labels = [label for label in range(n_labels) if allowed[label]]
        best = max(values[label] for label in labels)
        assert found.labels[x] in labels
        assert values[found.labels[x]] == best
        assert found.classes[x] == class_of_label[found.labels[x]]
        of_class = {
            c: max(values[m] for m in labels if class_of_label[m] == c) for c in {class_of_label[m] for m in labels}
        }
        ranked = sorted(of_class.values(), reverse=True)
        lead = ranked[0] - ranked[1] if len(ranked) > 1 else 1.0
        assert found.confidence[x] == lead
        assert found.undecided[x] == (lead == 0)
        assert found.known[x] == (len(labels) == 1)
