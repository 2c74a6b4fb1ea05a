"""What tests of every room share."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from bliss_framework import BlissClassifier, Classifier
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.inference import FoldProblem
from bliss_framework.kernel.labels import LabelSpace, WeakLabels
from bliss_framework.kernel.pull import Fold, Outcome, Part, Predictions

# Values of the general table, with the reward of binary MIL in the paper.
PLAIN: dict[str, Any] = {
    "classifier": {"name": "kernel-ridge", "width": 2.0},
    "train_on": "one",
    "n_inferences": 3,
    "final_classifier": "svm-rbf",
    "inherited_share": 0.0,
    "instance_threshold": "auto",
    "regime": {"name": "mil", "bag_score": "max"},
    "reward": "mil",
}

# Properties are tried on few examples, unless HYPOTHESIS_PROFILE=thorough asks for many.
settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# The many interpreters that tests start would each compile all that they import.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background ignores Ctrl-C for them and for all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # So does nohup with the end of a terminal.

Toy = tuple[NDArray[np.float64], NDArray[Any], dict[str, int]]


@pytest.fixture(scope="session")
def shared(pytestconfig: pytest.Config) -> Path:
    """The folder of real data and recorded cases: BLISS_SHARED, or `shared` beside the repository."""
    folder = Path(os.environ.get("BLISS_SHARED") or pytestconfig.rootpath.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"the shared folder is not at {folder}; set BLISS_SHARED to where it is")
    return folder


def make_toy(seed: int = 0, n_pos: int = 6, n_neg: int = 6, size: int = 4, d: int = 2, gap: float = 4.0) -> Toy:
    """Make rows, a bag id for each row and the weak label of each bag; one row of each positive bag is shifted."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n_pos + n_neg, size, d)
    X[:n_pos, 0] += gap
    bags = np.repeat([f"b{j}" for j in range(n_pos + n_neg)], size)
    return X.reshape(-1, d), bags, {f"b{j}": int(j < n_pos) for j in range(n_pos + n_neg)}


@pytest.fixture(scope="session")
def toy() -> Callable[..., Toy]:
    """A function that makes small MIL data."""
    return make_toy


@pytest.fixture(scope="session")
def bliss() -> Callable[..., BlissClassifier]:
    """A function that makes an unfitted BlissClassifier whose label inference is short, and as it is given."""

    def make(**parameters: Any) -> BlissClassifier:
        short = {"n_rounds": 15, "n_folds": 3, "n_neighbors": 5, "random_state": 0}
        return BlissClassifier(**{**PLAIN, **short, **parameters})

    return make


class Untouched(Classifier):
    """A classifier that must not be used: what is wrong is said before any pull."""

    def prepare(self, train: Any, heldout: Any, rng: Any) -> Any:
        raise AssertionError("label inference started")

    def estimator(self, random_state: int) -> Any:
        raise AssertionError("the final classifier was asked for")


@pytest.fixture(scope="session")
def untouched() -> Classifier:
    """A classifier that fails the test when label inference starts."""
    return Untouched()


def part_of(
    sizes: Sequence[int],
    weak: Sequence[float] | None = None,
    candidates: Any = None,
    class_of_label: Sequence[int] = (0, 1),
    X: Any = None,
    weights: Any = None,
) -> Part:
    """Make a part of bags with these sizes; by default every label is a candidate, and X holds the row number."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    values = np.zeros(len(sizes), dtype=np.int8) if weak is None else np.asarray(weak)
    meaning = np.asarray(class_of_label, dtype=np.intp)
    if candidates is None:
        candidates = np.ones((bags.n_rows, len(meaning)), dtype=bool)
    X = np.arange(bags.n_rows, dtype=np.float64)[:, None] if X is None else X
    space = LabelSpace(np.asarray(candidates, dtype=bool), meaning)
    return Part(X, bags, WeakLabels(values, (0, 1)), space, weights)


def outcome_on(
    part: Part,
    assignment: Sequence[int],
    labels: Sequence[int],
    scores: Any,
    heldout: Part,
    heldout_labels: Sequence[int],
    heldout_scores: Any,
    k: int,
) -> Outcome:
    """Make the outcome of one pull; scores are (n,) or (n, L)."""
    train_scores, other_scores = np.asarray(scores, dtype=float), np.asarray(heldout_scores, dtype=float)
    return Outcome(
        Fold(part, heldout, k),
        np.asarray(assignment, dtype=np.intp),
        np.asarray(labels, dtype=np.intp),
        train_scores[:, None] if train_scores.ndim == 1 else train_scores,
        np.asarray(heldout_labels, dtype=np.intp),
        other_scores[:, None] if other_scores.ndim == 1 else other_scores,
    )


class StubPuller:
    """Predicts exactly the assigned labels, and label 0 for the held-out set; remembers what it was asked."""

    def __init__(self, n_heldout: int, log: list[Any]) -> None:
        self.n_heldout = n_heldout
        self.log = log
        self.calls: list[tuple[NDArray[np.intp], NDArray[np.float64] | None]] = []

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Remember the assignments and answer with them."""
        self.calls.append((assignments.copy(), weights))
        self.log.append(("pull", len(assignments)))
        n_pulls = len(assignments)
        heldout = np.zeros((n_pulls, self.n_heldout), dtype=np.intp)
        return Predictions(
            assignments.copy(), 2.0 * assignments[:, :, None] - 1, heldout, np.zeros((*heldout.shape, 1)) - 1
        )

    @property
    def assignments(self) -> NDArray[np.intp]:
        """(pulls, n) everything that was pulled, in order."""
        return np.concatenate([assignments for assignments, _ in self.calls])


class StubReward:
    """Pays whatever a function of the outcome says."""

    def __init__(self, pay: Callable[[Outcome], Any], diagnose: Callable[[Outcome], str | None]) -> None:
        self.pay = pay
        self.diagnose = diagnose

    def __call__(self, outcome: Outcome) -> Any:
        return self.pay(outcome)

    def diagnostic(self, outcome: Outcome) -> str | None:
        return self.diagnose(outcome)


class MeanStrategy:
    """The bound of an arm is its empirical mean, so nothing is explored; writes down when it is asked."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def bounds(self, arms: Any, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        self.log.append(("bounds", round))
        return arms.means


def problem_of(
    train: Part,
    pay: Callable[[Outcome], Any],
    strategy: Any = None,
    prior: Any = None,
    constrain: Any = None,
    diagnose: Callable[[Outcome], str | None] = lambda outcome: None,
) -> FoldProblem:
    """Make a fold problem with a stub classifier (`.puller.calls`, `.puller.log`) and a stub reward."""
    log: list[Any] = []
    heldout = part_of([2])
    return FoldProblem(
        Fold(train, heldout, 1),
        StubPuller(heldout.n_rows, log),
        StubReward(pay, diagnose),
        MeanStrategy(log) if strategy is None else strategy,
        train.space.draw_weights() if prior is None else np.asarray(prior, dtype=float),
        constrain,
    )


@pytest.fixture(scope="session")
def make_part() -> Callable[..., Part]:
    """Return the factory of parts."""
    return part_of


@pytest.fixture(scope="session")
def make_outcome() -> Callable[..., Outcome]:
    """Return the factory of outcomes."""
    return outcome_on


@pytest.fixture(scope="session")
def stub_puller() -> type[StubPuller]:
    """Return the stub of a prepared classifier."""
    return StubPuller


@pytest.fixture(scope="session")
def stub_reward() -> type[StubReward]:
    """Return the stub of a prepared reward."""
    return StubReward


@pytest.fixture(scope="session")
def make_problem() -> Callable[..., FoldProblem]:
    """Return the factory of fold problems."""
    return problem_of
