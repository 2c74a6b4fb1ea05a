"""N(x): the k nearest held-out instances to each training instance, in the space of the classifier output."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.neighbours import Windows, nearest
from bliss_framework.kernel.pull import Outcome


@frozen(eq=False)
class Neighbourhood:
    """The held-out neighbours of every training instance of one outcome.

    Attributes:
        n: the number of training instances.
        windows: pairs of training rows and their windows; one pair for a single decision value, else one for each
            predicted label.
        weights: (m,) weights of the held-out instances, or None.
    """

    n: int = field()
    windows: tuple[tuple[NDArray[np.intp] | slice, Windows], ...] = field()
    weights: NDArray[np.float64] | None = field()

    def mean(self, quantity: NDArray[Any]) -> NDArray[np.float64]:
        """Average a quantity of held-out instances (m,) over each neighbourhood: (n,)."""
        means = np.empty(self.n)
        for rows, windows in self.windows:
            means[rows] = windows.mean(quantity, self.weights)
        return means


def neighbourhood(outcome: Outcome) -> Neighbourhood:
    """Find N(x) of every training instance.

    With one decision value the neighbours are nearest in it; with one output for each label they are nearest along the
    output of the label predicted for x (paper, "Multi-Class MIL").
    """
    fold, n = outcome.fold, len(outcome.assignment)
    weights = fold.heldout.weights
    if outcome.scores.shape[1] == 1:
        train, heldout = outcome.output(0)
        return Neighbourhood(n, ((slice(None), nearest(heldout, train, fold.n_neighbors)),), weights)
    windows = []
    for label in np.unique(outcome.labels):
        rows = np.flatnonzero(outcome.labels == label)
        train, heldout = outcome.output(int(label))
        windows.append((rows, nearest(heldout, train[rows], fold.n_neighbors)))
    return Neighbourhood(n, tuple(windows), weights)
