"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_partial_label.regime import PartialLabelRegime
from bliss_partial_label.reward import PartialLabelReward


@hookimpl
def bliss_regimes():
    """Registration the regime."""
    return [Component("partial-label", PartialLabelRegime, "Each instance comes with a set of possible labels")]


@hookimpl
def bliss_rewards():
    """Registration its reward."""
    return [Component("partial-label", PartialLabelReward, "Share of near held-out predictions that are possible")]
