"""The contract of bag heads: bags that are read from their rows, too, and not from instance scores alone."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts.classifier import ProblemSize
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.rows import Rows


@frozen(eq=False)
class BagEvidence:
    """What a bag head may look at. In training, all scores are of classifiers that have not seen the bag.

    Attributes:
        rows: (n, d) rows as the user gave them; a head that wants them scaled learns a `Scaling`. Those of a bag are
            beside each other, in the order of bags.
        bags: their B bags.
        instance_scores: one or more arrays (n,), of several classes (n, C), of mean 0 and deviation 1 over the training
            rows: one of final classifiers for each share of inherited labels.
        bag_scores: (B,), of label sets (B, C), what the regime's reading makes of the scores of the best final
            classifiers.
    """

    rows: Rows = field()
    bags: Bags = field()
    instance_scores: tuple[NDArray[np.float64], ...] = field()
    bag_scores: NDArray[np.float64] = field()


class FittedBagHead(ABC):
    """A bag head that has been trained. It is saved with the model: make it a scikit-learn estimator, of arrays."""

    @abstractmethod
    def parts(self, evidence: BagEvidence) -> Mapping[str, NDArray[np.float64]]:
        """Return what each kind of evidence says of the bags, by name: arrays (B,), of label sets (B, C).

        The score of a bag is their sum, larger for positive ones. They are shown when a bag is explained, so 0 should
        mean that a kind of evidence says nothing.
        """

    def instance_scores(self, rows: Rows) -> NDArray[np.float64] | None:
        """Score instances, (n,) or (n, C), by what was learnt of them from bags; None, by default, where nothing was.

        They are averaged with the scores of final classifiers, each divided by its deviation over the training rows.

        Args:
            rows: (n, d) as the user gave them.
        """
        return None


@frozen(eq=False)
class HeadFit:
    """What a bag head made of training bags.

    Attributes:
        fitted: the head, trained.
        parts: what each kind of evidence says of the training bags out of fold, as `FittedBagHead.parts` has it.
        instance_scores: of the training rows out of fold, as `FittedBagHead.instance_scores` has them, or None.
    """

    fitted: FittedBagHead = field()
    parts: Mapping[str, NDArray[np.float64]] = field()
    instance_scores: NDArray[np.float64] | None = field(default=None)


class BagHead(ABC):
    """Learns to score bags from their rows, the scores of their instances, and what is made of these.

    A regime may have one (`Regime.head`). Inferred labels do not change.
    """

    def refusal(self, bags: Bags, weak: WeakLabels, folds: NDArray[np.intp]) -> str | None:
        """Say in a sentence why these training bags cannot be learnt from; None where they can.

        Bags are then read from instance scores alone, with a warning. It is asked before long work starts.

        Args:
            bags: B training bags.
            weak: their weak labels.
            folds: (B,) the fold of each bag.
        """
        return None

    def memory(self, size: ProblemSize, n_bags: int) -> int:
        """Return about how many bytes `fit` takes beside the rows; 0 by default.

        Args:
            size: of the training rows.
            n_bags: training bags.
        """
        return 0

    @abstractmethod
    def fit(self, evidence: BagEvidence, weak: WeakLabels, folds: NDArray[np.intp]) -> HeadFit:
        """Learn from training bags.

        Args:
            evidence: of the training bags, out of fold.
            weak: their weak labels.
            folds: (B,) the fold of each bag: those on which the scores are out of fold.
        """
