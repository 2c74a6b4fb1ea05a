"""The data of an evaluation, as the regime sees them."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels


@frozen(eq=False)
class Problem:
    """A data set that the regime has checked.

    Attributes:
        dataset: what a file or a plugin gave: its name, and true classes where they are known.
        data: its rows, bags and weak labels, checked once.
        regime: what weak labels mean.
        test: the test set, where there is one of its own.
    """

    dataset: WeakDataset = field()
    data: CheckedData = field()
    regime: Regime = field()
    test: "Problem | None" = field(default=None)

    @property
    def bags(self) -> Bags:
        """The bags of its rows."""
        return self.data.bags

    @property
    def weak(self) -> WeakLabels:
        """What the regime made of their weak labels."""
        return self.data.labels

    @property
    def truth(self) -> NDArray[Any] | None:
        """(n,) the true class of each instance, where it is known."""
        return None if self.dataset.instance_labels is None else np.asarray(self.dataset.instance_labels)

    @property
    def tested(self) -> "Problem":
        """The data whose bags are predicted in an evaluation: those of the test set, else its own."""
        return self if self.test is None else self.test


def training_part(problem: Problem, test_bags: NDArray[np.intp] | None) -> CheckedData:
    """Return the training data of a fit: all bags but those to test on."""
    if test_bags is None:
        return problem.data
    return problem.data.take_bags(np.setdiff1d(np.arange(problem.bags.n_bags), test_bags))
