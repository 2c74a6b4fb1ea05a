"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_llp.baselines.em import LlpEm
from bliss_llp.baselines.graphical_model import LlpGraphicalModel
from bliss_llp.baselines.inv_cal import InvCal
from bliss_llp.baselines.k_means import LlpKMeans
from bliss_llp.baselines.mean_map import MeanMap
from bliss_llp.baselines.p_svm import AlternatingSvm
from bliss_llp.baselines.proportion_matching import ProportionMatching
from bliss_llp.datasets.labelled_npz import LabelledNpzReader
from bliss_llp.datasets.scikit_learn_sets import (
    BREAST_CANCER_DETAILS,
    DIGITS_DETAILS,
    load_breast_cancer_bags,
    load_digits_bags,
)
from bliss_llp.regime.llp_regime import LlpRegime
from bliss_llp.rewards.marginal_effect import LlpMarginalReward
from bliss_llp.rewards.recall_precision_of_shares import LlpReward


@hookimpl
def bliss_regimes() -> list[Component]:
    """Register the LLP regime."""
    details = {
        "called": "learning from label proportions (LLP), ecological inference",
        "weak label": "the share of class 1, or the shares or counts of all classes",
        "example": "0.3",
        "data sets": "breast-cancer-llp, digits-llp",
        "results": "On twelve sets in bags of 8, 83.3 % of test instances are right, 78.8 % without a bandit, and "
        "83.1 % with proportion-matching (docs/results/llp.md).",
    }
    return [Component("llp", LlpRegime, "Of each bag the shares of the classes are known", details)]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the two rewards of LLP."""
    return [
        Component("llp", LlpReward, "Recall and precision of shares near each instance"),
        Component("llp-marginal", LlpMarginalReward, "Whether a label moves held-out bags towards their shares"),
    ]


@hookimpl
def bliss_baselines() -> list[Component]:
    """Register methods of the literature."""
    return [
        Component("mean-map", MeanMap, "Logistic regression on class means estimated from bag means"),
        Component(
            "inv-cal",
            InvCal,
            "Support vector regression from mean rows to log-odds of shares (Rueping 2010)",
            most_rows=15_000,
        ),
        Component(
            "alter-psvm",
            AlternatingSvm,
            "SVM, and labels that keep the counts of bags, in turn (Yu 2013)",
            most_rows=10_000,
        ),
        Component("llp-em", LlpEm, "A classifier and soft labels that meet the shares of bags, in turn"),
        Component("proportion-matching", ProportionMatching, "A model whose mean probability in each bag is its share"),
        Component(
            "llp-k-means",
            LlpKMeans,
            "Clusters, and the shares of classes in each by least squares on bags",
            most_rows=20_000,
        ),
        Component(
            "llp-graphical-model",
            LlpGraphicalModel,
            "Latent labels that keep the counts of bags, by Markov chains (de Freitas and Kueck 2005)",
        ),
    ]


@hookimpl
def bliss_readers() -> list[Component]:
    """Register the reader of ordinary labelled sets."""
    summary = "Rows and classes without bags (.npz), put into bags for learning with label proportions"
    return [Component("labelled-npz", LabelledNpzReader, summary)]


@hookimpl
def bliss_datasets() -> list[Component]:
    """Register two sets of scikit-learn in bags."""
    summary = "Breast cancer samples in bags, of which the share of malignant ones is known"
    digits = "Pictures of digits in bags, of which the shares of the ten digits are known"
    return [
        Component("breast-cancer-llp", load_breast_cancer_bags, summary, BREAST_CANCER_DETAILS),
        Component("digits-llp", load_digits_bags, digits, DIGITS_DETAILS),
    ]
