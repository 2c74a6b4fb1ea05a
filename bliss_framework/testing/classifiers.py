"""Checks of a classifier."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Classifier, ProblemSize
from bliss_framework.kernel.pull import Predictions
from bliss_framework.testing.arrays import assert_close, pickled, unchanged
from bliss_framework.testing.checks import Check
from bliss_framework.testing.examples import plain_part

N, M = 60, 40


def classifier_checks(classifier: Classifier) -> list[Check]:
    """List the checks of a classifier."""
    tests = _ClassifierChecks(classifier)
    return [
        Check("is-a-classifier", tests.is_a_classifier),
        Check("shapes-and-labels", tests.shapes),
        Check("three-labels", tests.three_labels),
        Check("one-label-assignments", tests.one_label),
        Check("missing-label", tests.missing_label),
        Check("learns-separable-labels", tests.learns),
        Check("many-assignments-at-once", tests.batches),
        Check("deterministic-for-one-seed", tests.deterministic),
        Check("sparse-rows", tests.sparse),
        Check("instance-weights", tests.weights),
        Check("changes-no-input", tests.changes_no_input),
        Check("picklable", tests.picklable),
        Check("estimator", tests.estimator),
        Check("memory", tests.memory),
    ]


class _ClassifierChecks:
    def __init__(self, classifier: Classifier) -> None:
        self.classifier = classifier
        rng = np.random.default_rng(0)
        self.truth = np.arange(N + M) % 3
        self.X = rng.normal(size=(N + M, 4)) * 0.3
        self.X[:, 0] += np.where(self.truth == 1, 3.0, 0.0)
        self.X[:, 1] += np.where(self.truth == 2, 3.0, 0.0)
        self.assignments = rng.integers(0, 2, (3, N))

    def pull(
        self,
        assignments: NDArray[Any],
        n_labels: int = 2,
        X: Any = None,
        weights: NDArray[np.float64] | None = None,
        classifier: Classifier | None = None,
    ) -> Predictions:
        X = self.X if X is None else X
        train, heldout = plain_part(X[:N], n_labels), plain_part(X[N:], n_labels)
        prepared = (classifier or self.classifier).prepare(train, heldout, np.random.default_rng(0))
        return prepared.pull(assignments, weights)

    def is_a_classifier(self) -> None:
        assert isinstance(self.classifier, Classifier), "a classifier must be an instance of a subclass of Classifier"

    def shapes(self) -> None:
        _assert_shapes(self.pull(self.assignments), 3, 2)

    def three_labels(self) -> None:
        _assert_shapes(self.pull(np.random.default_rng(1).integers(0, 3, (2, N)), 3), 2, 3)

    def one_label(self) -> None:
        for n_labels in (2, 3):
            for label in range(n_labels):
                found = self.pull(np.full((1, N), label), n_labels)
                for labels in (found.train_labels, found.heldout_labels):
                    assert (labels == label).all(), f"trained on label {label} alone, it predicts something else"

    def missing_label(self) -> None:
        found = self.pull((np.arange(N) % 2)[None] * 2, 3)
        assert not (found.heldout_labels == 1).any(), "it predicts a label that the assignment does not use"

    def learns(self) -> None:
        two, three = (self.truth > 0).astype(np.intp), self.truth
        for labels, n_labels in ((two, 2), (three, 3)):
            found = self.pull(labels[None, :N], n_labels).heldout_labels[0]
            accuracy = (found == labels[N:]).mean()
            assert accuracy >= 0.9, f"held-out accuracy {accuracy:.2f} on {n_labels} well separated labels"

    def batches(self) -> None:
        together = self.pull(self.assignments)
        for p, assignment in enumerate(self.assignments):
            alone = self.pull(assignment[None])
            assert_close(together.heldout_scores[p], alone.heldout_scores[0], f"scores of assignment {p} of a batch")

    def deterministic(self) -> None:
        first, second = (self.pull(self.assignments).heldout_scores for _ in range(2))
        assert np.array_equal(first, second), "one seed, two results"

    def sparse(self) -> None:
        found = self.pull(self.assignments, X=sp.csr_matrix(self.X))
        expected = self.pull(self.assignments)
        agree = (found.heldout_labels == expected.heldout_labels).mean()
        assert agree >= 0.95, f"sparse and dense rows agree in {agree:.0%} of labels"

    def weights(self) -> None:
        _assert_shapes(self.pull(self.assignments, weights=np.random.default_rng(2).uniform(0.5, 2, (3, N))), 3, 2)

    def changes_no_input(self) -> None:
        train, heldout = plain_part(self.X[:N].copy(), 2), plain_part(self.X[N:].copy(), 2)
        with unchanged(train, heldout, self.assignments):
            self.classifier.prepare(train, heldout, np.random.default_rng(0)).pull(self.assignments, None)

    def picklable(self) -> None:
        found = self.pull(self.assignments, classifier=pickled(self.classifier)).heldout_scores
        assert_close(found, self.pull(self.assignments).heldout_scores, "scores of the copy")

    def estimator(self) -> None:
        labels = (self.truth > 0).astype(np.intp)
        fitted = self.classifier.estimator(0).fit(self.X[:N], labels[:N])
        accuracy = (fitted.predict(self.X[N:]) == labels[N:]).mean()
        assert accuracy >= 0.9, f"its estimator has accuracy {accuracy:.2f} on two well separated labels"

    def memory(self) -> None:
        small, large = (ProblemSize(n, n, 4, 32.0) for n in (100, 10_000))
        for method in (self.classifier.memory, self.classifier.final_memory):
            less, more = method(small), method(large)
            for said in (less, more):
                assert isinstance(said, int), f"{method.__name__} returned {said!r}, which is no number of bytes"
            assert 0 <= less < more, (
                f"{method.__name__} says that a hundred times the rows take no more than {less} bytes"
            )


def _assert_shapes(found: Predictions, p: int, n_labels: int) -> None:
    for labels, scores, n in (
        (found.train_labels, found.train_scores, N),
        (found.heldout_labels, found.heldout_scores, M),
    ):
        assert labels.shape == (p, n), f"labels have shape {labels.shape}, not {(p, n)}"
        allowed = ((p, n, 1), (p, n, n_labels)) if n_labels == 2 else ((p, n, n_labels),)
        assert scores.shape in allowed, f"scores have shape {scores.shape}, not {' or '.join(map(str, allowed))}"
        assert np.isfinite(scores).all(), "scores must be finite"
        decided = scores[:, :, 0] > 0 if scores.shape[2] == 1 else scores.argmax(axis=2)
        assert (labels == decided).all(), "labels and scores disagree"
