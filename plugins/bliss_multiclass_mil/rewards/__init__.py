"""The rewards."""

from bliss_multiclass_mil.rewards.paper_reward import MultiClassMilReward as MultiClassMilReward
