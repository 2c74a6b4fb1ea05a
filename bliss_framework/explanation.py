"""Why an instance got its label."""

from typing import Any

from attrs import frozen


@frozen
class ArmReport:
    """One arm of an instance: how often it was pulled, and its mean reward (None where it was never pulled)."""

    label: int
    class_: Any
    pulls: int
    mean_reward: float | None


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
        confidence: the best mean reward minus that of the best other class.
        state: "known" (the bag leaves no choice), "undecided" (its best arms tie) or "inferred".
        arms: its candidate arms.
        neighbours: nearest training instances of other bags by final score.
    """

    row: int
    bag: Any
    weak_label: Any
    class_: Any
    confidence: float
    state: str
    arms: tuple[ArmReport, ...]
    neighbours: tuple[NeighbourReport, ...]

    def sentence(self) -> str:
        """Say it in one sentence."""
        head = f"Row {self.row} of bag {self.bag!r} (weak label {self.weak_label!r})"
        if self.state == "known":
            return f"{head} is {self.class_!r}: its bag leaves no other label."
        if self.state == "undecided":
            return f"{head} is undecided: its best labels earned the same reward."
        pulls = sum(arm.pulls for arm in self.arms)
        return f"{head} is {self.class_!r} with confidence {self.confidence:.3f} after {pulls} pulls."
