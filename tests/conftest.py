"""What tests of every room share."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bliss_framework import BlissClassifier, Classifier

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background ignores Ctrl-C for them and for all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
        short = {"n_rounds": 15, "n_folds": 3, "n_neighbors": 5, "random_state": 0, "settings": "as-given"}
        return BlissClassifier(**{**short, **parameters})

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
