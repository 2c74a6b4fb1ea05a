"""The contract of regimes: what weak labels mean."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts.bag_head import BagHead
from bliss_framework.extension.contracts.bag_reading import BagReading
from bliss_framework.extension.contracts.presets import Presets
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.folds import common_strata, strata_of
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.labels import LabelSpace, WeakLabels, class_codes, class_indicators
from bliss_framework.kernel.pull import Part


class Regime(ABC):
    """What weak labels mean: how they are written, which labels an instance may take, and how bags are read.

    An ordinary regime is `check`, `label_space` and `reading`; all else has a plain default.

    Attributes:
        presets: what the regime advises for parameters that the user leaves alone; at least a reward.
        binary: whether there are never more than two classes.
        rows_are_bags: whether each row is a bag of its own, so that data need no bag ids.
        empty_labels: whether nothing may be known of a bag, so that an empty cell of a table is a weak label: None.
        columns_are_classes: whether several columns of weak labels are one for each class; if not they are what a weak
            label consists of, such as both ends of an interval.
        reading_parameters: parameters of the regime that matter for its reading only, and not for label inference;
            settings that differ in them alone share one inference.
    """

    presets: Presets = Presets()
    binary: ClassVar[bool] = False
    rows_are_bags: ClassVar[bool] = False
    empty_labels: ClassVar[bool] = False
    columns_are_classes: ClassVar[bool] = True
    reading_parameters: ClassVar[tuple[str, ...]] = ()

    @property
    def label_columns(self) -> tuple[Any, ...] | None:
        """What the columns of a table of weak labels mean, in order, if it is known before the data; None by default.

        A data frame of weak labels whose columns have these names is brought into this order.
        """
        return None

    @property
    @abstractmethod
    def reading(self) -> BagReading:
        """How bags are read from the scores of their instances; a class attribute will do."""

    @property
    def head(self) -> BagHead | None:
        """What reads bags from their rows, too; None reads them from the scores of their instances alone."""
        return None

    @abstractmethod
    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Check the weak labels before long work starts.

        Args:
            weak: (B,) or (B, ...) one entry for each bag, as the user gave them.
            bags: their bags; error messages name bag ids.

        Raises:
            DataError: naming the bag, what was found and what is allowed.
        """

    @abstractmethod
    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Return the candidate labels of each instance."""

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Check weak labels of test bags, of which some classes may be missing.

        By default a weak label is one of the classes of training, a set or list of them, or a row of a matrix that is
        taken as it is. What `predict_bags` returns must be accepted.

        Args:
            weak: (B,) or (B, ...) as the user gave them.
            bags: their bags.
            classes: the words of bags in training: `bag_classes` of what `check` returned, or `classes` where bags have
                no words of their own.

        Raises:
            DataError: for a weak label that was not there in training.
        """
        if weak.ndim > 1:
            return WeakLabels(weak, classes)
        if weak.dtype == object and all(isinstance(one, set | frozenset | list | tuple) for one in weak):
            return WeakLabels(class_indicators(weak, classes), classes)
        return WeakLabels(class_codes(weak, classes), classes)

    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Return (B,) small integers: each fold gets its share of every stratum.

        By default the distinct weak labels are numbered, and shares are cut into five ranges; where there are many,
        rare ones are put together.
        """
        return common_strata(strata_of(weak.values))

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return what the bag alone says of its instances: shares (n, C) of the classes, each row summing to 1.

        The control without a bandit trains on them. By default every class that is a candidate is as likely as any.
        """
        return self.label_space(weak, bags).class_shares()

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Return the chances (n, L) of the first draws; None draws a class, then one of its labels, uniformly."""
        return None

    def constraint(self) -> Constrain | None:
        """Return a function (bounds (n, L), part) -> assignment (n,); None takes the best label of each instance."""
        return None

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Return positive weights (n,) of the instances; None where all count alike."""
        return None
