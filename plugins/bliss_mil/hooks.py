"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_mil.baselines.attention import AttentionMil
from bliss_mil.baselines.bag_kernels import MinMaxSvm, SetKernelSvm
from bliss_mil.baselines.bayesian_knn import BayesianKnn
from bliss_mil.baselines.bp_mip import BpMip
from bliss_mil.baselines.citation_knn import CitationKnn
from bliss_mil.baselines.diverse_density import DiverseDensity, EmDd
from bliss_mil.baselines.mi_graph import MiGraphSvm
from bliss_mil.baselines.mi_logistic_regression import MiLogisticRegression
from bliss_mil.baselines.mi_svm import MiSvm, MiSvmBag
from bliss_mil.baselines.miles import Miles
from bliss_mil.baselines.rectangles import AxisParallelRectangle
from bliss_mil.baselines.simple_svms import BagMeanSvm, InheritedLabelSvm
from bliss_mil.baselines.two_level import TwoLevel
from bliss_mil.datasets.generated import DETAILS as GENERATED_DETAILS, generate_mil
from bliss_mil.datasets.musk1 import DETAILS, load_musk1
from bliss_mil.datasets.real_bags import REAL_BAGS
from bliss_mil.regime.collective_mil import CollectiveMil
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.regime.two_condition_mil import TwoConditionMil
from bliss_mil.rewards.marginal_effect import MilMarginalReward
from bliss_mil.rewards.paper_reward import MilReward

# What a model holds whose bags are read by a head.
HEAD_TYPES = (
    "bliss_mil.bag_head.bag_kernels.BagKernels",
    "bliss_mil.bag_head.bag_kernels.Vectors",
    "bliss_mil.bag_head.kernel_stack.FittedKernelStack",
    "bliss_mil.bag_head.pair_sums.ExactPairs",
    "bliss_mil.bag_head.pair_sums.LandmarkPairs",
    "bliss_mil.bag_head.pair_sums.WeighedBags",
    "bliss_framework.primal.landmarks.Landmarks",
)


@hookimpl
def bliss_regimes() -> list[Component]:
    """Register MIL, and two kinds of it in which other instances matter."""
    summary = "A positive bag holds at least one positive instance, a negative bag none"
    mil = {
        "called": "multiple-instance learning (MIL)",
        "weak label": "1 where a positive instance is in the bag, else 0",
        "example": "1",
        "data sets": "musk1, generated-mil",
        "results": "Where one instance in ten of generated positive bags is a witness, 96.3 % of the instances of test "
        "bags are right, and 68.5 % with an SVM on inherited labels (docs/results/mil.md).",
    }
    collective = {
        "called": "MIL under the collective assumption",
        "weak label": "1 where the bag as a whole is positive, else 0",
        "example": "1",
        "data sets": "breast-cancer-collective, odd-digits-collective",
        "results": "On odd digits 89.9 % of test bags are right, 86.4 % without a bandit, 79.9 % with the best "
        "baseline (docs/results/weak-labels.md).",
    }
    two_conditions = {
        "called": "presence-based MIL, MIL with two concepts",
        "weak label": "1 where instances of both concepts are in the bag, else 0",
        "example": "1",
        "data sets": "digits-two-condition, wine-two-condition",
        "results": "On digits 92.5 % of test bags are right, 66.1 % without a bandit, 68.5 % with the best baseline "
        "(docs/results/weak-labels.md).",
    }
    return [
        Component("mil", MilRegime, summary, mil, saved_types=HEAD_TYPES),
        Component(
            "collective-mil",
            CollectiveMil,
            "All instances matter: a bag is positive where their average is",
            collective,
        ),
        Component(
            "two-condition-mil",
            TwoConditionMil,
            "A positive bag holds instances of two concepts together",
            two_conditions,
        ),
    ]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the paper's MIL reward, and one that sees by how much a label helps."""
    return [
        Component("mil", MilReward, "Recall and precision of the bag labels near each instance (the paper)"),
        Component("mil-marginal", MilMarginalReward, "Whether a positive label moves held-out bags to their labels"),
    ]


@hookimpl
def bliss_baselines() -> list[Component]:
    """Register the two simplest baselines, and those of the literature."""
    return [
        Component(
            "inherited-label-svm",
            InheritedLabelSvm,
            "RBF SVM on instances that inherit their bag's label",
            most_rows=20_000,
        ),
        Component("bag-mean-svm", BagMeanSvm, "RBF SVM on the mean row of each bag"),
        Component(
            "mi-svm", MiSvm, "SVM and instance labels of positive bags in turn (Andrews et al. 2002)", most_rows=15_000
        ),
        Component(
            "mi-svm-bag",
            MiSvmBag,
            "MI-SVM: SVM and one witness of each positive bag in turn (the same paper)",
            most_rows=20_000,
        ),
        Component(
            "set-kernel-svm",
            SetKernelSvm,
            "SVM with the normalised set kernel of bags (Gaertner et al. 2002)",
            most_rows=20_000,
        ),
        Component("min-max-svm", MinMaxSvm, "RBF SVM on the smallest and largest value of each column in a bag"),
        Component(
            "diverse-density", DiverseDensity, "A target point near all positive bags, far from negative instances"
        ),
        Component("em-dd", EmDd, "Diverse density by expectation-maximisation over the likeliest instance of each bag"),
        Component("apr", AxisParallelRectangle, "Axis-parallel rectangle around an instance of each positive bag"),
        Component(
            "citation-knn",
            CitationKnn,
            "Nearest bags vote, those near a bag and those that it is near to",
            most_rows=30_000,
        ),
        Component(
            "miles",
            Miles,
            "Sparse linear SVM on similarities of bags to instances (Chen et al. 2006)",
            most_rows=30_000,
        ),
        Component(
            "mi-graph-svm",
            MiGraphSvm,
            "SVM on bags of which like instances count as one (miGraph, Zhou et al. 2009)",
            most_rows=20_000,
        ),
        Component("bayesian-knn", BayesianKnn, "Nearest bags vote, as training bags say", most_rows=30_000),
        Component("bp-mip", BpMip, "Neural network that learns through each bag's largest output (Zhou and Zhang)"),
        Component("mi-logistic-regression", MiLogisticRegression, "Logistic regression of averages over bags"),
        Component("two-level", TwoLevel, "TLC: boosted stumps on how many instances reach each node of a tree"),
        Component(
            "attention-mil",
            AttentionMil,
            "Network that attends to the instances of a bag (Ilse et al. 2018)",
            saved_types=("bliss_mil.baselines.attention.AttentionMil",),
        ),
    ]


@hookimpl
def bliss_datasets() -> list[Component]:
    """Register MUSK1, and data with known instance labels."""
    return [
        Component("musk1", load_musk1, "Drug activity: musk molecules and their conformations", DETAILS),
        Component("generated-mil", generate_mil, "Generated bags with known witnesses", GENERATED_DETAILS),
        *REAL_BAGS,
    ]
