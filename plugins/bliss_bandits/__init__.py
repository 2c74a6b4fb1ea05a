"""Bandit strategies: CUCB (the paper's) and KL-UCB."""
