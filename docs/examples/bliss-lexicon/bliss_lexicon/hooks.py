"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_lexicon.reward import LexiconReward


@hookimpl
def bliss_rewards():
    """Registration the reward."""
    return [Component("lexicon", LexiconReward, "Another reward, mixed with a prior from words of the positive class")]
