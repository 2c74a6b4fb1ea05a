"""Learning with label proportions: the regime, its rewards, and baselines of the literature."""
