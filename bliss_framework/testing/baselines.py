"""Checks of a baseline."""

from typing import Any

import numpy as np
from sklearn.base import clone

from bliss_framework.kernel.bags import Bags
from bliss_framework.testing.checks import Check, Example
from bliss_framework.testing.examples import mil_example

SINGLE = 1e-4  # Of the largest score: products of single precision are rounded otherwise where rows change places.


def baseline_checks(baseline: Any, example: Example | None = None) -> list[Check]:
    """List the checks of a baseline.

    Args:
        baseline: an unfitted estimator.
        example: data of its regime; by default of `mil`.
    """
    tests = _BaselineChecks(baseline, example or mil_example())
    return [
        Check("clone", tests.clones),
        Check("instances", tests.instances),
        Check("bags", tests.bags),
        Check("weak-labels-by-bag-or-by-row", tests.weak_label_forms),
        Check("order-of-instances", tests.order),
        Check("deterministic", tests.deterministic),
        Check("changes-no-input", tests.changes_no_input),
    ]


class _BaselineChecks:
    def __init__(self, baseline: Any, example: Example) -> None:
        self.baseline = baseline
        self.example = example
        self.grouped = Bags.from_ids(example.bags)

    def model(self, weak: Any = None) -> Any:
        example = self.example
        model = clone(self.baseline)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(example.X, example.weak if weak is None else weak, bags=example.bags)

    def clones(self) -> None:
        assert type(clone(self.baseline)) is type(self.baseline), "clone gives another type"

    def instances(self) -> None:
        found = self.model().predict(self.example.X)
        assert len(found) == len(self.example.X), f"{len(found)} predictions for {len(self.example.X)} instances"

    def bags(self) -> None:
        model = self.model()
        ids, labels = model.predict_bags(self.example.X, self.example.bags)
        assert list(ids) == list(self.grouped.ids), "bag ids must come back in order of first appearance"
        assert len(labels) == len(model.score_bags(self.example.X, self.example.bags)[1]) == self.grouped.n_bags

    def weak_label_forms(self) -> None:
        weak = np.asarray(self.example.weak)
        by_row = self.model(weak[self.grouped.index])
        by_id = self.model(dict(zip(self.grouped.ids.tolist(), self.example.weak, strict=True)))
        for model in (by_row, by_id):
            self._same_scores(model, self.model(), "weak labels in another form give other scores")

    def order(self) -> None:
        rows = np.random.default_rng(0).permutation(len(self.example.X))
        model = self.model()
        ids, scores = model.score_bags(self.example.X[rows], self.example.bags[rows])
        expected = dict(zip(*model.score_bags(self.example.X, self.example.bags), strict=True))
        rounding = SINGLE * np.abs(scores).max()
        for i, score in zip(ids, scores, strict=True):
            assert np.allclose(score, expected[i], atol=rounding), (
                f"bag {i!r} has another score when rows change places"
            )

    def deterministic(self) -> None:
        self._same_scores(self.model(), self.model(), "two fits with the same seed differ")

    def changes_no_input(self) -> None:
        before = self.example.X.copy()
        self.model().predict(self.example.X)
        assert np.array_equal(before, self.example.X), "it changed X"

    def _same_scores(self, one: Any, other: Any, message: str) -> None:
        first, second = (model.score_bags(self.example.X, self.example.bags)[1] for model in (one, other))
        assert np.allclose(first, second), message
