"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_pairwise.regime import PairwiseRegime
from bliss_pairwise.reward import PairwiseReward


@hookimpl
def bliss_regimes():
    """Registration the regime."""
    return [Component("pairwise", PairwiseRegime, "Pairs of instances agree or differ; a few single ones are known")]


@hookimpl
def bliss_rewards():
    """Registration its reward."""
    return [Component("pairwise", PairwiseReward, "Share of held-out pairs that are met nearby, times known ones met")]
