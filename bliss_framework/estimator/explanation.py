"""Why an instance got its label."""

from typing import Any

import numpy as np
from attrs import frozen

from bliss_framework.errors import DataError, SettingsError


@frozen
class ArmReport:
    """One arm of an instance: its label, the class that it means, how often it was pulled, and its mean reward."""

    label: int
    class_: Any
    pulls: int
    mean_reward: float


@frozen
class NeighbourReport:
    """A training instance whose final score is near: its row, bag, the bag's weak label, inferred class and score."""

    row: int
    bag: Any
    weak_label: Any
    class_: Any
    score: float


@frozen
class Explanation:
    """Why a training instance got its label.

    Attributes:
        row: the caller's row.
        bag: its bag id.
        weak_label: of the bag.
        class_: the inferred class.
        confidence: as `confidence_` of the model.
        state: "known" (the bag leaves no choice), "undecided" (its best arms tie) or "inferred".
        arms: its candidate arms.
        neighbours: nearest training instances of other bags by final score.
        n_relabel_rounds: rounds of relabelling after the pulls.
    """

    row: int
    bag: Any
    weak_label: Any
    class_: Any
    confidence: float
    state: str
    arms: tuple[ArmReport, ...]
    neighbours: tuple[NeighbourReport, ...]
    n_relabel_rounds: int = 0

    def sentence(self) -> str:
        """Say it in one sentence."""
        head = f"Row {self.row} of bag {self.bag!r} (weak label {self.weak_label!r})"
        if self.state == "known":
            return f"{head} is {self.class_!r}: its bag leaves no other label."
        if self.state == "undecided":
            earned = "have the same output" if self.n_relabel_rounds else "earned the same reward"
            return f"{head} is undecided: its best labels {earned}."
        pulls = sum(arm.pulls for arm in self.arms)
        rounds = f" and {self.n_relabel_rounds} rounds of relabelling" if self.n_relabel_rounds else ""
        return f"{head} is {self.class_!r} with confidence {self.confidence:.3f} after {pulls} pulls{rounds}."


def explain(model: Any, row: int, n_neighbors: int) -> Explanation:
    """Explain one training row of a fitted `BlissClassifier`; see its method of the same name."""
    n = len(model.labels_)
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < n:
        raise DataError(f"There is no training row {row!r}; rows are 0 to {n - 1}.")
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or n_neighbors < 0:
        raise SettingsError(f"n_neighbors must be an integer, at least 0; got {n_neighbors!r}.")
    row = int(row)
    state = "known" if model.known_[row] else "undecided" if model.undecided_[row] else "inferred"
    bag, weak_label = _bag_of(model, row)
    confidence = float(model.confidence_[row])
    arms, near = _arms(model, row), _neighbours(model, row, n_neighbors)
    rounds = int(model.inference_.get("n_relabel_rounds", 0))
    return Explanation(row, bag, weak_label, item(model.labels_[row]), confidence, state, arms, near, rounds)


def _arms(model: Any, row: int) -> tuple[ArmReport, ...]:
    pulls, means = model.label_pulls_[row], model.label_means_[row]
    return tuple(
        ArmReport(
            int(label), item(model.classes_[model.class_of_label_[label]]), int(pulls[label]), float(means[label])
        )
        for label in np.flatnonzero(pulls > 0)
    )


def _neighbours(model: Any, row: int, n: int) -> tuple[NeighbourReport, ...]:
    scores = model.training_scores_
    column = scores if scores.ndim == 1 else scores[:, model.class_indices_[row]]
    distance = np.abs(column - column[row])
    distance[model.bag_index_ == model.bag_index_[row]] = np.inf
    nearest = [int(i) for i in np.argsort(distance, kind="stable")[:n] if np.isfinite(distance[i])]
    return tuple(NeighbourReport(i, *_bag_of(model, i), item(model.labels_[i]), float(column[i])) for i in nearest)


def _bag_of(model: Any, row: int) -> tuple[Any, Any]:
    position = model.bag_index_[row]
    return item(model.bag_ids_[position]), item(model.weak_labels_[position])


def item(value: Any) -> Any:
    """Return plain Python of a numpy value; a set as a sorted list: its own order is another in every process."""
    if isinstance(value, set | frozenset):
        return sorted((item(one) for one in value), key=str)
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
