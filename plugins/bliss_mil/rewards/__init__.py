"""The rewards."""

from bliss_mil.rewards.marginal_effect import MilMarginalReward as MilMarginalReward
from bliss_mil.rewards.paper_reward import MilReward as MilReward
