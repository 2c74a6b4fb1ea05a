"""Relabelling across folds: who learns from whom, what is given, and when it ends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import define, evolve, field

from bliss_classifiers.ridge import KernelRidge
from bliss_framework import PluginError
from bliss_framework.kernel.events import RelabellingAdvanced, RelabellingStarted
from bliss_framework.kernel.pull import Part, Predictions
from bliss_framework.kernel.relabelling import RELABEL_FOLDS, relabelled_across_folds, too_few_to_relabel


def row_numbers(part: Part) -> list[int]:
    """Return the number of each row, which is its first feature."""
    return part.X[:, 0].astype(int).tolist()


@define
class Puller:
    """A prepared classifier whose outputs for held-out rows are those of a function, and that tells what it learnt."""

    train: Part
    heldout: Part
    outputs: Callable[..., Any]
    learnt: list[tuple[list[int], Any]] = field(factory=list)

    def pull(self, assignments: Any, weights: Any) -> Predictions:
        self.learnt.append((assignments[0].tolist(), weights))
        heldout = np.asarray(self.outputs(len(self.learnt), np.array(row_numbers(self.heldout))), dtype=float)
        train = np.zeros((1, self.train.n_rows, *heldout.shape[1:]))
        return Predictions.from_scores(train, heldout[None])


@define
class Scripted:
    """A classifier with scripted outputs, by round (from 1) and row numbers; it remembers what was prepared."""

    outputs: Callable[..., Any]
    prepared: list[Puller] = field(factory=list)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> Puller:
        self.prepared.append(Puller(train, heldout, self.outputs))
        return self.prepared[-1]


def relabelled(classifier: Any, data: Part, labels: Any, n_rounds: int = 4, **other: Any) -> Any:
    """Relabel with no constraint and no class weights, unless they are given."""
    settings = {"constrain": None, "class_balance": 0.0, "seed": 0, **other}
    strata = np.zeros(data.bags.n_bags, dtype=np.intp)
    labels = np.asarray(labels, dtype=np.intp)
    return relabelled_across_folds(classifier, data, strata, labels, n_rounds=n_rounds, **settings)


def parity(round: int, rows: Any) -> Any:
    """Odd rows are of label 1, in every round."""
    return np.where(rows % 2, 1.0, -1.0)


def to_and_fro(round: int, rows: Any) -> Any:
    """All rows are of label 1 in odd rounds, and of label 0 in even ones."""
    return np.full(len(rows), 1.0 if round % 2 else -1.0)


class TestWhoLearnsFromWhom:
    def test_no_bag_is_labelled_by_a_classifier_that_has_seen_it(self, make_part):
        """Five classifiers are prepared once; held-out rows are whole bags, each once, and nobody's training rows."""
        data, classifier = make_part([3, 1, 2, 4, 2, 3, 1]), Scripted(to_and_fro)
        relabelled(classifier, data, [0] * 16)
        assert len(classifier.prepared) == RELABEL_FOLDS == 5
        for one in classifier.prepared:
            assert sorted(row_numbers(one.train) + row_numbers(one.heldout)) == list(range(16))
            assert set(one.train.bags.ids) & set(one.heldout.bags.ids) == set()
            assert len(one.learnt) == 4
        assert sorted(row for one in classifier.prepared for row in row_numbers(one.heldout)) == list(range(16))

    def test_groups_stay_together(self, make_part):
        """Bags of a group, such as slides of a patient, are held out together."""
        data = make_part([2] * 12)
        group = np.arange(12) % 6
        classifier = Scripted(parity)
        relabelled(classifier, evolve(data, bags=evolve(data.bags, groups=group)), [0] * 24)
        for one in classifier.prepared:
            bags = set(one.heldout.bags.ids.tolist())
            assert {(bag + 6) % 12 for bag in bags} == bags

    def test_they_learn_the_labels_of_the_round_before(self, make_part):
        """The first pull is on the start, the next on what the first gave to the rows of the other folds."""
        classifier = Scripted(parity)
        start = [0, 0, 1, 1, 0, 1]
        relabelled(classifier, make_part([1] * 6), start)
        for one in classifier.prepared:
            rows = row_numbers(one.train)
            assert one.learnt[0][0] == [start[row] for row in rows]
            assert one.learnt[1][0] == [row % 2 for row in rows]

    def test_class_weights(self, make_part):
        """Weights are (n / count of the class)^b on the rows that are learnt, with mean 1; there are none for b = 0."""
        data, start = make_part([1] * 10), [1, 1, 1] + [0] * 7
        plain, balanced = Scripted(parity), Scripted(parity)
        relabelled(plain, data, start, n_rounds=1)
        relabelled(balanced, data, start, n_rounds=1, class_balance=1.0)
        for one, other in zip(plain.prepared, balanced.prepared, strict=True):
            (labels, none), (_, weights) = one.learnt[0], other.learnt[0]
            assert none is None
            n_of = {label: labels.count(label) for label in (0, 1)}
            # Each class has half of all weights.
            assert weights[0] == pytest.approx([len(labels) / 2 / n_of[label] for label in labels])


class TestWhatIsGiven:
    def test_the_best_candidate(self, make_part):
        """Instances take the candidate with the largest output, and known ones keep the only one that they have."""
        candidates = np.ones((6, 3), dtype=bool)
        candidates[0] = [True, False, False]
        candidates[1] = [True, True, False]
        data = make_part([1] * 6, candidates=candidates, class_of_label=(0, 1, 2))
        outputs = np.tile([0.0, 1.0, 2.0], (6, 1))
        outputs[5] = [3.0, 1.0, 2.0]
        found = relabelled(Scripted(lambda round, rows: outputs[rows]), data, [0] * 6)
        assert found.labels.tolist() == [0, 1, 2, 2, 2, 0]

    def test_the_constraint_decides(self, make_part):
        """It is asked with the outputs of all rows, -inf where a label is no candidate, and with all bags."""
        candidates = np.ones((6, 2), dtype=bool)
        candidates[3] = [False, True]
        data, asked = make_part([1] * 6, candidates=candidates), []

        def ones(bounds, part):
            asked.append(bounds.tolist())
            assert part is data
            return np.ones(6, dtype=int)

        found = relabelled(Scripted(parity), data, [0, 0, 0, 1, 0, 0], constrain=ones)
        assert found.labels.tolist() == [1] * 6
        assert asked[0] == [[1, -1], [-1, 1], [1, -1], [-np.inf, 1], [1, -1], [-1, 1]]

    def test_a_constraint_that_breaks_its_contract(self, make_part):
        """A label that is no candidate is refused, with the round."""
        candidates = np.ones((6, 2), dtype=bool)
        candidates[3] = [False, True]
        data = make_part([1] * 6, candidates=candidates)
        with pytest.raises(PluginError, match="gave training instance 3 the label 0 in round 1"):
            relabelled(Scripted(parity), data, [1] * 6, constrain=lambda bounds, part: np.zeros(6, dtype=int))

    def test_agreement_is_a_share_of_all_labellings(self, make_part):
        """Labels that went 0, 1, 0, 1 agree with the last in two of four; labels of one class are the same."""
        found = relabelled(Scripted(to_and_fro), make_part([2] * 5), [0] * 10, n_rounds=3)
        assert found.n_rounds == 3
        assert found.agreement.tolist() == [0.5] * 10
        alike = make_part([2] * 5, class_of_label=(0, 0, 1))
        swapping = Scripted(lambda round, rows: np.tile([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0]][round % 2], (len(rows), 1)))
        found = relabelled(swapping, alike, [0] * 10, n_rounds=3)
        assert (found.n_rounds, set(found.labels.tolist())) == (3, {1})
        assert found.agreement.tolist() == [1.0] * 10

    def test_ties_are_marked(self, make_part):
        """An instance whose outputs are the same gets either label, and the mark; known instances never do."""
        candidates = np.ones((40, 2), dtype=bool)
        candidates[0] = [True, False]
        flat = Scripted(lambda round, rows: np.zeros(len(rows)))
        found = relabelled(flat, make_part([4] * 10, candidates=candidates), [0] * 40)
        assert found.tied.tolist() == [False] + [True] * 39
        assert set(found.labels[1:].tolist()) == {0, 1}
        assert not relabelled(Scripted(parity), make_part([4] * 10), [0] * 40).tied.any()


class TestWhenItEnds:
    def test_labels_that_settle(self, make_part):
        """The round that changes nothing is the last one, and every round is told."""
        told: list[Any] = []
        found = relabelled(Scripted(parity), make_part([1] * 6), [0] * 6, n_rounds=9, emit=told.append)
        assert found.n_rounds == 2
        assert told == [RelabellingStarted(9), RelabellingAdvanced(1, 9, 3), RelabellingAdvanced(2, 9, 0)]
        assert found.agreement == pytest.approx([1, 2 / 3] * 3)

    def test_fewer_bags_than_folds(self, make_part):
        """Four bags, or four groups, cannot be dealt to five folds: the start stays, and it is said why."""
        data, classifier = make_part([3] * 4), Scripted(parity)
        found = relabelled(classifier, data, [0] * 12)
        assert (found.n_rounds, found.labels.tolist(), classifier.prepared) == (0, [0] * 12, [])
        said = "Labels were not relabelled across folds: that takes 5 {}, and there are 4."
        assert too_few_to_relabel(data.bags) == said.format("bags")
        grouped = evolve(make_part([1] * 8).bags, groups=np.arange(8) % 4)
        assert too_few_to_relabel(grouped) == said.format("groups of bags")
        assert too_few_to_relabel(make_part([1] * 5).bags) is None

    def test_nothing_is_free(self, make_part):
        """Known labels are not relabelled, so no classifier is prepared."""
        classifier = Scripted(parity)
        known = make_part([1] * 6, candidates=np.tile([True, False], (6, 1)))
        assert relabelled(classifier, known, [0] * 6).n_rounds == 0
        assert classifier.prepared == []


def test_wrong_labels_are_mended(make_part):
    """Of two far clusters with every sixth label wrong all are right after it, and a seed gives the same bits."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 2)) + 6.0 * truth[:, None]
    start = np.where(np.arange(90) % 6 == 0, 1 - truth, truth)
    found, again = (relabelled(KernelRidge(), make_part([3] * 30, X=X), start, n_rounds=5, seed=8) for _ in range(2))
    assert found.labels.tolist() == truth.tolist()
    assert found.agreement.tolist() == again.agreement.tolist()
