"""The data of an evaluation, as the regime sees them."""

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.runs.evaluation.truth import Alphabet, true_classes


@frozen(eq=False)
class Problem:
    """A data set that the regime has checked.

    Attributes:
        dataset: what a file or a plugin gave: its name, and true classes where they are known.
        data: its rows, bags and weak labels, checked once.
        regime: what weak labels mean.
        truth: (n,) the true class of each instance as a position in the classes, -1 where it is not known; or None.
        test: the test set, where there is one of its own.
    """

    dataset: WeakDataset = field()
    data: CheckedData = field()
    regime: Regime = field()
    truth: NDArray[np.intp] | None = field(default=None)
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
    def alphabet(self) -> Alphabet:
        """The classes, and what is known of them."""
        return Alphabet.of(self.weak, self.regime)

    @property
    def tested(self) -> "Problem":
        """The data whose bags are predicted in an evaluation: those of the test set, else its own."""
        return self if self.test is None else self.test


def problem_of(
    dataset: WeakDataset, data: CheckedData, regime: Regime, alphabet: Alphabet | None = None
) -> tuple[Problem, tuple[str, ...]]:
    """Put a data set, its checked data and what is known of its instances together.

    Args:
        dataset: as a file or a plugin gave it.
        data: its rows, bags and weak labels, read by the regime.
        regime: what weak labels mean.
        alphabet: the classes of the training data, where these are others.

    Returns:
        The problem, and a sentence for each thing that was understood of the true classes but not said.

    Raises:
        DataError: a true class is none of the classes.
    """
    problem = Problem(evolve(dataset, X=data.X, weak=data.weak), data, regime)
    if dataset.instance_labels is None:
        return problem, ()
    truth, notes = true_classes(dataset.instance_labels, alphabet or problem.alphabet, f"{dataset.name!r}")
    return evolve(problem, truth=truth), notes


def training_part(problem: Problem, test_bags: NDArray[np.intp] | None) -> CheckedData:
    """Return the training data of a fit: all bags but those to test on."""
    if test_bags is None:
        return problem.data
    return problem.data.take_bags(np.setdiff1d(np.arange(problem.bags.n_bags), test_bags))
