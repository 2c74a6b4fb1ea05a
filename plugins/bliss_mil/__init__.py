"""Binary multiple instance learning: the regime, the paper's reward, two simple baselines, and MUSK1."""
