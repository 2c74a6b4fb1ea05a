"""The learner: from checked data and a configuration to a fitted model."""
