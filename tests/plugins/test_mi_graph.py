"""The miGraph kernel and its SVM against loops over instances."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from bliss_framework import SettingsError
from bliss_framework.kernel import rows as kernel_rows
from bliss_framework.plugin import Bags
from bliss_mil import hooks
from bliss_mil.baselines import mi_graph
from bliss_mil.baselines.mi_graph import MiGraphSvm, graph_kernel, shared_weights


def weights_by_loop(part):
    """1 over the number of rows of the bag that are no farther than the mean of all distances in it, 0 ones too."""
    distances = [[math.dist(x, z) for z in part] for x in part]
    usual = np.mean(distances)
    return [1 / sum(d <= usual + 1e-9 for d in row) for row in distances]


def kernel_by_loops(some, others, gamma):
    """The equation of the paper: weighted sum over pairs, divided by both sums of weights."""

    def k(x, z):
        return math.exp(-gamma * math.dist(x, z) ** 2)

    def one(A, B):
        v, w = weights_by_loop(A), weights_by_loop(B)
        total = sum(a * b * k(x, z) for a, x in zip(v, A, strict=True) for b, z in zip(w, B, strict=True))
        return total / (sum(v) * sum(w))

    return np.array([[one(A, B) for B in others] for A in some])


@pytest.fixture
def parts():
    """Thirty bags of one to six rows; positive ones have three rows in a heap and one elsewhere."""
    rng = np.random.default_rng(0)
    found = [rng.normal(size=(1 + number % 6, 3)) for number in range(30)]
    for number in range(0, 30, 2):
        heap = rng.normal(size=3) + rng.normal(scale=0.01, size=(3, 3))
        found[number] = np.vstack([heap, found[number], [[3.0, 0.0, 0.0]]])
    return found


LABELS = [1, 0] * 15


def total_variance(parts):
    return np.vstack(parts).var(axis=0).sum()


@pytest.mark.parametrize("block", [4_000_000, 250, 7])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_kernel_is_that_of_the_paper(parts, monkeypatch, block, form):
    """Loops over bags and instances give the same, whatever the size of blocks, for sparse rows, too."""
    monkeypatch.setattr(kernel_rows, "BLOCK", block)
    bags = Bags.from_ids(np.repeat(np.arange(30), [len(part) for part in parts]))
    own = shared_weights(form(np.vstack(parts)), bags, 0.3)
    assert np.allclose(graph_kernel(own, own, 0.3), kernel_by_loops(parts, parts, 0.3))


def test_like_instances_count_as_one(parts):
    """A bag with a row ten times over is nearly the bag with that row once, which it is not for the set kernel."""
    few = np.array([[0.0, 0.0], [4.0, 0.0]])
    many = np.vstack([np.repeat(few[:1], 10, axis=0), few[1:]])
    own = shared_weights(np.vstack([few, many]), Bags.from_ids([0] * 2 + [1] * 11), 1.0)
    kernel = graph_kernel(own, own, 1.0)
    assert kernel[0, 0] == pytest.approx(kernel[0, 1]) == pytest.approx(kernel[1, 1])
    assert bool(own.weights[0, 2:12].sum() == pytest.approx(0.5))


def test_it_is_an_svm_on_that_kernel(parts):
    """Scores of new bags, and of instances as bags of one, are those of an SVM on the looped kernel."""
    gamma = 0.7 / total_variance(parts)
    svc = SVC(C=3.0, kernel="precomputed", tol=1e-6).fit(kernel_by_loops(parts, parts, gamma), LABELS)
    model = MiGraphSvm(C=3.0, width=0.7, scaling="none").fit(parts, LABELS)
    assert model.gamma_ == pytest.approx(gamma)
    new = [part + 0.2 for part in parts[:7]]
    assert np.allclose(model.score_bags(new)[1], svc.decision_function(kernel_by_loops(new, parts, gamma)), atol=1e-4)
    alone = kernel_by_loops([[x] for x in parts[2]], parts, gamma)
    assert np.allclose(model.decision_function(parts[2]), svc.decision_function(alone), atol=1e-4)


def test_only_bags_that_support_are_kept(parts):
    """A model keeps the rows of support bags, and rows of a bag may lie anywhere in what is scored."""
    model = MiGraphSvm(C=100.0).fit(parts, LABELS)
    ids = np.repeat(np.arange(30), [len(part) for part in parts])
    shuffled = np.random.default_rng(1).permutation(len(ids))
    found = dict(zip(*model.score_bags(np.vstack(parts)[shuffled], ids[shuffled]), strict=True))
    assert [found[number] for number in range(30)] == pytest.approx(list(model.score_bags(parts)[1]))
    assert len(np.unique(model.support_index_)) == len(model.weights_) < 30
    assert model.support_rows_.shape[0] == len(model.support_index_) < len(ids)


def test_a_comparison_holds_some_bags_at_a_time(parts, monkeypatch):
    """What is held for each bag and row of the others is no more than a block."""
    monkeypatch.setattr(kernel_rows, "BLOCK", 300)
    seen = []

    class Watched(mi_graph.ExactPairs):
        def compare(self, others):
            near, sums = super().compare(others)
            seen.append(near.size)
            return near, sums

    monkeypatch.setattr(mi_graph, "ExactPairs", Watched)
    bags = Bags.from_ids(np.repeat(np.arange(30), [len(part) for part in parts]))
    own = shared_weights(np.vstack(parts), bags, 0.3)
    graph_kernel(own, own, 0.3)
    assert len(seen) > 10
    assert max(seen) <= 300


@pytest.mark.parametrize(("name", "value"), [("C", 0), ("width", -1.0), ("width", "scale"), ("scaling", "z")])
def test_wrong_parameters_are_refused(parts, name, value):
    """By name, before anything is learnt."""
    with pytest.raises(SettingsError, match=name):
        MiGraphSvm(**{name: value}).fit(parts, LABELS)


def test_plugin_offers_it():
    """Under its name, with a limit on rows, because all pairs are compared."""
    (component,) = [one for one in hooks.bliss_baselines() if one.name == "mi-graph-svm"]
    assert component.factory is MiGraphSvm
    assert component.most_rows == 20_000
