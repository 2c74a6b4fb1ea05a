"""The data of an evaluation, as the regime sees them."""

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels


@frozen(eq=False)
class Problem:
    """A data set that the regime has checked.

    Attributes:
        dataset: rows and what the user knows of them.
        bags: the bags of its rows.
        weak: what the regime made of their weak labels.
        regime: what weak labels mean.
        test: the test set, where there is one of its own.
    """

    dataset: WeakDataset = field()
    bags: Bags = field()
    weak: WeakLabels = field()
    regime: Regime = field()
    test: "Problem | None" = field(default=None)

    @property
    def tested(self) -> "Problem":
        """The data whose bags are predicted in an evaluation: those of the test set, else its own."""
        return self if self.test is None else self.test


def training_part(problem: Problem, test_bags: NDArray[np.intp] | None) -> Problem:
    """Return the training data of a fit."""
    dataset, bags = problem.dataset, problem.bags
    if test_bags is None:
        return problem
    rows = np.setdiff1d(np.arange(bags.n_rows), bags.rows_of(test_bags))
    own, positions = bags.take(rows)
    weak = np.asarray(dataset.weak)[positions]
    ids = own.spread(own.ids)
    return Problem(
        evolve(dataset, X=dataset.X[rows], bags=ids, weak=weak), own, problem.weak.take(positions, rows), problem.regime
    )
