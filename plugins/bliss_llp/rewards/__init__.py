"""The rewards."""

from bliss_llp.rewards.marginal_effect import LlpMarginalReward as LlpMarginalReward
from bliss_llp.rewards.recall_precision_of_shares import LlpReward as LlpReward
