"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_torch.marginal_effect import TorchMilMarginalReward
from bliss_torch.ridge import TorchRidge
from bliss_torch.softmax import TorchSoftmax

LEAST_SQUARES = ("bliss_torch.least_squares.TorchLeastSquares",)
SOFTMAX = ("bliss_torch.softmax_classifier.TorchSoftmaxClassifier",)


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Register the classifiers that compute on a torch device."""
    ridge, softmax = (f"{what} on a torch device (needs the extra torch)" for what in ("Ridge", "Cooperative softmax"))
    return [
        Component("torch-ridge", TorchRidge, ridge, saved_types=LEAST_SQUARES),
        Component("torch-softmax", TorchSoftmax, softmax, saved_types=SOFTMAX),
    ]


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the reward that adds up bags on a torch device."""
    summary = "The reward mil-marginal with bag sums on a torch device (needs the extra torch)"
    return [Component("torch-mil-marginal", TorchMilMarginalReward, summary)]
