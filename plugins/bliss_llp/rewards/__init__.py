"""The rewards."""

from bliss_llp.rewards.marginal_effect import LlpMarginalReward as LlpMarginalReward
from bliss_llp.rewards.recall_precision import LlpReward as LlpReward
