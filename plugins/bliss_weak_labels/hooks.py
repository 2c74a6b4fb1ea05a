"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_weak_labels.baselines.risks import (
    NonNegativePu,
    PairwiseComparisonRisk,
    PositiveConfidenceRisk,
    UnlabelledRisk,
)
from bliss_weak_labels.baselines.soft_labels import DawidSkene, SelfTraining
from bliss_weak_labels.baselines.weak_label_em import WeakLabelEm
from bliss_weak_labels.datasets.real_sets import weak_data_sets
from bliss_weak_labels.likelihood.reward import LikelihoodReward
from bliss_weak_labels.regimes.annotators import SeveralAnnotators
from bliss_weak_labels.regimes.confidences import PositiveConfidences
from bliss_weak_labels.regimes.counts import CountIntervals
from bliss_weak_labels.regimes.details import DETAILS
from bliss_weak_labels.regimes.label_sets import ComplementaryLabels, PartialLabels
from bliss_weak_labels.regimes.noisy import NoisyLabels
from bliss_weak_labels.regimes.patterns import OrderedPairs, SimilarPairs, Triplets
from bliss_weak_labels.regimes.positive_unlabelled import PositiveUnlabelled
from bliss_weak_labels.regimes.semi_supervised import SemiSupervised
from bliss_weak_labels.regimes.unlabelled_unlabelled import UnlabelledUnlabelled


@hookimpl
def bliss_regimes() -> list[Component]:
    """Register a regime for each kind of weak label."""
    registered = {
        "partial-labels": (PartialLabels, "Each row has a set of classes, one of which is right"),
        "complementary-labels": (ComplementaryLabels, "Each row has a class, or several, that it is not of"),
        "positive-unlabelled": (PositiveUnlabelled, "Some rows are known to be positive, the others may be"),
        "unlabelled-unlabelled": (UnlabelledUnlabelled, "Two sets of rows with known shares of positives"),
        "noisy-labels": (NoisyLabels, "Each row has a class, which is wrong at some rate"),
        "semi-supervised": (SemiSupervised, "Some rows have a class, the others have none"),
        "several-annotators": (SeveralAnnotators, "Each row has a class from each of several annotators"),
        "positive-confidences": (PositiveConfidences, "Positive rows alone, each with its confidence"),
        "similar-pairs": (SimilarPairs, "Pairs of rows are of one class or of two, and some rows are known"),
        "ordered-pairs": (OrderedPairs, "Of pairs the first row is not below the second; some are known"),
        "triplets": (Triplets, "Of three rows the first is nearer to the second; some rows are known"),
        "count-intervals": (CountIntervals, "Of each bag the number of positives lies in an interval"),
    }
    return [Component(name, regime, summary, DETAILS[name]) for name, (regime, summary) in registered.items()]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the one reward of all of them."""
    summary = "Whether a label moves held-out rows to where their weak labels are likely"
    return [Component("weak-likelihood", LikelihoodReward, summary)]


@hookimpl
def bliss_baselines() -> list[Component]:
    """Register methods of the literature."""
    return [
        Component("weak-label-em", WeakLabelEm, "A model and its posterior given weak labels, in turn (Chen 2024)"),
        Component("non-negative-pu", NonNegativePu, "Non-negative risk of positive and unlabelled rows (Kiryo 2017)"),
        Component("unlabelled-risk", UnlabelledRisk, "Corrected risk of two sets with known shares (Lu et al. 2020)"),
        Component(
            "positive-confidence-risk",
            PositiveConfidenceRisk,
            "Positive rows that count as negative ones, too, by their confidence (Ishida et al. 2018)",
        ),
        Component(
            "pairwise-comparison-risk",
            PairwiseComparisonRisk,
            "The corrected risk of ordered pairs (Feng et al. 2021)",
        ),
        Component("dawid-skene", DawidSkene, "A model of what annotators are believed to mean (Dawid and Skene 1979)"),
        Component("self-training", SelfTraining, "Rows of known class, and those that the model is sure of"),
    ]


@hookimpl
def bliss_datasets() -> list[Component]:
    """Register real sets with each kind of weak label."""
    return weak_data_sets()
