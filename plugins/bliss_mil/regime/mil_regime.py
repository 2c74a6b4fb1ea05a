"""The MIL regime: a positive bag holds at least one positive instance, a negative bag holds none."""

from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BagHead,
    BagReading,
    Bags,
    BinaryReading,
    LabelSpace,
    Presets,
    Regime,
    WeakLabels,
    one_of,
)
from bliss_mil.bag_head.kernel_stack import KernelStack
from bliss_mil.regime.presets import PRESETS
from bliss_mil.regime.weak_labels import check_binary, check_known_binary


@frozen
class MilRegime(Regime):
    """Binary MIL (Dietterich et al., 1997; paper, "Binary MIL").

    Args:
        positive_label: which of two weak labels means positive; not needed for 0/1, -1/1, booleans, or words that
            everybody knows, such as yes/no.
        negative_bags: "known" (instances of negative bags are negative and have no arms) or "free" (they are inferred
            like all others, as a literal reading of the paper has it).
        weights: "instance" lets every instance count alike, "bag" every bag (instance weights 1/|bag|).
        bag_score: of the instance scores of a bag, "max" is the regime's own definition, "mean" lets all instances
            vote, and "max-mean" is the mean of both.
        bag_head: what reads bags: "none" is instance scores alone, "stack" adds SVMs on kernels between whole
            bags and, where witnesses are few, networks, and is the default where settings are chosen; "whole",
            "informed" and "network" are one of these alone; see `KernelStack`.
    """

    binary: ClassVar[bool] = True
    presets: ClassVar[Presets] = PRESETS
    reading_parameters: ClassVar[tuple[str, ...]] = ("bag_score", "bag_head")

    positive_label: Any = field(default=None)
    negative_bags: str = field(default="known", validator=one_of("known", "free"))
    weights: str = field(default="instance", validator=one_of("instance", "bag"))
    bag_score: str = field(default="max", validator=one_of("max", "mean", "max-mean"))
    bag_head: str = field(default="none", validator=one_of("none", "stack", "whole", "informed", "network"))

    @property
    def reading(self) -> BagReading:
        """Bags are scored by their instances as `bag_score` says."""
        return BinaryReading(self.bag_score)

    @property
    def head(self) -> BagHead | None:
        """The stack, or the one of its SVMs that was asked for."""
        return None if self.bag_head == "none" else KernelStack(self.bag_head)

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Refuse anything but two classes of bags, both of them there; note which word was taken for positive."""
        return check_binary(weak, bags, self.positive_label)

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Take the classes of training, or other words of which everybody knows which is positive, as in training."""
        return check_known_binary(weak, bags, classes) or super().check_test(weak, bags, classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Give instances of positive bags both labels; a positive bag of one instance leaves no doubt."""
        positive = bags.spread(weak.values == 1)
        alone = bags.spread(bags.sizes == 1)
        if self.negative_bags == "free":
            candidates = np.ones((bags.n_rows, 2), dtype=bool)
        else:
            candidates = np.stack([~(positive & alone), positive], axis=1)
        return LabelSpace(candidates, np.array([0, 1], dtype=np.intp))

    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Stratify by the bag's label."""
        return weak.values.astype(np.intp)

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Give every instance the label of its bag."""
        return np.eye(2)[bags.spread(weak.values)]

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Return weights of mean 1, or None where every instance counts alike."""
        if self.weights == "instance":
            return None
        return bags.spread(1.0 / bags.sizes) * (bags.n_rows / bags.n_bags)
