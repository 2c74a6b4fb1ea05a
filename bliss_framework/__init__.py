"""Bandit label inference for weakly supervised learning: any classifier, any regime, as plugins."""

__version__ = "0.1.0"
