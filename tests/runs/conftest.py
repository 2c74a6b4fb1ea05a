"""Small experiments on files that a test has just written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.runs.prepared import Prepared, prepare
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, MethodSettings, RunSettings

SHORT = {"n_rounds": 6, "n_folds": 3, "n_neighbors": 5, "n_inferences": 1}
# Values of the general table, with the reward of binary MIL in the paper.
PLAIN = {
    "regime": {"name": "mil", "bag_score": "max"},
    "classifier": {"name": "kernel-ridge", "width": 2.0},
    "reward": "mil",
    "train_on": "one",
    "final_classifier": "svm-rbf",
    "inherited_share": 0.0,
    "instance_threshold": "auto",
}


@pytest.fixture
def toy_file(tmp_path: Path, toy: Callable[..., Any]) -> Callable[..., Path]:
    """A function that writes a toy data set to a native file; the shifted rows are the positive instances."""

    def write(name: str = "toy", truth: bool = True, **parameters: Any) -> Path:
        X, bags, weak = toy(**parameters)
        first_rows = np.unique(bags, return_index=True)[1]
        instances = np.zeros(len(bags), dtype=np.int64)
        instances[[row for row in first_rows if weak[bags[row]] == 1]] = 1
        known = {"inst_y": instances} if truth else {}
        path = tmp_path / f"{name}.npz"
        np.savez(path, X=X, bag=bags, y=np.array([weak[bag] for bag in dict.fromkeys(bags.tolist())]), **known)
        return path

    return write


@pytest.fixture
def experiment(toy_file: Callable[..., Path]) -> Callable[..., Prepared]:
    """A function that prepares a short experiment on a toy file."""

    def make(
        cv: int | None = 3,
        repeats: int = 1,
        compare: tuple[str, ...] | None = ("bag-mean-svm",),
        data: dict[str, Any] | None = None,
        name: str | None = None,
        **bliss: Any,
    ) -> Prepared:
        settings = RunSettings(
            data=DataSettings(str(toy_file(**(data or {})))),
            # What is given is not chosen, so a choice is left as much as possible.
            bliss={**({} if bliss.get("settings") == "select" else PLAIN), **SHORT, **bliss},
            evaluation=EvaluationSettings(cv, repeats),
            compare=None if compare is None else tuple(MethodSettings(one) for one in compare),
            name=name,
        )
        return prepare(settings, default_plugins(), [])

    return make


class Listener:
    """Keeps the events of a run; raises KeyboardInterrupt at the one with the given number."""

    def __init__(self, last: int | None = None) -> None:
        self.events: list[Any] = []
        self.last = last

    def __call__(self, event: Any) -> None:
        self.events.append(event)
        if len(self.events) == self.last:
            raise KeyboardInterrupt

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


@pytest.fixture
def listen() -> type[Listener]:
    """The class of a listener to events."""
    return Listener


@pytest.fixture
def lasting() -> Callable[[Any], Any]:
    """A function that drops what two runs of the same experiment need not share: seconds."""

    def without_seconds(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_seconds(item) for key, item in value.items() if key != "seconds"}
        return [without_seconds(item) for item in value] if isinstance(value, list) else value

    return without_seconds


@pytest.fixture
def mean_above_limit() -> "type[MeanAboveLimit]":
    """The class of an estimator that calls a bag positive when the mean of its rows exceeds a limit."""
    return MeanAboveLimit


class MeanAboveLimit:
    """Learns a limit half-way between the means of both classes of bags; notes down what it was fitted on."""

    def __init__(self, seen: list[Any] | None = None) -> None:
        self.seen = [] if seen is None else seen

    def fit(self, X: Any, y: Any, bags: Any = None) -> "MeanAboveLimit":
        ids = list(dict.fromkeys(bags.tolist()))
        self.seen.append((frozenset(ids), len(X)))
        means = {bag: X[bags == bag].mean() for bag in ids}
        sides = [np.mean([means[bag] for bag, label in zip(ids, y, strict=True) if label == side]) for side in (0, 1)]
        self.limit = float(np.mean(sides))
        return self

    def predict(self, X: Any) -> Any:
        return (np.asarray(X).mean(axis=1) > self.limit).astype(int)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[Any, Any]:
        ids = list(dict.fromkeys(bags.tolist()))
        return np.array(ids), np.array([X[bags == bag].mean() - self.limit for bag in ids])

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[Any, Any]:
        ids, scores = self.score_bags(X, bags)
        return ids, (scores > 0).astype(int)
