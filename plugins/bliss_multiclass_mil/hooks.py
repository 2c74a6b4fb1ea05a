"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_multiclass_mil.baselines.attention import LabelSetAttention
from bliss_multiclass_mil.baselines.one_vs_rest import OneVsRestBagMeanSvm, OneVsRestMiSvm
from bliss_multiclass_mil.baselines.relabel_softmax import RelabelSoftmax
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_multiclass_mil.datasets.handwritten import DIGITS_DETAILS, MNIST_DETAILS, load_digits_bags, load_mnist_bags
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime
from bliss_multiclass_mil.rewards.paper_reward import MultiClassMilReward

HEAD = ("bliss_multiclass_mil.bag_head.label_stack.FittedLabelStack",)
SOFTMAX = ("bliss_multiclass_mil.classifier.estimator.CooperativeSoftmaxClassifier",)


@hookimpl
def bliss_regimes() -> list[Component]:
    """Register the multi-class MIL regime."""
    summary = "A bag holds an instance of each label of its set, and negatives beside them"
    details = {
        "called": "multi-class MIL, multi-instance multi-label learning (MIML), image-level labels",
        "weak label": "the set of labels of which an instance is in the bag; it may be empty",
        "example": '{"cat", "dog"}',
        "data sets": "digits-multiclass, mnist-multiclass",
        "results": "On eleven draws of digits and MNIST in bags, 91.2 % of test instances are right, and 83.6 % "
        "without a bandit (docs/results/multiclass-mil.md).",
    }
    return [Component("multiclass-mil", MultiClassMilRegime, summary, details, saved_types=HEAD)]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the paper's multi-class MIL reward."""
    summary = "Recall and precision of label sets near each instance (the paper)"
    return [Component("multiclass-mil", MultiClassMilReward, summary)]


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Register the cooperative softmax."""
    summary = "Softmax whose negative labels do not compete; warm start from pull to pull (the paper)"
    return [Component("cooperative-softmax", CooperativeSoftmax, summary, saved_types=SOFTMAX)]


@hookimpl
def bliss_baselines() -> list[Component]:
    """Register the paper's baseline, a simpler one, and the control without a bandit."""
    relabel = "Cooperative softmax that relabels itself from a random start (a control without a bandit)"
    return [
        Component("one-vs-rest-mi-svm", OneVsRestMiSvm, "Linear mi-SVM for each label (the paper's baseline)"),
        Component("one-vs-rest-bag-mean-svm", OneVsRestBagMeanSvm, "Linear SVM for each label on the mean of each bag"),
        Component("label-set-attention", LabelSetAttention, "Attention network for label sets"),
        Component("relabel-softmax", RelabelSoftmax, relabel, saved_types=SOFTMAX),
    ]


@hookimpl
def bliss_datasets() -> list[Component]:
    """Register handwritten digits in bags."""
    digits, mnist = "Handwritten digits in bags, 0 to 4 positive", "MNIST in bags, from your own files (the paper)"
    return [
        Component("digits-multiclass", load_digits_bags, digits, DIGITS_DETAILS),
        Component("mnist-multiclass", load_mnist_bags, mnist, MNIST_DETAILS),
    ]
