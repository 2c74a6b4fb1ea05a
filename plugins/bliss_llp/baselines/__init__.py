"""Baselines: methods of the literature, which results are compared with."""
