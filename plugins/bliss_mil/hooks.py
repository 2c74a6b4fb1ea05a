"""What this plugin offers."""

from bliss_framework import Component, hookimpl
from bliss_mil.baselines import BagMeanSvm, InheritedLabelSvm
from bliss_mil.musk1 import DETAILS, load_musk1
from bliss_mil.regime import MilRegime
from bliss_mil.reward import MilReward


@hookimpl
def bliss_regimes() -> list[Component]:
    """Offer the MIL regime."""
    return [Component("mil", MilRegime, "A positive bag holds at least one positive instance, a negative bag none")]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Offer the paper's MIL reward."""
    return [Component("mil", MilReward, "Recall and precision of the bag labels near each instance (the paper)")]


@hookimpl
def bliss_baselines() -> list[Component]:
    """Offer the two simplest baselines."""
    return [
        Component("inherited-label-svm", InheritedLabelSvm, "RBF SVM on instances that inherit their bag's label"),
        Component("bag-mean-svm", BagMeanSvm, "RBF SVM on the mean row of each bag"),
    ]


@hookimpl
def bliss_datasets() -> list[Component]:
    """Offer MUSK1."""
    return [Component("musk1", load_musk1, "Drug activity: musk molecules and their conformations", DETAILS)]
